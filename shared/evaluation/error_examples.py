"""An example of each kind of error, for a report."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..detection.boxes import reduce_boxes
from ..detection.errors import MISSED as MISSED_ERROR
from ..detection.false_positives import FALSE_POSITIVES
from ..detection.fates import FATES
from ..detection.openset_detection import OpenSetDetection
from ..detection.words import CALLED_UNKNOWN, IGNORED, MISSED, TAKEN_FOR_KNOWN, WRONG_CLASS
from ..formats.boxes.dataset import Detections
from .box_outcomes import BoxOutcome

_OUTCOMES = {"known called unknown": CALLED_UNKNOWN, "unknown called known": TAKEN_FOR_KNOWN}


class ErrorExample(NamedTuple):
    """A kind of error, the place of an image that has it, and the boxes to draw: the prediction and its object."""

    error: str
    image: int
    boxes: list[BoxOutcome]


def error_examples(detections: Detections, **options: Any) -> list[ErrorExample]:
    """The most confident false positive of each kind that occurs, and the largest missed object, unknown ones first.

    Parameters: detections; options of the metric.
    """
    state = reduce_boxes(detections.predictions, detections.dataset.references)
    prepared = OpenSetDetection(**{**options, "errors": True}).prepare(state)
    errors, boxes = prepared.errors, prepared.matched.found.boxes
    assert errors is not None
    # those of `boxes` are larger with plus_one
    predictions, references = state["predictions"], state["references"]
    predictions = predictions[predictions[:, 4] >= boxes.rules.conf_threshold]

    def true(row: int) -> tuple[tuple[float, float, float, float], int]:
        x1, y1, x2, y2, label = references[row].tolist()
        return (x1, y1, x2, y2), int(label)

    examples = []
    for place, kind in enumerate(FALSE_POSITIVES):
        rows = np.flatnonzero(errors.kinds == place)
        if not len(rows):
            continue
        row = int(rows[np.argmax(predictions[rows, 4])])
        (x1, y1, x2, y2, score, label), about = predictions[row].tolist(), int(errors.about[row])
        objects = [] if about < 0 else [true(about)]
        outcome = next((outcome for pair, outcome in _OUTCOMES.items() if kind.endswith(pair)), WRONG_CLASS)
        said = BoxOutcome((x1, y1, x2, y2), outcome, int(label), score, objects[0][1] if objects else None)
        drawn = [said, *(BoxOutcome(box, IGNORED, label, None, None) for box, label in objects)]
        examples.append(ErrorExample(kind, int(boxes.image[row]), drawn))
    for place in (FATES.index((side, "missed")) for side in ("unknown", "known")):
        missed = np.flatnonzero(errors.fates == place)
        if len(missed):
            sides = references[missed, 2:4] - references[missed, :2]
            row = int(missed[np.argmax(sides[:, 0] * sides[:, 1])])
            box, label = true(row)
            alone = [BoxOutcome(box, MISSED, label, None, None)]
            return [*examples, ErrorExample(MISSED_ERROR, int(boxes.object_image[row]), alone)]
    return examples
