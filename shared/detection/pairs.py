"""Pairs of boxes whose IoU reaches a threshold, decided and ranked exactly for the numbers of the input.

The IoU of all pairs is computed in float64, with a known bound on its error. Only pairs that lie within that of the
threshold, or of another pair of their image, are compared in fractions; and boxes too small for float64, such as one
of width 1 at 1e16.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays.options import as_fraction
from .corners import Corners, exact_ious
from .overlap import all_pairs, listed_pairs, objects_of

_ROUNDING = 2.0**-46  # above the error of an IoU of exact corners, whose sums and products round some 16 times
_LOST = 2.0**-30  # a box whose sides are off by more, in parts of them, is left to fractions
_LOW_THRESHOLD = 2.0**-20  # all overlapping boxes are, where the threshold is lower


class Pairs(NamedTuple):
    """Pairs of a prediction and an object of its image.

    rows, columns: of the two tables
    ious: in float64
    ranks: order of the pairs of an image by their exact IoU, equal for equal ones. Without a meaning for a pair that
        shares neither of its boxes with another pair
    """

    rows: np.ndarray
    columns: np.ndarray
    ious: np.ndarray
    ranks: np.ndarray

    def take(self, which: np.ndarray) -> Pairs:
        """Some of the pairs, by a mask or by their places."""
        return Pairs(*(column[which] for column in self))


def overlapping_pairs(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    iou_threshold: float,
    corners: tuple[Corners, Corners] | None = None,
) -> Pairs:
    """List all pairs of a prediction and an object of one image whose IoU is at least the threshold, exactly.

    Parameters: predictions (n, ≥ 4) and references (m, ≥ 4), xyxy, with the number of each image's rows; iou_threshold
    in (0, 1]; corners of both, where the tables are rounded.
    """
    threshold = as_fraction(iou_threshold, "iou_threshold")
    tables = predictions[:, :4], references[:, :4]
    ours, theirs = corners or (Corners(table, np.zeros(table.shape), 0) for table in tables)
    doubts = [
        boxes.doubt() if threshold >= _LOW_THRESHOLD else np.full(len(boxes.rounded), np.inf)
        for boxes in (ours, theirs)
    ]
    lost = [doubt > _LOST for doubt in doubts]
    error = _ROUNDING + 4 * sum(float(doubt.max(initial=0, where=~far)) for doubt, far in zip(doubts, lost))
    numbers = np.asarray(num_predictions, dtype=np.int64), np.asarray(num_references, dtype=np.int64)
    rows, columns, ious = listed_pairs(predictions, references, *numbers, max(threshold, _LOW_THRESHOLD) - error)
    near = np.abs(ious - threshold) <= error
    if any(boxes.any() for boxes in lost):
        known = ~(lost[0][rows] | lost[1][columns])
        more = _pairs_of_lost(tables, lost, *objects_of(*numbers))
        rows, columns = np.append(rows[known], more[0]), np.append(columns[known], more[1])
        ious, near = np.append(ious[known], np.zeros(len(more[0]))), np.append(near[known], np.ones(len(more[0]), bool))
    reached = ious >= threshold
    exact, place = exact_ious(ours, theirs, rows[near], columns[near])
    ious[near] = np.asarray([float(iou) for iou in exact])[place]
    reached[near] = np.asarray([iou >= Fraction(threshold) for iou in exact], dtype=bool)[place]
    pairs = Pairs(rows[reached], columns[reached], ious[reached], ious[reached])
    image = np.repeat(np.arange(len(numbers[0])), numbers[0])
    return pairs._replace(ranks=_exact_ranks(pairs, image[pairs.rows], error, ours, theirs))


def _pairs_of_lost(
    tables: Sequence[np.ndarray], lost: Sequence[np.ndarray], counts: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """List all pairs with a lost box that may overlap."""
    before = np.concatenate([[0], np.cumsum(lost[1])])
    some = np.flatnonzero(lost[0] | (before[starts + counts] > before[starts]))  # or with such an object in their image
    rows, columns = all_pairs(some, counts[some], starts[some])
    with_lost = lost[0][rows] | lost[1][columns]
    rows, columns = rows[with_lost], columns[with_lost]
    for near, far in ((0, 2), (1, 3)):
        start = np.maximum(tables[0][rows, near], tables[1][columns, near])
        stop = np.minimum(tables[0][rows, far], tables[1][columns, far])
        overlap = start <= stop + 2 * np.spacing(np.abs(stop))  # neither is off by as much as one unit
        rows, columns = rows[overlap], columns[overlap]
    return rows, columns


def _exact_ranks(pairs: Pairs, image: np.ndarray, error: float, ours: Corners, theirs: Corners) -> np.ndarray:
    """Rank the pairs of each image by their exact IoU; `error` bounds that of each in float64."""
    alone = (np.bincount(pairs.rows)[pairs.rows] == 1) & (np.bincount(pairs.columns)[pairs.columns] == 1)
    order = np.flatnonzero(~alone)
    order = order[np.argsort(pairs.ious[order])]
    close = np.diff(pairs.ious[order]) <= 2 * error
    if not close.any():
        return pairs.ious
    ranks = np.zeros(len(pairs.rows), np.int64)
    ranks[order] = np.arange(len(order))
    some = order[_of_either(close)]
    some = some[np.lexsort((ranks[some], image[some]))]
    close = (np.diff(pairs.ious[some]) <= 2 * error) & (np.diff(image[some]) == 0)
    if not close.any():
        return pairs.ious
    run, some = np.insert(np.cumsum(~close), 0, 0)[_of_either(close)], some[_of_either(close)]
    exact, place = exact_ious(ours, theirs, pairs.rows[some], pairs.columns[some])
    number = {iou: i for i, iou in enumerate(sorted(set(exact)))}
    numbers = np.asarray([number[iou] for iou in exact])[place]
    # the ranks of each run of doubtful pairs are dealt out again by their exact IoUs, of equal ones the first to all
    ascending = np.lexsort((numbers, run))
    run, numbers = run[ascending], numbers[ascending]
    first = np.insert((np.diff(run) > 0) | (np.diff(numbers) > 0), 0, True)
    ranks[some[ascending]] = ranks[some[first]][np.cumsum(first) - 1]
    return ranks


def _of_either(between: np.ndarray) -> np.ndarray:
    """Which entries have a flag between them and one of their neighbours."""
    return np.append(between, False) | np.insert(between, 0, False)
