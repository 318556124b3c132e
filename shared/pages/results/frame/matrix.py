"""Matrices of decisions: counts, shaded by their fraction of the row."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from html import escape

from .blocks import region
from .values import percent

_SHORT = 6  # letters of a name that fits above a narrow cell


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
    """Counts of decisions as a table, shaded by their fraction of the row.

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
