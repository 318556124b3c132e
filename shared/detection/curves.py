"""Average precision: precision-recall curves of classes, with images weighted by their counts, and areas under them.

predictions of a class, by confidence → TP, FP at each confidence at which TP rises → area or interpolated area
      → means over classes
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.checks import as_int, as_labels, check_lengths
from ..arrays.exact import RATIO_UNIT, rounded_sum, sum_of_shares
from ..arrays.sorting import sorted_by_kind_with
from ..arrays.threads import each_in_threads, threads_for, worth_compiling
from .errors import FALSE_POSITIVES, Errors
from .outcomes import ClassObjects, Outcome, Outcomes, ratio

Ratio: TypeAlias = tuple[int, int]  # a numerator and a denominator; 0/0 of a class without objects
_WORK = 4  # the cost of a prediction, in scores
# a tag is the image of a prediction, the kind of its error in four bits, and flags
_RIGHT, _WRONG, _ON_UNKNOWN, _IS_HERE = 1, 2, 4, 8
_FLAGS = (_RIGHT, _WRONG, _ON_UNKNOWN)
_FLAG_BITS, _IMAGE_FROM = 4, 8
_KIND = 15  # the four bits of a kind, all of which are set where there is no error
_IMAGES_IN_32_BITS = 1 << (32 - _IMAGE_FROM)
_FLAGS_OF_OUTCOME = np.full(len(Outcome), _IS_HERE, np.uint32)
_FLAGS_OF_OUTCOME[[Outcome.TP_KNOWN, Outcome.TP_UNKNOWN]] |= _RIGHT
_FLAGS_OF_OUTCOME[[Outcome.FP_KNOWN, Outcome.FP_UNKNOWN]] |= _WRONG
NO_ERRORS, _PLACE_OF_MISSED = -1, len(FALSE_POSITIVES)  # as a kind of errors that are corrected


def voc_average_precision(tp: Any, fp: Any, num_objects: int) -> float:
    """Area under the precision envelope: all-point average precision, as in VOC from 2010 on.

    AP = 1/n Σₖ (TPₖ − TPₖ₋₁) · max over j ≥ k of TPⱼ / (TPⱼ + FPⱼ), in [0, 1]; NaN for n = 0.

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
    return ratio(*area_of_all_points(counts["tp"], counts["fp"], num_objects))


def area_of_all_points(tp: np.ndarray, fp: np.ndarray, num_objects: int) -> Ratio:
    """As `voc_average_precision`, as a ratio: an exact sum of precisions that are rounded to float64."""
    tp, fp = _where_tp_rises(tp, fp)
    if not num_objects or not len(tp):
        return 0, min(num_objects, 1)
    gained = tp.copy()
    gained[1:] -= tp[:-1]
    return sum_of_shares(gained, _envelope(tp, fp), num_objects), num_objects << RATIO_UNIT


