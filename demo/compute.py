"""Compute the eight metrics, loaded with evaluate, on the three data sets of the demo."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import evaluate

from demo.anomaly import Anomalies, find_anomalies
from demo.detection import Detections, detect_digits
from demo.digits import NUM_KNOWN, Digits, recognise_digits

METRICS = Path(__file__).resolve().parent.parent / "metrics"
KS = (1, 2, 3)
OOD_METRICS = ("auroc", "aupr_in", "aupr_out", "fpr95tpr", "detect_acc")


class Results(NamedTuple):
    """The results of each metric, the columns and options that they come of, and the data."""

    metrics: dict[str, dict[str, Any]]
    arguments: dict[str, tuple[dict[str, Any], dict[str, Any]]]
    digits: Digits
    anomalies: Anomalies
    detections: Detections


def compute() -> Results:
    """Train the models, make their predictions, and compute the eight metrics."""
    digits = recognise_digits()
    detections = detect_digits(digits)
    anomalies = find_anomalies()
    # one set of columns for all: a metric ignores columns that only its siblings use
    open_set = {"predictions": digits.logits, "references": digits.references, "open_scores": digits.open_scores}
    top_k = {"k_list": KS, "ignore_unknown": True}
    boxes = {"predictions": detections.predictions, "references": detections.references}
    arguments: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "accuracyk": (open_set, top_k),
        "autkc": (open_set, top_k),
        "macro_open_f": (open_set, {}),
        "micro_open_f": (open_set, {}),
        "openauc": (open_set, {}),
        "ood_bench": (
            {"predictions": digits.open_scores, "references": digits.is_unknown},
            {"metrics": OOD_METRICS},
        ),
        "openset_detection": (boxes, {"known_classes": [*range(NUM_KNOWN)]}),
        "anomaly_suite": ({"predictions": anomalies.maps, "references": anomalies.masks}, {}),
    }
    metrics = {
        name: evaluate.load(str(METRICS / name), module_type="metric", **options).compute(**columns)
        for name, (columns, options) in arguments.items()
    }
    return Results(metrics, arguments, digits, anomalies, detections)
