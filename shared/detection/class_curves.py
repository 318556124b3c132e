"""Precision-recall curves of classes, with images weighted by their counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.compiled import worth_compiling
from ..arrays.sorting import sorted_by_kind_with
from ..arrays.threads import Item, Result, each_in_threads, threads_for
from .outcomes import FP_KNOWN, FP_UNKNOWN, OUTCOMES, TP_KNOWN, TP_UNKNOWN, Outcomes, SelectedBoxes

_WORK = 4  # the cost of a prediction, in scores
_RIGHT, _WRONG, _ON_UNKNOWN = 1, 2, 4  # flags of a tag
_FLAG_BITS = 3
_IMAGES_IN_32_BITS = 1 << (32 - _FLAG_BITS)
_FLAGS_OF_OUTCOME = np.zeros(len(OUTCOMES), np.uint32)
_FLAGS_OF_OUTCOME[[TP_KNOWN, TP_UNKNOWN]] = _RIGHT
_FLAGS_OF_OUTCOME[[FP_KNOWN, FP_UNKNOWN]] = _WRONG


class Curve(NamedTuple):
    """TP, FP, and predictions on unknown objects, at or above each distinct confidence, from the highest."""

    tp: np.ndarray
    fp: np.ndarray
    open: np.ndarray


class RankedClass(NamedTuple):
    """The predictions of a class, from the most confident on.

    confidence: (n,) of each
    tags: (n,) unsigned, the image of each, and flags: whether it is a TP, a FP, and on an unknown object
    last: the places of the last ones of each distinct confidence
    """

    confidence: np.ndarray
    tags: np.ndarray
    last: np.ndarray

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """Sums of TP, FP, predictions on unknown objects, and all, at or above each distinct confidence, (4, K).

        Each prediction is counted as often as its image.
        """
        sums = np.empty((4, len(self.last)), np.int64)
        loop = worth_compiling(running_sums, len(self.tags), self.tags)
        if loop is not None:
            loop(self.tags, self.last, counts, sums)
            return sums
        number = counts[self.tags >> _FLAG_BITS]
        for each, flag in zip(sums, (_RIGHT, _WRONG, _ON_UNKNOWN)):
            np.take(np.cumsum(number * (self.tags & flag != 0)), self.last, out=each)
        np.take(np.cumsum(number), self.last, out=sums[3])
        return sums

    def curve(self, sums: np.ndarray) -> Curve:
        """Counts at each distinct confidence, from the highest that occurs; the others repeat the counts before."""
        tp, fp, opened, _ = sums[:, np.searchsorted(sums[3], 0, side="right") :]
        return Curve(tp, fp, opened)

    def mended(self, right: tuple[np.ndarray, np.ndarray], going: tuple[np.ndarray, np.ndarray]) -> MendedClass:
        """The class with other true positives and without some false positives.

        Parameters: right, the confidences of all true positives, ascending, and their images; going, those of the
        false positives that are removed.
        """
        lowest = np.unique(right[0])[::-1]

        def reaching(ascending: np.ndarray) -> np.ndarray:
            return len(ascending) - np.searchsorted(ascending, lowest)

        return MendedClass(
            right[1][::-1],
            reaching(right[0]),
            reaching(self.confidence[self.last[::-1]]),
            going[1][::-1],
            reaching(going[0]),
        )


def running_sums(tags: Any, last: Any, counts: Any, sums: Any) -> None:
    """Fill `sums` with the running counts of `RankedClass.sums`."""
    right = wrong = on_unknown = number = i = 0
    for k in range(last.size):
        while i <= last[k]:
            tag = tags[i]
            count = counts[tag >> _FLAG_BITS]
            right += count if tag & _RIGHT else 0
            wrong += count if tag & _WRONG else 0
            on_unknown += count if tag & _ON_UNKNOWN else 0
            number += count
            i += 1
        sums[0, k], sums[1, k], sums[2, k], sums[3, k] = right, wrong, on_unknown, number


class MendedClass(NamedTuple):
    """Changes of a class after mending, counted at its true positives, which suffices for its AP.

    tp_image: the image of each true positive, from the most confident on
    tp, places: (K,) how many true positives, and how many distinct confidences of the class before mending, are at or
        above each confidence of a true positive
    gone_image, gone: the images of the false positives that were removed, and how many reach each confidence
    """

    tp_image: np.ndarray
    tp: np.ndarray
    places: np.ndarray
    gone_image: np.ndarray
    gone: np.ndarray

    def points(self, sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP at each of these confidences, from the sums of the class before."""
        fp, tp, gone = map(_from_zero, (sums[1], *(np.cumsum(counts[at]) for at in (self.tp_image, self.gone_image))))
        return tp[self.tp], fp[self.places] - gone[self.gone]


def _from_zero(sums: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], sums])


def ranked_classes(outcomes: Outcomes, on_unknown: np.ndarray) -> list[RankedClass]:
    """Rank the predictions of each class; on_unknown, the rows of the predictions on an unknown object."""
    boxes = outcomes.boxes
    tags = _tags(outcomes)
    tags[on_unknown] |= _ON_UNKNOWN
    ranked = []
    for confidence, of_class in sorted_by_kind_with(boxes.confidence, boxes.rows, len(boxes.classes), tags):
        ranked.append(
            RankedClass(confidence[::-1], np.ascontiguousarray(of_class[::-1]), _last_of_each(confidence[::-1]))
        )
    return ranked


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


def _last_of_each(confidence: np.ndarray) -> np.ndarray:
    """The last place of each distinct confidence."""
    if not len(confidence):
        return np.zeros(0, np.int64)
    return np.flatnonzero(np.append(confidence[1:] != confidence[:-1], True))
