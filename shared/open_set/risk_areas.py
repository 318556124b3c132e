"""Areas under the curves of risk over coverage, from the counts of errors, which score higher, and of the others.

If a sample is one of m with its score, and a samples score lower, it is among the first k with probability (k − a)/m,
clipped to [0, 1], with ties in random order. So a mean over coverages is a sum over the errors.
"""

from __future__ import annotations

import math

import numpy as np

from ..arrays.arrays import Array, array_namespace, to_numpy
from ..arrays.ratios import RATIO_UNIT, sum_of_shares
from ..ranking.bounds import Bounds, in_either_order, negatives_first, positives_first
from ..ranking.counts import Counts, Side, as_side
from ..ranking.curves import twice_wins
from ..ranking.quantities import Quantity

_LOG_BITS = 6  # a harmonic number of up to 2^63 terms is below 2^6
_MARGIN_BITS = 44  # each of the terms with logarithms is off by less than 2^-44
_SERIES = 32  # from where the series of harmonic numbers is exact in float64
_NEAR = [math.fsum([-math.log(n + 0.5), -np.euler_gamma, *(1 / k for k in range(1, n + 1))]) for n in range(_SERIES)]


def places(counts: Counts) -> tuple[Array, Array]:
    """The numbers of samples, of both kinds, with a score below and with a score equal to each error's."""
    accepted = counts.num_positives - counts.tp + counts.num_negatives - counts.fp
    return accepted, counts.sizes + counts.fp - counts.above


def _correction(numbers: np.ndarray) -> np.ndarray:
    """H(n) − γ − ln(n + ½), of harmonic numbers H."""
    square = 1 / (numbers + 0.5) ** 2
    series = square * (1 / 24 - square * (7 / 960 - square * (31 / 8064 - square * 127 / 30720)))
    return np.where(numbers < _SERIES, np.asarray(_NEAR)[np.minimum(numbers, _SERIES - 1)], series)


def _harmonic(start: np.ndarray, stop: np.ndarray | int) -> np.ndarray:
    """Σ 1/k of start < k ≤ stop."""
    stop = np.broadcast_to(stop, start.shape)
    return np.log1p((stop - start) / (start + 0.5)) + (_correction(stop) - _correction(start))


def _sum_over_errors(counts: Counts) -> int:
    """Σ_k e(k)/k in units of 2^-111, summed over errors: each adds its share among m tied samples, and 1/k after them.

    1/m Σ_(j=1..m) j/(a + j) + Σ_(k=a+m+1..N) 1/k. The mean lies between that of the chord and the value at the middle.
    """
    # on the host: the logarithms of array libraries differ in their last bits
    before, tied = (to_numpy(column) for column in places(counts))
    mean = 1 - before / tied * _harmonic(before, before + tied)
    middle = (tied + 1) / 2
    mean = np.clip(mean, middle / (before + tied), middle / (before + middle))
    terms = mean + _harmonic(before + tied, counts.num_positives + counts.num_negatives)
    return sum_of_shares(to_numpy(counts.sizes), terms / 2**_LOG_BITS, counts.num_positives)


def _margin(counts: Counts, was_cut: Array) -> int:
    """The most that rounding may add to the sum if several scores were cut to one."""
    unsure = was_cut & (places(counts)[1] > 1)
    return int(array_namespace(unsure).sum(counts.sizes[unsure])) << (RATIO_UNIT - _LOG_BITS - _MARGIN_BITS)


def _area(sums: list[int], num_errors: int, num_right: int) -> float:
    return area_of_sum(sum(sums), num_errors + num_right) if num_right else 1.0


def area_of_sum(total_risk: int, number: int) -> float:
    """A mean of risks from their sum, divided once, at most 1."""
    return min(1.0, (total_risk << _LOG_BITS) / (number << RATIO_UNIT))


def both_sides(first: Side, second: Side) -> Side:
    """Merge the samples of two sides into one."""
    xp = array_namespace(first.scores, second.scores)
    scores = xp.concat([first.scores, second.scores])
    if first.before is None and second.before is None:
        return as_side(scores)
    return as_side(scores, xp.concat([first.sizes, second.sizes]))


def _generalised_area(wins: list[int], num_errors: int, num_right: int) -> float:
    lost = 2 * num_errors * num_right - sum(wins)
    return (lost + num_errors**2) / (2 * (num_errors + num_right) ** 2)


AURC = Quantity(
    _sum_over_errors,
    _area,
    False,
    Bounds(
        lambda counts, flags: _sum_over_errors(negatives_first(counts, flags)) + _margin(counts, flags),
        lambda counts, flags: _sum_over_errors(positives_first(counts, flags)) - _margin(counts, flags),
    ),
)
AUGRC = Quantity(twice_wins, _generalised_area, False, in_either_order(twice_wins))
