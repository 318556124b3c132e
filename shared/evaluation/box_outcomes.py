"""The outcome of each box of each image, as records with words."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..detection.matching import one_to_one_outcomes
from ..detection.openset_detection import OpenSetDetection
from ..detection.outcomes import select_boxes
from ..detection.words import (
    IGNORED,
    MISSED,
    OUTCOME_WORDS,
    outcomes_in_words,
)
from ..reading.boxes.dataset import Detections
from .detection import class_options


class BoxOutcome(NamedTuple):
    """A box, x1, y1, x2, y2, and its outcome.

    outcome: an index of `OUTCOME_WORDS`
    label: its class
    score: its confidence, None for an object
    true_label: the class of the object that it was matched to, None if there is none
    """

    box: tuple[float, float, float, float]
    outcome: int
    label: int
    score: float | None
    true_label: int | None

    @property
    def words(self) -> str:
        """The outcome in words."""
        return OUTCOME_WORDS[self.outcome]


def box_outcomes(detections: Detections, **options: Any) -> list[list[BoxOutcome]]:
    """The outcomes of predicted boxes, and of objects without a matched box.

    Boxes are matched whatever their classes; see `match_boxes`.

    Parameters: detections; options of openset_detection.
    Returns for each image its boxes, the predictions first and the most confident of them first.
    """
    metric = OpenSetDetection(**class_options(options, detections))
    state = metric.reduce(detections.predictions, detections.dataset.references)
    boxes = select_boxes(state, metric)
    outcomes = one_to_one_outcomes(boxes, boxes.pairs())
    predicted, true = outcomes_in_words(outcomes)
    # the boxes of `outcomes` are larger with plus_one
    predictions, references = state["predictions"], state["references"]
    predictions = predictions[predictions[:, 4] >= metric.conf_threshold]
    labels = references[:, 4].astype(np.int64).tolist()
    images: list[list[BoxOutcome]] = [[] for _ in detections.predictions]
    rows = zip(predictions.tolist(), boxes.image.tolist(), outcomes.matched.tolist(), predicted.tolist())
    for (x1, y1, x2, y2, score, label), image, matched, outcome in rows:
        true_label = None if matched < 0 else labels[matched]
        images[image].append(BoxOutcome((x1, y1, x2, y2), outcome, int(label), score, true_label))
    for of_image in images:
        of_image.sort(key=lambda box: -float(box.score or 0))
    for (x1, y1, x2, y2, label), image, outcome in zip(references.tolist(), boxes.object_image.tolist(), true.tolist()):
        if outcome in (MISSED, IGNORED):
            images[image].append(BoxOutcome((x1, y1, x2, y2), outcome, int(label), None, None))
    return images
