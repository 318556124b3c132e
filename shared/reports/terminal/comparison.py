"""Two models: a row for each metric, with the interval of the difference as text and drawn, and which is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...formats.written.aligned import Paint, Styled, aligned, plain, quiet, strong
from ..directions import direction
from .numbers import arrow, interval, number, signed

_DRAWN = 25  # characters of the drawing
NO_DIFFERENCE = "no clear difference"


def comparison_text(
    table: Mapping[str, Any],
    names: Sequence[str] = ("first", "second"),
    *,
    level: float = 0.95,
    width: int = 116,
    paint: Paint = plain,
) -> str:
    """A comparison as a table: a row for each metric, or for the mean over groups of each.

    Parameters: table, of `compare` or of a folder's comparison; names of the models; level of the intervals; width of
    the terminal, in characters: the drawing goes first where it is narrow; paint.

    >>> row = dict(first=[0.75], second=[0.5], difference=[0.25], low=[0.125], high=[0.375], p_value=[0.01])
    >>> print(comparison_text({"key": ["auroc"], **row, "better": ["first"]}, ("knn", "energy"), width=80))
               knn  energy      difference [95 %]      p
    auroc ↑  0.750   0.500  +0.250 [0.125, 0.375]  0.010  knn is better
    """
    rows = [row for row in _rows(table) if row.get("group") is None]
    certain = any(row.get("low") is not None for row in rows)
    lines = [[*_cells(row, names, certain)] for row in rows]
    head: list[Any] = ["", *names, f"difference [{100 * level:.12g} %]" if certain else "difference"]
    head += ["p", ""] if certain else []
    ends = 3 + len(names) - 1  # the columns before p
    left = {0, len(head) - 1} if certain else {0}
    narrow = aligned([list(map(quiet, head)), *lines], left, paint=paint)
    if not certain or max(map(len, aligned([head, *lines], left).split("\n"))) + 2 + _DRAWN > width:
        return narrow
    axis = _axis(rows)
    drawn = [quiet(_scale(axis)), *(Styled(_drawing(row, axis), "data") for row in rows)]
    wide = [[*line[:ends], drawing, *line[ends:]] for line, drawing in zip([list(map(quiet, head)), *lines], drawn)]
    return aligned(wide, left={0, ends, len(head)}, paint=paint)


def _rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = {name: column for name, column in table.items() if isinstance(column, list)}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def _cells(row: Mapping[str, Any], names: Sequence[str], certain: bool) -> list[Any]:
    known = direction(row["key"])
    cells: list[Any] = [f"{row['key']} {arrow(known and known.higher)}".rstrip()]
    values = {"first": row["first"], "second": row["second"]}
    cells += [strong(number(value)) if row.get("better") == name else number(value) for name, value in values.items()]
    if not certain:
        return [*cells, signed(row["difference"])]
    if row.get("low") is None:
        return [*cells, signed(row["difference"]), "", ""]
    better = {"first": names[0], "second": names[1]}.get(row.get("better") or "")
    verdict = quiet(NO_DIFFERENCE) if better is None else strong(f"{better} is better")
    ends = quiet(f" {interval(row['low'], row['high'])}")
    return [*cells, (signed(row["difference"]), ends), f"{row['p_value']:.3f}", verdict]


def _axis(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    ends = [row[end] for row in rows for end in ("low", "high", "difference") if row.get("low") is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    return (low, high) if low < high else (-1.0, 1.0)


def _place(value: float, axis: tuple[float, float]) -> int:
    low, high = axis
    return round((value - low) / (high - low) * (_DRAWN - 1))


def _scale(axis: tuple[float, float]) -> str:
    """The ends of the axis and 0, above the drawings."""
    zero, line = _place(0.0, axis), [" "] * _DRAWN
    low, high = (f"{end:+.2g}" for end in axis)
    if zero > len(low):
        line[: len(low)] = low
    if _DRAWN - 1 - zero > len(high):
        line[-len(high) :] = high
    line[zero] = "0"
    return "".join(line)


def _drawing(row: Mapping[str, Any], axis: tuple[float, float]) -> str:
    if row.get("low") is None:
        return " " * _DRAWN
    line = [" "] * _DRAWN
    line[_place(0.0, axis)] = "┊"
    low, high = (_place(row[end], axis) for end in ("low", "high"))
    line[low : high + 1] = "━" * (high + 1 - low)
    line[_place(row["difference"], axis)] = "●"
    return "".join(line)
