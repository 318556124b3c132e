"""Write rows as CSV without cells that a spreadsheet would read as formulas."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from ..arrays.arrays import reads_as_number


def csv_text(rows: Iterable[Iterable[Any]]) -> str:
    """Rows as CSV; a cell that begins like a formula, but is not a number, is prefixed with an apostrophe.

    >>> print(csv_text([["name", "auroc"], ["=1+1", -0.5], ["-1", None]]), end="")
    name,auroc
    '=1+1,-0.5
    -1,
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([*map(_plain, row)] for row in rows)
    return text.getvalue()


def _plain(cell: Any) -> Any:
    if not isinstance(cell, str) or not cell.startswith(("=", "+", "-", "@", "\t", "\r")):
        return cell
    return cell if reads_as_number(cell) else f"'{cell}"
