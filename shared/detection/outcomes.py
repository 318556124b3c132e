"""The boxes of an evaluation, and the outcome of each prediction, for any protocol.

A protocol assigns each prediction one of seven outcomes from the boxes of its image alone, so it is determined once,
however many equal images each image stands for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .boxes import DetectionState
from .classes import evaluated_classes, rows_of
from .corners import Corners
from .overlap import Overlaps, overlaps
from .pairs import Pairs
from .rules import Rules

OUTCOMES = ("TP_known", "FP_known", "TP_unknown", "FP_unknown", "background", "on ignored", "left out")
TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN, BACKGROUND, ON_IGNORED, LEFT_OUT_CLASS = range(len(OUTCOMES))
COUNTED = range(BACKGROUND)  # the outcomes that are counted
# for each outcome, whether the prediction is right, or wrong; an outcome that counts nowhere is neither
IS_RIGHT = np.isin(np.arange(len(OUTCOMES)), (TP_KNOWN, TP_UNKNOWN))
IS_WRONG = np.isin(np.arange(len(OUTCOMES)), (FP_KNOWN, FP_UNKNOWN, BACKGROUND))


class SelectedBoxes(NamedTuple):
    """The boxes of a state that are evaluated: confident predictions and all objects.

    predictions, references, num_predictions, num_references, ignored: as in a `DetectionState`
    counts: how many equal images each image stands for
    image, confidence, label: of each prediction
    object_image, object_label: of each object; the label of all unknown ones is the unknown id
    classes: the known classes, others that are predicted, and "unknown", in the order of tables by class
    rows, object_rows: the class of each prediction and of each object, as its row there
    rules: by which they were selected
    corners: those of predictions and of objects, exactly
    """

    predictions: np.ndarray
    references: np.ndarray
    num_predictions: np.ndarray
    num_references: np.ndarray
    ignored: np.ndarray
    counts: np.ndarray
    image: np.ndarray
    confidence: np.ndarray
    label: np.ndarray
    object_image: np.ndarray
    object_label: np.ndarray
    classes: list[int]
    rows: np.ndarray
    object_rows: np.ndarray
    rules: Rules
    corners: tuple[Corners, Corners]

    @property
    def known(self) -> list[int]:
        """Ids of the known classes."""
        return self.rules.known

    @property
    def unknown_id(self) -> int:
        """The class by which a prediction says "unknown"."""
        return self.rules.unknown_class_id

    def overlaps(self, lowest: float) -> Overlaps:
        """All pairs of a prediction and an object of one image that may reach an IoU."""
        counts = self.num_predictions, self.num_references
        return overlaps(self.predictions, self.references, *counts, lowest, self.corners)

    def pairs(self) -> Pairs:
        """The pairs with an IoU that reaches the threshold of the rules."""
        return self.overlaps(self.rules.iou_threshold).reaching(self.rules.iou_threshold)


class Outcomes(NamedTuple):
    """The outcome of each prediction.

    boxes: the boxes that take part
    outcome: (n,) int8, TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN; BACKGROUND, an "unknown" without an object where
        these do not count; ON_IGNORED; or LEFT_OUT_CLASS, of a class that is not evaluated
    matched: the row of the object that it takes, or −1
    """

    boxes: SelectedBoxes
    outcome: np.ndarray
    matched: np.ndarray


def select_boxes(state: DetectionState, rules: Rules) -> SelectedBoxes:
    """Drop predictions below the confidence threshold, and label the objects.

    With `unknown_below`, less confident predictions of known classes become "unknown".
    With `plus_one` each box is a pixel wider and higher: the VOC devkit counts both border pixels, so that its widths
    are x2 − x1 + 1.
    """
    predictions, references, num_predictions = state["predictions"], state["references"], state["num_predictions"]
    images = np.arange(len(num_predictions))
    image = np.repeat(images, num_predictions)
    remainders = state["prediction_remainders"]
    confidence, label = np.ascontiguousarray(predictions[:, 4:].T)
    confident = confidence >= rules.conf_threshold
    if not confident.all():
        image, confidence, label = image[confident], confidence[confident], label[confident]
        predictions, remainders = predictions[confident], remainders[confident]
        num_predictions = np.bincount(image, minlength=len(images))
    if rules.unknown_below is not None:
        unsure = (confidence < rules.unknown_below) & np.isin(label, rules.known)
        label = np.where(unsure, rules.unknown_class_id, label)
        predictions = np.column_stack([predictions[:, :5], label])
    corners = (
        Corners(predictions[:, :4], remainders, int(rules.plus_one)),
        Corners(references[:, :4], state["reference_remainders"], int(rules.plus_one)),
    )
    if rules.plus_one:
        border = np.asarray([0, 0, 1, 1])
        predictions = np.concatenate([predictions[:, :4] + border, predictions[:, 4:]], axis=1)
        references = np.concatenate([references[:, :4] + border, references[:, 4:]], axis=1)
    is_known = np.isin(references[:, 4], rules.known)
    object_label = np.where(is_known, references[:, 4], rules.unknown_class_id)
    classes = evaluated_classes(rules.known, rules.unknown_class_id, label)
    return SelectedBoxes(
        predictions,
        references,
        num_predictions,
        state["num_references"],
        state["ignored"],
        state.get("counts", np.ones(len(images), dtype=np.int64)),
        image,
        confidence,
        label,
        object_image=np.repeat(images, state["num_references"]),
        object_label=object_label,
        classes=classes,
        rows=rows_of(label, classes),
        object_rows=rows_of(object_label, classes),
        rules=rules,
        corners=corners,
    )
