"""Convert other libraries' boxes of one image to a dict, without importing these libraries."""

from __future__ import annotations

from typing import Any

import numpy as np

UNKNOWN_CLASS_ID = -1  # the class by which a prediction says "unknown", unless an option names another


def box_dict(image: Any, place: str) -> Any:
    """Convert a `supervision.Detections` or an Ultralytics `Results` to a dict; return anything else unchanged.

    Both hold corners x1, y1, x2, y2 in pixels. Returns {"boxes": (n, 4), "scores": (n,), "labels": (n,)}, without the
    scores or labels that the object lacks. Raises TypeError for results of Ultralytics without boxes.

    >>> from types import SimpleNamespace
    >>> box_dict(SimpleNamespace(xyxy=[[0, 0, 4, 4]], confidence=[0.5], class_id=[1]), "predictions[0]")
    {'boxes': [[0, 0, 4, 4]], 'scores': [0.5], 'labels': [1]}
    """
    if isinstance(image, (np.ndarray, list, dict)):
        return image
    if all(hasattr(image, name) for name in ("xyxy", "confidence", "class_id")):
        columns = {"boxes": image.xyxy, "scores": image.confidence, "labels": image.class_id}
        missing = np.zeros(0) if len(image.xyxy) == 0 else None
        columns = {key: missing if column is None else column for key, column in columns.items()}
        return {key: column for key, column in columns.items() if column is not None}
    boxes: Any = getattr(image, "boxes", None)
    if boxes is None and all(hasattr(image, name) for name in ("boxes", "orig_shape", "names")):
        raise TypeError(f"{place}: expected results with boxes, got results that have other predictions only")
    if all(hasattr(boxes, name) for name in ("xyxy", "conf", "cls")):
        return {"boxes": boxes.xyxy, "scores": boxes.conf, "labels": boxes.cls}
    return image
