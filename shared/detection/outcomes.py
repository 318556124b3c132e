"""What became of each box of each image, in words: what the report draws and ranks images by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .. import reduce_boxes
from .._openset_counts import openset_outcomes
from .._outcomes import NEITHER
from .dataset import Detections

RIGHT = "known, right class"
CALLED_UNKNOWN_RIGHTLY = "unknown, called unknown"
WRONG_CLASS = "known, wrong class"
CALLED_UNKNOWN = "known, called unknown"
TAKEN_FOR_KNOWN = "unknown, taken for known"
MISSED = "missed object"
NO_OBJECT = "matches no object"
IGNORED = "ignored object"

OUTCOMES = (RIGHT, CALLED_UNKNOWN_RIGHTLY, WRONG_CLASS, CALLED_UNKNOWN, TAKEN_FOR_KNOWN, MISSED, NO_OBJECT, IGNORED)
ERRORS = (WRONG_CLASS, CALLED_UNKNOWN, TAKEN_FOR_KNOWN, MISSED)


class Outcome(NamedTuple):
    """A box, x1, y1, x2, y2, and what became of it.

    label is its class, and score its confidence, None for a true box; true_label is the class of the object that it
    was matched to, None if there is none.
    """

    box: tuple[float, float, float, float]
    outcome: str
    label: int
    score: float | None
    true_label: int | None


def box_outcomes(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    unknown_class_id: int = -1,
    iou_threshold: float = 0.5,
    conf_threshold: float = 0.0,
    matching: str = "iou",
    plus_one: bool = False,
) -> list[list[Outcome]]:
    """Say of each predicted box, and of each object that none was matched to, what became of it.

    Boxes are matched whatever their classes; see `match_boxes`.

    Parameters: detections; known_classes, ids; the others are options of the metric.
    Returns for each image its boxes, the predictions first and the most confident of them first.
    """
    state = reduce_boxes(detections.predictions, detections.dataset.references)
    found = openset_outcomes(
        state,
        known_classes,
        unknown_class_id=unknown_class_id,
        iou_threshold=iou_threshold,
        conf_threshold=conf_threshold,
        matching=matching,
        count_background=True,  # so that what counts as neither lies on an ignored object
        plus_one=plus_one,
    )
    # those of `found` are larger with plus_one
    predictions, references = state["predictions"][state["predictions"][:, 4] >= conf_threshold], state["references"]
    labels, known = references[:, 4].astype(np.int64).tolist(), set(known_classes)
    images: list[list[Outcome]] = [[] for _ in detections.predictions]
    rows = zip(predictions.tolist(), found.boxes.image.tolist(), found.matched.tolist(), found.outcome.tolist())
    for (x1, y1, x2, y2, score, said), image, matched, outcome in rows:
        true_label = None if matched < 0 else labels[matched]
        word = IGNORED if matched < 0 and outcome == NEITHER else _word(int(said), true_label, known, unknown_class_id)
        images[image].append(Outcome((x1, y1, x2, y2), word, int(said), score, true_label))
    for boxes in images:
        boxes.sort(key=lambda box: -float(box.score or 0))
    taken = set(found.matched.tolist())
    objects = zip(references.tolist(), found.boxes.object_image.tolist(), found.boxes.ignored.tolist())
    for row, ((x1, y1, x2, y2, label), image, ignored) in enumerate(objects):
        if row not in taken:
            images[image].append(Outcome((x1, y1, x2, y2), IGNORED if ignored else MISSED, int(label), None, None))
    return images


def count_outcomes(boxes: Sequence[Outcome]) -> Counter[str]:
    """How many boxes of an image have each outcome."""
    return Counter(box.outcome for box in boxes)


def worst_images(images: Sequence[Sequence[Outcome]], number: int) -> list[int]:
    """Places of the images with the most errors, worst first; boxes that match no object are not counted."""
    errors = [sum(box.outcome in ERRORS for box in boxes) for boxes in images]
    order = np.argsort(-np.asarray(errors, dtype=np.int64), kind="stable").tolist()
    return [i for i in order[:number] if errors[i]]


def _word(label: int, true_label: int | None, known: set[int], unknown_class_id: int) -> str:
    if true_label is None:
        return NO_OBJECT
    if true_label not in known:
        return CALLED_UNKNOWN_RIGHTLY if label == unknown_class_id else TAKEN_FOR_KNOWN
    if label == unknown_class_id:
        return CALLED_UNKNOWN
    return RIGHT if label == true_label else WRONG_CLASS
