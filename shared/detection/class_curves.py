"""Precision-recall curves of classes, with images weighted by their counts, and the areas under them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from ..arrays.ratios import RATIO_UNIT, sum_of_shares
from ..arrays.sorting import indices, sorted_with
from ..arrays.threads import Item, Result, each_in_threads, threads_for
from .outcomes import FP_KNOWN, FP_UNKNOWN, TP_KNOWN, TP_UNKNOWN, Outcomes

Ratio: TypeAlias = tuple[int, int]  # a numerator and a denominator
_WORK = 32  # ranking a prediction takes about as long as so many scores


class Curve(NamedTuple):
    """TP, FP, and predictions on unknown objects, at or above each distinct confidence, from the highest."""

    tp: np.ndarray
    fp: np.ndarray
    open: np.ndarray


class RankedClass(NamedTuple):
    """The predictions of a class, from the most confident on.

    rows: (n,) of the predictions
    image, confidence: of each
    kinds: (4, n) bool, whether it is a TP, a FP, one on an unknown object, and any
    last: the places of the last ones of each distinct confidence
    """

    rows: np.ndarray
    image: np.ndarray
    confidence: np.ndarray
    kinds: np.ndarray
    last: np.ndarray

    def sums(self, counts: np.ndarray) -> np.ndarray:
        """Sums of the kinds over the most confident 1, 2, …, n predictions, with the counts of their images, (4, n)."""
        sums = self.kinds * counts[self.image]
        return np.cumsum(sums, axis=1, out=sums)

    def curve(self, sums: np.ndarray) -> Curve:
        """Counts at each distinct confidence that occurs."""
        tp, fp, opened, number = sums if len(self.last) == len(self.rows) else sums[:, self.last]
        occurs = number > np.concatenate([[0], number[:-1]])
        return Curve(tp, fp, opened) if occurs.all() else Curve(tp[occurs], fp[occurs], opened[occurs])

    def mended(self, gone: np.ndarray, image: np.ndarray, confidence: np.ndarray) -> MendedClass:
        """The class without some false positives, and with more true positives.

        Parameters: gone, whether each prediction of the table goes; image and confidence of each true positive.
        """
        right = np.flatnonzero(self.kinds[0])
        image, confidence = np.append(self.image[right], image), np.append(self.confidence[right], confidence)
        order = np.argsort(-confidence, kind="stable")
        lowest = -np.unique(-confidence)
        going = np.flatnonzero(gone[self.rows])

        def reaching(ranked: np.ndarray) -> np.ndarray:
            return np.searchsorted(-ranked, -lowest, side="right")

        return MendedClass(
            image[order],
            reaching(confidence[order]),
            reaching(self.confidence),
            self.image[going],
            reaching(self.confidence[going]),
        )


class MendedClass(NamedTuple):
    """Changes of a class after mending, counted at its true positives, which suffices for its AP.

    tp_image: the image of each true positive, from the most confident on
    tp, predictions: (K,) how many true positives, and predictions before, reach each of their confidences
    gone_image, gone: the images of the false positives that were removed, and how many reach each confidence
    """

    tp_image: np.ndarray
    tp: np.ndarray
    predictions: np.ndarray
    gone_image: np.ndarray
    gone: np.ndarray

    def points(self, sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP at each of these confidences, from the sums of the class before."""
        fp, tp, gone = map(_from_zero, (sums[1], *(np.cumsum(counts[at]) for at in (self.tp_image, self.gone_image))))
        return tp[self.tp], fp[self.predictions] - gone[self.gone]


def _from_zero(sums: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], sums])


def ranked_classes(outcomes: Outcomes, on_unknown: np.ndarray) -> list[RankedClass]:
    """Rank the predictions of each class; on_unknown, whether each prediction lies on an unknown object."""
    boxes = outcomes.boxes
    ends = np.cumsum(np.bincount(boxes.rows, minlength=len(boxes.classes)))[:-1]
    ascending = sorted_with(boxes.confidence, indices(boxes.confidence))[1]
    by_class = ascending[np.argsort(boxes.rows[ascending], kind="stable")]

    def ranked(ascending: np.ndarray) -> RankedClass:
        rows = ascending[::-1]
        outcome, confidence = outcomes.outcome[rows], boxes.confidence[rows]
        kinds = np.ones((4, len(rows)), dtype=bool)
        kinds[0] = (outcome == TP_KNOWN) | (outcome == TP_UNKNOWN)
        kinds[1] = (outcome == FP_KNOWN) | (outcome == FP_UNKNOWN)
        kinds[2] = on_unknown[rows]
        return RankedClass(rows, boxes.image[rows], confidence, kinds, _last_of_each(confidence))

    of_classes = np.split(by_class, ends)
    return of_each_class(ranked, of_classes, of_classes)


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


def voc_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> float:
    """Area under the precision envelope: all-point average precision, as in VOC from 2010 on.

    AP = 1/n Σₖ (TPₖ − TPₖ₋₁) · max over j ≥ k of TPⱼ / (TPⱼ + FPⱼ), in [0, 1]; 0.0 for n = 0.

    Parameters: tp, fp (K,), counts of the predictions that reach each distinct confidence, from the highest;
    num_objects n. Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010, and its devkit of 2010.

    >>> voc_average_precision(np.asarray([1, 1, 2]), np.asarray([0, 1, 1]), 2)
    0.8333333333333333
    """
    area, total = area_of_all_points(tp, fp, num_objects)
    return area / total


def area_of_all_points(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> Ratio:
    """As `voc_average_precision`, as a ratio: an exact sum of precisions that are rounded to float64."""
    envelope, steps = _envelope(tp, fp), np.diff(tp, prepend=0)
    rising = np.flatnonzero(steps)  # the others, which are most, add nothing
    if not num_objects or not len(rising):
        return 0, 1
    return sum_of_shares(steps[rising], envelope[rising], num_objects), num_objects << RATIO_UNIT


def eleven_point_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> Ratio:
    """Average precision at eleven recalls, as in VOC until 2009; as a ratio.

    AP = 1/11 Σ over t = 0, 1, …, 10 of max{TPₖ / (TPₖ + FPₖ) : 10·TPₖ ≥ t·n}, in [0, 1]; 0.0 for n = 0.

    Recalls are compared as integers. Parameters: as those of `voc_average_precision`. Source: Everingham et al., The
    Pascal VOC Challenge, IJCV 2010.

    >>> area, total = eleven_point_average_precision(np.asarray([1, 2, 3]), np.asarray([0, 0, 0]), 10)
    >>> area / total == 4 / 11
    True
    """
    places = np.searchsorted(10 * tp, num_objects * np.arange(11))
    reached = places[places < len(tp)]
    if not num_objects or not len(reached):
        return 0, 1
    return sum_of_shares(np.ones_like(reached), _envelope(tp, fp)[reached], 11), 11 << RATIO_UNIT


def _envelope(tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """The highest precision at each confidence or below."""
    precision = tp / np.maximum(tp + fp, 1)
    return np.maximum.accumulate(precision[::-1])[::-1]


AVERAGE_PRECISIONS: dict[str, Callable[[np.ndarray, np.ndarray, int], Ratio]] = {
    "all": area_of_all_points,
    "11-point": eleven_point_average_precision,
}
