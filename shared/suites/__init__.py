"""Evaluate files: detectors, anomaly maps of a data set, and OOD sets.

    detections = read_detections("runs/detect/predict/labels", "data.yaml", unknown_class_id=999)  # of reading
    results = evaluate_detections(detections, known_classes=[0, 1, 2], unknown_class_id=999)

    results = evaluate_anomaly_folder("maps", "mvtec_ad", integration_limits=[0.3, 0.05])

Boxes of YOLO need the extra `detection` (Pillow, PyYAML), anomaly maps the extra `anomaly` (Pillow, tifffile).
"""

from .anomaly import evaluate_anomaly_folder
from .detection import compare_detections, evaluate_detections, standard_metrics
from .ood import evaluate_ood

__all__ = [
    "compare_detections",
    "evaluate_anomaly_folder",
    "evaluate_detections",
    "evaluate_ood",
    "standard_metrics",
]
