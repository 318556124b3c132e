"""Readers and writers of files: columns, boxes of data sets and detectors, anomaly maps, results.

`read_detections` reads boxes of any format, and returns them as x1, y1, x2, y2 in pixels.
"""

from .boxes.class_names import read_names
from .boxes.coco import read_coco, read_coco_results
from .boxes.dataset import Dataset, Detections, rename_classes
from .boxes.dicts import read_dict_predictions, read_dicts
from .boxes.named import class_ids
from .boxes.opening import read_detections, read_references
from .boxes.voc import read_voc
from .boxes.yolo.data import read_yolo_data
from .boxes.yolo.labels import read_yolo, read_yolo_predictions
from .tables.score_files import Scores, read_scores, score_files
from .written.boxes import write_coco, write_coco_results, write_yolo, write_yolo_predictions
from .written.flat import flat
from .written.hub import to_eval_results, to_model_index
from .written.results import read_results

__all__ = [
    "Dataset",
    "Detections",
    "Scores",
    "class_ids",
    "flat",
    "read_coco",
    "read_coco_results",
    "read_detections",
    "read_dict_predictions",
    "read_dicts",
    "read_names",
    "read_references",
    "read_results",
    "read_scores",
    "read_voc",
    "read_yolo",
    "read_yolo_data",
    "read_yolo_predictions",
    "rename_classes",
    "score_files",
    "to_eval_results",
    "to_model_index",
    "write_coco",
    "write_coco_results",
    "write_yolo",
    "write_yolo_predictions",
]
