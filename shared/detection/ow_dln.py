"""Open-set detection after OW-DLN's evaluation guide: what each matched box counts as, and the rates.

boxes → one-to-one matching, whatever the classes → an outcome for each prediction → counts → rates
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.options import as_bool, as_reals
from .boxes import DetectionState
from .counting import (
    CountColumns,
    as_rows,
    class_rows,
    counts_above,
    counts_by_class,
    counts_by_image,
    in_total,
    ratio,
    rows_of,
    tally,
)
from .matching import match_pairs
from .outcomes import BACKGROUND, FP_KNOWN, FP_UNKNOWN, NEITHER, TP_KNOWN, TP_UNKNOWN, Outcomes, select_boxes
from .rules import Rules


def openset_detection(
    state: DetectionState,
    rules: Rules,
    *,
    per_class: bool = False,
    per_image: bool = False,
    conf_list: Sequence[float] | None = None,
) -> dict[str, Any]:
    """Rates and counts of open-set detection, and the tables that are asked for, from one matching.

    Parameters: state of `reduce_boxes`; rules; per_class and per_image add a table, a dict of columns of one length;
    conf_list adds "sweep", a table of U-Recall, WI and A-OSE at these confidence thresholds, for which
    matching="confidence" is needed: by IoU, leaving out a box changes what others take.
    Returns `openset_detection_rates` and `count_openset_detections`, then "per_class", "per_image", "sweep".
    Raises ValueError for conf_list with matching="iou", and NaN in it.

    >>> from openworld_metrics import reduce_boxes
    >>> state = reduce_boxes([[[0, 0, 4, 4, 0.9, 1]]], [[[0, 0, 4, 4, 1], [6, 6, 9, 9, 5]]])
    >>> openset_detection(state, Rules(known_classes=[1]))["TP_known"]
    1
    """
    if conf_list is not None and rules.matching == "iou":
        raise ValueError(
            "conf_list: expected matching='confidence', where a prediction takes nothing from a more confident one; "
            "got matching='iou', where each threshold needs a matching of its own"
        )
    found = openset_outcomes(state, rules)
    by_image = counts_by_image(found)
    results: dict[str, Any] = openset_summary(by_image, found.boxes.counts)
    if as_bool(per_class, "per_class"):
        results["per_class"] = _by_class(found)
    if as_bool(per_image, "per_image"):
        images = as_rows(by_image, found.boxes.counts)
        results["per_image"] = {"image": [*range(len(images["total_known"]))], **_with_rates(images)}
    if conf_list is not None:
        thresholds = as_reals(conf_list, "conf_list")
        above = _with_rates(counts_above(found, results, thresholds))
        results["sweep"] = {"confidence": thresholds, **{name: above[name] for name in ("U-Recall", "WI", "A-OSE")}}
    return results


def openset_summary(by_image: CountColumns, counts: np.ndarray) -> dict[str, Any]:
    """Rates and counts where each image, of which there are the eight counts, counts so often."""
    totals = in_total(by_image, counts)
    return {**openset_detection_rates(totals), **totals}


def count_openset_detections(state: DetectionState, rules: Rules) -> dict[str, int]:
    """Count right and wrong detections of known and of unknown objects.

    A reference is known if its class is among the rules' `known_classes`, else unknown; a prediction says "unknown" if
    its class is `unknown_class_id`, else it says a known class. Predictions below `conf_threshold` are left out, the
    rest are matched by `match_boxes`.

    matched to →          known object                      unknown object
    its class             TP_known                          –
    another known class   FP_known, FN_known                FP_known, FN_unknown
    "unknown"             FP_unknown, FN_known              TP_unknown

    Unmatched objects are FN of their kind. Unmatched predictions are FP_known, or if they say "unknown", nothing,
    unless `count_background` makes them FP_unknown.

    Ignored objects count nowhere. They are not matched either: a prediction that is left unmatched and reaches the
    IoU threshold with one is left out of all counts, however many such predictions there are, as COCO does for crowds.

    Parameters: state of `reduce_boxes`; rules. Returns the counts TP, FP, FN and total, each _known and _unknown.
    Source: the evaluation guide of OW-DLN; `count_background` follows its code.
    """
    found = openset_outcomes(state, rules)
    return in_total(counts_by_image(found), found.boxes.counts)


def openset_outcomes(state: DetectionState, rules: Rules) -> Outcomes:
    """What each confident prediction counts as; see `count_openset_detections`."""
    boxes = select_boxes(state, rules)
    pairs = boxes.pairs()
    to_ignored = boxes.ignored[pairs.columns]
    pairs_matched = match_pairs(pairs.take(~to_ignored), boxes.predictions, boxes.references, rules.matching)
    matched = np.full(len(boxes.predictions), -1)
    matched[pairs_matched.rows] = pairs_matched.columns

    label = boxes.predictions[:, 5]
    says_unknown = label == boxes.unknown_id
    outcome = np.full(len(label), FP_KNOWN)
    outcome[says_unknown] = FP_UNKNOWN if rules.count_background else BACKGROUND
    outcome[pairs.rows[to_ignored]] = NEITHER
    rows, called = pairs_matched.rows, boxes.object_label[pairs_matched.columns]
    right, unknown_said = label[rows] == called, says_unknown[rows]
    outcome[rows] = np.where(unknown_said, np.where(right, TP_UNKNOWN, FP_UNKNOWN), np.where(right, TP_KNOWN, FP_KNOWN))
    return Outcomes(boxes, outcome, matched)


def openset_detection_rates(counts: Mapping[str, int]) -> dict[str, float]:
    """The rates of open-set detection; 0/0 is 0.

    U-Recall = TP_unknown / total_unknown                              in [0, 1], higher is better
    WI = FP_unknown / total_known                                      lower is better
    A-OSE = (FP_known + FN_known + FP_unknown + FN_unknown) / total    lower is better
    Precision(Known) = TP_known / (TP_known + FP_known),  Recall(Known) = TP_known / total_known

    Parameters: counts of `count_openset_detections`. Source: the evaluation guide of OW-DLN.

    >>> counts = {"TP_known": 3, "FP_known": 1, "FN_known": 1, "total_known": 4}
    >>> counts |= {"TP_unknown": 1, "FP_unknown": 1, "FN_unknown": 1, "total_unknown": 2}
    >>> openset_detection_rates(counts)["U-Recall"], openset_detection_rates(counts)["WI"]
    (0.5, 0.25)
    """
    errors = sum(counts[name] for name in ("FP_known", "FN_known", "FP_unknown", "FN_unknown"))
    return {
        "U-Recall": ratio(counts["TP_unknown"], counts["total_unknown"]),
        "WI": ratio(counts["FP_unknown"], counts["total_known"]),
        "A-OSE": ratio(errors, counts["total_known"] + counts["total_unknown"]),
        "Precision(Known)": ratio(counts["TP_known"], counts["TP_known"] + counts["FP_known"]),
        "Recall(Known)": ratio(counts["TP_known"], counts["total_known"]),
    }


def _by_class(found: Outcomes) -> dict[str, list[Any]]:
    """The table by class, with how many of its objects were called unknown."""
    boxes, classes = found.boxes, class_rows(found.boxes)
    called = found.matched[(found.matched >= 0) & np.isin(found.outcome, (TP_UNKNOWN, FP_UNKNOWN))]
    rows, weights = rows_of(boxes.object_label[called], classes), boxes.counts[boxes.object_image[called]]
    return {**counts_by_class(found, classes), "called unknown": tally(rows, weights, len(classes)).tolist()}


def _with_rates(counts: CountColumns) -> dict[str, list[Any]]:
    """Columns of counts as lists, after the rates of each row."""
    columns = {name: column.tolist() for name, column in counts.items()}
    rows = [openset_detection_rates(dict(zip(columns, row))) for row in zip(*columns.values())]
    rates = openset_detection_rates(dict.fromkeys(columns, 0))
    return {**{name: [row[name] for row in rows] for name in rates}, **columns}
