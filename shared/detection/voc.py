"""Pascal VOC's matching of detections, class by class.

A prediction points at the object of its class that it overlaps most, and matches no other object if that one is taken.
So no loop is needed: of the predictions that point at one object, the most confident is the TP. The counts of all
predictions that reach a confidence then depend on no order, and each distinct confidence is a threshold.
"""

from __future__ import annotations

import numpy as np

from .matching import first_of_each, rank_pairs
from .outcomes import FP_KNOWN, FP_UNKNOWN, LEFT_OUT_CLASS, ON_IGNORED, TP_KNOWN, TP_UNKNOWN, Outcomes, SelectedBoxes
from .pairs import Pairs


def voc_outcomes(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
    """Outcomes of predictions within their classes; all unknown objects are of one class.

    A prediction on an ignored object is not counted. Of equal IoUs, an object that is not ignored comes first, then
    smaller class and coordinates; of equally confident predictions on one object, the one with the higher IoU, then
    smaller coordinates. Predictions of a class that is neither known nor the unknown id are not counted.
    """
    pairs = pairs.take(boxes.rows[pairs.rows] == boxes.object_rows[pairs.columns])
    keys = [boxes.ignored[pairs.columns], -pairs.ranks, pairs.rows]
    pairs = pairs.take(rank_pairs(pairs, boxes.predictions, boxes.references, keys))
    pointing = pairs.take(first_of_each(pairs.rows))
    to_ignored = boxes.ignored[pointing.columns]
    taking = pointing.take(~to_ignored)
    keys = [-taking.ranks, -boxes.confidence[taking.rows], taking.columns]
    taking = taking.take(rank_pairs(taking, boxes.predictions, boxes.references, keys))
    taking = taking.take(first_of_each(taking.columns))

    of_class = np.where(np.isin(boxes.classes, boxes.known), FP_KNOWN, LEFT_OUT_CLASS).astype(np.int8)
    of_class[-1] = FP_UNKNOWN
    outcome = of_class[boxes.rows]
    says_unknown = outcome[taking.rows] == FP_UNKNOWN
    outcome[pointing.rows[to_ignored]] = ON_IGNORED
    outcome[taking.rows] = np.where(says_unknown, TP_UNKNOWN, TP_KNOWN)
    matched = np.full(len(outcome), -1)
    matched[taking.rows] = taking.columns
    return Outcomes(boxes, outcome, matched)
