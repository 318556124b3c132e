"""Sort and rank the rows of a table."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..cells import Cell, ResultTable
from ..tables import OVERALL

RANK = "rank"


def sorted_by(table: ResultTable, key: str) -> ResultTable:
    """Sort the rows by a column, best first; rows without a number, and the mean of groups, are last.

    Parameters: table; key, the name of a column or, if groups are columns, a key, which means its mean. Without a known
    direction, the highest number is first. Equal numbers keep their order.
    Raises ValueError for an unknown key.
    """
    i = _column(table, key)
    rows = sorted(table.rows, key=lambda row: (row[0] == OVERALL, _distance(row[1][i])))
    return table._replace(rows=rows)


def ranked(table: ResultTable, key: str | None = None) -> ResultTable:
    """Add a first column of ranks, from 1: by one column, or the mean of the ranks in all columns.

    Parameters: table; key, as for `sorted_by`: equal numbers share a rank, and rows without a number have none. Without
    a key, the mean over the columns with a known direction, where equal numbers have the mean of their ranks; a row
    that lacks a number then has no rank.
    """
    rows = [cells for name, cells in table.rows if name != OVERALL]
    if key is not None:
        ranks: list[float | None] = [*_ranks([row[_column(table, key)] for row in rows], ties=False)]
    else:
        known = [i for i, _ in enumerate(table.columns) if any(row[i] and row[i].direction for row in rows)]  # type: ignore[union-attr]
        if not known:
            raise ValueError("rank: expected a column with a known direction, got none")
        places = [_ranks([row[i] for row in rows], ties=True) for i in known]
        ranks = [None if None in own else sum(filter(None, own)) / len(own) for own in zip(*places)]
    of = iter(ranks)
    cells = [None if name == OVERALL else next(of) for name, _ in table.rows]
    first = [None if rank is None else Cell(RANK, rank) for rank in cells]
    return table._replace(
        columns=[RANK, *table.columns], rows=[(name, [cell, *row]) for cell, (name, row) in zip(first, table.rows)]
    )


def _column(table: ResultTable, key: str) -> int:
    """The index of the column of a key."""
    keys = [next((row[i].key for _, row in table.rows if row[i]), "") for i, _ in enumerate(table.columns)]  # type: ignore[union-attr]
    named = [i for i, name in enumerate(table.columns) if key in (name, name.rpartition("/")[2])]
    having = [i for i, own in enumerate(keys) if key in (own, own.rpartition("/")[2])]
    mean = [i for i in having if table.columns[i].split(" ")[0] == OVERALL]
    for places in (named, mean, having):
        if places:
            return places[0]
    raise ValueError(f"sort: expected one of {', '.join(dict.fromkeys([*table.columns, *keys]))}, got {key!r}")


def _distance(cell: Cell | None) -> tuple[bool, float]:
    """A sort key that is lower for better numbers, and highest for a missing number."""
    if cell is None or math.isnan(cell.value):
        return True, 0.0
    lower = cell.key == RANK or (cell.direction is not None and not cell.direction.higher)
    return False, cell.value if lower else -cell.value


def _ranks(cells: Sequence[Cell | None], *, ties: bool) -> list[float | None]:
    """The rank of each cell, from 1; with `ties`, equal cells have the mean of their ranks."""
    values = [_distance(cell) for cell in cells]
    before = [sum(other < value for other in values) for value in values]
    equal = [values.count(value) if ties else 1 for value in values]
    exact = [first + (1 + count) / 2 for first, count in zip(before, equal)]
    return [
        None if cell is None or math.isnan(cell.value) else int(rank) if rank == int(rank) else rank
        for cell, rank in zip(cells, exact)
    ]
