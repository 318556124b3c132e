"""Areas under the curves of risk over coverage, from the counts of errors, which score higher, and of the others.

Samples are accepted in ascending order of their scores. With e(k) errors expected among the first k of N, and ties in
random order, the coverage is k/N, the risk e(k)/k and the generalised risk e(k)/N.

If a sample is one of m with its score, and a samples score lower, it is among the first k with probability (k − a)/m,
clipped to [0, 1]. So a mean over coverages is a sum over the errors.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, to_numpy
from ..arrays.exact import RATIO_UNIT, sum_of_shares
from .counts import Counts
from .quantities import AUROC, Bounds, Quantity, negatives_first, positives_first

_LOG_BITS = 6  # a harmonic number of up to 2^63 terms is below 2^6
_UNIT = RATIO_UNIT - _LOG_BITS  # risks are summed in units of 2^-111
_MARGIN_BITS = 44  # each of the terms with logarithms is off by less than 2^-44
_SERIES = 32  # from where the series of harmonic numbers is exact in float64
_NEAR = [math.fsum([-math.log(n + 0.5), -np.euler_gamma, *(1 / k for k in range(1, n + 1))]) for n in range(_SERIES)]
_FEW = 1 << 8  # samples, of which sums are taken in integers
_HARMONIC = [*accumulate(((1 << _UNIT) // k for k in range(1, _FEW + 1)), initial=0)]


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


def sum_of_risks(counts: Counts) -> int:
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
    return int(array_namespace(unsure).sum(counts.sizes[unsure])) << (_UNIT - _MARGIN_BITS)


def mean_risk(total_risk: int, number: int) -> float:
    """A mean of risks from their sum, divided once, at most 1."""
    return min(1.0, total_risk / (number << _UNIT))


class _Risks(NamedTuple):
    """The risks of a run of errors."""

    total: int  # their sum
    precise: int  # the same, exact to 2^-90 if samples are few
    out_of_order: bool  # whether some error does not score higher than all right samples


def _risks_of(counts: Counts) -> _Risks:
    total, number = sum_of_risks(counts), counts.num_positives + counts.num_negatives
    precise = _precise_sum(counts) if number <= _FEW else total
    return _Risks(total, precise, bool(counts.fp[-1] > 0))


def _precise_sum(counts: Counts) -> int:
    last, total = _HARMONIC[counts.num_positives + counts.num_negatives], 0
    for size, before, tied in zip(*(column.tolist() for column in (counts.sizes, *places(counts)))):
        through = _HARMONIC[before + tied]
        mean = (1 << _UNIT) - before * (through - _HARMONIC[before]) // tied
        total += size * (mean + last - through)
    return total


def _ends(order: Callable[[Counts, Array], Counts], sign: int) -> Callable[[Counts, Array], _Risks]:
    def part(counts: Counts, was_cut: Array) -> _Risks:
        risks, margin = _risks_of(order(counts, was_cut)), sign * _margin(counts, was_cut)
        return _Risks(risks.total + margin, risks.precise + margin, risks.out_of_order)

    return part


_BOUNDS = Bounds(_ends(negatives_first, 1), _ends(positives_first, -1))  # of what only rises, or only falls, with risks


def _area(parts: list[_Risks], num_errors: int, num_right: int) -> float:
    return mean_risk(sum(part.total for part in parts), num_errors + num_right) if num_right else 1.0


def _area_of_right(parts: list[_Risks], num_errors: int, num_right: int) -> float:
    whole = (num_errors + num_right) << _UNIT
    return max(0, whole - sum(part.precise for part in parts)) / whole


def _gains(parts: list[_Risks], num_errors: int, num_right: int) -> tuple[int, int]:
    """By how much the sum of risks is lower than in random order, and by how much it is in the perfect one.

    With R right ones of N samples, the latter is R·Σ 1/k over R < k ≤ N.
    """
    number = num_errors + num_right
    if number <= _FEW:
        rest = _HARMONIC[number] - _HARMONIC[num_right]
    else:
        rest = int(math.ldexp(float(_harmonic(np.asarray([num_right]), number)[0]), _UNIT))
    most = num_right * rest
    if not any(part.out_of_order for part in parts):  # the perfect order, to the last bit
        return most, most
    return min((num_errors << _UNIT) - sum(part.precise for part in parts), most), most


def _excess(parts: list[_Risks], num_errors: int, num_right: int) -> float:
    gain, most = _gains(parts, num_errors, num_right)
    return mean_risk(most - gain, num_errors + num_right)


def _rejection_ratio(parts: list[_Risks], num_errors: int, num_right: int) -> float:
    gain, most = _gains(parts, num_errors, num_right)
    return gain / most


def _generalised_area(wins: list[int], num_errors: int, num_right: int) -> float:
    lost = 2 * num_errors * num_right - sum(wins)
    return (lost + num_errors**2) / (2 * (num_errors + num_right) ** 2)


AURC = Quantity(_risks_of, _area, False, _BOUNDS)
AUARC = Quantity(_risks_of, _area_of_right, True, _BOUNDS)
E_AURC = Quantity(_risks_of, _excess, False, _BOUNDS)
PRR = Quantity(_risks_of, _rejection_ratio, True, _BOUNDS)
AUGRC = AUROC._replace(value=_generalised_area, higher=False)
