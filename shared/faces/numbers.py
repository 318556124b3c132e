"""Numbers as text on faces, rounded once: a true minus sign where they are read, ASCII where they are copied."""

from __future__ import annotations

import math
import re
from typing import Any

from ..answers.answer import Answer, Table
from ..metric.rounding import interval_text, number_text, signed_text
from ..written.results import Direction
from .tables import Cell, ResultTable, escaped, render


def number(value: Any, digits: int | None = None) -> str:
    """A number as text: integers in full, others with three decimals, or more where 0 or 1 would be false.

    Text is unchanged, a missing number is a dash, and a list its numbers.

    >>> number(0.70449), number(1.0), number(0.99968), number(1291), number(-0.5), number(5.36e-9), number(None)
    ('0.704', '1.000', '0.9997', '1,291', '−0.500', '5.36e−09', '–')
    >>> number("a-b"), number([1, 0.25]), number(True), number(float("inf"))
    ('a-b', '1, 0.250', 'yes', '∞')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)):
        return ", ".join(number(one, digits) for one in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and not math.isfinite(value):
        return "–" if math.isnan(value) else typographic("∞" if value > 0 else "-∞")
    return typographic(f"{value:,}" if isinstance(value, int) else number_text(value, digits))


def signed(value: float) -> str:
    """A difference as text, with its sign.

    >>> signed(0.25), signed(-0.0125), signed(0.0), signed(3)
    ('+0.250', '−0.013', '0.000', '+3')
    """
    return typographic(signed_text(value))


def interval(ends: tuple[float, float] | None, digits: int | None = None) -> str:
    """The ends of an interval; "" without them.

    >>> interval((-0.019, 0.025)), interval(None)
    ('[−0.019, 0.025]', '')
    """
    return "" if ends is None else typographic(interval_text(*ends, digits))


def typographic(text: str) -> str:
    """A text of numbers with minus signs for hyphens, as it is read.

    >>> typographic("-0.394")
    '−0.394'
    """
    return text.replace("-", "−")


def threshold_shown(text: str) -> str:
    """The text of a threshold as it is read.

    >>> threshold_shown("-0.394"), threshold_shown("-inf")
    ('−0.394', '−∞')
    """
    return typographic(text).replace("inf", "∞")


def typed(text: str) -> str:
    """A text as it is copied: hyphens for minus signs and dashes.

    >>> typed("−msp: –")
    '-msp: -'
    """
    return text.replace("−", "-").replace("–", "-")


def brief(name: str, most: int = 24) -> str:
    """A name of at most `most` characters; a longer one has no middle.

    >>> brief("knn"), brief("a_very_long_name_of_a_detector_seed_0", 15)
    ('knn', 'a_very_…_seed_0')
    """
    half = (most - 1) // 2
    return name if len(name) <= most else f"{name[:half]}…{name[-half:]}"


def paper(answer: Answer, form: str) -> str:
    """The table and the sentence of an answer for a paper, in "markdown" or "latex", with citations."""
    table = copied(answer, form)
    if not table:
        cells: list[Cell | None] = []
        for one in answer.numbers[answer.model][: len(answer.leading)]:
            if isinstance(one.value, (int, float)):
                low, high = one.interval or (None, None)
                cells.append(Cell(one.title, one.value, None, low, high, share=one.share))
        table = typed(
            render(ResultTable([cell.key for cell in cells if cell], [(answer.model, cells)]), form, digits=3)
        )
    sentence = escaped(typed(answer.sentence), form)
    cited = ",".join(re.findall(r"@\w+\{([^,]+),", answer.citation))
    if cited and form == "latex":
        sentence = f"{sentence.removesuffix('.')} \\cite{{{cited}}}."
    return f"{table}\n\n{sentence}".strip()


def copied(answer: Answer, form: str) -> str:
    """The models or groups side by side as a table to copy, in "markdown", "latex" or "csv"; "" if there is one row.

    Numbers have three decimals, in CSV all digits, with columns for intervals.
    """
    table = answer.side_by_side
    return "" if table is None else typed(render(_cells(table), form, digits=None if form == "csv" else 3))


def _cells(table: Table) -> ResultTable:
    """The numbers of a table as cells; its first column names the rows, other text is left out."""
    first, *names = [*table.columns]
    names = [name for name in names if not any(isinstance(value, str) for value in table.columns[name])]
    best = {(row, name) for row, name in table.best}

    def cell(row: int, name: str) -> Cell | None:
        value = table.columns[name][row]
        if value is None:
            return None
        ends = table.intervals[name][row] if name in table.intervals else None
        low, high = ends or (None, None)
        way = Direction(table.higher[name], name in table.shares) if name in table.higher else None
        return Cell(name, value, None, low, high, (row, name) in best, way, share=name in table.shares)

    return ResultTable(
        names, [(str(row), [cell(i, name) for name in names]) for i, row in enumerate(table.columns[first])]
    )
