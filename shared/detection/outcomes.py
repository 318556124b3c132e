"""Outcomes of boxes: the options that decide them, the boxes that are evaluated, and counts of their outcomes.

options, state → confident predictions, all objects → an outcome for each prediction
      → counts by image, by class, above each confidence

The outcome of a prediction depends on the boxes of its image alone. So it is determined once, however many equal images
an image stands for, and totals are sums over the images weighted by their counts: in int64, so that an image with a
count gives results bit-identical to the repeated image.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .boxes import Corners, DetectionState
from .overlap import Overlaps, Two, overlaps

if TYPE_CHECKING:
    from .openset_detection import OpenSetDetection

DEFAULT_IOU = 0.5
BY_IOU, BY_CONFIDENCE = "iou", "confidence"
MATCHINGS = (BY_IOU, BY_CONFIDENCE)


class Outcome(IntEnum):
    """The outcome of a prediction; the first four are counted."""

    TP_KNOWN, FP_KNOWN, TP_UNKNOWN, FP_UNKNOWN = range(4)
    BACKGROUND = 4  # an "unknown" without an object, where these do not count
    ON_IGNORED = 5
    LEFT_OUT = 6  # of a class that is not evaluated


COUNTED = range(Outcome.BACKGROUND)
# for each outcome, whether the prediction is right, or wrong; an outcome that counts nowhere is neither
IS_RIGHT = np.isin(np.arange(len(Outcome)), (Outcome.TP_KNOWN, Outcome.TP_UNKNOWN))
IS_WRONG = np.isin(np.arange(len(Outcome)), (Outcome.FP_KNOWN, Outcome.FP_UNKNOWN, Outcome.BACKGROUND))
_FEW = 1 << 10  # ids of classes

CountColumns = dict[str, np.ndarray]


class SelectedBoxes(NamedTuple):
    """The boxes of a state that are evaluated: confident predictions and all objects."""

    predictions: np.ndarray  # the first five as in a `DetectionState`
    references: np.ndarray
    num_predictions: np.ndarray
    num_references: np.ndarray
    ignored: np.ndarray
    counts: np.ndarray  # how many equal images each image stands for
    image: np.ndarray  # with confidence and label: of each prediction
    confidence: np.ndarray
    label: np.ndarray
    object_image: np.ndarray  # with object_label: of each object; the label of all unknown ones is the unknown id
    object_label: np.ndarray
    classes: list[int]  # the known classes, others that are predicted, and "unknown", in the order of tables by class
    rows: np.ndarray  # with object_rows: the class of each prediction and of each object, as its row there
    object_rows: np.ndarray
    known: list[int]  # the ids of the known classes
    unknown_id: int  # the class by which a prediction says "unknown"
    rules: OpenSetDetection  # the options
    corners: tuple[Corners, Corners]  # those of predictions and of objects, exactly

    @property
    def tables(self) -> Two:
        """The predictions and the objects."""
        return self.predictions, self.references

    def overlaps(self, lowest: float) -> Overlaps:
        """All pairs of a prediction and an object of one image that may reach an IoU."""
        return overlaps(self.tables, (self.num_predictions, self.num_references), lowest, self.corners)


class Outcomes(NamedTuple):
    """The outcome of each prediction."""

    boxes: SelectedBoxes  # those that take part
    outcome: np.ndarray  # (n,) int8, places in `Outcome`
    matched: np.ndarray  # (n,) the row of the object that it takes, or −1


def gain(error: str, measure: str) -> str:
    """The name of a measure's gain from correcting an error.

    >>> gain("badly placed", "mAP")
    'ΔmAP(badly placed)'
    """
    return f"Δ{measure}({error})"


def select_boxes(state: DetectionState, rules: OpenSetDetection) -> SelectedBoxes:
    """Check the options together, drop predictions below the confidence threshold, and label the objects.

    With `unknown_below`, less confident predictions of known classes become "unknown".
    With `plus_one` each box is a pixel wider and higher: the VOC devkit counts both border pixels, so that its widths
    are x2 − x1 + 1.
    """
    rules.check_together()
    known, unknown_id = list(rules.known_classes or ()), rules.unknown_class_id
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
        unsure = (confidence < rules.unknown_below) & np.isin(label, known)
        label = np.where(unsure, unknown_id, label)
        predictions = np.column_stack([predictions[:, :5], label])
    corners = (
        Corners(predictions[:, :4], remainders, int(rules.plus_one)),
        Corners(references[:, :4], state["reference_remainders"], int(rules.plus_one)),
    )
    if rules.plus_one:
        border = np.asarray([0, 0, 1, 1])
        predictions = np.concatenate([predictions[:, :4] + border, predictions[:, 4:]], axis=1)
        references = np.concatenate([references[:, :4] + border, references[:, 4:]], axis=1)
    is_known = np.isin(references[:, 4], known)
    object_label = np.where(is_known, references[:, 4], unknown_id)
    classes = evaluated_classes(known, unknown_id, label)
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
        known=known,
        unknown_id=unknown_id,
        rules=rules,
        corners=corners,
    )


def evaluated_classes(known: Sequence[int], unknown_id: int, labels: np.ndarray) -> list[int]:
    """The known classes and the classes of some predictions, in ascending order; the last is "unknown".

    >>> evaluated_classes([3, 1], 7, np.asarray([7.0, 5.0, 1.0]))
    [1, 3, 5, 7]
    >>> evaluated_classes([3, 1], 0, np.asarray([2.0]))
    [1, 2, 3, 0]
    """
    return [*sorted({*known, *distinct_integers(labels)} - {unknown_id}), unknown_id]


def distinct_integers(numbers: np.ndarray) -> list[int]:
    """The distinct ones among integers in float64, in ascending order.

    >>> distinct_integers(np.asarray([5.0, -1.0, 5.0]))
    [-1, 5]
    """
    lowest, highest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
    if highest - lowest >= max(len(numbers), _FEW):
        return np.unique(numbers.astype(np.int64)).tolist()
    occurs = np.zeros(highest - lowest + 1, dtype=bool)  # a tenth of the time of a sort
    occurs[numbers.astype(np.int64) - lowest] = True
    return (np.flatnonzero(occurs) + lowest).tolist()


def rows_of(labels: np.ndarray, classes: Sequence[int]) -> np.ndarray:
    """The row of each label in a table by class, as int16 or int64."""
    dtype = np.int16 if len(classes) < 1 << 15 else np.int64  # NumPy sorts int16 by its digits
    lowest, number = min(classes), max(classes) - min(classes) + 1
    if number <= max(len(labels), _FEW):  # ten times as fast as a search
        rows = np.zeros(number, dtype)
        rows[np.asarray(classes) - lowest] = np.arange(len(classes))
        return rows.take(labels.astype(np.int64) - lowest)
    *others, unknown_id = classes
    rows = np.searchsorted(np.asarray(others, dtype=np.float64), labels)
    return np.where(labels == unknown_id, len(others), rows).astype(dtype)


class Ranked(NamedTuple):
    """Confidences in ascending order, and the image of each.

    >>> ranked = Ranked(np.asarray([0.2, 0.5, 0.9]), np.asarray([0, 1, 0]))
    >>> ranked.reaching([0.5, 1.0, 0.0], np.asarray([1, 10])).tolist()
    [11, 0, 12]
    """

    confidence: np.ndarray
    image: np.ndarray

    def reaching(self, thresholds: Sequence[float], counts: np.ndarray) -> np.ndarray:
        """How many confidences reach each threshold, with the counts of their images."""
        before = np.concatenate([[0], np.cumsum(counts[self.image])])
        return before[-1] - before[np.searchsorted(self.confidence, thresholds)]


def ranked(confidence: np.ndarray, image: np.ndarray) -> Ranked:
    """Confidences and their images in ascending order."""
    order = np.argsort(confidence)
    return Ranked(confidence[order], image[order])


def ranked_outcome(outcomes: Outcomes, code: int) -> Ranked:
    """The predictions that have an outcome."""
    here = outcomes.outcome == code
    return ranked(outcomes.boxes.confidence[here], outcomes.boxes.image[here])


def counts_by_image(outcomes: Outcomes) -> CountColumns:
    """The eight counts of one of each image."""
    boxes, outcome = outcomes.boxes, outcomes.outcome
    size, width = len(boxes.num_predictions), len(Outcome)
    table = np.bincount(boxes.image * width + outcome, minlength=size * width).reshape(size, width)
    is_known = boxes.object_label != boxes.unknown_id
    total_known = np.bincount(boxes.object_image[is_known & ~boxes.ignored], minlength=size)
    total_unknown = np.bincount(boxes.object_image[~is_known & ~boxes.ignored], minlength=size)
    return _eight_counts(np.ascontiguousarray(table.T[: len(COUNTED)]), total_known, total_unknown)


def in_total(by_image: Mapping[str, np.ndarray], counts: np.ndarray) -> dict[str, int]:
    """Sums over the images, weighted by their counts."""
    return {name: int(counts @ column) for name, column in by_image.items()}


def as_rows(by_image: Mapping[str, np.ndarray], counts: np.ndarray) -> CountColumns:
    """The table by image, with each row repeated for equal images."""
    return {name: np.repeat(column, counts) for name, column in by_image.items()}


class ClassObjects(NamedTuple):
    """The objects that count: the class of each, as its row in a table of some size, and its image."""

    rows: np.ndarray
    image: np.ndarray
    size: int

    @classmethod
    def of(cls, boxes: SelectedBoxes, left_out: np.ndarray) -> ClassObjects:
        """The objects of the boxes without some of them, such as the ignored ones."""
        counted = ~left_out
        return cls(boxes.object_rows[counted], boxes.object_image[counted], len(boxes.classes))

    def number(self, counts: np.ndarray) -> np.ndarray:
        """How many there are of each class, by the counts of the images."""
        return tally(self.rows, counts[self.image], self.size)


def counts_by_class(outcomes: Outcomes) -> dict[str, list[Any]]:
    """Objects, TP, FP, FN, precision and recall of each class; NaN for a share of nothing."""
    boxes, width = outcomes.boxes, len(Outcome)
    size = len(boxes.classes)
    groups = boxes.rows.astype(np.int64) * width + outcomes.outcome
    table = tally(groups, boxes.counts[boxes.image], size * width).reshape(size, width).T
    tp, fp = table[Outcome.TP_KNOWN] + table[Outcome.TP_UNKNOWN], table[Outcome.FP_KNOWN] + table[Outcome.FP_UNKNOWN]
    objects = ClassObjects.of(boxes, boxes.ignored).number(boxes.counts)
    columns = {"objects": objects, "TP": tp, "FP": fp, "FN": objects - tp}
    return {
        "class": [*boxes.classes],
        **{name: column.tolist() for name, column in columns.items()},
        "Precision": [*map(precision, tp.tolist(), fp.tolist(), objects.tolist())],
        "Recall": ratios(tp, objects),
    }


def counts_above(outcomes: Outcomes, totals: Mapping[str, int], thresholds: Sequence[float]) -> CountColumns:
    """The eight counts of the predictions that reach each confidence threshold, from all outcomes."""
    counts = outcomes.boxes.counts
    reached = [ranked_outcome(outcomes, code).reaching(thresholds, counts) for code in COUNTED]
    return _eight_counts(reached, totals["total_known"], totals["total_unknown"])


def tally(groups: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """The sum of integer weights in each group.

    >>> tally(np.asarray([0, 2, 0]), np.asarray([1, 5, 2**40]), 3).tolist()
    [1099511627777, 0, 5]
    """
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups, weights)
    return sums


def _eight_counts(outcomes: Any, total_known: Any, total_unknown: Any) -> CountColumns:
    """Counts by name, from the counts of the outcomes: FN = total − TP."""
    tp_known, fp_known, tp_unknown, fp_unknown = outcomes
    return {
        "TP_known": tp_known,
        "FP_known": fp_known,
        "FN_known": total_known - tp_known,
        "TP_unknown": tp_unknown,
        "FP_unknown": fp_unknown,
        "FN_unknown": total_unknown - tp_unknown,
        "total_known": np.broadcast_to(total_known, tp_known.shape),
        "total_unknown": np.broadcast_to(total_unknown, tp_known.shape),
    }


def ratio(count: Any, total: Any, nothing: Any = math.nan) -> Any:
    """Divide two integers, or two columns of them; a share of nothing is NaN, or `nothing`.

    >>> ratio(1, 4), ratio(0, 0), ratio(0, 0, 0.0)
    (0.25, nan, 0.0)
    >>> ratio(np.asarray([1, 0]), np.asarray([4, 0]))
    array([0.25,  nan])
    """
    if isinstance(total, np.ndarray):
        return np.where(total > 0, count / np.maximum(total, 1), nothing)
    return count / total if total else nothing


def ratios(counts: np.ndarray, totals: np.ndarray) -> list[float]:
    """Divide two columns; a share of nothing is NaN."""
    return [*map(ratio, counts.tolist(), totals.tolist())]


def precision(tp: Any, fp: Any, objects: Any) -> Any:
    """TP / (TP + FP), the precision of a class, or of several; 0.0 where objects exist and nothing is predicted.

    COCO's and Pascal VOC's evaluators count a class without predictions as 0, too, and leave out one without objects.
    Here a prediction of such a class is wrong, and without predictions the precision is NaN.

    >>> precision(3, 1, 5), precision(0, 0, 5), precision(0, 2, 0), precision(0, 0, 0)
    (0.75, 0.0, 0.0, nan)
    """
    return ratio(tp, tp + fp, ratio(0, objects))
