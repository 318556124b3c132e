"""Evaluate detectors and anomaly maps, from files or a model.

    detections = read_detections("runs/detect/predict/labels", "data.yaml", unknown_class_id=999)  # of reading
    results = evaluate_detections(detections, known_classes=[0, 1, 2], unknown_class_id=999)

    results = evaluate_anomaly_folder("maps", "mvtec_ad", integration_limits=[0.3, 0.05])

Boxes need the extra `detection` (Pillow, PyYAML); a model needs `ultralytics`, which is under the AGPL-3.0
licence and is imported only for the path of a model. Anomaly maps need the extra `anomaly` (Pillow, tifffile).
"""

from .anomaly import evaluate_anomaly_folder
from .box_outcomes import box_outcomes
from .detection import compare_detections, evaluate_detections, openset_metrics, save_results, summary
from .ood_suite import evaluate_ood
from .standard import standard_metrics
from .validator import OpenSetValidator

__all__ = [
    "OpenSetValidator",
    "box_outcomes",
    "compare_detections",
    "evaluate_anomaly_folder",
    "evaluate_detections",
    "evaluate_ood",
    "openset_metrics",
    "save_results",
    "standard_metrics",
    "summary",
]
