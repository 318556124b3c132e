"""Wilson's interval of a proportion, and the quantile of the normal distribution that intervals need."""

from __future__ import annotations

import math
from typing import NamedTuple

from ..arrays.options import as_confidence_level, as_int


class ProportionInterval(NamedTuple):
    """An interval of a proportion.

    low, high: its ends, 0 ≤ low ≤ count/total ≤ high ≤ 1
    """

    low: float
    high: float


def proportion_interval(count: int, total: int, confidence_level: float = 0.95) -> ProportionInterval:
    """Confidence interval of a proportion of independent samples, by Wilson's score.

    (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n),  p = count/n, n = total, z = Φ⁻¹((1 + confidence_level)/2)

    Use it for an accuracy, or for a rate at a threshold that was fixed beforehand. Do not use it for a rate at a
    threshold chosen on the same data, such as FPR at 95 % TPR, nor for an F-score or an area: resample for these.

    Parameters: count, the successes, an int in [0, total]; total, an int of at least 1; confidence_level in (0, 1).
    Returns (low, high), floats in [0, 1]; low is 0.0 without a success, high 1.0 without a failure.
    Raises ValueError for a value out of range. Source: Wilson, Probable Inference, the Law of Succession, and
    Statistical Inference, JASA 1927.

    >>> low, high = proportion_interval(9, 10)
    >>> round(low, 6), round(high, 6)
    (0.59585, 0.982124)
    """
    total = as_int(total, "total", 1)
    count = as_int(count, "count", 0, total)
    z = normal_quantile(as_confidence_level(confidence_level))
    low = _lower_end(count, total, z)
    if 2 * count > total:
        return ProportionInterval(low, 1.0 - _lower_end(total - count, total, z))
    high = (count + z * z / 2 + _spread(count, total, z)) / (total + z * z)
    return ProportionInterval(low, max(count / total, high))


def _lower_end(count: int, total: int, z: float) -> float:
    # the product of both ends is p²/(1 + z²/n): as a quotient, the lower one loses no digits where p is small
    return count / total * (count / (count + z * z / 2 + _spread(count, total, z))) if count else 0.0


def _spread(count: int, total: int, z: float) -> float:
    return z * math.sqrt(count * (total - count) / total + z * z / 4)


def normal_quantile(confidence_level: float) -> float:
    """The z such that a standard normal variable lies in [−z, z] with this probability, in (0, 1)."""
    from statistics import NormalDist  # needed by intervals alone

    return -NormalDist().inv_cdf((1 - confidence_level) / 2)  # of the small tail, which has more digits
