"""Precision-recall curves of classes, with images weighted by their counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays.compiled import worth_compiling
from ..arrays.sorting import sorted_by_kind_with
from ..arrays.threads import Item, Result, each_in_threads, threads_for
from .outcomes import FP_KNOWN, FP_UNKNOWN, OUTCOMES, TP_KNOWN, TP_UNKNOWN, Outcomes, SelectedBoxes

_WORK = 4  # the cost of a prediction, in scores
_RIGHT, _WRONG, _ON_UNKNOWN = 1, 2, 4  # flags of a tag
_FLAGS = (_RIGHT, _WRONG, _ON_UNKNOWN)
_FLAG_BITS = 3
_IMAGES_IN_32_BITS = 1 << (32 - _FLAG_BITS)
_FLAGS_OF_OUTCOME = np.zeros(len(OUTCOMES), np.uint32)
_FLAGS_OF_OUTCOME[[TP_KNOWN, TP_UNKNOWN]] = _RIGHT
_FLAGS_OF_OUTCOME[[FP_KNOWN, FP_UNKNOWN]] = _WRONG


class Curve(NamedTuple):
    """TP, FP, and predictions on unknown objects, at or above some confidences, from the highest.

    These are the confidences at which TP rises, the highest that occurs, and the lowest: all others lie between two
    points with as many TP as the one before and at least its FP, so they change no rate.
    """

    tp: np.ndarray
    fp: np.ndarray
    on_unknown: np.ndarray


@dataclass(frozen=True, eq=False)
class RankedClass:
    """The predictions of a class.

    confidence: (n,) of each, ascending
    tags: (n,) unsigned, the image of each, and flags: whether it is a TP, a FP, and on an unknown object
    """

    confidence: np.ndarray
    tags: np.ndarray

    @cached_property
    def _right(self) -> tuple[np.ndarray, np.ndarray]:
        return self._having(_RIGHT)

    @cached_property
    def _wrong(self) -> tuple[np.ndarray, np.ndarray]:
        return self._having(_WRONG)

    def _having(self, flag: int) -> tuple[np.ndarray, np.ndarray]:
        """The confidences of the predictions with a flag, ascending, and their images."""
        places = np.flatnonzero(self.tags & flag)
        return self.confidence[places], self.tags[places] >> _FLAG_BITS

    def curve(self, counts: np.ndarray) -> Curve:
        """The curve where each image occurs `counts` times."""
        loop = worth_compiling(curve_points, len(self.tags), self.tags)
        if loop is not None:
            points = np.empty((3, len(self._right[0]) + 2), np.int64)
            return Curve(*points[:, : loop(self.confidence, self.tags, counts, points)])
        number = counts[self.tags >> _FLAG_BITS]
        occurring = np.flatnonzero(number)
        some = np.concatenate([np.flatnonzero(number * (self.tags & _RIGHT)), occurring[-1:], occurring[:1]])
        starts = np.searchsorted(self.confidence, np.unique(self.confidence[some]))[::-1]
        counted = len(number) - starts
        return Curve(*(_running(((self.tags & flag != 0) * number)[::-1])[counted] for flag in _FLAGS))

    def reaching(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP that reach each threshold, in one of each image."""
        return _reaching(self._right[0], thresholds), _reaching(self._wrong[0], thresholds)

    def fp_sums(self, counts: np.ndarray) -> np.ndarray:
        """Running sums of the false positives, from the most confident on; the first is 0."""
        return _running(counts[self._wrong[1][::-1]])

    def mended(self, taking: tuple[np.ndarray, np.ndarray], going: tuple[np.ndarray, np.ndarray]) -> MendedClass:
        """The class with more true positives and without some false positives.

        Parameters: the confidences of those that come and of those that go, ascending, and their images.
        """
        right, images = map(np.append, self._right, taking)
        order = np.argsort(right, kind="stable")  # which takes no longer than a merge of the two
        right = right[order]
        lowest = np.unique(right)[::-1]
        tp, fp, gone = (_reaching(ascending, lowest) for ascending in (right, self._wrong[0], going[0]))
        return MendedClass(images[order][::-1], tp, fp, going[1][::-1], gone)


