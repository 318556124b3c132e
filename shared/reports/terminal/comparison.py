"""Compare two models: rows with the difference, its interval as text and drawn, and the better model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ...metric.numbers import interval_text, number_text, signed_text, with_arrow
from ...written.aligned import Paint, Styled, aligned, plain, quiet, strong, text_width
from ...written.directions import direction_of

_LEAST_P = 0.001  # that is shown
_DRAWN = 25  # width of the drawing in characters
NO_DIFFERENCE = "no clear difference"


def comparison_text(
    table: Mapping[str, Any],
    names: Sequence[str] = ("first", "second"),
    *,
    kinds: Mapping[str, Any] = MappingProxyType({}),
    level: float = 0.95,
    percent: bool = False,
    width: int = 116,
    paint: Paint = plain,
) -> str:
    """A comparison as a table, with a row for each metric or, with groups, for its mean.

    Parameters: table, of `compare` or of a folder's comparison; names of the models; kinds, what
    the keys are, as saved results say it; level of the intervals; percent, whether rates are times 100, and their
    differences in points; width of the terminal, in characters: the drawing goes first where it is narrow; paint.

    >>> row = dict(first=[0.75], second=[0.5], difference=[0.25], low=[0.125], high=[0.375], p_value=[0.01])
    >>> print(comparison_text({"key": ["auroc"], **row, "better": ["first"]}, ("knn", "energy"), width=80))
               knn  energy      difference [95 %]      p
    auroc ↑  0.750   0.500  +0.250 [0.125, 0.375]  0.010  knn is better
    """
    rows = [row for row in _rows(table) if row.get("group") is None]
    certain = any(row.get("low") is not None for row in rows)
    lines = [[*_cells(row, names, certain, kinds, percent, level)] for row in rows]
    said = "difference in points" if percent else "difference"
    head: list[Any] = ["", *names, f"{said} [{100 * level:.12g} %]" if certain else said]
    head += ["p", ""] if certain else []
    ends = 3 + len(names) - 1  # the columns before p
    left = {0, len(head) - 1} if certain else {0}
    narrow = aligned([list(map(quiet, head)), *lines], left, paint=paint)
    if not certain or max(map(text_width, aligned([head, *lines], left).split("\n"))) + 2 + _DRAWN > width:
        return narrow
    axis = _axis(rows)
    drawn = [quiet(_scale(axis, 100 if percent else 1)), *(Styled(_drawing(row, axis), "data") for row in rows)]
    wide = [[*line[:ends], drawing, *line[ends:]] for line, drawing in zip([list(map(quiet, head)), *lines], drawn)]
    return aligned(wide, left={0, ends, len(head)}, paint=paint)


def _rows(table: Mapping[str, Any]) -> list[dict[str, Any]]:
    columns = {name: column for name, column in table.items() if isinstance(column, list)}
    return [dict(zip(columns, row)) for row in zip(*columns.values())]


def _cells(
    row: Mapping[str, Any], names: Sequence[str], certain: bool, kinds: Mapping[str, Any], percent: bool, level: float
) -> list[Any]:
    known, kind = direction_of(row["key"], kinds), kinds.get(row["key"], {})
    percent = percent and kind.get("share", known is not None and known.rate)
    cells: list[Any] = [with_arrow(row["key"], known and known.higher)]
    values = {name: number_text(row[name], percent=percent) for name in ("first", "second")}
    cells += [strong(value) if row.get("better") == name else value for name, value in values.items()]
    if not certain:
        return [*cells, signed_text(row["difference"], percent=percent)]
    if row.get("low") is None:
        return [*cells, signed_text(row["difference"], percent=percent), "", ""]
    better = {"first": names[0], "second": names[1]}.get(row.get("better") or "")
    # where neither direction is better
    differs = known is None and row["p_value"] + level <= 1
    verdict = strong(f"{better} is better") if better is not None else quiet("differs" if differs else NO_DIFFERENCE)
    ends = quiet(f" {interval_text(row['low'], row['high'], percent=percent)}")
    p = row["p_value"]
    return [
        *cells,
        (signed_text(row["difference"], percent=percent), ends),
        f"{p:.3f}" if p >= _LEAST_P else f"<{_LEAST_P}",
        verdict,
    ]


def _axis(rows: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    ends = [row[end] for row in rows for end in ("low", "high", "difference") if row.get("low") is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    return (low, high) if low < high else (-1.0, 1.0)


def _place(value: float, axis: tuple[float, float]) -> int:
    low, high = axis
    return round((value - low) / (high - low) * (_DRAWN - 1))


def _scale(axis: tuple[float, float], factor: int) -> str:
    """The labels above the drawings: the ends of the axis times a factor, and 0."""
    zero, line = _place(0.0, axis), [" "] * _DRAWN
    low, high = (f"{factor * end:+.2g}" for end in axis)
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
