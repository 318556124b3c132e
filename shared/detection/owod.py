"""Open-world detection as papers report it: mAP, U-Recall, A-OSE and wilderness impact, matched as in Pascal VOC.

counts at each distinct confidence, class by class → AP, WI(OWOD)
counts in all images and in those without unknown objects, at one confidence → WI
pairs of a known class's prediction and an unknown object → A-OSE
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.arrays import MAX_EXACT
from ..arrays.options import as_bool, as_fraction, as_int_list, as_reals
from .boxes import DetectionState
from .counting import (
    as_rows,
    counts_above,
    counts_by_class,
    in_total,
    ranked,
    ratio,
    ratios,
    rows_of,
    tally,
)
from .owod_matches import ClassPrecisions, OwodMatches, class_precisions, match_owod
from .rules import Rules
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
    level, groups = owod_options(rules, recall_level, previously_known)
    matches = match_owod(state, rules, with_wi=level is not None)
    counts = matches.found.boxes.counts
    precisions = class_precisions(matches, counts)
    results = owod_summary(matches, precisions, counts, level, groups)
    if as_bool(per_class, "per_class"):
        results["per_class"] = _owod_by_class(matches, precisions)
    if as_bool(per_image, "per_image"):
        results["per_image"] = _owod_by_image(matches)
    if conf_list is not None:
        results["sweep"] = _owod_sweep(matches, results, as_reals(conf_list, "conf_list"))
    return results


def owod_summary(
    matches: OwodMatches,
    precisions: ClassPrecisions,
    counts: np.ndarray,
    level: float | None,
    groups: Mapping[str, Sequence[int]],
) -> dict[str, Any]:
    """The measures without tables where each image counts so often; level and groups are checked."""
    totals = in_total(matches.by_image, counts)
    curves, objects, aps = precisions
    known = [row for row, label in enumerate(matches.classes[:-1]) if label in groups["mAP"]]
    by_recall = wilderness_by_recall([(curves[row], objects[row]) for row in known])
    impact: dict[str, Any] = {}
    if level is not None and matches.closed is not None:
        confidence = closed_set_confidence(matches.closed, counts, level)
        impact["WI"] = wilderness_above(matches.closed, counts, [confidence])[0]
    return {
        **impact,
        "WI(OWOD)@0.8": by_recall[TENTHS.index(8)],
        "WI(OWOD)": by_recall,
        "A-OSE": totals.pop("A-OSE"),
        "A-OSE(detections)": totals.pop("A-OSE(detections)"),
        "U-Recall": ratio(totals["TP_unknown"], totals["total_unknown"]),
        "U-AP": aps[-1],
        **{name: _mean_ap(matches.classes, objects, aps, group) for name, group in groups.items()},
        **totals,
    }


def owod_options(
    rules: Rules, recall_level: float | None, previously_known: Any
) -> tuple[float | None, dict[str, list[int]]]:
    """Check the level of WI, and the classes over which each mAP is a mean."""
    groups = _class_groups(rules.known, previously_known)
    return None if recall_level is None else as_fraction(recall_level, "recall_level"), groups


def _class_groups(known: list[int], previously_known: Any) -> dict[str, list[int]]:
    """The classes over which each mAP is a mean."""
    if previously_known is None:
        return {"mAP": known}
    previous = as_int_list(previously_known, "previously_known", -MAX_EXACT, MAX_EXACT)
    if not set(previous) < set(known):
        raise ValueError(f"previously_known: expected some, not all, of known_classes {known}, got {previous}")
    newly = [label for label in known if label not in previous]
    return {"mAP": known, "mAP(previously known)": previous, "mAP(newly known)": newly}


def _mean_ap(classes: list[int], objects: list[int], aps: list[float], group: Sequence[int]) -> float:
    """Mean AP over those classes of a group that have objects."""
    some = [ap for label, number, ap in zip(classes, objects, aps) if label in group and number]
    return math.fsum(some) / len(some) if some else 0.0


def _owod_by_class(matches: OwodMatches, precisions: ClassPrecisions) -> dict[str, list[Any]]:
    boxes, opened = matches.found.boxes, matches.opened.rows
    rows = rows_of(boxes.predictions[opened, 5], matches.classes)
    return {
        **counts_by_class(matches.found, matches.classes),
        "AP": precisions.aps,
        "A-OSE(detections)": tally(rows, boxes.counts[boxes.image[opened]], len(matches.classes)).tolist(),
    }


def _owod_by_image(matches: OwodMatches) -> dict[str, list[Any]]:
    rows = {name: column.tolist() for name, column in as_rows(matches.by_image, matches.found.boxes.counts).items()}
    return {
        "image": [*range(len(rows["A-OSE"]))],
        "A-OSE": rows.pop("A-OSE"),
        "A-OSE(detections)": rows.pop("A-OSE(detections)"),
        "U-Recall": [ratio(*row) for row in zip(rows["TP_unknown"], rows["total_unknown"])],
        **rows,
    }


def _owod_sweep(matches: OwodMatches, results: Mapping[str, Any], thresholds: list[float]) -> dict[str, list[Any]]:
    boxes, opened = matches.found.boxes, matches.opened
    above = counts_above(matches.found, results, thresholds)
    objects = ranked(opened.confidence, boxes.object_image[opened.objects])
    rows = ranked(boxes.predictions[opened.rows, 4], boxes.image[opened.rows])
    return {
        "confidence": thresholds,
        "U-Recall": ratios(above["TP_unknown"], above["total_unknown"]),
        **({"WI": wilderness_above(matches.closed, boxes.counts, thresholds)} if matches.closed else {}),
        "A-OSE": objects.reaching(thresholds, boxes.counts).tolist(),
        "A-OSE(detections)": rows.reaching(thresholds, boxes.counts).tolist(),
    }
