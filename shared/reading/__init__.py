"""Readers of files: columns of samples, boxes of data sets and detectors, anomaly maps and masks.

`read_detections` reads boxes of any format, and returns them as x1, y1, x2, y2 in pixels.
"""

from .boxes.dataset import Dataset, Detections, class_ids, rename_classes
from .boxes.dicts import read_dict_predictions, read_dicts
from .boxes.reading import read_boxes, read_detections, read_names, read_references
from .maps.reading import read_maps
from .read import read
from .reading import Reading
from .rows.score_files import Scores, read_scores, score_files

__all__ = [
    "Dataset",
    "Detections",
    "Reading",
    "Scores",
    "class_ids",
    "read",
    "read_boxes",
    "read_detections",
    "read_dict_predictions",
    "read_dicts",
    "read_maps",
    "read_names",
    "read_references",
    "read_scores",
    "rename_classes",
    "score_files",
]
