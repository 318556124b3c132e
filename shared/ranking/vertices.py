"""The vertices of curves over thresholds, from exceedance counts, thinned to what a picture needs.

A curve is straight between two distinct scores, so its vertices describe it completely, and the area under them is
exact. If there are more than a picture can show, they are thinned run by run, and only one run is held at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, device_of, to_numpy
from ..arrays.options import as_int
from .counts import Side, runs

MAX_POINTS = 1000
_PER_CELL = 4  # the first, the last, the lowest and the highest


class Vertices(NamedTuple):
    """Vertices of a curve, from "nothing is detected" to "everything is".

    thresholds: (V,) float64, a sample is detected iff score > threshold; the first is the highest score, at which
    nothing is, and the last −inf, at which everything is
    tp: (V,) int64, positives detected
    fp: (V,) int64, negatives detected
    """

    thresholds: np.ndarray
    tp: np.ndarray
    fp: np.ndarray


# where vertices lie: positions in [0, 1] that do not fall, and heights
Place = Callable[[Vertices], tuple[np.ndarray, np.ndarray]]


def curve_vertices(positives: Side, negatives: Side, place: Place, max_points: int | None) -> Vertices:
    """The vertices of a curve, thinned by `thinned` if there are more than `max_points`; None keeps all.

    Parameters: both sides in one type and without NaN, the positives not empty; place, where vertices lie.
    """
    limit = None if max_points is None else as_int(max_points, "max_points", _PER_CELL)
    held: list[Vertices] = []
    count, crowded = 0, False
    for part in _parts(positives, negatives):
        held.append(part)
        count += len(part.tp)
        if limit is not None and count > limit:
            # the earlier parts are thinned once, and from then on each part
            held = [*held[:-1], thinned(part, place, limit)] if crowded else [thinned(_joined(held), place, limit)]
            crowded = True
    vertices = _joined(held)
    if crowded and limit is not None:
        vertices = thinned(vertices, place, limit)
    return vertices._replace(thresholds=_exceeded(vertices, positives, negatives))


def _exceeded(vertices: Vertices, positives: Side, negatives: Side) -> np.ndarray:
    """The highest score that is not detected at each vertex; −inf if all are."""
    highest = np.full(len(vertices.tp), -np.inf)
    for side, detected in ((positives, vertices.tp), (negatives, vertices.fp)):
        if side.total:
            places = side.total - 1 - detected
            xp = array_namespace(side.scores)
            at = xp.asarray(np.maximum(places, 0), device=device_of(side.scores))
            scores = to_numpy(_scores_at(side, at, at)).astype(np.float64)
            highest = np.maximum(highest, np.where(places < 0, -np.inf, scores))
    return highest + 0.0  # 0.0 for −0.0


def thinned(vertices: Any, place: Callable[[Any], tuple[np.ndarray, np.ndarray]], max_points: int) -> Any:
    """Thin out vertices to at most `max_points`, keeping the first and the last.

    Positions are cut into max_points // 4 cells of one width w, and of each cell the first, the last, the first lowest
    and the first highest vertex are kept. So the drawn line has a point at the height of each dropped vertex, at most w
    away in position. If the position is the mean of two rising coordinates, the line is at most w/√2 away.

    Parameters: vertices, a NamedTuple of arrays (V,); place, their positions and heights; max_points of at least 4.
    """
    position, height = place(vertices)
    num_cells = max_points // _PER_CELL
    cells = np.minimum((position * num_cells).astype(np.int64), num_cells - 1)
    starts = np.flatnonzero(np.concatenate([[True], cells[1:] != cells[:-1]]))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(cells)))
    chosen = [starts, np.append(starts[1:], len(cells)) - 1]
    for extreme in (np.minimum, np.maximum):
        attained = np.flatnonzero(height == extreme.reduceat(height, starts)[group])
        chosen.append(attained[np.unique(group[attained], return_index=True)[1]])
    kept = np.unique(np.concatenate(chosen))
    return type(vertices)(*(column[kept] for column in vertices))


def _parts(positives: Side, negatives: Side) -> Iterator[Vertices]:
    """The vertices, run by run, none of them twice."""
    num_positives, num_negatives = positives.total, negatives.total
    yield Vertices(np.asarray([np.inf]), np.zeros(1, np.int64), np.zeros(1, np.int64))
    tp, fp = 0, 0
    for run in runs(positives, negatives):
        # before a threshold, the curve has run along the negatives above it
        columns = (
            (_scores_at(negatives, num_negatives - run.above, run.thresholds), run.thresholds),
            (run.tp - run.sizes, run.tp),
            (run.above, run.fp),
        )
        thresholds, hits, alarms = (np.stack([*map(to_numpy, pair)], axis=1).reshape(-1) for pair in columns)
        new = (np.diff(hits, prepend=tp) > 0) | (np.diff(alarms, prepend=fp) > 0)
        yield Vertices(thresholds[new].astype(np.float64) + 0.0, hits[new], alarms[new])  # 0.0 for −0.0
        tp, fp = int(hits[-1]), int(alarms[-1])
    if fp < num_negatives:
        lowest = float(negatives.scores[0]) + 0.0
        yield Vertices(np.asarray([lowest]), np.asarray([num_positives]), np.asarray([num_negatives]))


def _scores_at(side: Side, places: Array, otherwise: Array) -> Array:
    """The scores of samples by their indices in ascending order; any score past the end, where there is no vertex."""
    num_rows = side.scores.shape[0]
    if not num_rows:
        return otherwise
    xp = array_namespace(places)
    rows = places if side.before is None else xp.searchsorted(side.before, places, side="right") - 1
    return side.scores[xp.clip(rows, 0, num_rows - 1)]


def _joined(parts: list[Vertices]) -> Vertices:
    return Vertices(*(np.concatenate(columns) for columns in zip(*parts)))


def table(**columns: np.ndarray) -> dict[str, list[float]]:
    """A table of Python floats."""
    return {name: column.tolist() for name, column in columns.items()}
