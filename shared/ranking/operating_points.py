"""Operating points: the best value of one rate over the thresholds at which another meets its bound."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace
from ..arrays.options import as_choice, as_fraction, as_written, by_keyword
from ..arrays.ratios import ratio_of
from .bounds import at_best
from .counts import Counts, checked_sides
from .exceeded import exceeded_threshold
from .quantities import Quantity, quantities
from .shares import least_reaching, most_within

RATES = ("fpr", "tpr", "fnr", "tnr")


class OperatingPoint(NamedTuple):
    """A point of the ROC curve.

    rate: the value of the chosen rate
    threshold: a sample is detected iff score > threshold; inf to detect nothing, −inf to detect all, and NaN to detect
        samples with a score of −inf, which no threshold does
    fpr, tpr: the rates there
    """

    rate: float
    threshold: float
    fpr: float
    tpr: float


class PointOfScores(NamedTuple):
    """A rate, the lowest score that is detected at its threshold (inf for none), and the other rates there."""

    rate: float
    score: float
    fpr: float
    tpr: float


@by_keyword
def operating_point(*, positives: Any, negatives: Any, rate: str, bounded: str, bound: float) -> OperatingPoint:
    """Best value of one rate over all thresholds at which another rate meets its bound, with the threshold.

    Rates are fpr and fnr (lower is better, bounded from above), tpr and tnr (higher is better, bounded from below).
    So ("fpr", "tpr", 0.95) is the lowest FPR with TPR ≥ 0.95, and ("tpr", "fpr", 0.05) the highest TPR with FPR ≤ 0.05.
    Among thresholds with equal values, it takes the one that the fewest samples exceed.

    Parameters: positives (P,) and negatives (N,), real scores, higher is more positive, no NaN, at least one of each;
    rate and bounded, of `RATES`; bound in (0, 1].
    Returns an `OperatingPoint`. Raises ValueError for an unknown rate, a bound outside (0, 1], NaN and an empty side.

    >>> operating_point(positives=[0.9, 0.4], negatives=[0.6, 0.1], rate="fpr", bounded="tpr", bound=0.95)
    OperatingPoint(rate=0.5, threshold=0.1, fpr=0.5, tpr=1.0)
    """
    quantity = best_point(rate, bounded, as_written(as_fraction(bound, "bound")))
    sides = checked_sides(positives=positives, negatives=negatives)
    best: PointOfScores = quantities(*sides, {"": quantity})[""]
    threshold = exceeded_threshold(best.score if best.tpr else None, sides)
    return OperatingPoint(best.rate, threshold, best.fpr, best.tpr)


def best_point(rate: str, bounded: str, bound: Fraction) -> Quantity:
    """The quantity of `operating_point`, as `PointOfScores`."""
    as_choice(rate, "rate", RATES)
    as_choice(bounded, "bounded", RATES)
    best, worst = (max, -math.inf) if rate in ("tpr", "tnr") else (min, math.inf)
    from_below = bounded in ("tpr", "tnr")

    def part(counts: Counts) -> list[PointOfScores]:
        xp = array_namespace(counts.tp)
        number, total = _count(bounded, counts)
        allowed = number >= least_reaching(bound, total) if from_below else number <= most_within(bound, total)
        if not bool(xp.any(allowed)):
            return []
        values = xp.where(allowed, ratio_of(*_count(rate, counts)), worst)
        at = int(xp.argmax(values) if best is max else xp.argmin(values))  # the first, whose score is highest
        here = slice(at, at + 1)
        fpr, tpr = (
            ratio_of(number[here], total)[0] for number, total in (_count("fpr", counts), _count("tpr", counts))
        )
        return [PointOfScores(*(float(number) for number in (values[at], counts.thresholds[at], fpr, tpr)))]

    def value(parts: list[list[PointOfScores]], *_: int) -> PointOfScores:
        nothing = PointOfScores(_AT_NOTHING[rate], math.inf, _AT_NOTHING["fpr"], _AT_NOTHING["tpr"])
        points = [point for part in parts for point in part]
        at_nothing = _AT_NOTHING[bounded]
        allowed = at_nothing >= bound if from_below else at_nothing <= bound
        return best([*points, nothing] if allowed else points, key=lambda point: point.rate)

    return Quantity(part, value, rate in ("tpr", "tnr"), at_best(part))


_AT_NOTHING = {"tpr": 0.0, "fnr": 1.0, "fpr": 0.0, "tnr": 1.0}  # the rates where nothing is detected


def _count(rate: str, counts: Counts) -> tuple[Array, int]:
    """The numerator of a rate at each threshold, and its denominator."""
    tp, fp, positives, negatives = counts.tp, counts.fp, counts.num_positives, counts.num_negatives
    return {
        "tpr": (tp, positives),
        "fnr": (positives - tp, positives),
        "fpr": (fp, negatives),
        "tnr": (negatives - fp, negatives),
    }[rate]
