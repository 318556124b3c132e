"""Tables of a report: rows for classes or categories, with bars in cells."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

from ....metric.numbers import DIGITS
from .blocks import region
from .forms import forms
from .values import interval, number

_TALL = 40  # rows, above which a table scrolls within itself
_LONG = 20  # characters, above which a text may go on in the next line


def data_table(
    columns: Mapping[str, Sequence[Any]],
    title: str,
    *,
    meters: Collection[str] = (),
    minor: Collection[str] = (),
    best: Collection[tuple[int, str]] = (),
    first: int = 0,
    last: int = 0,
    digits: int = DIGITS,
) -> str:
    """A table; a long one scrolls within itself, and its head stays.

    Where it is wider than the page, each row is a block of names with their values: see `forms`.

    Parameters: columns by name, the first of which names the rows; of the others floats are rates or differences, ints
    counts, None a dash, tuples (value, low, high) with an interval, lists of a rate for each model, which have bars in
    the models' colours, or a text; title, what the table is, for readers of screens; meters, columns of rates in
    [0, 1] that have a bar; minor, columns that a narrow screen leaves out; best, the row, from 0, and the column of
    each number that is marked as best; first and last, how many rows at its beginning or end are a sum or a mean;
    digits of floats.
    """
    names = {name: escape(name).replace("_", "_<wbr>") for name in columns}
    of = {column: ' class="minor"' if column in minor else "" for column in columns}
    head = "".join(f'<th scope="col"{of[name]}>{shown}</th>' for name, shown in names.items())
    form = forms(columns, meters, minor, digits)
    named = {name: f' data-name="{escape(name)}"' if form else "" for name in columns}
    count = len(next(iter(columns.values()), ()))
    rows = []
    for place, (name, *rest) in enumerate(zip(*columns.values())):
        cells = ""
        for value, column in zip(rest, [*columns][1:]):
            is_long, is_best = isinstance(value, str) and len(value) > _LONG, (place, column) in best
            kinds = _class(minor=column in minor, none=value is None, best=is_best, long=is_long)
            cells += f"<td{kinds}{named[column]}>{_cell(value, column in meters, digits)}</td>"
        summed = ' class="mean"' if place < first else ' class="sum"' if last and place == count - last else ""
        rows.append(f'<tr{summed}><th scope="row">{escape(str(name))}</th>{cells}</tr>')
    kind = " ".join(["data", *form])
    table = f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return region(table, title, "scroll tall") if count > _TALL else f'<div class="scroll">{table}</div>'


def names_beside(names: Sequence[str], others: Collection[str]) -> list[str]:
    """Names of models as columns of a table that has other columns, too.

    >>> names_beside(["mine", "key"], ["key", "difference"])
    ['mine', 'key (model)']
    """
    return [f"{name} (model)" if name in others else name for name in names]


def _class(**kinds: bool) -> str:
    names = " ".join(name for name, applies in kinds.items() if applies)
    return f' class="{names}"' if names else ""


def _cell(value: Any, meter: bool, digits: int) -> str:
    if isinstance(value, list):
        bars = "".join(_bar(each, digits, f"d{i}") for i, each in enumerate(value, 1))
        return f'<div class="meters">{bars}</div>'
    value, *ends = value if isinstance(value, tuple) else (value,)
    if value is None or isinstance(value, str):
        return escape("–" if value is None else value)
    text = number(value, digits)
    if ends and ends[0] is not None:
        text += f' <span class="ci">{interval(ends[0], ends[1], digits)}</span>'
    return _bar(value, digits, "known", text) if meter else text


def _bar(value: float | None, digits: int, color: str, text: str | None = None) -> str:
    """A bar for a rate, and the rate."""
    width = 100 * min(1.0, max(0.0, value or 0.0))
    said = number(value, digits) if text is None else text
    return f'<div class="meter"><span><i class="{color}" style="width:{width:.1f}%"></i></span><b>{said}</b></div>'