def curve_points(confidence: Any, tags: Any, counts: Any, points: Any) -> int:
    """Fill `points` with those of `RankedClass.curve`, and return their number."""
    right = wrong = on_unknown = left = size = 0
    is_point = False
    for i in range(tags.size - 1, -1, -1):
        tag = tags[i]
        count = counts[tag >> _FLAG_BITS]
        right += count if tag & _RIGHT else 0
        wrong += count if tag & _WRONG else 0
        on_unknown += count if tag & _ON_UNKNOWN else 0
        left += count  # since the last point
        is_point |= (count > 0) & (((tag & _RIGHT) > 0) | (size == 0))  # as a condition it would be mispredicted often
        if (is_point and (i == 0 or confidence[i - 1] != confidence[i])) or (i == 0 and left):
            points[0, size], points[1, size], points[2, size] = right, wrong, on_unknown
            size, left, is_point = size + 1, 0, False
    return size


class MendedClass(NamedTuple):
    """Changes of a class after mending, counted at its true positives, which suffices for its AP.

    tp_image: the image of each true positive, from the most confident on
    tp, fp: (K,) how many true positives, and how many false positives of the class before mending, are at or above
        each confidence of a true positive
    gone_image, gone: the images of the false positives that were removed, and how many reach each confidence
    """

    tp_image: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    gone_image: np.ndarray
    gone: np.ndarray

    def points(self, fp_sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP at each of these confidences, from the running sums of false positives before mending."""
        tp, gone = _running(counts[self.tp_image])[self.tp], _running(counts[self.gone_image])[self.gone]
        return tp, fp_sums[self.fp] - gone


def _reaching(ascending: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    """How many numbers reach each threshold."""
    return len(ascending) - np.searchsorted(ascending, thresholds)


def _running(numbers: np.ndarray) -> np.ndarray:
    """Running sums of numbers; the first is 0."""
    sums = np.zeros(len(numbers) + 1, np.int64)
    np.cumsum(numbers, out=sums[1:])
    return sums


def ranked_classes(outcomes: Outcomes, on_unknown: np.ndarray) -> list[RankedClass]:
    """Rank the predictions of each class; on_unknown, the rows of the predictions on an unknown object."""
    boxes = outcomes.boxes
    tags = _tags(outcomes)
    tags[on_unknown] |= _ON_UNKNOWN
    return [
        RankedClass(*of_class)
        for of_class in sorted_by_kind_with(boxes.confidence, boxes.rows, len(boxes.classes), tags)
    ]


def tag_type(boxes: SelectedBoxes) -> np.dtype[Any]:
    """The type of a tag, which holds an image and flags."""
    return np.dtype("uint32" if len(boxes.num_predictions) < _IMAGES_IN_32_BITS else "uint64")


def _tags(outcomes: Outcomes) -> np.ndarray:
    """Tags of the predictions, without the flag of unknown objects."""
    boxes, outcome = outcomes.boxes, outcomes.outcome
    dtype = tag_type(boxes)
    loop = worth_compiling(write_tags, len(outcome), outcome)
    if loop is None:
        images: np.ndarray = boxes.image.astype(dtype)
        return images << _FLAG_BITS | _FLAGS_OF_OUTCOME[outcome]
    tags = np.empty(len(outcome), dtype)
    loop(boxes.image, outcome, _FLAGS_OF_OUTCOME, tags)
    return tags


def write_tags(image: Any, outcome: Any, flags: Any, tags: Any) -> None:
    """Write the image of each prediction and the flags of its outcome."""
    for i in range(outcome.size):
        tags[i] = (image[i] << _FLAG_BITS) | flags[outcome[i]]


def of_each_class(
    function: Callable[[Item], Result], classes: Sequence[Item], rows: Sequence[np.ndarray]
) -> list[Result]:
    """The results of a function of each class; `rows` are the predictions of each.

    In threads if a class has many on average: with few, threads wait for the interpreter.
    """
    work = [*map(len, rows)]
    return each_in_threads(function, classes, work, threads_for(_WORK * sum(work) // len(work)))
