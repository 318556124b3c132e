"""Average precision: precision-recall curves of classes, with images weighted by their counts, and areas under them.

predictions of a class, by confidence → TP, FP at each confidence at which TP rises → area or interpolated area
      → means over classes
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.checks import as_int, as_labels, check_lengths
from ..arrays.exact import RATIO_UNIT, rounded_sum, sum_of_shares
from ..arrays.sorting import sorted_by_kind_with
from ..arrays.threads import each_in_threads, threads_for, worth_compiling
from .outcomes import (
    FP_KNOWN,
    FP_UNKNOWN,
    OUTCOMES,
    TP_KNOWN,
    TP_UNKNOWN,
    ClassObjects,
    Correction,
    Outcomes,
    SelectedBoxes,
)

Ratio: TypeAlias = tuple[int, int]  # a numerator and a denominator
_WORK = 4  # the cost of a prediction, in scores
_RIGHT, _WRONG, _ON_UNKNOWN = 1, 2, 4  # flags of a tag
_FLAGS = (_RIGHT, _WRONG, _ON_UNKNOWN)
_FLAG_BITS = 3
_IMAGES_IN_32_BITS = 1 << (32 - _FLAG_BITS)
_FLAGS_OF_OUTCOME = np.zeros(len(OUTCOMES), np.uint32)
_FLAGS_OF_OUTCOME[[TP_KNOWN, TP_UNKNOWN]] = _RIGHT
_FLAGS_OF_OUTCOME[[FP_KNOWN, FP_UNKNOWN]] = _WRONG


def voc_average_precision(tp: Any, fp: Any, num_objects: int) -> float:
    """Area under the precision envelope: all-point average precision, as in VOC from 2010 on.

    AP = 1/n Σₖ (TPₖ − TPₖ₋₁) · max over j ≥ k of TPⱼ / (TPⱼ + FPⱼ), in [0, 1]; 0.0 for n = 0.

    Parameters: tp, fp (K,), counts of the predictions that reach each distinct confidence, from the highest;
    num_objects n. Raises ValueError for counts that fall or are not integers, and for more TP than objects.
    Source: Everingham et al., The Pascal VOC Challenge, IJCV 2010, and its devkit of 2010.

    >>> voc_average_precision([1, 1, 2], [0, 1, 1], 2)
    0.8333333333333333
    """
    counts = {"tp": to_numpy(as_labels(tp, "tp")), "fp": to_numpy(as_labels(fp, "fp"))}
    check_lengths(**counts)
    for name, column in counts.items():
        if (np.diff(column, prepend=0) < 0).any():
            raise ValueError(f"{name}: expected counts from 0 that never fall, got {column.tolist()!r:.60}")
    num_objects = as_int(num_objects, "num_objects", int(counts["tp"].max(initial=0)))
    area, total = area_of_all_points(counts["tp"], counts["fp"], num_objects)
    return area / total


def area_of_all_points(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> Ratio:
    """As `voc_average_precision`, as a ratio: an exact sum of precisions that are rounded to float64."""
    tp, fp = _where_tp_rises(tp, fp)
    if not num_objects or not len(tp):
        return 0, 1
    return sum_of_shares(np.diff(tp, prepend=0), _envelope(tp, fp), num_objects), num_objects << RATIO_UNIT


def interpolated_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int, *, steps: int) -> Ratio:
    """Average precision at recalls of 0, 1/s, …, 1: s = 10 in VOC until 2009, 100 in COCO; as a ratio.

    AP = 1/(s + 1) Σ over t = 0, 1, …, s of max{TPₖ / (TPₖ + FPₖ) : s·TPₖ ≥ t·n}, in [0, 1]; 0.0 for n = 0.

    Recalls are compared as integers; COCO's code compares them with steps of floats, and misses a recall of 0.57.
    Parameters: steps s, others as those of `voc_average_precision`. Sources: Everingham et al., The Pascal VOC
    Challenge, IJCV 2010; Lin et al., Microsoft COCO, ECCV 2014, and its code.

    >>> area, total = interpolated_average_precision(np.asarray([1, 2, 3]), np.asarray([0, 0, 0]), 10, steps=10)
    >>> area / total == 4 / 11
    True
    """
    tp, fp = _where_tp_rises(tp, fp)
    places = np.searchsorted(steps * tp, num_objects * np.arange(steps + 1))
    reached = places[places < len(tp)]
    if not num_objects or not len(reached):
        return 0, 1
    precisions = _envelope(tp, fp)[reached]
    return sum_of_shares(np.ones_like(reached), precisions, steps + 1), (steps + 1) << RATIO_UNIT


def mean_of(aps: Sequence[Ratio]) -> float:
    """The mean of average precisions, rounded once; 0.0 of none."""
    return rounded_sum(aps, len(aps)) if aps else 0.0


def _where_tp_rises(tp: np.ndarray, fp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keep the points at which TP rises. The others, which are most, repeat a recall with no higher precision."""
    rises = np.not_equal(tp, np.concatenate([[0], tp[:-1]]))
    return tp[rises], fp[rises]


