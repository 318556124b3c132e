"""What became of each box of each image, in words: what the report draws and ranks images by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import match_boxes, reduce_boxes
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
    matching: str | None = None,
) -> list[list[Outcome]]:
    """Say of each predicted box, and of each object that none was matched to, what became of it.

    Boxes are matched whatever their classes, as `match_boxes` does.

    Parameters: detections; known_classes, ids; the others are options of the metric.
    Returns for each image its boxes, the predictions first and the most confident of them first.
    """
    confident = [boxes["scores"] >= conf_threshold for boxes in detections.predictions]
    predictions = [
        {name: column[keep] for name, column in boxes.items()} for boxes, keep in zip(detections.predictions, confident)
    ]
    # an ignored object may be found, or not
    state = reduce_boxes(predictions, detections.dataset.references)
    tables, counts = (state["predictions"], state["references"]), (state["num_predictions"], state["num_references"])
    chosen: dict[str, Any] = {} if matching is None else {"matching": matching}
    matched = dict(zip(*(part.tolist() for part in match_boxes(*tables, *counts, iou_threshold, **chosen))))
    taken, known = set(matched.values()), set(known_classes)
    ignored = [flag for boxes in detections.dataset.references for flag in boxes["ignored"].tolist()]
    images: list[list[Outcome]] = []
    found, true = (iter(enumerate(table.tolist())) for table in tables)
    for num_found, num_true in zip(*(count.tolist() for count in counts)):
        here = []
        for _ in range(num_found):
            i, (x1, y1, x2, y2, score, label) = next(found)
            j = matched.get(i)
            true_label = None if j is None else int(tables[1][j, 4])
            outcome = (
                IGNORED if j is not None and ignored[j] else _outcome(int(label), true_label, known, unknown_class_id)
            )
            here.append(Outcome((x1, y1, x2, y2), outcome, int(label), score, true_label))
        here.sort(key=lambda box: -float(box.score or 0))
        for _ in range(num_true):
            j, (x1, y1, x2, y2, label) = next(true)
            if j not in taken:
                here.append(Outcome((x1, y1, x2, y2), IGNORED if ignored[j] else MISSED, int(label), None, None))
        images.append(here)
    return images


def count_outcomes(boxes: Sequence[Outcome]) -> Counter[str]:
    """How many boxes of an image have each outcome."""
    return Counter(box.outcome for box in boxes)


def worst_images(images: Sequence[Sequence[Outcome]], number: int) -> list[int]:
    """Places of the images with the most errors, worst first; boxes that match no object are not counted."""
    errors = [sum(box.outcome in ERRORS for box in boxes) for boxes in images]
    order = np.argsort(-np.asarray(errors, dtype=np.int64), kind="stable").tolist()
    return [i for i in order[:number] if errors[i]]


def _outcome(label: int, true_label: int | None, known: set[int], unknown_class_id: int) -> str:
    if true_label is None:
        return NO_OBJECT
    if true_label not in known:
        return CALLED_UNKNOWN_RIGHTLY if label == unknown_class_id else TAKEN_FOR_KNOWN
    if label == unknown_class_id:
        return CALLED_UNKNOWN
    return RIGHT if label == true_label else WRONG_CLASS
