"""Fates of objects, kinds of errors, and boxes to draw for each image, for reports."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ..detection.boxes import DetectionState
from ..detection.errors import FALSE_POSITIVES, FATES, MISSED
from ..detection.openset_detection import OpenSetDetection, PreparedImages
from ..detection.outcomes import IS_RIGHT
from ..reading.boxes.dataset import Detections
from .detection import class_options, says_unknown

FOUND, OBJECT = "found", "object"
OF_NO_OBJECT = (
    "duplicate",
    "background called known",
    "background called unknown",
)  # which no fate of an object counts
_KINDS = (*FALSE_POSITIVES, FOUND)
_FOUND_KIND = len(FALSE_POSITIVES)  # the index after theirs
_MISSED = [place for place, (_, fate) in enumerate(FATES) if fate == MISSED]
Corners = tuple[float, float, float, float]


class ErrorBox(NamedTuple):
    """A box to draw.

    box: x1, y1, x2, y2
    kind: "found" or one of `FALSE_POSITIVES` for a prediction; "missed" for an object, or "object" for the object that
        the preceding prediction is compared with
    label: the predicted class, or the class of the object
    score: the confidence, None for an object
    true_label: the class of the object that it matched or is compared with, None if there is none
    """

    box: Corners
    kind: str
    label: int
    score: float | None
    true_label: int | None


class DetectionErrors:
    """Fates of all objects, and errors of all predictions, of a data set.

    fates: the number of objects with each of `FATES`
    kinds: the number of predictions with each of `FALSE_POSITIVES`
    confused: the number of unknown objects of one class (first) that were called a known class (second)
    by_class: the table by class, with fates, and a row for unknown if predictions can be
    errors: (N,) in each image, the objects that were not found, and the false positives of no object of their own
    """

    def __init__(self, state: DetectionState, prepared: PreparedImages, says_unknown: bool = True) -> None:
        self.says_unknown = says_unknown
        errors, outcomes = prepared.errors, prepared.matched.outcomes
        if errors is None:
            raise ValueError("errors: expected True, got False")
        self._errors, self._outcomes, self._references = errors, outcomes, state["references"]
        # the original boxes: with plus_one, the boxes of `outcomes` are larger
        confident = state["predictions"][:, 4] >= outcomes.boxes.rules.conf_threshold
        self._corners = state["predictions"][confident, :4]
        self._by_image = {fate: errors.by_image[f"{fate[0]} objects {fate[1]}"] for fate in FATES}
        self._kinds = np.where(IS_RIGHT[outcomes.outcome], _FOUND_KIND, errors.kinds)  # −1: it counts nowhere
        self.fates = {fate: int(column.sum()) for fate, column in self._by_image.items()}
        self.kinds = {kind: int(errors.by_image[f"FP {kind}"].sum()) for kind in FALSE_POSITIVES}
        table = {**prepared.matched.table_by_class(), **errors.table_by_class()}
        self.by_class = {name: column if says_unknown else column[:-1] for name, column in table.items()}
        wrong = [column for (_, fate), column in self._by_image.items() if fate != FOUND]
        self._false = {kind: errors.by_image[f"FP {kind}"] for kind in OF_NO_OBJECT}
        self.errors = np.sum([*wrong, *self._false.values()], axis=0)
        rows = np.flatnonzero(errors.fates == FATES.index(("unknown", "called known")))
        pairs = zip(self._references[rows, 4].tolist(), errors.called[rows].tolist())
        self.confused = Counter((int(label), outcomes.boxes.classes[called]) for label, called in pairs)

    def fates_of(self, image: int) -> dict[tuple[str, str], int]:
        """The number of objects of an image with each fate that occurs in it."""
        return {fate: int(column[image]) for fate, column in self._by_image.items() if column[image]}

    def false_of(self, image: int) -> dict[str, int]:
        """The number of false positives of an image with each kind of `OF_NO_OBJECT` that occurs in it."""
        return {kind: int(column[image]) for kind, column in self._false.items() if column[image]}

    def worst(self, number: int) -> list[int]:
        """The indices of the images with the most errors, the worst first."""
        order = np.argsort(-self.errors, kind="stable").tolist()
        return [place for place in order[:number] if self.errors[place]]

    def boxes(self, image: int) -> list[ErrorBox]:
        """The boxes of an image: the predictions that count, the most confident first, then missed objects."""
        boxes = self._outcomes.boxes
        start, end = np.searchsorted(boxes.image, [image, image + 1]).tolist()
        order = start + np.argsort(-boxes.predictions[start:end, 4], kind="stable")
        drawn = [box for row in order.tolist() if self._kinds[row] >= 0 for box in self._prediction(row)]
        start, end = np.searchsorted(boxes.object_image, [image, image + 1]).tolist()
        missed = start + np.flatnonzero(np.isin(self._errors.fates[start:end], _MISSED))
        return [*drawn, *(self._object(row, MISSED) for row in missed.tolist())]

    def examples(self) -> list[tuple[str, int, list[ErrorBox]]]:
        """The most confident false positive of each kind that occurs, and the largest missed object.

        Returns its kind, the index of its image, and the boxes to draw, for each.
        """
        boxes, examples = self._outcomes.boxes, []
        for place, kind in enumerate(FALSE_POSITIVES):
            rows = np.flatnonzero(self._errors.kinds == place)
            if len(rows):
                row = int(rows[np.argmax(boxes.predictions[rows, 4])])
                examples.append((kind, int(boxes.image[row]), self._prediction(row)))
        missed = np.flatnonzero(np.isin(self._errors.fates, _MISSED))
        if len(missed):
            sides = self._references[missed, 2:4] - self._references[missed, :2]
            row = int(missed[np.argmax(sides[:, 0] * sides[:, 1])])
            examples.append((MISSED, int(boxes.object_image[row]), [self._object(row, MISSED)]))
        return examples

    def _prediction(self, row: int) -> list[ErrorBox]:
        """A prediction and, if it is poorly localised, the object that it should have matched."""
        kind = _KINDS[self._kinds[row]]
        about = int(self._outcomes.matched[row] if kind == FOUND else self._errors.about[row])
        score, label = self._outcomes.boxes.predictions[row, 4:].tolist()
        own = int(self._references[about, 4]) if about >= 0 else None
        box = ErrorBox(tuple(self._corners[row].tolist()), kind, int(label), score, own)
        return [box, self._object(about, OBJECT)] if kind.startswith(("badly", "both")) else [box]

    def _object(self, row: int, kind: str) -> ErrorBox:
        *corners, label = self._references[row, :5].tolist()
        return ErrorBox(tuple(corners), kind, int(label), None, None)


def detection_errors(detections: Detections, **options: Any) -> DetectionErrors:
    """Determine the fate of each object and the kind of each false positive.

    Parameters: detections; options of openset_detection; options for tables have no effect.
    Raises ValueError for an iou_threshold below 1/10.
    """
    tables = {"conf_list": None, "recall_level": None, "confidence_level": None, "recall_budgets": ()}
    options = class_options(options, detections)
    metric = OpenSetDetection(**{**options, **tables, "errors": True})
    state = metric.reduce(detections.predictions, detections.dataset.references)
    return DetectionErrors(state, metric.prepare(state), says_unknown(detections, options))
