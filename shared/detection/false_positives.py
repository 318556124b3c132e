"""Kinds of false positives, in the order of TIDE, separately for known and unknown objects.

boxes at IoU ≥ 1/10 → pairs of a false positive and an object that counts → the best object of its class, and of others
      → the kind of each false positive, and the object that it should have taken
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from .matching import first_pairs
from .outcomes import BACKGROUND, FP_KNOWN, FP_UNKNOWN, IS_WRONG, OUTCOMES, Outcomes
from .overlap import Overlaps
from .pairs import Pairs

NEARBY = Fraction(1, 10)  # boxes that overlap less have nothing to do with each other
FALSE_POSITIVES = (
    "badly placed",
    "known called another known",
    "known called unknown",
    "unknown called known",
    "duplicate",
    "background called known",
    "background called unknown",
    "both, known called another known",
    "both, known called unknown",
    "both, unknown called known",
)
# the first place of each; kinds before DUPLICATE concern an object that the prediction should have taken
BADLY_PLACED, MISNAMED, DUPLICATE, BACKGROUND_CALLED, BOTH = 0, 1, 4, 5, 7
_KIND_ON_BACKGROUND = np.full(len(OUTCOMES), -1, np.int8)  # by the outcome; −1 unless it is wrong
_KIND_ON_BACKGROUND[FP_KNOWN] = BACKGROUND_CALLED
_KIND_ON_BACKGROUND[[FP_UNKNOWN, BACKGROUND]] = BACKGROUND_CALLED + 1


class FalseOverlaps(NamedTuple):
    """Pairs of a false positive and an object that is not ignored, at an IoU of at least 1/10.

    pairs: ranked by their IoU
    same: whether the prediction says the object's class; all unknown objects are of one
    reached: whether the IoU reaches the threshold of the rules
    above: whether it is more than 1/10
    """

    pairs: Pairs
    same: np.ndarray
    reached: np.ndarray
    above: np.ndarray

    def take(self, which: np.ndarray) -> FalseOverlaps:
        """Some of the pairs, by a mask or by their places."""
        return FalseOverlaps(self.pairs.take(which), self.same[which], self.reached[which], self.above[which])


def is_false_positive(outcomes: Outcomes) -> np.ndarray:
    """Whether each prediction is wrong; "unknown" without an object is, whether or not the protocol counts it."""
    return IS_WRONG[outcomes.outcome]


def false_overlaps(outcomes: Outcomes, overlaps: Overlaps) -> FalseOverlaps:
    """The pairs of false positives among overlaps, compared with the two thresholds exactly."""
    boxes, pairs = outcomes.boxes, overlaps.pairs
    overlaps = overlaps.take(is_false_positive(outcomes)[pairs.rows] & ~boxes.ignored[pairs.columns])
    nearby, _ = overlaps.compared(NEARBY)
    if (nearby < 0).any():
        overlaps, nearby = overlaps.take(nearby >= 0), nearby[nearby >= 0]
    reached, _ = overlaps.compared(boxes.rules.iou_threshold)
    pairs = overlaps.ranked()
    same = boxes.label[pairs.rows] == boxes.object_label[pairs.columns]
    return FalseOverlaps(pairs, same, reached >= 0, nearby > 0)


def kinds_of_false_positives(outcomes: Outcomes, beside: FalseOverlaps) -> tuple[np.ndarray, np.ndarray]:
    """The kind of each false positive, −1 for other predictions, and the object that it concerns, or −1.

    The first kind that applies, where t is the IoU threshold:

    badly placed: 1/10 ≤ IoU < t with the object of its class that it overlaps most
    misnamed: IoU ≥ t with the object of another class that it overlaps most
    duplicate: IoU ≥ t with an object of its class
    background: IoU ≤ 1/10 with each object
    both badly placed and misnamed: all others; it is about the object of another class that it overlaps most

    Misnamed and both have a kind for each side of the two classes, background one for each side of the predicted class.
    Of equal IoUs the object with the smaller class and coordinates counts.

    Returns two arrays (n,), places in `FALSE_POSITIVES` and rows of objects.
    Source: Bolya et al., TIDE: A General Toolbox for Identifying Object Detection Errors, ECCV 2020.
    """
    boxes = outcomes.boxes
    own, other = (_best(outcomes, beside, np.flatnonzero(which)) for which in (beside.same, ~beside.same))
    says_unknown = boxes.label[other.pairs.rows] == boxes.unknown_id
    is_unknown = boxes.object_label[other.pairs.columns] == boxes.unknown_id
    sides = np.where(says_unknown, 1, np.where(is_unknown, 2, 0))
    kind = _KIND_ON_BACKGROUND[outcomes.outcome]
    about = np.full(len(kind), -1)
    # the first kind that applies is set last
    for best, which, kinds in (
        (other, other.above, BOTH + sides),
        (own, own.reached, np.full(len(own.reached), DUPLICATE)),
        (other, other.reached, MISNAMED + sides),
        (own, ~own.reached, np.full(len(own.reached), BADLY_PLACED)),
    ):
        rows = best.pairs.rows[which]
        kind[rows], about[rows] = kinds[which], best.pairs.columns[which]
    return kind, about


def _best(outcomes: Outcomes, beside: FalseOverlaps, places: np.ndarray) -> FalseOverlaps:
    """Keep of some pairs each prediction's pair with the object that it overlaps most."""
    boxes, pairs = outcomes.boxes, beside.pairs
    return beside.take(first_pairs(pairs, places, pairs.rows, boxes.predictions, boxes.references, [-pairs.ranks]))
