"""Open-set detection from files and models to numbers: readers, the validator, the report.

    detections = read_detections("runs/detect/predict/labels", "data.yaml", unknown_class_id=999)
    results = evaluate_detections(detections, known_classes=[0, 1, 2], unknown_class_id=999)

Boxes are x1, y1, x2, y2 in pixels once they are read. Needs the extra `detection` (pycocotools, Pillow, PyYAML); a
model needs `ultralytics`, which is under the AGPL-3.0 licence and is imported only where a model's path is given.
"""

from __future__ import annotations

from .coco import read_coco, read_coco_results
from .dataset import Dataset, Detections, rename_classes
from .dicts import read_dict_predictions, read_dicts
from .evaluation import evaluate_detections, openset_metrics, save_results, summary
from .names import class_ids, read_names
from .opening import read_detections, read_references
from .outcomes import box_outcomes
from .report import write_report
from .standard import standard_metrics
from .validator import OpenSetValidator
from .voc import read_voc
from .writers import write_coco, write_coco_results, write_yolo, write_yolo_predictions
from .yolo import read_yolo, read_yolo_predictions
from .yolo_data import read_yolo_data

__all__ = [
    "Dataset",
    "Detections",
    "OpenSetValidator",
    "box_outcomes",
    "class_ids",
    "evaluate_detections",
    "openset_metrics",
    "read_coco",
    "read_coco_results",
    "read_detections",
    "read_dict_predictions",
    "read_dicts",
    "read_names",
    "read_references",
    "read_voc",
    "read_yolo",
    "read_yolo_data",
    "read_yolo_predictions",
    "rename_classes",
    "save_results",
    "standard_metrics",
    "summary",
    "write_coco",
    "write_coco_results",
    "write_report",
    "write_yolo",
    "write_yolo_predictions",
]
