"""What became of each box and each object of each image, for reports: fates, kinds of errors, and boxes to draw."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..detection.boxes import reduce_boxes
from ..detection.errors import MISSED
from ..detection.false_positives import FALSE_POSITIVES
from ..detection.fates import FATES
from ..detection.openset_detection import OpenSetDetection
from ..detection.outcomes import IS_RIGHT
from ..formats.boxes.dataset import Detections

FOUND, OBJECT = "found", "object"
_UNKNOWN_CALLED_KNOWN = FATES.index(("unknown", "called known"))
Corners = tuple[float, float, float, float]


class ErrorBox(NamedTuple):
    """A box to draw.

    box: x1, y1, x2, y2
    kind: "found"; one of `FALSE_POSITIVES`; "missed", of an object; or "object", of one that the box before it is about
    label: the class that it was called, or the object's own
    score: its confidence, None for an object
    true_label: the class of the object that it took or is about, None if there is none
    """

    box: Corners
    kind: str
    label: int
    score: float | None
    true_label: int | None


class ImageErrors(NamedTuple):
    """The boxes of an image, the predictions first, the most confident first; and its objects by fate."""

    boxes: list[ErrorBox]
    fates: Mapping[tuple[str, str], int]

    @property
    def errors(self) -> int:
        """How many objects were not found."""
        return sum(number for (_, fate), number in self.fates.items() if fate != FOUND)


class DetectionErrors(NamedTuple):
    """What became of all objects and predictions.

    images: of each image, in the order of the data set
    fates: how many objects have each of `FATES`
    kinds: how many predictions have each of `FALSE_POSITIVES`
    confused: how many unknown objects of a class (the first) were called a known one (the second)
    by_class: the table by class, with fates
    """

    images: list[ImageErrors]
    fates: Mapping[tuple[str, str], int]
    kinds: Mapping[str, int]
    confused: Mapping[tuple[int, int], int]
    by_class: dict[str, list[Any]]

    def worst(self, number: int) -> list[int]:
        """Places of the images with the most objects that were not found, the worst first."""
        errors = np.asarray([image.errors for image in self.images], dtype=np.int64)
        order = np.argsort(-errors, kind="stable").tolist()
        return [place for place in order[:number] if errors[place]]


def detection_errors(detections: Detections, **options: Any) -> DetectionErrors:
    """Say of each object what became of it, and of each false positive of what kind it is.

    Parameters: detections; options of openset_detection, of which those for tables do nothing.
    Raises ValueError for an iou_threshold below 1/10.
    """
    state = reduce_boxes(detections.predictions, detections.dataset.references)
    tables = {"conf_list": None, "recall_level": None, "confidence_level": None, "recall_budgets": ()}
    prepared = OpenSetDetection(**{**options, **tables, "errors": True}).prepare(state)
    errors, found = prepared.errors, prepared.matched.found
    assert errors is not None
    by_class = {**prepared.matched.table_by_class(), **errors.table_by_class()}
    fates, kinds, about = errors.fates.tolist(), errors.kinds.tolist(), errors.about.tolist()
    matched, references = found.matched.tolist(), state["references"].tolist()

    images = [ImageErrors([], {}) for _ in detections.predictions]
    boxes, right = found.boxes, IS_RIGHT[found.outcome].tolist()
    # boxes as they came: those of `boxes` are larger with plus_one
    corners = state["predictions"][state["predictions"][:, 4] >= boxes.rules.conf_threshold, :4].tolist()
    for row in np.argsort(-boxes.predictions[:, 4], kind="stable").tolist():
        target = about[row] if kinds[row] >= 0 else matched[row]
        if kinds[row] < 0 and not right[row]:
            continue  # it counts nowhere
        score, label = boxes.predictions[row, 4:].tolist()
        own = int(references[target][4]) if target >= 0 else None
        kind = FALSE_POSITIVES[kinds[row]] if kinds[row] >= 0 else FOUND
        into = images[boxes.image[row]].boxes
        into.append(ErrorBox(tuple(corners[row]), kind, int(label), score, own))
        if kind.startswith(("badly", "both")):
            into.append(ErrorBox(tuple(references[target][:4]), OBJECT, int(references[target][4]), None, None))
    confused: dict[tuple[int, int], int] = {}
    for row, (place, image) in enumerate(zip(fates, boxes.object_image.tolist())):
        if place < 0:
            continue
        label, by_fate = int(references[row][4]), images[image].fates
        assert isinstance(by_fate, dict)
        by_fate[FATES[place]] = by_fate.get(FATES[place], 0) + 1
        if FATES[place][1] == MISSED:
            images[image].boxes.append(ErrorBox(tuple(references[row][:4]), MISSED, label, None, None))
        if place == _UNKNOWN_CALLED_KNOWN:
            pair = label, int(errors.called[row])
            confused[pair] = confused.get(pair, 0) + 1
    return DetectionErrors(
        images,
        {fate: fates.count(place) for place, fate in enumerate(FATES)},
        {kind: kinds.count(place) for place, kind in enumerate(FALSE_POSITIVES)},
        confused,
        by_class,
    )
