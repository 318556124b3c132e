"""Operating points by name, the thresholds that reach them, and the rates at a threshold."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from fractions import Fraction
from typing import Any, NamedTuple

from ..arrays.arrays import array_namespace
from ..metric.results import Results, rates_of
from .bounds import at_best
from .counts import Counts, Side
from .curves import F1_MAX
from .operating_points import RATES, best_point
from .quantities import Quantity

_POINT = re.compile(rf"({'|'.join(RATES)})((?!0\d)\d{{1,3}}(?:\.\d+)?)({'|'.join(RATES)})", re.ASCII)


class Reached(NamedTuple):
    """A value, and the lowest score that is detected at the threshold with this value.

    value: the value
    score: the samples of this score and of higher ones are detected (see `exceeded_threshold`); None for no sample
    """

    value: float
    score: float | None


def parse_point(name: str) -> tuple[str, str, Fraction] | None:
    """Parse the name of an operating point into its rate, bounded rate and bound; None for any other name.

    >>> parse_point("fpr95tpr"), parse_point("tpr0.5fpr"), parse_point("auroc")
    (('fpr', 'tpr', Fraction(19, 20)), ('tpr', 'fpr', Fraction(1, 200)), None)
    """
    match = _POINT.fullmatch(name)
    bound = Fraction(match[2]) / 100 if match else Fraction()
    return (match[1], match[3], bound) if match and 0 < bound <= 1 else None


def reached_point(rate: str, bounded: str, bound: Fraction) -> Quantity:
    """The best value of a rate whose bounded rate meets its bound exactly, as `Reached`."""
    point = best_point(rate, bounded, bound)

    def value(parts: list[Any], *totals: int) -> Reached:
        best = point.value(parts, *totals)
        return Reached(best.rate, best.score if best.tpr else None)

    return Quantity(point.part, value, point.higher, point.bounds)


def _best_gain(counts: Counts) -> tuple[int, float]:
    gains = counts.tp - counts.fp
    at = int(array_namespace(gains).argmax(gains))  # the first, whose threshold is highest
    return int(gains[at]), float(counts.thresholds[at])


def _best_accuracy(gains: list[tuple[int, float]], positives: int, negatives: int) -> Reached:
    gain, threshold = max([(0, None), *gains], key=lambda pair: pair[0])  # a gain of 0 is that of detecting nothing
    return Reached((negatives + gain) / (positives + negatives), threshold)


DETECTION_ACCURACY_REACHED = Quantity(_best_gain, _best_accuracy, True, at_best(_best_gain))


F1_MAX_REACHED = F1_MAX._replace(value=lambda *parts: Reached(*F1_MAX.value(*parts)))


def check_thresholds_exist(results: Results) -> None:
    """Raise ValueError for an operating point that only samples which score −inf reach."""
    for name, rate in rates_of(results).items():
        if rate.threshold is not None and math.isnan(rate.threshold):
            raise ValueError(
                f"thresholds: expected scores above -inf where {name} is reached, "
                "since no threshold is exceeded by -inf"
            )


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
