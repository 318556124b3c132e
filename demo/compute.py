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
    """The results of each metric, with their data."""

    metrics: dict[str, dict[str, Any]]
    digits: Digits
    anomalies: Anomalies
    detections: Detections


def load(name: str, **options: Any) -> Any:
    """Load a metric of this checkout, from any working directory."""
    return evaluate.load(str(METRICS / name), module_type="metric", **options)


def compute() -> Results:
    """Train the models, make their predictions, and compute the eight metrics."""
    digits = recognise_digits()
    detections = detect_digits(digits)
    anomalies = find_anomalies()
    # one set of columns for all: a metric ignores columns that only its siblings use
    open_set = {"predictions": digits.logits, "references": digits.references, "open_scores": digits.open_scores}
    metrics = {
        "accuracyk": load("accuracyk", k_list=KS, ignore_unknown=True).compute(**open_set),
        "autkc": load("autkc", k_list=KS, ignore_unknown=True).compute(**open_set),
        "macro_open_f": load("macro_open_f").compute(**open_set),
        "micro_open_f": load("micro_open_f").compute(**open_set),
        "openauc": load("openauc").compute(**open_set),
        "ood_bench": load("ood_bench", metrics=OOD_METRICS).compute(
            predictions=digits.open_scores, references=digits.is_unknown
        ),
        "openset_detection": load("openset_detection", known_classes=range(NUM_KNOWN)).compute(
            predictions=detections.predictions, references=detections.references
        ),
        "anomaly_suite": load("anomaly_suite").compute(predictions=anomalies.maps, references=anomalies.masks),
    }
    return Results(metrics, digits, anomalies, detections)
