"""The vertices of curves over thresholds, from exceedance counts, as few as a picture needs.

A curve is straight between two distinct scores, so its vertices describe it completely, and the area under them is
exact. If there are more than a picture can show, they are thinned run by run, and only one run is held at a time.

`sample_table` has a row for each sample, in the order in which they were added: its score, decision and outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, device_of, to_numpy
from ..arrays.checks import as_int, by_keyword
from ..arrays.sorting import first_of_each
from .counts import Side, checked_sides, runs

MAX_POINTS = 1000
_PER_CELL = 4  # the first, the last, the lowest and the highest


class Vertices(NamedTuple):
    """Vertices of a curve, from "nothing is detected", at the highest score, to "everything is", at −inf."""

    thresholds: np.ndarray  # (V,) float64, a sample is detected iff score > threshold
    tp: np.ndarray  # (V,) int64, positives detected
    fp: np.ndarray  # (V,) int64, negatives detected


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
    starts = np.flatnonzero(first_of_each(cells))
    group = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(cells)))
    chosen = [starts, np.append(starts[1:], len(cells)) - 1]
    for extreme in (np.minimum, np.maximum):
        attained = np.flatnonzero(height == extreme.reduceat(height, starts)[group])
        chosen.append(attained[np.unique(group[attained], return_index=True)[1]])
    places = np.unique(np.concatenate(chosen))
    return type(vertices)(*(column[places] for column in vertices))


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


@by_keyword
def roc_curve(*, positives: Any, negatives: Any, max_points: int | None = MAX_POINTS) -> dict[str, list[float]]:
    """The ROC curve: both rates at every threshold; a sample is detected iff score > threshold.

    TPR(t) = |{i : p_i > t}| / P,  FPR(t) = |{j : n_j > t}| / N

    It starts at the highest score, where nothing is detected, and ends at −inf, where everything is, including scores
    of −inf. Ties are slanted lines, so the trapezoids under all vertices add up to the AUROC.

    Parameters: positives (P,) and negatives (N,), real scores, higher is more positive, no NaN, at least one of each;
    max_points, at least 4, or None for every vertex. With more vertices than that, a vertex is dropped if the drawn
    line passes less than 1/(max_points // 4) from it.
    Returns {"threshold", "fpr", "tpr"}, lists of one length.
    Raises ValueError for NaN and an empty side. Source: Fawcett, An Introduction to ROC Analysis, 2006.

    >>> roc_curve(positives=[0.9, 0.4], negatives=[0.4, 0.1])
    {'threshold': [0.9, 0.4, 0.1, -inf], 'fpr': [0.0, 0.0, 0.5, 1.0], 'tpr': [0.0, 0.5, 1.0, 1.0]}
    """
    sides = checked_sides(positives=positives, negatives=negatives)
    num_positives, num_negatives = (side.total for side in sides)
    vertices = curve_vertices(*sides, rising(num_positives, num_negatives), max_points)
    return table(threshold=vertices.thresholds, fpr=vertices.fp / num_negatives, tpr=vertices.tp / num_positives)


def rising(num_positives: int, num_negatives: int) -> Any:
    """Positions of the vertices of a curve of two rates, for thinning: (FPR + TPR)/2 and TPR."""

    def place(vertices: Vertices) -> tuple[np.ndarray, np.ndarray]:
        tpr = vertices.tp / num_positives
        return (tpr + vertices.fp / max(1, num_negatives)) / 2, tpr

    return place


@by_keyword
def precision_recall_curve(
    *, positives: Any, negatives: Any, max_points: int | None = MAX_POINTS
) -> dict[str, list[float]]:
    """The precision-recall curve at every threshold; a sample is detected iff score > threshold.

    R(t) = TP(t)/P,  P(t) = TP(t)/(TP(t) + FP(t));  if nothing is detected, the precision is 1

    If precision falls at a fixed recall, the negatives' scores in between are left out. The trapezoids under all
    vertices add up to `aupr`, the steps to the average precision.

    Parameters and errors: as of `roc_curve`. The drawn line passes a dropped vertex at its own precision, at most
    1/(max_points // 4) of recall away.
    Returns {"threshold", "recall", "precision"}, lists of one length. Source: Davis and Goadrich, ICML 2006.

    >>> precision_recall_curve(positives=[0.9, 0.4], negatives=[0.4, 0.1])["precision"]
    [1.0, 1.0, 0.6666666666666666, 0.5]
    """
    sides = checked_sides(positives=positives, negatives=negatives)
    num_positives = sides[0].total

    def place(vertices: Vertices) -> tuple[np.ndarray, np.ndarray]:
        detected = vertices.tp + vertices.fp
        precision = np.where(detected, vertices.tp, 1) / np.maximum(detected, 1)
        return vertices.tp / num_positives, precision

    vertices = curve_vertices(*sides, place, max_points)
    recall, precision = place(vertices)
    return table(threshold=vertices.thresholds, recall=recall, precision=precision)


SIDES = ("known", "unknown")
# as openset_detection says it of boxes; without classes, a known sample that is accepted was called known
RIGHT, WRONG_CLASS, CALLED_KNOWN, CALLED_UNKNOWN, UNKNOWN_CALLED_KNOWN, UNKNOWN_CALLED_UNKNOWN = SAMPLE_OUTCOMES = (
    "known, right class",
    "known, wrong class",
    "known, called known",
    "known, called unknown",
    "unknown, called known",
    "unknown, called unknown",
)


def check_samples(state: Mapping[str, Any]) -> None:
    """Raise ValueError unless the rows of a state are single samples with their original scores."""
    if "significant_bits" in state:
        raise ValueError("per_sample: expected no significant_bits, which keep no sample's score; got both")
    for name, done in (("thresholds", "scores were rounded up to t_list"), ("counts", "equal samples were counted")):
        if name in state:
            raise ValueError(f"per_sample: {done} as batches were added; give it at load, not at compute")


def sample_table(
    scores: Array, is_unknown: Array, called: np.ndarray, is_right: Array | None = None, samples: Array | None = None
) -> dict[str, list[Any]]:
    """The table of samples, with the outcome of each.

    Parameters: scores (N,); is_unknown (N,) booleans; called (N,) booleans, whether a sample is called unknown;
    is_right (N,), whether the class of a known sample is right, None without classes; samples (N,), their places in
    the order in which they were added, from 0, by default all.
    Returns {"sample", "score", "reference", "decision", "outcome"}, lists of one length: reference and decision are one
    of `SIDES`, outcome is one of `SAMPLE_OUTCOMES`.

    >>> table = sample_table(np.asarray([0.1, 0.9]), np.asarray([False, False]), np.asarray([False, True]))
    >>> table["outcome"]
    ['known, called known', 'known, called unknown']
    """
    unknown = to_numpy(is_unknown)
    places = np.arange(len(unknown)) if samples is None else to_numpy(samples)
    kinds: Any = CALLED_KNOWN if is_right is None else np.where(to_numpy(is_right), RIGHT, WRONG_CLASS)
    of_known = np.where(called, CALLED_UNKNOWN, kinds)
    of_unknown = np.where(called, UNKNOWN_CALLED_UNKNOWN, UNKNOWN_CALLED_KNOWN)
    return {
        "sample": places.tolist(),
        "score": (to_numpy(scores).astype(np.float64) + 0.0).tolist(),  # 0.0 for −0.0
        "reference": np.where(unknown, *SIDES[::-1]).tolist(),
        "decision": np.where(called, *SIDES[::-1]).tolist(),
        "outcome": np.where(unknown, of_unknown, of_known).tolist(),
    }
