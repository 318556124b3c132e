"""The cells of a table of results, and marks of the best for each group and key."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from ..written.directions import Direction


class Cell(NamedTuple):
    """A number, with its key and, if known, its standard deviation over seeds or its interval.

    best: whether it is the best of several models, or does not differ from the best; second: whether it is second best
    share: whether it is a share, in [0, 1] or a difference of two, which may be shown in percent
    """

    key: str
    value: float
    std: float | None = None
    low: float | None = None
    high: float | None = None
    best: bool = False
    direction: Direction | None = None
    second: bool = False
    share: bool = False


class ResultTable(NamedTuple):
    """Column names, and rows of a name and a cell for each column, None for a missing number.

    corner, above the names of the rows, is the key of all numbers, if it is not in the column names.
    """

    columns: list[str]
    rows: list[tuple[str, list[Cell | None]]]
    corner: str = ""


Place = tuple[str, str, str]  # file, group, key


def marked_best(cells: Mapping[Place, Cell], undecided: Mapping[Place, bool | None]) -> dict[Place, Cell]:
    """Mark the best of each group and key, all cells that do not differ from it, and the second best."""
    rivals: dict[tuple[str, str], list[tuple[Place, Cell]]] = {}
    for place, cell in cells.items():
        rivals.setdefault(place[1:], []).append((place, cell))
    marked = dict(cells)
    for own in rivals.values():
        known, numbers = own[0][1].direction, [pair for pair in own if not math.isnan(pair[1].value)]
        if known is None or len(numbers) < 2:
            continue
        choose = max if known.higher else min
        best = choose(cell.value for _, cell in numbers)
        first = {place for place, cell in numbers if cell.value == best or undecided.get(place)}
        rest = [cell.value for place, cell in numbers if place not in first]
        for place, cell in numbers:
            second = bool(rest) and place not in first and cell.value == choose(rest)
            marked[place] = cell._replace(best=place in first, second=second)
    return marked
