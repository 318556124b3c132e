"""Wilderness impact: how much unknown objects lower the precision of the known classes.

Dhamija et al. (2020) compare images of known objects with all images; Joseph et al. (OWOD, 2021) count the predictions
of known classes that lie on unknown objects.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .outcomes import FP_KNOWN, TP_KNOWN, Outcomes, ratio, reaching
from .voc import Curve

TENTHS = range(1, 10)  # recalls of WI(OWOD)


def wilderness_by_recall(curves: list[tuple[Curve, int]]) -> list[float]:
    """WI(OWOD) at recalls of 0.1 to 0.9, from the curve and the number of objects of each known class."""
    curves = [(curve, objects) for curve, objects in curves if objects and len(curve.tp)]
    impacts = []
    for tenths in TENTHS:
        places = [int(np.argmin(np.abs(10 * curve.tp - tenths * objects))) for curve, objects in curves]
        opened = sum(int(curve.open[i]) for (curve, _), i in zip(curves, places))
        counted = sum(int(curve.tp[i] + curve.fp[i]) for (curve, _), i in zip(curves, places))
        impacts.append(ratio(opened, counted))
    return impacts


def _known_only(found: Outcomes) -> np.ndarray:
    """Whether each image has no unknown object, ignored ones included."""
    boxes = found.boxes
    unknown = boxes.object_image[boxes.object_label == boxes.unknown_id]
    return np.bincount(unknown, minlength=len(boxes.num_predictions)) == 0


def closed_set_confidence(found: Outcomes, level: float) -> float:
    """The highest confidence at which the recall of known objects in images without unknown ones reaches a level."""
    boxes, known_only = found.boxes, _known_only(found)
    counted = ~boxes.ignored & known_only[boxes.object_image]
    total = int(np.sum(counted))
    if not total:
        raise ValueError(
            "recall_level: WI compares with images without unknown objects, and none of them has a known object; "
            "recall_level=None leaves WI out"
        )
    right = (found.outcome == TP_KNOWN) & known_only[boxes.image]
    descending = np.sort(boxes.predictions[right, 4])[::-1]
    reached = np.flatnonzero(np.arange(1, len(descending) + 1) / total >= level)
    if not len(reached):
        raise ValueError(
            f"recall_level: expected at most {len(descending)}/{total} = {len(descending) / total:.4g}, the highest "
            f"recall of known objects in images without unknown ones, got {level}; recall_level=None leaves WI out"
        )
    return float(descending[reached[0]])


def wilderness_above(found: Outcomes, thresholds: Sequence[float]) -> list[float]:
    """WI of the predictions that reach each threshold; 0.0 where a precision is 0/0, or 0 over all images."""
    boxes, known_only = found.boxes, _known_only(found)[found.boxes.image]
    confidence = boxes.predictions[:, 4]
    tp, fp = found.outcome == TP_KNOWN, found.outcome == FP_KNOWN
    masks = tp & known_only, fp & known_only, tp, fp
    impacts = []
    for closed_tp, closed_fp, all_tp, all_fp in zip(*(reaching(confidence[m], thresholds).tolist() for m in masks)):
        below = (closed_tp + closed_fp) * all_tp
        impacts.append(ratio(closed_tp * (all_tp + all_fp) - below, below))
    return impacts