def _envelope(tp: np.ndarray, fp: np.ndarray) -> np.ndarray:
    """The highest precision at each confidence or below."""
    precision = tp / np.maximum(tp + fp, 1)
    return np.maximum.accumulate(precision[::-1])[::-1]


AveragePrecision: TypeAlias = Callable[[np.ndarray, np.ndarray, int], Ratio]
AVERAGE_PRECISIONS: dict[str, AveragePrecision] = {
    "all": area_of_all_points,
    "11-point": partial(interpolated_average_precision, steps=10),
}


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
    """The predictions of a class."""

    confidence: np.ndarray  # (n,) of each, ascending
    tags: np.ndarray  # (n,) unsigned, the image of each, and flags: whether it is a TP, a FP, and on an unknown object

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
        tags, number = self.tags, counts[self.tags >> _FLAG_BITS]
        occurring = np.flatnonzero(number)
        some = np.concatenate([np.flatnonzero(number * (tags & _RIGHT)), occurring[-1:], occurring[:1]])
        starts = np.searchsorted(self.confidence, np.unique(self.confidence[some]))[::-1]
        last = len(tags) - 1 - starts  # of those that reach the confidence, from the highest on
        return Curve(*[np.cumsum(((tags & flag != 0) * number)[::-1])[last] for flag in _FLAGS])

    def reaching(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP that reach each threshold, in one of each image."""
        return _reaching(self._right[0], thresholds), _reaching(self._wrong[0], thresholds)

    def fp_sums(self, counts: np.ndarray) -> np.ndarray:
        """Running sums of the false positives, from the most confident on; the first is 0."""
        return _running(counts[self._wrong[1][::-1]])

    def corrected(self, taking: tuple[np.ndarray, np.ndarray], going: tuple[np.ndarray, np.ndarray]) -> CorrectedClass:
        """The class with more true positives and without some false positives.

        Parameters: the confidences of those that come and of those that go, ascending, and their images.
        """
        right, images = map(np.append, self._right, taking)
        order = np.argsort(right, kind="stable")  # which takes no longer than a merge of the two
        right = right[order]
        lowest = np.unique(right)[::-1]
        tp, fp, gone = (_reaching(ascending, lowest) for ascending in (right, self._wrong[0], going[0]))
        return CorrectedClass(images[order][::-1], tp, fp, going[1][::-1], gone)


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


class CorrectedClass(NamedTuple):
    """Changes of a class after corrections, counted at its true positives, which suffices for its AP.

    tp_image: the image of each true positive, from the most confident on
    tp, fp: (K,) how many true positives, and how many false positives of the class before them, are at or above
        each confidence of a true positive
    gone_image, gone: the images of the false positives that were removed, and how many reach each confidence
    """

    tp_image: np.ndarray
    tp: np.ndarray
    fp: np.ndarray
    gone_image: np.ndarray
    gone: np.ndarray

    def points(self, fp_sums: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP at each of these confidences, from the running sums of false positives before them."""
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


def tag_type(boxes: SelectedBoxes) -> np.dtype[Any]:
    """The type of a tag, which holds an image and flags."""
    return np.dtype("uint32" if len(boxes.num_predictions) < _IMAGES_IN_32_BITS else "uint64")


@dataclass(frozen=True)
class RankedClasses:
    """Ranked predictions and objects, class by class."""

    outcomes: Outcomes  # of the predictions, and their boxes, which list the classes
    ranked: list[RankedClass]  # the predictions of each class
    objects: ClassObjects  # those that count
    average_precision: AveragePrecision  # computed for each class

    @classmethod
    def of(cls, outcomes: Outcomes, on_unknown: np.ndarray, average_precision: AveragePrecision) -> RankedClasses:
        """Rank predictions with their outcomes; on_unknown, the rows of predictions on unknown objects."""
        boxes = outcomes.boxes
        tags: np.ndarray = boxes.image.astype(tag_type(boxes))
        tags = tags << _FLAG_BITS | _FLAGS_OF_OUTCOME[outcomes.outcome]
        tags[on_unknown] |= _ON_UNKNOWN
        by_class = sorted_by_kind_with(boxes.confidence, boxes.rows, len(boxes.classes), tags)
        return cls(outcomes, [RankedClass(*each) for each in by_class], ClassObjects.of(boxes), average_precision)

    def corrected(self, correction: Correction) -> CorrectedClasses:
        """Changes of the classes by correcting errors."""
        boxes = self.outcomes.boxes

        def by_class(predictions: np.ndarray, rows: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
            images: np.ndarray = boxes.image[predictions].astype(tag_type(boxes))
            return sorted_by_kind_with(boxes.confidence[predictions], rows, len(boxes.classes), images)

        taking = by_class(correction.taking, boxes.object_rows[correction.objects])
        going = by_class(correction.going, boxes.rows[correction.going])
        sides = enumerate(zip(taking, going))
        changed = {row: self.ranked[row].corrected(*both) for row, both in sides if any(len(one) for one, _ in both)}
        leaving = correction.leaving
        left = ClassObjects(boxes.object_rows[leaving], boxes.object_image[leaving], len(boxes.classes))
        return CorrectedClasses(changed, left)

    def where(self, counts: np.ndarray) -> CountedClasses:
        """Count the classes where each image occurs `counts` times.

        In threads if a class has many predictions on average: with few, threads wait for the interpreter.
        """
        objects = self.objects.number(counts).tolist()

        def counted(of_class: tuple[RankedClass, int]) -> tuple[Curve, Ratio]:
            ranked, number = of_class
            curve = ranked.curve(counts)
            return curve, self.average_precision(curve.tp, curve.fp, number)

        classes, work = [*zip(self.ranked, objects)], [len(each.tags) for each in self.ranked]
        threads = threads_for(_WORK * sum(work) // len(work))
        points = each_in_threads(counted, classes, work, threads) if threads > 1 else [*map(counted, classes)]
        curves, aps = zip(*points)
        return CountedClasses(self, counts, [*curves], objects, [*aps])


class CorrectedClasses(NamedTuple):
    """Changes by correcting errors: of some classes, and of the objects that no longer count."""

    changed: dict[int, CorrectedClass]
    leaving: ClassObjects


@dataclass(frozen=True)
class CountedClasses:
    """A curve, a number of objects and an AP of each class, where images occur `counts` times."""

    classes: RankedClasses
    counts: np.ndarray
    curves: list[Curve]
    objects: list[int]
    aps: list[Ratio]

    @cached_property
    def _fp_sums(self) -> list[np.ndarray]:
        return [ranked.fp_sums(self.counts) for ranked in self.classes.ranked]

    def after(self, corrected: CorrectedClasses) -> CountedClasses:
        """The classes after errors are corrected; curves stay as they were."""
        objects, aps = (np.asarray(self.objects) - corrected.leaving.number(self.counts)).tolist(), [*self.aps]
        for row, number in enumerate(objects):
            if row in corrected.changed:
                points = corrected.changed[row].points(self._fp_sums[row], self.counts)
            elif number != self.objects[row]:
                points = self.curves[row].tp, self.curves[row].fp
            else:
                continue
            aps[row] = self.classes.average_precision(*points, number)
        return replace(self, objects=objects, aps=aps)

    def mean_ap(self, rows: Sequence[int]) -> float:
        """The mean AP of those of some classes that have objects; 0.0 if none has."""
        return mean_of([self.aps[row] for row in rows if self.objects[row]])

    def mean_ratio(self, counts: Sequence[int], totals: Sequence[int], rows: Sequence[int]) -> float:
        """The mean of counts/totals over those of some classes that have objects, rounded once; 0/0 is 0."""
        rows = [row for row in rows if self.objects[row]]
        ratios = [(counts[row], totals[row]) for row in rows if totals[row]]
        return rounded_sum(ratios, len(rows)) if ratios else 0.0

    def predicted(self) -> tuple[list[int], list[int]]:
        """TP, and TP + FP, of all predictions of each class."""
        tp, predicted = [], []
        for curve in self.curves:
            tp.append(int(curve.tp[-1]) if len(curve.tp) else 0)
            predicted.append(tp[-1] + int(curve.fp[-1]) if len(curve.fp) else 0)
        return tp, predicted
