"""Areas under precision-recall curves, and best points over all thresholds, from exceedance counts."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace
from ..arrays.checks import by_keyword
from ..arrays.exact import RATIO_UNIT, ratio_of, sum_of_ratios, weighted_sum
from .counts import Counts, Side, checked_sides, exceeded_threshold
from .quantities import (
    UNIT_BITS,
    Bounds,
    Quantity,
    at_best,
    in_either_order,
    least_precision,
    most_twice_precision,
    negatives_first,
    positives_first,
    quantities,
    unsure_precision,
)

_DISTINCT = 1 << 26  # different ratios of integers below it are different float64s


def _quantity_of(quantity: Quantity, positives: Side, negatives: Side) -> Any:
    return quantities(positives, negatives, {"": quantity})[""]


def _precision_sum(counts: Counts) -> int:
    return sum_of_ratios(counts.sizes, counts.tp, counts.tp + counts.fp, counts.num_positives)


def _sum_with(sum_of: Callable[[Counts], int], shares: Callable[[Counts], Array], counts: Counts, unsure: Array) -> int:
    """A sum in units of 2^-117, with shares in units of 2^-40 as its terms at the thresholds that are not sure."""
    sure, others = (
        counts._replace(**{name: getattr(counts, name)[rows] for name in ("thresholds", "sizes", "tp", "above", "fp")})
        for rows in (~unsure, unsure)
    )
    total = sum_of(sure) if sure.sizes.shape[0] else 0
    if others.sizes.shape[0]:
        total += weighted_sum(others.sizes, shares(others), UNIT_BITS + 2, counts.num_positives) << (
            RATIO_UNIT - UNIT_BITS
        )
    return total


AVERAGE_PRECISION = Quantity(
    _precision_sum,
    lambda sums, positives, _: sum(sums) / (positives << RATIO_UNIT),
    True,
    Bounds(
        lambda counts, flags: _sum_with(_precision_sum, least_precision, counts, unsure_precision(counts, flags)),
        lambda counts, flags: _precision_sum(positives_first(counts, flags)),
    ),
)


def average_precision_at(share: Fraction) -> Quantity:
    """Average precision if a share π of the samples were positives.

    1/P Σ_t sizes_t · π·TPR_t / (π·TPR_t + (1 − π)·FPR_t): each negative weighs r = (1 − π)/π · P/N, so that the
    precision is tp_t / (tp_t + r·fp_t).
    """

    def weighed(counts: Counts) -> Counts:
        ratio = float((1 - share) / share * Fraction(counts.num_positives, counts.num_negatives))
        xp = array_namespace(counts.fp)
        above, fp = (xp.astype(column, xp.float64) * ratio for column in (counts.above, counts.fp))
        return counts._replace(above=above, fp=fp)

    part, value, higher, bounds = AVERAGE_PRECISION
    ends = [lambda counts, flags, end=end: end(weighed(counts), flags) for end in bounds or ()]
    return Quantity(lambda counts: part(weighed(counts)), value, higher, Bounds(*ends))


@by_keyword
def average_precision(*, positives: Any, negatives: Any) -> float:
    """Average precision: the step sum under the precision-recall curve.

    AP = Σ_t (R_t − R_(t−1)) P_t = 1/P Σ_t sizes_t · tp_t / (tp_t + fp_t)  over descending thresholds

    Parameters and errors: as of `auroc`.
    Returns a float in (0, 1]; chance is the share of positives. Source: Zhu, Recall, Precision and Average
    Precision, 2004; scikit-learn's average_precision_score agrees.

    >>> round(average_precision(positives=[0.9, 0.4], negatives=[0.6, 0.1]), 4)
    0.8333
    """
    return float(_quantity_of(AVERAGE_PRECISION, *checked_sides(positives=positives, negatives=negatives)))


def _trapezoid_sum(counts: Counts) -> int:
    # the point before a positive's threshold is that of the scores strictly above it, at first precision 1
    xp = array_namespace(counts.tp)
    tp = counts.tp - counts.sizes
    accepted = tp + counts.above
    none = accepted == 0
    ratios = xp.where(none, 1, tp), xp.where(none, 1, accepted)
    before = sum_of_ratios(counts.sizes, *ratios, counts.num_positives)
    return _precision_sum(counts) + before


AUPR = Quantity(
    _trapezoid_sum,
    lambda sums, positives, _: sum(sums) / (positives << (RATIO_UNIT + 1)),
    True,
    Bounds(
        lambda counts, flags: _trapezoid_sum(negatives_first(counts, flags)),
        lambda counts, flags: _sum_with(_trapezoid_sum, most_twice_precision, counts, unsure_precision(counts, flags)),
    ),
)


@by_keyword
def aupr(*, positives: Any, negatives: Any) -> float:
    """Area under the precision-recall curve by trapezoids, from (recall 0, precision 1) on.

    AUPR = Σ_n (R_n − R_(n−1)) (P_n + P_(n−1))/2 over all distinct scores, negatives' included

    It interpolates linearly where precision is not linear, and so differs from average precision.
    Parameters and errors: as of `auroc`.
    Returns a float in (0, 1]. Source: scikit-learn's auc(recall, precision) of precision_recall_curve.

    >>> round(aupr(positives=[0.9, 0.4], negatives=[0.6, 0.1]), 4)
    0.7917
    """
    return float(_quantity_of(AUPR, *checked_sides(positives=positives, negatives=negatives)))


def _best_f1(counts: Counts) -> tuple[Fraction, float]:
    """The highest F1, and the lowest score that is detected there; equal float64s are compared in fractions."""
    twice, total = 2 * counts.tp, counts.tp + counts.fp + counts.num_positives
    f1, xp = ratio_of(twice, total), array_namespace(twice)
    near = xp.nonzero(f1 == xp.max(f1))[0]
    if int(total[-1]) < _DISTINCT:
        near = near[:1]
    exact = [Fraction(*pair) for pair in zip(twice[near].tolist(), total[near].tolist())]
    best = max(exact)
    return best, float(counts.thresholds[int(near[exact.index(best)])]) + 0.0  # 0.0 for −0.0


def _first_best(bests: list[tuple[Fraction, float]], *_: int) -> tuple[float, float]:
    f1, score = max(bests, key=lambda pair: pair[0])  # the first of equal ones, which has the highest score
    return float(f1), score


F1_MAX = Quantity(_best_f1, _first_best, True, at_best(_best_f1))


@by_keyword
def f1_max(*, positives: Any, negatives: Any) -> tuple[float, float]:
    """Highest F1 over all thresholds, and its threshold; among several, the one that the fewest samples exceed.

    F1(t) = 2·TP(t) / (TP(t) + FP(t) + P), positive iff score > t

    Parameters and errors: as of `auroc`.
    Returns (F1 in (0, 1], threshold): a score of either side, or −inf to call all samples positive; NaN to call samples
    with a score of −inf positive, which no threshold does.
    Source: Zou et al., SPot-the-Difference, ECCV 2022.

    >>> f1_max(positives=[0.9, 0.4], negatives=[0.6, 0.1])
    (0.8, 0.1)
    """
    sides = checked_sides(positives=positives, negatives=negatives)
    best, score = _quantity_of(F1_MAX, *sides)
    return best, exceeded_threshold(score, sides)


def _best_iou(counts: Counts) -> float:
    return float(array_namespace(counts.tp).max(ratio_of(counts.tp, counts.fp + counts.num_positives)))


# max_t TP / (TP + FP + FN), at the threshold of the best F1
IOU_MAX = Quantity(_best_iou, lambda best, *_: max(best), True, at_best(_best_iou))


class BestValue(NamedTuple):
    """The best value of a measure over all thresholds, and where it is."""

    value: float
    score: float | None  # it and higher ones are detected (see `exceeded_threshold`); None for no sample
    fpr: float = math.nan  # with tpr: the rates there, of an operating point
    tpr: float = math.nan


def _best_gain(counts: Counts) -> tuple[int, float]:
    gains = counts.tp - counts.fp
    at = int(array_namespace(gains).argmax(gains))  # the first, whose threshold is highest
    return int(gains[at]), float(counts.thresholds[at])


def _best_accuracy(gains: list[tuple[int, float]], positives: int, negatives: int) -> BestValue:
    gain, score = max([(0, None), *gains], key=lambda pair: pair[0])  # a gain of 0 is that of detecting nothing
    return BestValue((negatives + gain) / (positives + negatives), score)


# as of `detection_accuracy` and `f1_max`, with their scores
DETECTION_ACCURACY_REACHED = Quantity(_best_gain, _best_accuracy, True, at_best(_best_gain))
F1_MAX_REACHED = F1_MAX._replace(value=lambda *parts: BestValue(*F1_MAX.value(*parts)))
DETECTION_ACCURACY = DETECTION_ACCURACY_REACHED._replace(value=lambda *parts: _best_accuracy(*parts).value)


@by_keyword
def detection_accuracy(*, positives: Any, negatives: Any) -> float:
    """Highest accuracy over all thresholds, including the two that detect nothing and everything.

    max_t (TP(t) + N − FP(t)) / (P + N)

    Parameters and errors: as of `auroc`.
    Returns a float in [0.5, 1]. Source: Liang, Li and Srikant, ODIN, ICLR 2018 (there with equal class weights).

    >>> detection_accuracy(positives=[0.9, 0.4], negatives=[0.6, 0.1])
    0.75
    """
    return float(_quantity_of(DETECTION_ACCURACY, *checked_sides(positives=positives, negatives=negatives)))


def _equal_error(counts: Counts) -> list[Fraction]:
    """The equal error rate, if the ROC curve reaches it in this run.

    FPR − FNR = (fp·P + tp·N − P·N)/(P·N) never falls along the curve. It is 0 at a tied score, or on the horizontal
    line before one.
    """
    positives, negatives = counts.num_positives, counts.num_negatives

    def excess(fp: int, tp: int) -> int:
        return fp * positives + tp * negatives - positives * negatives

    def after(i: int) -> int:
        return excess(int(counts.fp[i]), int(counts.tp[i]))

    number = counts.tp.shape[0]
    if after(number - 1) < 0:
        return []
    at = bisect_left(range(number), 0, key=after)
    above, fp, tp, size = (int(column[at]) for column in (counts.above, counts.fp, counts.tp, counts.sizes))
    before = excess(above, tp - size)
    if before >= 0:
        return [1 - Fraction(tp - size, positives)]
    return [Fraction(above * after(at) - before * fp, (after(at) - before) * negatives)]


def _first_reached(parts: list[list[Fraction]], *_: int) -> float:
    return float(next(rate for part in parts for rate in part))


# where FPR = 1 − TPR on the ROC curve, which is linear between distinct scores
EER = Quantity(_equal_error, _first_reached, False, in_either_order(_equal_error))
