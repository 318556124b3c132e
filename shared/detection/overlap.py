"""Decide which pairs of boxes reach an IoU, and which IoU is greater, exactly for the numbers of the input.

The IoU of each pair is computed in float64, with a known bound on its error. Only pairs within this bound of a
threshold, or of another pair of their image, are compared in fractions, and so are boxes too small for float64, such as
one of width 1 at 1e16.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays.options import as_fraction, as_written
from ..arrays.sorting import sorted_copy
from .corners import Corners, exact_ious
from .pairs import Pairs, all_pairs, cuts_of_pairs, listed_pairs, objects_of_rows

_ROUNDING = 2.0**-46  # above the error of an IoU of exact corners, with some 16 rounded sums and products
_LOST = 2.0**-30  # a box with sides of a larger relative error is left to fractions
_LOW = 2.0**-20  # as all overlapping boxes are below this threshold


class Overlaps(NamedTuple):
    """Pairs of boxes that may reach a lowest IoU, from which any higher one is decided exactly.

    pairs: with their IoU in float64
    images: (P,) the image of each
    error: a bound on the error of their IoUs
    corners: those of predictions and of objects, exactly
    """

    pairs: Pairs
    images: np.ndarray
    error: float
    corners: tuple[Corners, Corners]

    def compared(self, threshold: Fraction | float) -> tuple[np.ndarray, np.ndarray]:
        """Compare the IoU of each pair with a threshold, exactly; the threshold is a decimal as it is written.

        Returns two arrays (P,): the sign of IoU − threshold, and the IoU, correctly rounded where it is close to it.
        """
        ious, over = self.pairs.ious, self.pairs.ious - float(threshold)
        signs, near = np.sign(over).astype(np.int8), np.abs(over) <= self.error
        if not near.any():
            return signs, ious
        ious = ious.copy()
        exact, place = exact_ious(*self.corners, self.pairs.rows[near], self.pairs.columns[near])
        bound = as_written(threshold)
        beside = [(iou > bound) - (iou < bound) for iou in exact]
        signs[near] = np.asarray(beside, dtype=np.int8)[place]
        ious[near] = np.asarray([float(iou) for iou in exact])[place]
        return signs, ious

    def take(self, which: np.ndarray) -> Overlaps:
        """Some of the pairs, by a mask or by their places."""
        which = np.flatnonzero(which) if which.dtype == bool else which
        return Overlaps(self.pairs.take(which), self.images[which], self.error, self.corners)

    def reaching(self, threshold: Fraction | float) -> Pairs:
        """The pairs with an IoU of at least the threshold, ranked."""
        some = self.take(self.pairs.ious >= float(threshold) - 2 * self.error)
        signs, ious = some.compared(threshold)
        return some._replace(pairs=some.pairs._replace(ious=ious)).take(signs >= 0).ranked()

    def ranked(self) -> Pairs:
        """The pairs, ranked by their exact IoU."""
        return self.pairs._replace(ranks=_exact_ranks(self.pairs, self.images, self.error, *self.corners))


def overlapping_pairs(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    iou_threshold: float,
    corners: tuple[Corners, Corners] | None = None,
) -> Pairs:
    """List all pairs of a prediction and an object of one image with an IoU of at least the threshold, exactly.

    Parameters: predictions (n, ≥ 4) and references (m, ≥ 4), xyxy, with the number of each image's rows; iou_threshold
    in (0, 1]; corners of both, where the tables are rounded.
    """
    threshold = as_fraction(iou_threshold, "iou_threshold")
    return overlaps(predictions, references, num_predictions, num_references, threshold, corners).reaching(threshold)


def overlaps(
    predictions: np.ndarray,
    references: np.ndarray,
    num_predictions: np.ndarray,
    num_references: np.ndarray,
    lowest: float,
    corners: tuple[Corners, Corners] | None = None,
) -> Overlaps:
    """List all pairs that may reach the lowest of some thresholds; see `overlapping_pairs`."""
    tables = predictions[:, :4], references[:, :4]
    ours, theirs = corners or (Corners(table, np.zeros(table.shape), 0) for table in tables)
    doubts = [boxes.doubt() if lowest >= _LOW else np.full(len(boxes.rounded), np.inf) for boxes in (ours, theirs)]
    lost = [doubt > _LOST for doubt in doubts]
    error = _ROUNDING + 4 * sum(float(doubt.max(initial=0, where=~far)) for doubt, far in zip(doubts, lost))
    numbers = np.asarray(num_predictions, dtype=np.int64), np.asarray(num_references, dtype=np.int64)
    pairs = listed_pairs(predictions, references, *numbers, max(lowest, _LOW) - error)
    if any(boxes.any() for boxes in lost):
        lost = [np.broadcast_to(boxes, len(table)) for boxes, table in zip(lost, tables)]
        pairs = pairs.take(~(lost[0][pairs.rows] | lost[1][pairs.columns]))
        rows, columns = _pairs_of_lost(tables, lost, *objects_of_rows(*numbers))
        exact, place = exact_ious(ours, theirs, rows, columns)
        ious = np.asarray([float(iou) for iou in exact])[place]
        pairs = Pairs(*map(np.append, pairs, (rows, columns, ious, ious)))
    return Overlaps(pairs, np.repeat(np.arange(len(numbers[0])), numbers[0])[pairs.rows], error, (ours, theirs))


def _pairs_of_lost(
    tables: Sequence[np.ndarray], lost: Sequence[np.ndarray], counts: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """List all pairs with a lost box that may overlap."""
    before = np.concatenate([[0], np.cumsum(lost[1])])
    some = np.flatnonzero(lost[0] | (before[starts + counts] > before[starts]))  # or with a lost object in their image
    parts = []
    for part in np.split(some, cuts_of_pairs(counts[some])[1:-1]):
        rows, columns = all_pairs(part, counts[part], starts[part])
        with_lost = lost[0][rows] | lost[1][columns]
        rows, columns = rows[with_lost], columns[with_lost]
        for near, far in ((0, 2), (1, 3)):
            start = np.maximum(tables[0][rows, near], tables[1][columns, near])
            stop = np.minimum(tables[0][rows, far], tables[1][columns, far])
            overlap = start <= stop + 2 * np.spacing(np.abs(stop))  # neither is off by as much as one unit
            rows, columns = rows[overlap], columns[overlap]
        parts.append((rows, columns))
    rows, columns = (np.concatenate(column) for column in zip(*parts))
    return rows, columns


def _exact_ranks(pairs: Pairs, images: np.ndarray, error: float, ours: Corners, theirs: Corners) -> np.ndarray:
    """Rank the pairs of each image by their exact IoU; `error` bounds the error of each IoU in float64."""
    alone = (np.bincount(pairs.rows)[pairs.rows] == 1) & (np.bincount(pairs.columns)[pairs.columns] == 1)
    order = np.flatnonzero(~alone)
    if not (np.diff(sorted_copy(pairs.ious[order])) <= 2 * error).any():
        return pairs.ious
    order = order[np.argsort(pairs.ious[order])]
    close = np.diff(pairs.ious[order]) <= 2 * error
    ranks = np.zeros(len(pairs.rows), np.int64)
    ranks[order] = np.arange(len(order))
    some = order[_of_either(close)]
    some = some[np.lexsort((ranks[some], images[some]))]
    close = (np.diff(pairs.ious[some]) <= 2 * error) & (np.diff(images[some]) == 0)
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
