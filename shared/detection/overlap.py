"""Which pairs of boxes reach an IoU, decided exactly for the numbers that were given.

The IoU of each pair is computed in float64. Its error is bounded, so only the few pairs that lie as close to a
threshold as that bound are decided again, in fractions.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays.options import as_fraction
from .corners import Corners, exact_ious
from .pairs import Pairs, all_pairs, listed_pairs, objects_of_rows

_ROUNDING = 2.0**-46  # bound on the error of an IoU of exact corners, whose sums and products are some 16 roundings
_LOST = 2.0**-20  # corners that are no more exact than this, in parts of a side, say nothing


class Overlaps(NamedTuple):
    """Pairs of boxes that may reach a lowest IoU, from which any higher one is decided exactly.

    pairs: with their IoU in float64
    doubt: (P,) by how much each of these may be off; infinite where corners are lost in rounding
    corners: those of predictions and of objects, exactly
    """

    pairs: Pairs
    doubt: np.ndarray
    corners: tuple[Corners, Corners]

    def compared(self, threshold: Fraction | float) -> tuple[np.ndarray, np.ndarray]:
        """Compare the IoU of each pair with a threshold, exactly.

        Returns two arrays (P,): the sign of IoU − threshold, and the IoU, correctly rounded where it is close to it.
        """
        signs = np.sign(self.pairs.ious - float(threshold)).astype(np.int64)
        ious, near = self.pairs.ious.copy(), np.abs(self.pairs.ious - float(threshold)) <= self.doubt
        exact, place = exact_ious(*self.corners, self.pairs.rows[near], self.pairs.columns[near])
        beside = [(iou > Fraction(threshold)) - (iou < Fraction(threshold)) for iou in exact]
        signs[near] = np.asarray(beside, dtype=np.int64)[place]
        ious[near] = np.asarray([float(iou) for iou in exact])[place]
        return signs, ious

    def take(self, which: np.ndarray) -> Overlaps:
        """Some of the pairs, by a mask or by their places."""
        return Overlaps(self.pairs.take(which), self.doubt[which], self.corners)

    def reaching(self, threshold: Fraction | float) -> Pairs:
        """The pairs whose IoU is at least the threshold."""
        signs, ious = self.compared(threshold)
        return self.pairs._replace(ious=ious).take(signs >= 0)


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
    doubts = ours.doubt(), theirs.doubt()
    most = sum(float(doubt.max(initial=0, where=doubt <= _LOST)) for doubt in doubts)
    numbers = np.asarray(num_predictions, dtype=np.int64), np.asarray(num_references, dtype=np.int64)
    pairs = listed_pairs(predictions, references, *numbers, lowest - _ROUNDING - 4 * most)
    if any((doubt > _LOST).any() for doubt in doubts):
        pairs = _with_lost(pairs, doubts, *objects_of_rows(*numbers))
    doubt = _ROUNDING + 4 * (doubts[0][pairs.rows] + doubts[1][pairs.columns])
    doubt[doubt > 4 * _LOST] = np.inf
    return Overlaps(pairs, doubt, (ours, theirs))


def _with_lost(pairs: Pairs, doubts: tuple[np.ndarray, np.ndarray], counts: np.ndarray, starts: np.ndarray) -> Pairs:
    """Add all pairs of boxes whose corners are lost in rounding, such as one of width 1 at 1e16; they are few."""
    ours, theirs = (doubt > _LOST for doubt in doubts)
    before = np.concatenate([[0], np.cumsum(theirs)])
    some = np.flatnonzero(ours | (before[starts + counts] > before[starts]))  # or with such an object in their image
    rows, columns = all_pairs(some, counts[some], starts[some])
    lost = ours[rows] | theirs[columns]
    kept = pairs.take(~(ours[pairs.rows] | theirs[pairs.columns]))
    both = (kept.rows, rows[lost]), (kept.columns, columns[lost]), (kept.ious, np.zeros(int(lost.sum())))
    return Pairs(*map(np.concatenate, both))
