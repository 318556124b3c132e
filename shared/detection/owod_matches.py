"""What the measures of open-world detection are made of, found once, and precision by class where images count.

boxes → pairs that reach the IoU threshold → VOC matching: TP, FP or neither; predictions on unknown objects
      → predictions ranked, class by class → counts at each distinct confidence, with those of the images → AP
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .boxes import DetectionState
from .class_curves import Curve, RankedClass, ranked_classes, voc_average_precision
from .counting import ClassObjects, CountColumns, class_rows, counts_by_image
from .opened import Opened, unknown_taken_for_known
from .outcomes import Outcomes, select_boxes
from .rules import Rules
from .voc import voc_outcomes
from .wilderness import ClosedSet, closed_set


class OwodMatches(NamedTuple):
    """What became of the boxes of each image, ranked: all that the measures need but how often an image counts.

    found, opened: what predictions count as, and those on unknown objects
    by_image: the table by image without its rates
    classes: those of the table by class
    curves: the ranked predictions of each class
    objects: by class
    closed: what WI compares, if it is asked for
    """

    found: Outcomes
    opened: Opened
    by_image: CountColumns
    classes: list[int]
    curves: list[RankedClass]
    objects: ClassObjects
    closed: ClosedSet | None


def match_owod(state: DetectionState, rules: Rules, *, with_wi: bool) -> OwodMatches:
    """Match the boxes of each image, and rank them."""
    boxes = select_boxes(state, rules)
    pairs = boxes.pairs()
    found = voc_outcomes(boxes, pairs)
    opened = unknown_taken_for_known(boxes, pairs)
    size, classes = len(boxes.num_predictions), class_rows(boxes)
    by_image = {
        "A-OSE": np.bincount(boxes.object_image[opened.objects], minlength=size),
        "A-OSE(detections)": np.bincount(boxes.image[opened.rows], minlength=size),
        **counts_by_image(found),
    }
    on_unknown = np.zeros(len(found.outcome), dtype=bool)
    on_unknown[opened.rows] = True
    curves = ranked_classes(found, on_unknown, classes)
    closed = closed_set(found, by_image["total_known"]) if with_wi else None
    return OwodMatches(found, opened, by_image, classes, curves, ClassObjects.of(boxes, classes), closed)


class ClassPrecisions(NamedTuple):
    """The curve, the number of objects and the AP of each class."""

    curves: list[Curve]
    objects: list[int]
    aps: list[float]


def class_precisions(matches: OwodMatches, counts: np.ndarray) -> ClassPrecisions:
    """Those where each image counts so often."""
    curves = [ranked.curve(counts) for ranked in matches.curves]
    objects = matches.objects.number(counts).tolist()
    return ClassPrecisions(curves, objects, [voc_average_precision(c.tp, c.fp, n) for c, n in zip(curves, objects)])
