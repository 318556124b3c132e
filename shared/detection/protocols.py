"""Counts and tables from the outcomes of any protocol, with images weighted by their counts.

All are outcomes counted by groups: by image, of which totals are weighted sums; by class; or those that reach each
threshold. Sums are int64, so an image with a count gives results bit-identical to the repeated image.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays.threads import worth_compiling
from ..metric.results import Results
from .matching import COUNTED, FP_KNOWN, FP_UNKNOWN, OUTCOMES, TP_KNOWN, TP_UNKNOWN, Mending, Outcomes, SelectedBoxes
from .overlap import Pairs
from .rules import Rules

CountColumns = dict[str, np.ndarray]


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
    rows = np.flatnonzero(outcomes.outcome == code)
    return ranked(outcomes.boxes.confidence[rows], outcomes.boxes.image[rows])


def counts_by_image(outcomes: Outcomes) -> CountColumns:
    """The eight counts of one of each image."""
    boxes = outcomes.boxes
    size, table = len(boxes.num_predictions), _outcomes_by_image(outcomes)
    is_known = boxes.object_label != boxes.unknown_id
    kinds = (kind & ~boxes.ignored for kind in (is_known, ~is_known))
    objects = (np.bincount(boxes.object_image[kind], minlength=size) for kind in kinds)
    return _named(*(np.ascontiguousarray(column) for column in table.T[: len(COUNTED)]), *objects)


def _outcomes_by_image(outcomes: Outcomes) -> np.ndarray:
    """How many predictions of each image have each outcome."""
    boxes, width = outcomes.boxes, len(OUTCOMES)
    size = len(boxes.num_predictions)
    loop = worth_compiling(count_by_image, len(outcomes.outcome), outcomes.outcome)
    if loop is None:
        return np.bincount(boxes.image * width + outcomes.outcome, minlength=size * width).reshape(size, width)
    table = np.zeros((size, width), np.int64)
    loop(boxes.image, outcomes.outcome, table)
    return table


def count_by_image(image: Any, outcome: Any, table: Any) -> None:
    """Count the outcomes of the predictions of each image."""
    for i in range(outcome.size):
        table[image[i], outcome[i]] += 1


def unknown_by_image(boxes: SelectedBoxes, mending: Mending) -> CountColumns:
    """Changes of TP_unknown, and of the number of unknown objects, in each image by mending errors."""
    size, is_unknown = len(boxes.num_predictions), boxes.object_label == boxes.unknown_id
    coming, leaving = (
        boxes.image[mending.taking[is_unknown[mending.objects]]],
        mending.leaving[is_unknown[mending.leaving]],
    )
    return {
        "TP_unknown": np.bincount(coming, minlength=size),
        "total_unknown": -np.bincount(boxes.object_image[leaving], minlength=size),
    }


def in_total(by_image: Mapping[str, np.ndarray], counts: np.ndarray) -> dict[str, int]:
    """Sums over the images, weighted by their counts."""
    return {name: int(counts @ column) for name, column in by_image.items()}


def as_rows(by_image: Mapping[str, np.ndarray], counts: np.ndarray) -> CountColumns:
    """The table by image, with each row repeated for equal images."""
    return {name: np.repeat(column, counts) for name, column in by_image.items()}


def counts_by_class(outcomes: Outcomes) -> dict[str, list[Any]]:
    """Objects, TP, FP, FN, precision and recall of each class."""
    boxes, width = outcomes.boxes, len(OUTCOMES)
    size = len(boxes.classes)
    groups = boxes.rows.astype(np.int64) * width + outcomes.outcome
    table = tally(groups, boxes.counts[boxes.image], size * width).reshape(size, width).T
    tp, fp = table[TP_KNOWN] + table[TP_UNKNOWN], table[FP_KNOWN] + table[FP_UNKNOWN]
    objects = ClassObjects.of(boxes).number(boxes.counts)
    columns = {"objects": objects, "TP": tp, "FP": fp, "FN": objects - tp}
    return {
        "class": [*boxes.classes],
        **{name: column.tolist() for name, column in columns.items()},
        "Precision": ratios(tp, tp + fp),
        "Recall": ratios(tp, objects),
    }


class ClassObjects(NamedTuple):
    """The objects that count: the class of each, as its row in a table of some size, and its image."""

    rows: np.ndarray
    image: np.ndarray
    size: int

    @classmethod
    def of(cls, boxes: SelectedBoxes) -> ClassObjects:
        """Count the objects of the boxes."""
        counted = ~boxes.ignored
        return cls(boxes.object_rows[counted], boxes.object_image[counted], len(boxes.classes))

    def number(self, counts: np.ndarray) -> np.ndarray:
        """How many there are of each class, by the counts of the images."""
        return tally(self.rows, counts[self.image], self.size)


def counts_above(outcomes: Outcomes, totals: Mapping[str, int], thresholds: Sequence[float]) -> CountColumns:
    """The eight counts of the predictions that reach each confidence threshold, from all outcomes."""
    counts = outcomes.boxes.counts
    reached = (ranked_outcome(outcomes, code).reaching(thresholds, counts) for code in COUNTED)
    return _named(*reached, totals["total_known"], totals["total_unknown"])


def tally(groups: np.ndarray, weights: np.ndarray, size: int) -> np.ndarray:
    """The sum of integer weights in each group.

    >>> tally(np.asarray([0, 2, 0]), np.asarray([1, 5, 2**40]), 3).tolist()
    [1099511627777, 0, 5]
    """
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, groups, weights)
    return sums


def _named(*columns: Any) -> CountColumns:
    tp_known, fp_known, tp_unknown, fp_unknown, total_known, total_unknown = columns
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


def ratio(count: int, total: int) -> float:
    """Divide, with 0.0 for 0/0."""
    return count / total if total else 0.0


def ratios(counts: np.ndarray, totals: np.ndarray) -> list[float]:
    """Divide two columns, with 0.0 for 0/0."""
    return [ratio(count, total) for count, total in zip(counts.tolist(), totals.tolist())]


# Protocols: rules by which boxes are matched once, and one function from counts of images to results.


class DetectionOptions(Protocol):
    """Options of `OpenSetDetection` that a protocol reads, each of which is checked."""

    known_classes: Sequence[int] | None
    unknown_class_id: int
    iou_threshold: float
    conf_threshold: float
    matching: str | None
    count_background: bool
    plus_one: bool
    unknown_below: float | None
    recall_level: float | None
    previously_known: Sequence[int] | None
    average_precision: str


class MatchedImages(ABC):
    """Images with boxes matched by the rules of a protocol.

    outcomes: the outcome of each prediction
    by_image: counts of one of each image, from which results are computed
    """

    outcomes: Outcomes
    by_image: CountColumns

    @staticmethod
    @abstractmethod
    def match(boxes: SelectedBoxes, pairs: Pairs) -> Outcomes:
        """Match boxes, from the pairs of them that reach the IoU threshold."""

    @classmethod
    @abstractmethod
    def rules(cls, options: DetectionOptions) -> Rules:
        """The rules among options. Raises ValueError for an option that the protocol does not have."""

    @abstractmethod
    def __init__(self, boxes: SelectedBoxes, pairs: Pairs, options: DetectionOptions) -> None:
        """Match the boxes."""

    @abstractmethod
    def rates(self, counts: np.ndarray) -> Results:
        """Rates and counts where each image occurs `counts` times, (N,) int64, 0 included."""

    @abstractmethod
    def table_by_class(self) -> dict[str, list[Any]]:
        """A row for each class, the last for "unknown"."""

    @abstractmethod
    def table_by_image(self) -> dict[str, list[Any]]:
        """A row for each image."""

    @abstractmethod
    def sweep(self, results: Results, thresholds: Sequence[float]) -> dict[str, list[Any]]:
        """U-Recall, WI and A-OSE of the predictions that reach each confidence, from the results of all of them."""

    @abstractmethod
    def mend(self, error: str, mending: Mending) -> None:
        """Add to the results their gains from mending an error."""


def gain(error: str, measure: str) -> str:
    """The name of a measure's gain from mending an error.

    >>> gain("badly placed", "mAP")
    'ΔmAP(badly placed)'
    """
    return f"Δ{measure}({error})"
