"""Operating points, such as FPR at 95 % TPR: the best value of one rate where another meets its bound.

    FPR@95 = min {FPR(t) : TPR(t) ≥ 0.95} over all thresholds t, by the name "fpr95tpr"

`operating_point` computes one of two sides of scores, `parse_point` reads the name of one, `best_point` is its quantity
among others in one pass over the counts, and `rate_above` is a rate at a threshold that is known. `parse_area` reads
the name of a partial area under the ROC curve, up to such a rate.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from fractions import Fraction
from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace, device_of
from ..arrays.checks import as_choice, as_fraction, by_keyword
from ..arrays.exact import as_written, ratio_of
from .auroc import partial_auroc
from .counts import Counts, Side, checked_sides, exceeded_threshold
from .curves import BestValue
from .quantities import PERCENT, Quantity, at_best, least_reaching, most_within, quantities

RATES = ("fpr", "tpr", "fnr", "tnr")
_AT_NOTHING = {"tpr": 0.0, "fnr": 1.0, "fpr": 0.0, "tnr": 1.0}  # the rates where nothing is detected
_POINT = re.compile(rf"({'|'.join(RATES)}){PERCENT}({'|'.join(RATES)})", re.ASCII)
_AREA = re.compile(rf"pauroc@({'|'.join(RATES)}){PERCENT}(_mcclish)?", re.ASCII)


class OperatingPoint(NamedTuple):
    """A point of the ROC curve."""

    rate: float  # the value of the chosen rate
    # a sample is detected iff score > threshold; inf to detect nothing, −inf to detect all, and NaN to detect samples
    # with a score of −inf, which no threshold does
    threshold: float
    fpr: float  # with tpr: the rates there
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
    best: BestValue = quantities(*sides, {"": quantity})[""]
    return OperatingPoint(best.value, exceeded_threshold(best.score, sides), best.fpr, best.tpr)


def best_point(rate: str, bounded: str, bound: Fraction) -> Quantity:
    """The quantity of `operating_point`, as a `BestValue`."""
    as_choice(rate, "rate", RATES)
    as_choice(bounded, "bounded", RATES)
    best = max if rate in ("tpr", "tnr") else min
    from_below = bounded in ("tpr", "tnr")

    def part(counts: Counts) -> list[BestValue]:
        start, stop = 0, counts.tp.shape[0]
        total = counts.num_positives if bounded in ("tpr", "fnr") else counts.num_negatives
        # number/total ≥ bound or ≤ bound, in integers
        number = least_reaching(bound, total) if from_below else most_within(bound, total)
        # tp and fp rise along the thresholds, so that some first or some last ones are allowed
        if bounded in ("tpr", "fnr"):
            start = _first_at(counts.tp, number if from_below else total - number, "left")
        else:
            stop = _first_at(counts.fp, total - number if from_below else number, "right")
        if start >= stop:
            return []
        at = stop - 1 if rate in ("tpr", "fnr") else start  # the first of the best, whose score is highest
        fp, tp, score = counts.fp[at : at + 1], counts.tp[at : at + 1], float(counts.thresholds[at])
        fpr, tpr = float(ratio_of(fp, counts.num_negatives)[0]), float(ratio_of(tp, counts.num_positives)[0])
        number, total = _count(rate, counts)
        return [BestValue(float(ratio_of(number[at : at + 1], total)[0]), score, fpr, tpr)]

    def value(parts: list[list[BestValue]], *_: int) -> BestValue:
        points = [point for part in parts for point in part]
        at_nothing = _AT_NOTHING[bounded]
        if at_nothing >= bound if from_below else at_nothing <= bound:
            points.append(BestValue(_AT_NOTHING[rate], None, _AT_NOTHING["fpr"], _AT_NOTHING["tpr"]))
        return best(points, key=lambda point: point.value)

    return Quantity(part, value, rate in ("tpr", "tnr"), at_best(part))


def _first_at(ascending: Array, number: int, side: Any) -> int:
    """The first place of a count at least a number (side "left"), or above it ("right")."""
    xp = array_namespace(ascending)
    at = xp.asarray([number], dtype=ascending.dtype, device=device_of(ascending))
    return int(xp.searchsorted(ascending, at, side=side)[0])


def _count(rate: str, counts: Counts) -> tuple[Array, int]:
    """The numerator of a rate at each threshold, and its denominator."""
    tp, fp, positives, negatives = counts.tp, counts.fp, counts.num_positives, counts.num_negatives
    return {
        "tpr": (tp, positives),
        "fnr": (positives - tp, positives),
        "fpr": (fp, negatives),
        "tnr": (negatives - fp, negatives),
    }[rate]


def parse_point(name: str) -> tuple[str, str, Fraction] | None:
    """Parse the name of an operating point into its rate, bounded rate and bound; None for any other name.

    >>> parse_point("fpr95tpr"), parse_point("tpr0.5fpr"), parse_point("auroc")
    (('fpr', 'tpr', Fraction(19, 20)), ('tpr', 'fpr', Fraction(1, 200)), None)
    """
    match = _POINT.fullmatch(name)
    bound = Fraction(match[2]) / 100 if match else Fraction()
    return (match[1], match[3], bound) if match and 0 < bound <= 1 else None


def equal_error_score(positives: Side, negatives: Side) -> float | None:
    """The score that is detected, with higher ones, where |FPR − FNR| is least; None if nothing is.

    Of two such scores it is the higher one, which detects fewer samples.
    """
    sides = positives, negatives

    def excess(score: float | None) -> int:
        """FPR − FNR, times P·N, which never falls as the score falls."""
        tp, fp = (0 if score is None else side.total - side.below_score(score) for side in sides)
        return fp * positives.total + tp * negatives.total - positives.total * negatives.total

    reached: list[float] = []
    higher: list[float] = []
    for side in sides:
        rows = bisect_left(range(side.scores.shape[0]), True, key=lambda row: excess(float(side.scores[row])) < 0)
        reached += side.scores[:rows][-1:].tolist()
        higher += side.scores[rows:][:1].tolist()
    after, before = max(reached), min(higher, default=None)
    return after if excess(after) < -excess(before) else before


def parse_area(name: str) -> tuple[Quantity, bool] | None:
    """The quantity of a partial area such as "pauroc@fpr10"; None for any other name.

    The flag says whether its positives are the other class, by negated scores: above TPR is up to FNR, which is the
    false-positive rate of that class.
    """
    match = _AREA.fullmatch(name)
    share = Fraction(match[2]) / 100 if match else Fraction()
    limit = 1 - share if match and match[1] in ("tpr", "tnr") else share
    if match is None or not share or not 0 < limit <= 1:
        return None
    return partial_auroc(limit, mcclish=match[3] is not None), match[1] in ("fnr", "tpr")


def rate_above(name: str, positives: Side, negatives: Side, threshold: float) -> float:
    """One of the rates fpr, tpr, fnr and tnr, if a sample is detected iff its score > threshold."""
    side = positives if name in ("tpr", "fnr") else negatives
    above = samples_above(side, threshold)
    return (above if name in ("tpr", "fpr") else side.total - above) / side.total


def samples_above(side: Side, threshold: float) -> int:
    """The number of samples with a score > threshold."""
    # compared as Python floats: a float32 score must not round the threshold to its own precision
    rows = bisect_right(range(side.scores.shape[0]), threshold, key=lambda row: float(side.scores[row]))
    return side.total - int(side.below(rows))
