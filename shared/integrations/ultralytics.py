"""Run an Ultralytics model over a data set and evaluate its predictions.

ultralytics is imported only for the path of a model. Unlike this package, it is under the AGPL-3.0 licence: anyone who
distributes a program that uses both, or offers it over a network, must comply with that licence.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..extras import extra
from ..faces.summaries import save_results
from ..metric.results import Results
from ..reading.boxes.classes import class_options
from ..reading.boxes.dataset import Boxes, Dataset, Detections, class_ids, predicted_boxes
from ..reading.boxes.reading import read_references
from ..reading.progress import progress_bar
from ..suites import evaluate_detections

DEFAULT_CONF = 0.001  # predictions with a lower confidence are left out


class OpenSetValidator:
    """Evaluate a detector on a data set with classes that are unknown to it.

    The arguments:

    model: an Ultralytics model, the path of its weights, or any object with a method predict(source, conf=, iou=,
        verbose=) that returns a list of one result with boxes.xyxy in pixels, boxes.conf and boxes.cls
    data: the data.yaml of a YOLO data set
    known_classes: ids or names of the classes that the model knows; all other objects are unknown
    unknown_class_id: the model's class for "unknown"; by default that of a name which means it, or else −1
    conf: predictions with a lower confidence are left out, by the model and by the metrics
    iou: the threshold of the model's non-maximum suppression; boxes are matched at the option iou_threshold
    predict: further arguments of the model's predict, such as imgsz or device
    options: options of the metric openset_detection, such as iou_threshold or protocol

    After `validate`, `detections` holds the detections that were evaluated.
    """

    def __init__(
        self,
        model: Any,
        data: str | Path,
        known_classes: Sequence[int | str],
        unknown_class_id: int | None = None,
        conf: float = DEFAULT_CONF,
        iou: float = 0.6,
        *,
        predict: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.model, self.data, self.known_classes = model, data, known_classes
        self.predict = {"conf": conf, "iou": iou, "verbose": False, **(predict or {})}
        self.options: dict[str, Any] = {"unknown_class_id": unknown_class_id, "conf_threshold": conf, **options}
        self.detections: Detections | None = None

    def validate(
        self,
        split: str = "val",
        *,
        standard: bool = True,
        max_detections: int | None = None,
        progress: bool = False,
    ) -> Results:
        """Run the model on the images of a split, and compute the metrics.

        Parameters: split of the data set: train, val or test; progress, whether to show a bar on a terminal; standard
        and max_detections, as of `evaluate_detections`.
        Returns "standard_metrics" and "openset_metrics", see `evaluate_detections`. Raises as `detect` does, and
        ValueError and TypeError as the metrics do.
        """
        detections, known = self.detect(split, progress=progress)
        shown: dict[str, Any] = {"standard": standard, "max_detections": max_detections}
        return evaluate_detections(detections, known, **shown, **self.options)

    def detect(self, split: str = "val", *, progress: bool = False) -> tuple[Detections, list[int]]:
        """Run the model on the images of a split.

        Returns its detections, and the ids of the known classes; `options` are then those of the metric. Raises
        ImportError if the model is a path and ultralytics is not installed, ValueError and TypeError as the reader of
        the data set does.
        """
        dataset = read_references(self.data, split=split)
        known = class_ids(self.known_classes, dataset.classes)
        model = load_model(self.model) if isinstance(self.model, (str, Path)) else self.model
        self.detections = Detections(dataset, list(_predictions(model, dataset, self.predict, progress)))
        options = class_options({**self.options, "known_classes": known}, self.detections)
        self.options = {name: value for name, value in options.items() if name != "known_classes"}
        return self.detections, known

    def save_results(self, results: Results, save_path: str | Path = "openset_results.txt") -> None:
        """Write results to a file, .json or .txt. Raises ValueError for another suffix."""
        save_results(results, save_path)


def load_model(path: str | Path) -> Any:
    """Load an Ultralytics YOLO model from its weights, or build one from its configuration file.

    Raises ImportError, which names the licence, if ultralytics is not installed; ValueError if there is no such model.
    """
    try:
        with extra("ultralytics"):
            from ultralytics import YOLO
    except ImportError as error:
        raise ImportError(f"{error}; note that the licence of ultralytics is AGPL-3.0") from error
    try:
        return YOLO(str(path))
    except FileNotFoundError as error:
        raise ValueError(f"{path}: expected a model, got none") from error


def _predictions(model: Any, dataset: Dataset, options: Mapping[str, Any], progress: bool) -> Iterator[Boxes]:
    for path in progress_bar(dataset.paths, unit=" images", shown=progress):
        (result,) = model.predict(str(path), **options)
        boxes, scores, labels = (_array(x) for x in (result.boxes.xyxy, result.boxes.conf, result.boxes.cls))
        yield predicted_boxes(boxes, scores, labels)


def _array(x: Any) -> np.ndarray:
    """A tensor on any device, or an array, as float64."""
    return np.asarray(x.detach().cpu() if hasattr(x, "detach") else x, dtype=np.float64)
