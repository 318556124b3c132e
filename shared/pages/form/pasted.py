"""Read cells copied from a spreadsheet, or text with commas, semicolons or tabs, as a table."""

from __future__ import annotations

import pandas as pd

from ...reading.limits import PAGES
from ...reading.tables.arrow import from_arrow
from ...reading.tables.csv import Csv
from ...reading.tables.files import check_header

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def read_pasted(text: str) -> pd.DataFrame:
    r"""Read text as a table; without a header, columns are named by letters, as in a spreadsheet.

    >>> read_pasted("0.5\t1\n0.25\t0").to_dict("list")
    {'A': [0.5, 0.25], 'B': [1, 0]}
    """
    if "\t" not in text and "," not in text and ";" not in text and " " in text.strip().splitlines()[0]:
        text = "\n".join("\t".join(line.split()) for line in text.splitlines())
    csv = Csv(text.encode())
    if len(csv.names) > PAGES.columns:
        raise ValueError(f"expected at most {PAGES.columns:,} columns, got {len(csv.names):,}")
    check_header(csv.names, headless=csv.headless)
    names = [letters(i) for i in range(len(csv.names))] if csv.headless else csv.names
    return pd.DataFrame(dict(zip(names, (from_arrow(column, gaps=True) for column in csv.table.columns))))


def letters(place: int) -> str:
    """The name of a column of a spreadsheet: A to Z, then AA.

    >>> letters(0), letters(25), letters(26), letters(52)
    ('A', 'Z', 'AA', 'BA')
    """
    more, last = divmod(place, 26)
    return (letters(more - 1) if more else "") + _LETTERS[last]
