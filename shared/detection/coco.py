"""COCO's averages of the known classes: mAP, precision and recall, computed exactly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from ..arrays.checks import as_int
from .boxes import DetectionState
from .curves import CountedClasses, RankedClasses, interpolated_average_precision, mean_of
from .matching import coco_outcomes
from .openset_detection import OpenSetDetection
from .outcomes import Outcome, select_boxes

COCO_LIMIT = 100  # predictions of an image and class
STANDARD = ("mAP50", "mAP50-95", "precision", "recall")
_STEPS = 100  # of recall
_ROUNDING = 2.0**-51  # above the error of the difference of two sums of shares, relative to the square of their number


def coco_averages(
    predictions: Any,
    references: Any,
    known_classes: Sequence[int],
    *,
    conf_threshold: float = OpenSetDetection.conf_threshold,
    max_detections: int | None = None,
) -> dict[str, float]:
    """Mean average precision, precision and recall of the known classes, by COCO's protocol.

    Objects of other classes, and predictions called "unknown", are left out. Ignored objects are treated like COCO's
    crowds: a box on one is neither a TP nor an FP. Boxes match as in `coco_outcomes`. IoUs, recalls and confidences are
    compared exactly, and equal confidences are one step of the curve, so that nothing depends on the order of images or
    boxes; a detector without an error has 1.0.

    Parameters: predictions and references, boxes of each image, as of `OpenSetDetection.reduce`; known_classes, ids;
    conf_threshold, predictions with a lower confidence are left out; max_detections, the number of the most confident
    predictions of each image and class that count, 100 in COCO; None for all.

    Returns means over the known classes that have objects, in [0, 1], higher is better; nothing if no class has any,
    where COCO's code returns −1: mAP50, the average precision at 101 recalls and an IoU of 0.5; mAP50-95, averaged over
    IoUs of 0.5, 0.55, … 0.95; precision and recall at an IoU of 0.5 and the confidence with the highest mean F1, 0.0 of
    a class without predictions.

    Source: Lin et al., Microsoft COCO, ECCV 2014. Precision and recall at the highest F1 are what Ultralytics
    reports, there smoothed.
    """
    state = OpenSetDetection(known_classes=[*known_classes]).reduce(predictions, references)
    limits: dict[str, Any] = {"conf_threshold": conf_threshold, "max_detections": max_detections}
    return coco_averages_of_state(state, known_classes, **limits)


def coco_averages_of_state(
    state: DetectionState,
    known_classes: Sequence[int],
    *,
    conf_threshold: float = OpenSetDetection.conf_threshold,
    max_detections: int | None = None,
) -> dict[str, float]:
    """Compute `coco_averages` of a state of `OpenSetDetection`."""
    if max_detections is not None:
        max_detections = as_int(max_detections, "max_detections", 1)
    known = [*known_classes]
    # an id that is no class's: what a prediction calls unknown is left out, whatever its id
    unknown_id = min([0, *known]) - 1
    metric = OpenSetDetection(known_classes=known, unknown_class_id=unknown_id, conf_threshold=conf_threshold)
    boxes = select_boxes(state, metric)
    rows = [row for row, label in enumerate(boxes.classes) if label in known]
    if not np.isin(boxes.object_rows[~boxes.ignored], rows).any():
        return {}
    nothing, average_precision = np.zeros(0, np.int64), partial(interpolated_average_precision, steps=_STEPS)
    at_ious = [
        RankedClasses.of(outcomes, nothing, average_precision).where(boxes.counts)
        for outcomes in coco_outcomes(boxes, max_detections)
    ]
    over_ious = mean_of([classes.aps[row] for classes in at_ious for row in rows if classes.objects[row]])
    return dict(zip(STANDARD, (at_ious[0].mean_ap(rows), over_ious, *_at_highest_f1(at_ious[0], rows))))


def _at_highest_f1(classes: CountedClasses, rows: Sequence[int]) -> tuple[float, float]:
    """Mean precision and recall at the confidence with the highest mean F1, of several the highest.

    F1 = 2 TP / (predictions + objects). Only the confidences of TPs are compared: no others raise it.
    """
    outcomes, ranked = classes.classes.outcomes, classes.classes.ranked
    confidences = np.unique(outcomes.boxes.confidence[outcomes.outcome == Outcome.TP_KNOWN])[::-1]
    rows, total = [row for row in rows if classes.objects[row]], np.zeros(len(confidences))
    if not len(confidences):
        return 0.0, 0.0
    for row in rows:
        tp, fp = ranked[row].reaching(confidences)
        total += 2 * tp / (tp + fp + classes.objects[row])
    near = confidences[total >= total.max() - _ROUNDING * len(rows) ** 2]
    reached = np.asarray([each.reaching(near) for each in ranked])  # class × (TP, FP) × confidence
    sums = [
        sum((Fraction(2 * tp, tp + fp + classes.objects[row]) for row, (tp, fp) in zip(rows, counts)), Fraction())
        for counts in reached[rows].transpose(2, 0, 1).tolist()
    ]
    right, wrong = reached[:, :, sums.index(max(sums))].T.tolist()
    predicted = [tp + fp for tp, fp in zip(right, wrong)]
    return classes.mean_ratio(right, predicted, rows), classes.mean_ratio(right, classes.objects, rows)
