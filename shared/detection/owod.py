"""Open-world detection as papers report it: mAP, U-Recall, A-OSE and wilderness impact, matched as in Pascal VOC.

boxes → pairs that reach the IoU threshold → VOC matching: TP, FP or neither
      → counts at each distinct confidence, class by class → AP, WI(OWOD)
      → counts in all images and in those without unknown objects, at one confidence → WI
pairs of a known class's prediction and an unknown object → A-OSE
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..core.arrays import MAX_EXACT
from ..core.options import as_bool, as_fraction, as_int_list, as_reals
from .boxes import DetectionState
from .outcomes import (
    Outcomes,
    SelectedBoxes,
    counts_above,
    counts_by_class,
    counts_by_image,
    ratio,
    ratios,
    reaching,
    rows_of,
    select_boxes,
    total_counts,
)
from .overlap import Pairs
from .rules import Rules
from .voc import Curve, confidence_curve, voc_average_precision, voc_outcomes
from .wilderness import TENTHS, closed_set_confidence, wilderness_above, wilderness_by_recall


def owod_detection(
    state: DetectionState,
    rules: Rules,
    *,
    recall_level: float | None = 0.8,
    previously_known: Any = None,
    per_class: bool = False,
    per_image: bool = False,
    conf_list: Sequence[float] | None = None,
) -> dict[str, Any]:
    """The measures of open-world detection, and the tables that are asked for, from one matching.

    Within its class (all unknown objects are of one), a prediction points at the object of its image that it overlaps
    most. Below the IoU threshold it is FP, on an ignored object it counts nowhere; of the predictions that point at
    one object the most confident is TP, the others are FP. Predictions of other classes count nowhere.

    U-Recall = TP_unknown / total_unknown; 0.0 without unknown objects, as U-AP.
    U-AP, mAP: see `voc_average_precision`; mAP is the mean over the known classes that have objects, 0.0 if none has.
    WI = P_K / P_{K∪U} − 1: precision of the known classes over images without unknown objects, divided by that over
    all images, at the highest confidence at which the former reach `recall_level`, of all known objects in them.
    WI(OWOD) = Σ open / Σ (TP + FP) over the known classes, each at the confidence at which its recall is nearest to
    0.1 … 0.9 (of two the higher confidence); open counts predictions on unknown objects; 0/0 is 0.0.
    A-OSE is the number of unknown objects with which a prediction of a known class reaches the IoU threshold,
    A-OSE(detections) the number of such predictions: OWOD's code, and so the tables of papers, count these.

    Parameters: state of `reduce_boxes`; rules, of which matching and count_background have no use here; recall_level
    in (0, 1], None to leave WI out; previously_known, those of known_classes that earlier tasks knew; per_class and
    per_image add a table, conf_list "sweep": U-Recall, WI and A-OSE of the predictions that reach these confidences.
    Returns rates as floats, "WI(OWOD)" as a list of nine, counts as ints; tables as dicts of columns of one length.
    Raises ValueError where there is no WI: no known object in images without unknown ones, or recall_level not
    reached there.
    Sources: Dhamija et al., The Overlooked Elephant of Object Detection: Open Set, WACV 2020; Joseph et al., Towards
    Open World Object Detection, CVPR 2021, and its code.
    """
    boxes = select_boxes(state, rules)
    groups = _class_groups(boxes.known, previously_known)
    level = None if recall_level is None else as_fraction(recall_level, "recall_level")
    pairs = boxes.pairs()
    found = voc_outcomes(boxes, pairs)
    opened = _unknown_taken_for_known(boxes, pairs)

    counts, classes = total_counts(found), counts_by_class(found)
    curves = _class_curves(found, opened, classes["class"])
    classes["AP"] = [voc_average_precision(c.tp, c.fp, n) for c, n in zip(curves, classes["objects"])]
    is_known = [label in boxes.known for label in classes["class"]]
    by_recall = wilderness_by_recall([row for row, known in zip(zip(curves, classes["objects"]), is_known) if known])
    results: dict[str, Any] = (
        {} if level is None else {"WI": wilderness_above(found, [closed_set_confidence(found, level)])[0]}
    )
    results |= {
        "WI(OWOD)@0.8": by_recall[TENTHS.index(8)],
        "WI(OWOD)": by_recall,
        "A-OSE": len(opened.objects),
        "A-OSE(detections)": len(opened.rows),
        "U-Recall": ratio(counts["TP_unknown"], counts["total_unknown"]),
        "U-AP": classes["AP"][-1],
        **{name: _mean_ap(classes, group) for name, group in groups.items()},
        **counts,
    }
    if as_bool(per_class, "per_class"):
        rows = rows_of(boxes.predictions[opened.rows, 5], classes["class"])
        results["per_class"] = {**classes, "A-OSE(detections)": np.bincount(rows, minlength=len(is_known)).tolist()}
    if as_bool(per_image, "per_image"):
        results["per_image"] = _by_image(found, opened)
    if conf_list is not None:
        results["sweep"] = _sweep(found, opened, as_reals(conf_list, "conf_list"), level is not None)
    return results


class Opened(NamedTuple):
    """The predictions of known classes that reach the IoU threshold with an unknown object, and these objects.

    rows, objects: in the two tables, each once
    confidence: for each of the objects, the highest among its predictions
    """

    rows: np.ndarray
    objects: np.ndarray
    confidence: np.ndarray


def _unknown_taken_for_known(boxes: SelectedBoxes, pairs: Pairs) -> Opened:
    label, object_label = boxes.predictions[pairs.rows, 5], boxes.object_label[pairs.columns]
    pairs = pairs.take(np.isin(label, boxes.known) & (object_label == boxes.unknown_id) & ~boxes.ignored[pairs.columns])
    objects, place = np.unique(pairs.columns, return_inverse=True)
    highest = np.full(len(objects), -np.inf)
    np.maximum.at(highest, place, boxes.predictions[pairs.rows, 4])
    return Opened(np.unique(pairs.rows), objects, highest)


def _class_groups(known: list[int], previously_known: Any) -> dict[str, list[int]]:
    """The classes over which each mAP is a mean."""
    if previously_known is None:
        return {"mAP": known}
    previous = as_int_list(previously_known, "previously_known", -MAX_EXACT, MAX_EXACT)
    if not set(previous) < set(known):
        raise ValueError(f"previously_known: expected some, not all, of known_classes {known}, got {previous}")
    newly = [label for label in known if label not in previous]
    return {"mAP": known, "mAP(previously known)": previous, "mAP(newly known)": newly}


def _class_curves(found: Outcomes, opened: Opened, classes: list[int]) -> list[Curve]:
    on_unknown = np.zeros(len(found.outcome), dtype=bool)
    on_unknown[opened.rows] = True
    rows = rows_of(found.boxes.predictions[:, 5], classes)
    ends = np.cumsum(np.bincount(rows, minlength=len(classes)))
    members = np.split(np.argsort(rows, kind="stable"), ends[:-1])
    return [confidence_curve(found, on_unknown, part) for part in members]


def _mean_ap(classes: dict[str, list[Any]], group: list[int]) -> float:
    """Mean AP over those classes of a group that have objects."""
    rows = zip(classes["class"], classes["objects"], classes["AP"])
    aps = [ap for label, objects, ap in rows if label in group and objects]
    return math.fsum(aps) / len(aps) if aps else 0.0


def _by_image(found: Outcomes, opened: Opened) -> dict[str, list[Any]]:
    boxes = found.boxes
    counts = {name: column.tolist() for name, column in counts_by_image(found).items()}
    size = len(boxes.num_predictions)
    return {
        "image": [*range(size)],
        "A-OSE": np.bincount(boxes.object_image[opened.objects], minlength=size).tolist(),
        "A-OSE(detections)": np.bincount(boxes.image[opened.rows], minlength=size).tolist(),
        "U-Recall": [ratio(*row) for row in zip(counts["TP_unknown"], counts["total_unknown"])],
        **counts,
    }


def _sweep(found: Outcomes, opened: Opened, thresholds: list[float], with_wi: bool) -> dict[str, list[Any]]:
    above = counts_above(found, thresholds)
    confidence = found.boxes.predictions[opened.rows, 4]
    return {
        "confidence": thresholds,
        "U-Recall": ratios(above["TP_unknown"], above["total_unknown"]),
        **({"WI": wilderness_above(found, thresholds)} if with_wi else {}),
        "A-OSE": reaching(opened.confidence, thresholds).tolist(),
        "A-OSE(detections)": reaching(confidence, thresholds).tolist(),
    }
