"""Tables of a report: a row for each class or category, with bars in its cells, and matrices of decisions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import Any

from .blocks import region
from .values import DIGITS, number, percent

_SHORT = 6  # letters of a name that fits above a narrow cell


def data_table(
    columns: Mapping[str, Sequence[Any]],
    title: str,
    *,
    meters: Collection[str] = (),
    minor: Collection[str] = (),
    first: int = 0,
    last: int = 0,
    digits: int = DIGITS,
) -> str:
    """A table that scrolls within itself; its head and first column stay.

    Parameters: columns by name, the first of which names the rows; of the others floats are rates or differences, ints
    counts, None a dash, tuples (value, low, high) with an interval, lists of a rate for each model, which have bars in
    the models' colours, or a text; title, what the table is, for readers of
    screens; meters, columns of rates in [0, 1] that have a bar; minor, columns that a narrow screen leaves
    out; first and last, how many rows at its beginning or end are a sum or a mean; digits of floats.
    """
    of = {column: ' class="minor"' if column in minor else "" for column in columns}
    head = "".join(f'<th scope="col"{of[name]}>{escape(name).replace("_", "_<wbr>")}</th>' for name in columns)
    count = len(next(iter(columns.values()), ()))
    rows = []
    for place, (name, *rest) in enumerate(zip(*columns.values())):
        cells = "".join(
            f"<td{of[column]}>{_cell(value, column in meters, digits)}</td>"
            for value, column in zip(rest, [*columns][1:])
        )
        summed = ' class="mean"' if place < first else ' class="sum"' if last and place == count - last else ""
        rows.append(f'<tr{summed}><th scope="row">{escape(str(name))}</th>{cells}</tr>')
    table = f'<table class="data"><thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return region(table, title, "scroll tall")


def _cell(value: Any, meter: bool, digits: int) -> str:
    if isinstance(value, list):
        bars = "".join(_bar(each, digits, f"d{i}") for i, each in enumerate(value, 1))
        return f'<div class="meters">{bars}</div>'
    value, *ends = value if isinstance(value, tuple) else (value,)
    if value is None or isinstance(value, str):
        return escape("–" if value is None else value)
    text = number(value, digits)
    if ends and ends[0] is not None:
        text += f' <span class="ci">[{number(ends[0], digits)}, {number(ends[1], digits)}]</span>'
    return _bar(value, digits, "known", text) if meter else text


def _bar(value: float | None, digits: int, color: str, text: str | None = None) -> str:
    """A bar for a rate, and the rate."""
    width = 100 * min(1.0, max(0.0, value or 0.0))
    said = number(value, digits) if text is None else text
    return f'<div class="meter"><span><i class="{color}" style="width:{width:.1f}%"></i></span><b>{said}</b></div>'


def matrix(
    rows: Mapping[str, Sequence[int | None]],
    columns: Sequence[str],
    name: str,
    *,
    colors: Mapping[tuple[str, str], str] | str = "unknown",
    right: Collection[tuple[str, str]] = (),
    notes: Mapping[str, str] = {},
    shares: bool = True,
) -> str:
    """Counts of decisions, shaded by their share of the row.

    Parameters: rows, the counts of each, None for a cell that cannot be; columns; name, what the table is; colors, a
    token for all cells, or for (row, column), by default unknown; right, the cells that are right decisions, which are
    framed; notes, a text under the names of rows; shares, whether cells have shares of their row, in percent.
    """
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in columns)
    most = max([1, *(count for counts in rows.values() for count in counts if count)])
    lines = []
    for row, counts in rows.items():
        total, cells = sum(count or 0 for count in counts), []
        for column, count in zip(columns, counts):
            if count is None:
                cells.append('<td class="none">–</td>')
                continue
            token = colors if isinstance(colors, str) else colors.get((row, column), "unknown")
            depth = round(50 * count / (total if shares and total else most))
            style = f"background:color-mix(in srgb,var(--{token}) {depth}%,var(--soft))"
            framed = ' class="right"' if (row, column) in right else ""
            share = f"<small>{percent(count, total)}</small>" if shares else ""
            said = f"{count:,}" if shares or count else "·"
            cells.append(f'<td{framed} style="{style}">{said}{share}</td>')
        note = f"<br>{escape(notes[row])}" if row in notes else ""
        lines.append(f'<tr><th scope="row"><b>{escape(row)}</b>{note}</th>{"".join(cells)}</tr>')
    kind = "matrix" if shares else "matrix tight"
    kind += " upright" if not shares and max(map(len, columns), default=0) > _SHORT else ""
    table = f'<table class="{kind}"><thead><tr><td></td>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table>'
    return region(table, name, "scrollx")
