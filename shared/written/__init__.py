"""Writers of results and boxes to files, completely or not at all."""

from .boxes import write_coco, write_coco_results, write_yolo, write_yolo_predictions
from .hub import to_eval_results, to_model_index
from .results import flat, read_results

__all__ = [
    "flat",
    "read_results",
    "to_eval_results",
    "to_model_index",
    "write_coco",
    "write_coco_results",
    "write_yolo",
    "write_yolo_predictions",
]
