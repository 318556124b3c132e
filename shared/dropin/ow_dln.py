"""OW-DLN's classes: `from ultralytics.utils.openset_metrics import …` and `from evaluate_openset import …` become
`from openworld_metrics.dropin.ow_dln import …`.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays.arrays import MAX_EXACT, to_numpy
from ..arrays.checks import as_int, as_real, as_scores
from ..detection.coco import STANDARD
from ..detection.openset_detection import OpenSetDetection
from ..detection.protocols import RATES
from ..faces.summaries import summary
from ..integrations import ultralytics
from ..integrations.ultralytics import DEFAULT_CONF
from ..metric.results import Results
from ..reading.boxes.dataset import class_ids

_OF_NOTHING = dict.fromkeys(RATES, 0.0)


class OpenSetDetectionMetrics:
    """U-Recall, WI and A-OSE of images that come one by one.

    The arguments:

    known_classes: ids of the classes that the model knows; objects of all others are unknown
    unknown_class_id: the class of "unknown" predictions
    iou_threshold: boxes match at IoU ≥ threshold, in (0, 1]
    options: options of the metric openset_detection; OW-DLN's code has count_background=True, its guide does not

    >>> metrics = OpenSetDetectionMetrics([0, 1], 999)
    >>> metrics.update([[0, 0, 4, 4, 0.9, 0], [6, 6, 9, 9, 0.8, 999]], [[0, 0, 4, 4, 0], [6, 6, 9, 9, 5]])
    >>> metrics.compute()["U-Recall"]
    1.0
    """

    def __init__(
        self,
        known_classes: Sequence[int],
        unknown_class_id: int = OpenSetDetection.unknown_class_id,
        iou_threshold: float = OpenSetDetection.iou_threshold,
        **options: Any,
    ) -> None:
        self._metric = OpenSetDetection(
            known_classes=known_classes, unknown_class_id=unknown_class_id, iou_threshold=iou_threshold, **options
        )
        self._metric.check_together()

    def update(self, predictions: Any, ground_truth: Any) -> None:
        """Add an image: rows x1, y1, x2, y2, confidence, class, and rows x1, y1, x2, y2, class.

        Raises ValueError and TypeError as `OpenSetDetection.reduce` does.
        """
        self._metric.add_batch(predictions=[predictions], references=[ground_truth])

    def compute(self) -> dict[str, Any]:
        """Rates and counts of the images so far, which are kept; 0/0 is 0.0. Raises ValueError if there are none."""
        return {**_OF_NOTHING, **deepcopy(self._metric).compute()}

    def get_summary(self) -> str:
        """Rates and counts as text."""
        return summary({"openset_metrics": self.compute()})

    def reset(self) -> None:
        """Forget the images so far."""
        self._metric.reset()


class OpenSetValidator(ultralytics.OpenSetValidator):
    """As that of `integrations.ultralytics`, but `iou` is the IoU of non-maximum suppression and of a match."""

    def __init__(
        self,
        model: Any,
        data: str | Path,
        known_classes: Sequence[int | str],
        unknown_class_id: int = OpenSetDetection.unknown_class_id,
        conf: float = DEFAULT_CONF,
        iou: float = 0.6,
        **options: Any,
    ) -> None:
        super().__init__(model, data, known_classes, unknown_class_id, conf, iou, **{"iou_threshold": iou, **options})

    def validate(self, split: str = "val", **arguments: Any) -> Results:
        """As of its base class, with OW-DLN's keys even if no prediction can be unknown; 0/0 is 0.0."""
        results = super().validate(split, **arguments)
        assert self.detections is not None  # they have just been evaluated
        dataset = self.detections.dataset
        metric = OpenSetDetection(known_classes=class_ids(self.known_classes, dataset.classes), **self.options)
        rates = metric.compute(predictions=self.detections.predictions, references=dataset.references)
        shown = {"openset_metrics": {**_OF_NOTHING, **rates, **results["openset_metrics"]}}
        if "standard_metrics" in results:
            shown["standard_metrics"] = {**dict.fromkeys(STANDARD, 0.0), **results["standard_metrics"]}
        return {**results, **shown}


def mark_low_confidence_as_unknown(predictions: Any, conf_threshold: float = 0.5, unknown_id: int = 999) -> Any:
    """Give all predictions below a confidence the class "unknown", whatever their class.

    The option unknown_below of openset_detection only takes predictions of known classes.

    Parameters: predictions, rows x1, y1, x2, y2, confidence, class. Returns a copy, as a NumPy array of float64.
    Raises ValueError for other shapes and for NaN.

    >>> mark_low_confidence_as_unknown([[0, 0, 4, 4, 0.9, 1], [6, 6, 9, 9, 0.3, 1]]).tolist()
    [[0.0, 0.0, 4.0, 4.0, 0.9, 1.0], [6.0, 6.0, 9.0, 9.0, 0.3, 999.0]]
    """
    boxes = to_numpy(as_scores(predictions, "predictions", 2)).astype(np.float64)  # holds confidences and ids exactly
    if boxes.shape == (0, 0):
        boxes = boxes.reshape(0, 6)
    if boxes.shape[1] != 6:
        raise ValueError(f"predictions: expected rows of 6 numbers, got shape {tuple(boxes.shape)}")
    below = boxes[:, 4] < as_real(conf_threshold, "conf_threshold")
    boxes[below, 5] = as_int(unknown_id, "unknown_id", -MAX_EXACT, MAX_EXACT)
    return boxes
