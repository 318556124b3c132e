"""What a model of Ultralytics looks like from outside: predict takes a path, and gives boxes with tensors' methods."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from openworld_metrics.reading import Detections


class Tensor:
    """An array on a device: to NumPy only by way of the CPU."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def detach(self) -> Tensor:
        return self

    def cpu(self) -> np.ndarray:
        return self.array.astype(np.float32)


class FakeModel:
    """A model that finds in each image what it was told to, above the confidence."""

    def __init__(self, detections: Detections) -> None:
        self.found = dict(zip(detections.dataset.names, detections.predictions))
        self.calls: list[dict[str, Any]] = []

    def predict(self, source: str, *, conf: float, iou: float, verbose: bool, **more: Any) -> list[SimpleNamespace]:
        self.calls.append({"conf": conf, "iou": iou, "verbose": verbose, **more})
        boxes = self.found[Path(source).stem]
        keep = boxes["scores"] >= conf
        xyxy, scores, labels = (Tensor(boxes[key][keep]) for key in ("boxes", "scores", "labels"))
        return [SimpleNamespace(boxes=SimpleNamespace(xyxy=xyxy, conf=scores, cls=labels))]
