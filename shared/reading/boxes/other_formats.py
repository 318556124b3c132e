"""Formats of boxes that are not read: how they look, and which formats to write instead."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

_JSON = {  # the keys that tell, and the name, of an object or of the entries of a list
    ("shapes", "imagePath"): "a file of labelme",
    ("labels", "scores", "bboxes"): "predictions of MMDetection for one image",
    ("data", "annotations"): "tasks of Label Studio",
    ("data", "predictions"): "tasks of Label Studio",
    ("data", "completions"): "tasks of Label Studio",
}
_SUFFIXES = {
    ".csv": "a table, such as supervision's CSVSink writes",
    ".pth": "a file of PyTorch, such as detectron2's instances_predictions.pth",
    ".pkl": "a pickle, such as MMDetection's results",
}
_INSTEAD = {
    ".pth": "; detectron2 writes COCO's results beside it, coco_instances_results.json",
    ".pkl": "; MMDetection writes COCO's results with format_only=True and outfile_prefix",
}
CVAT = "CVAT's own XML; export as COCO, YOLO or Pascal VOC"


def other_format(path: Path, content: Any = None) -> str:
    """The name of a format that is not read, with a format to write instead; "" for a file in none of these.

    Parameters: path; the content of a .json or .pt.

    >>> other_format(Path("a.json"), {"version": "5.0", "shapes": [], "imagePath": "a.jpg"})
    'a file of labelme; export as COCO or YOLO'
    """
    suffix = path.suffix.lower()
    if suffix in _SUFFIXES and not path.is_dir():
        return f"{_SUFFIXES[suffix]}{_INSTEAD.get(suffix, '; write COCO results or YOLO files')}"
    first = content[0] if isinstance(content, list) and content else content
    keys = first.keys() if isinstance(first, Mapping) else ()
    if "image_id" in keys:
        return ""
    return next((f"{name}; export as COCO or YOLO" for needed, name in _JSON.items() if {*needed} <= {*keys}), "")
