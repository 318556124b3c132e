"""The results as text: a line for each data set, and a table of all numbers with their meanings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from demo.compute import Results
from openworld_metrics import AnomalySuite

# metric → key → (direction that is better, meaning)
_MEANING = {
    "accuracyk": {
        "accuracy@1": ("higher", "known digits whose true class scores highest"),
        "accuracy@2": ("higher", "... is among the 2 highest"),
        "accuracy@3": ("higher", "... is among the 3 highest"),
    },
    "autkc": {
        "autkc@1": ("higher", "equal to accuracy@1"),
        "autkc@2": ("higher", "mean of accuracy@1 and @2"),
        "autkc@3": ("higher", "mean of accuracy@1, @2 and @3"),
    },
    "macro_open_f": {
        "macro_open_f": ("higher", "best F, precision and recall averaged over classes"),
        "macro_open_f_threshold": ("", "... when digits that score above this are rejected"),
    },
    "micro_open_f": {
        "micro_open_f": ("higher", "best F, counts pooled over classes"),
        "micro_open_f_threshold": ("", "... when digits that score above this are rejected"),
    },
    "openauc": {
        "openauc": ("higher", "chance: known digit right and below an unknown one"),
        "closed_set_accuracy": ("higher", "known digits classified correctly"),
        "open_set_auroc": ("higher", "chance: unknown digit above a known one"),
        "open_set_accuracy@tpr95": ("higher", "known told from unknown where 95 % of unknown are found"),
    },
    "ood_bench": {
        "auroc": ("higher", "chance: unknown digit above a known one"),
        "aupr_in": ("higher", "average precision of finding known digits"),
        "aupr_out": ("higher", "average precision of finding unknown digits"),
        "fpr95tpr": ("lower", "known digits rejected where 95 % of unknown are"),
        "detect_acc": ("higher", "known told from unknown at the best threshold"),
    },
    "openset_detection": {
        "U-Recall": ("higher", "unknown objects found and called unknown"),
        "WI": ("lower", "known objects called unknown, per known object"),
        "A-OSE": ("lower", "all errors, per object"),
        "Precision(Known)": ("higher", "boxes with a known class that are right"),
        "Recall(Known)": ("higher", "known objects found with their class"),
        "TP_known": ("higher", "known objects with the right class"),
        "FP_known": ("lower", "boxes with a known class that are wrong"),
        "FN_known": ("lower", "known objects missed or misnamed"),
        "TP_unknown": ("higher", "unknown objects called unknown"),
        "FP_unknown": ("lower", "known objects called unknown"),
        "FN_unknown": ("lower", "unknown objects missed or given a known class"),
        "total_known": ("", "known objects"),
        "total_unknown": ("", "unknown objects"),
    },
    "anomaly_suite": {
        f"{level}_{key}": (better, meaning.format(level))
        for level in ("image", "pixel")
        for key, better, meaning in (
            ("auroc", "higher", "chance: anomalous {0} above a normal one"),
            ("ap", "higher", "average precision of finding anomalous {0}s"),
            ("aupr", "higher", "the same area by trapezoids"),
            ("f1_max", "higher", "best F1 of {0}s over all thresholds"),
            ("f1_max_threshold", "", "... when {0}s that score above this are found"),
        )
    }
    | {"pixel_iou_max": ("higher", "best IoU of the pixels over all thresholds")}
    | {
        f"aupro@{limit}": ("higher", f"mean overlap of the defects, FPR up to {limit}")
        for limit in ("0.3", "0.1", "0.05", "0.01")
    },
}


def table(metrics: Mapping[str, Mapping[str, Any]]) -> str:
    """A line for each number: metric, key, value, better direction, meaning."""
    rows = [("metric", "key", "value", "better", "meaning")]
    for name, results in metrics.items():
        for i, (key, value) in enumerate(results.items()):
            text = str(value) if isinstance(value, int) else f"{value:.4f}"
            rows.append(("" if i else name, key, text, *_MEANING[name][key]))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    lines = [
        f"{row[0]:{widths[0]}}  {row[1]:{widths[1]}}  {row[2]:>{widths[2]}}  {row[3]:{widths[3]}}  {row[4]}"
        for row in rows
    ]
    return "\n".join([lines[0], "-" * max(map(len, lines)), *lines[1:]])


def describe(results: Results) -> str:
    """A line on the size of each data set."""
    digits, anomalies, detections = results.digits, results.anomalies, results.detections
    unknown = int(np.sum(digits.is_unknown))
    regions = len(AnomalySuite().reduce(anomalies.maps, anomalies.masks)["region_sizes"])
    defective = int(np.sum(anomalies.masks.any(axis=(1, 2))))
    true, predicted = (sum(map(len, boxes)) for boxes in (detections.references, detections.predictions))
    height, width = detections.canvases.shape[1:]
    return (
        f"digits:      {digits.num_training} train; {len(digits.images) - unknown} known (0-5) and {unknown} unknown "
        "(6-9) test; open-set score = -(largest logit)\n"
        f"detection:   {len(detections.canvases)} canvases of {width} x {height} with {true} test digits; "
        f"{predicted} boxes found; unknown if score > {digits.rejection:.4f}\n"
        f"photographs: {anomalies.num_training} train tiles of 60 x 60; {len(anomalies.tiles)} test tiles, {defective} "
        f"with {regions} defects on {anomalies.masks.mean():.1%} of the pixels"
    )