def interpolated_average_precision(tp: np.ndarray, fp: np.ndarray, num_objects: int, *, steps: int) -> Ratio:
    """Average precision at recalls of 0, 1/s, …, 1: s = 10 in VOC until 2009, 100 in COCO; as a ratio.

    AP = 1/(s + 1) Σ over t = 0, 1, …, s of max{TPₖ / (TPₖ + FPₖ) : s·TPₖ ≥ t·n}, in [0, 1]; 0/0 for n = 0.

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
        return 0, min(num_objects, 1)
    precisions = _envelope(tp, fp)[reached]
    return sum_of_shares(np.ones_like(reached), precisions, steps + 1), (steps + 1) << RATIO_UNIT


def mean_of(aps: Sequence[Ratio]) -> float:
    """The mean of average precisions, rounded once; NaN of none."""
    return rounded_sum(aps, len(aps)) if aps else math.nan


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
    """The predictions of a class, and the true positives that correcting a kind of errors would add."""

    confidence: np.ndarray  # (n,) of each, ascending
    # (n,) unsigned: image of each, kind of error, and flags: whether it is a TP, a FP, on an unknown object,
    # here; correcting a kind takes away its predictions that are here, and brings those that are not
    tags: np.ndarray

    @cached_property
    def _num_right(self) -> int:
        return int(np.count_nonzero(self.tags & _RIGHT))

    def curve(self, counts: np.ndarray, corrected: int = NO_ERRORS) -> Curve:
        """The curve where each image occurs `counts` times and a kind of errors is corrected."""
        loop = worth_compiling(curve_points, len(self.tags), self.tags)
        if loop is not None:
            points = np.empty((3, self._num_right + 2), np.int64)
            return Curve(*points[:, : loop(self.confidence, self.tags, counts, corrected, points)])
        tags = self.tags
        is_here = (tags & _IS_HERE != 0) != (tags >> _FLAG_BITS & _KIND == corrected)
        number = counts[tags >> _IMAGE_FROM] * is_here
        occurring = np.flatnonzero(number)
        some = np.concatenate([np.flatnonzero(number * (tags & _RIGHT)), occurring[-1:], occurring[:1]])
        starts = np.searchsorted(self.confidence, np.unique(self.confidence[some]))[::-1]
        last = len(tags) - 1 - starts  # of those that reach the confidence, from the highest on
        return Curve(*[np.cumsum(((tags & flag != 0) * number)[::-1])[last] for flag in _FLAGS])

    def reaching(self, thresholds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """TP and FP that reach each threshold, in one of each image."""
        kinds = (_RIGHT | _IS_HERE, _WRONG | _IS_HERE)
        sides = (self.confidence[self.tags & kind == kind] for kind in kinds)
        tp, fp = (len(side) - np.searchsorted(side, thresholds) for side in sides)
        return tp, fp


def curve_points(confidence: Any, tags: Any, counts: Any, corrected: int, points: Any) -> int:
    """Fill `points` with the points of `RankedClass.curve`, and return their number."""
    right = wrong = on_unknown = pending = size = 0
    is_point = False
    for i in range(tags.size - 1, -1, -1):
        tag = tags[i]
        is_here = ((tag & _IS_HERE) > 0) != ((tag >> _FLAG_BITS & _KIND) == corrected)
        count = counts[tag >> _IMAGE_FROM] * is_here
        right += count if tag & _RIGHT else 0
        wrong += count if tag & _WRONG else 0
        on_unknown += count if tag & _ON_UNKNOWN else 0
        pending += count  # since the last point
        is_point |= (count > 0) & (((tag & _RIGHT) > 0) | (size == 0))  # as a condition it would be mispredicted often
        if (is_point and (i == 0 or confidence[i - 1] != confidence[i])) or (i == 0 and pending):
            points[0, size], points[1, size], points[2, size] = right, wrong, on_unknown
            size, pending, is_point = size + 1, 0, False
    return size


@dataclass(frozen=True)
class RankedClasses:
    """Ranked predictions and objects, class by class."""

    outcomes: Outcomes  # of the predictions, and their boxes, which list the classes
    ranked: list[RankedClass]  # the predictions of each class
    objects: ClassObjects  # those that count
    not_missed: ClassObjects  # those that count after "missed" is corrected
    average_precision: AveragePrecision  # computed for each class

    @classmethod
    def of(
        cls,
        outcomes: Outcomes,
        on_unknown: np.ndarray,
        average_precision: AveragePrecision,
        errors: Errors | None = None,
    ) -> RankedClasses:
        """Rank predictions with their outcomes.

        Parameters: on_unknown, the rows of predictions on unknown objects; errors, if `where` is to correct them.
        """
        boxes = outcomes.boxes
        tags: np.ndarray = boxes.image.astype("uint32" if len(boxes.counts) < _IMAGES_IN_32_BITS else "uint64")
        tags = tags << _IMAGE_FROM | _FLAGS_OF_OUTCOME[outcomes.outcome]
        tags[on_unknown] |= _ON_UNKNOWN
        confidence, rows, objects = boxes.confidence, boxes.rows, ClassObjects.of(boxes, boxes.ignored)
        not_missed = objects
        if errors is not None:
            tags |= (errors.kinds & _KIND).astype(tags.dtype) << _FLAG_BITS
            taking, not_missed = errors.taking, ClassObjects.of(boxes, boxes.ignored | errors.missed)
            tags = np.append(tags, tags[taking] >> _FLAG_BITS << _FLAG_BITS | _RIGHT)
            confidence = np.append(confidence, confidence[taking])
            rows = np.append(rows, boxes.object_rows[errors.about[taking]])
        ranked = [RankedClass(*each) for each in sorted_by_kind_with(confidence, rows, len(boxes.classes), tags)]
        return cls(outcomes, ranked, objects, not_missed, average_precision)

    def where(self, counts: np.ndarray, corrected: int = NO_ERRORS) -> CountedClasses:
        """Count the classes where each image occurs `counts` times, after one of the errors is corrected, if any.

        Parameters: corrected, a place in `FALSE_POSITIVES`, or the next one for "missed".
        In threads if a class has many predictions on average: with few, threads wait for the interpreter.
        """
        objects = (self.not_missed if corrected == _PLACE_OF_MISSED else self.objects).number(counts).tolist()

        def counted(of_class: tuple[RankedClass, int]) -> tuple[Curve, Ratio]:
            ranked, number = of_class
            curve = ranked.curve(counts, corrected)
            return curve, self.average_precision(curve.tp, curve.fp, number)

        classes, work = [*zip(self.ranked, objects)], [len(each.tags) for each in self.ranked]
        threads = threads_for(_WORK * sum(work) // len(work))
        points = each_in_threads(counted, classes, work, threads) if threads > 1 else [*map(counted, classes)]
        curves, aps = zip(*points)
        return CountedClasses(self, [*curves], objects, [*aps])


@dataclass(frozen=True)
class CountedClasses:
    """A curve, a number of objects and an AP of each class, where images occur `counts` times."""

    classes: RankedClasses
    curves: list[Curve]
    objects: list[int]
    aps: list[Ratio]

    def mean_ap(self, rows: Sequence[int]) -> float:
        """The mean AP of some classes, over the ones that have objects; NaN if none has."""
        return mean_of([self.aps[row] for row in rows if self.objects[row]])

    def mean_ratio(self, counts: Sequence[int], totals: Sequence[int], rows: Sequence[int]) -> float:
        """The mean of counts/totals of some classes, over the ones that have objects, rounded once; NaN if none has.

        Of a class that has objects, 0/0 is 0, as is the precision of one that is never predicted.
        """
        rows = [row for row in rows if self.objects[row]]
        return rounded_sum([(counts[row], totals[row]) for row in rows if totals[row]], len(rows)) if rows else math.nan

    def predicted(self) -> tuple[list[int], list[int]]:
        """TP, and TP + FP, of all predictions of each class."""
        tp, predicted = [], []
        for curve in self.curves:
            tp.append(int(curve.tp[-1]) if len(curve.tp) else 0)
            predicted.append(tp[-1] + int(curve.fp[-1]) if len(curve.fp) else 0)
        return tp, predicted
