"""Areas under the curves of risk over coverage, from the counts of errors, which score higher, and of the others.

Samples are accepted in ascending order of their scores. With e(k) errors expected among the first k of N, and ties in
random order, the coverage is k/N, the risk e(k)/k and the generalised risk e(k)/N.

If a sample is one of m with its score, and a samples score lower, it is among the first k with probability (k − a)/m,
clipped to [0, 1]. So with harmonic numbers H(n) = Σ 1/k of k ≤ n it adds, to Σ_k e(k)/k if it is an error,

    1/m Σ_(j=1..m) j/(a + j) + Σ_(k=a+m+1..N) 1/k = 1 + tail − share
    share = a/m·(H(a + m) − H(a)), tail = H(N) − H(a + m)

In random order Σ_k e(k)/k = E. All areas follow from the gain over it, E − Σ_k e(k)/k = Σ_errors (share − tail), or
Σ_right (tail − share) of the R = N − E others, whichever are fewer: the gain of the perfect order, R·(H(N) − H(R)), is
as small as they are few, and the quotient of both needs all its digits.

Sums are integers. Of up to 256 samples they are exact, with harmonic numbers in units of 1/lcm(1, …, 256); of more,
each tail and share is off by less than 2^-50. Logarithms come from sums and products of float64s, since those of
libraries differ between processors.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, to_numpy
from ..arrays.exact import ratio_of, weighted_sum
from .auroc import AUROC
from .counts import Counts
from .quantities import (
    PERCENT,
    Bounds,
    Quantity,
    in_either_order,
    least_reaching,
    negatives_first,
    positives_first,
)

FEW_SAMPLES = 1 << 8  # samples, of which sums are exact
MULTIPLE = math.lcm(*range(1, FEW_SAMPLES + 1))
HARMONIC_NUMBERS = [
    *accumulate((MULTIPLE // k for k in range(1, FEW_SAMPLES + 1)), initial=0)
]  # in units of 1/MULTIPLE

_BITS = 57  # tails and shares of many samples are in units of 2^-57: H(2^40) is below 2^5
MARGIN = 1 << (_BITS - 48)  # by which two tails or shares that are equal may differ, each with the error of an end
_STEPS = 6  # mantissas are split into 2^6 steps
_SERIES = 32  # from where the series of harmonic numbers is exact to 2^-60
_CLOSE = 1 / 16  # m/(2a + m + 1) up to which H(a + m) − H(a) is a series of its own
_EULER = Fraction("0.57721566490153286060651209008240243104215933593992")


def places(counts: Counts) -> tuple[Array, Array]:
    """The numbers of samples, of both kinds, with a score below and with a score equal to each error's."""
    accepted = counts.num_positives - counts.tp + counts.num_negatives - counts.fp
    return accepted, counts.sizes + counts.fp - counts.above


def _logarithm(ratio: Fraction) -> Fraction:
    """Logarithm of a number in [1, 2], to 80 bits: 2·artanh of (ratio − 1)/(ratio + 1)."""
    unit = 1 << 90
    above, below = ratio.numerator - ratio.denominator, ratio.numerator + ratio.denominator
    power, total = unit * above // below, 0
    for k in range(1, 52, 2):
        total += power // k
        power = power * above**2 // below**2
    return Fraction(2 * total, unit)


def _fixed(value: Fraction) -> int:
    """A number in units of 2^-57, rounded."""
    return round(value * 2**_BITS)


_LN2 = _logarithm(Fraction(2))
_OF_EXPONENT = np.asarray([_fixed((k - 1) * _LN2) for k in range(64)])  # ln(2^k/2)
_CENTRES = [Fraction(2 * i + 1, 2 << _STEPS) for i in range(1 << _STEPS)]
_OF_CENTRE = np.asarray([_fixed(_logarithm(2 * each) - _LN2) if each > 1 / 2 else 0 for each in _CENTRES])
_FIRST = np.asarray([_fixed(Fraction(HARMONIC_NUMBERS[n], MULTIPLE) - _EULER) for n in range(_SERIES)])


def _artanh(z: np.ndarray, terms: int) -> np.ndarray:
    """The series z + z³/3 + z⁵/5 + …, to a number of terms."""
    square, total = z * z, np.zeros_like(z)
    for k in range(2 * terms - 1, 1, -2):
        total = (total + 1 / k) * square
    return z + z * total


def _correction(numbers: np.ndarray) -> np.ndarray:
    """H(n) − γ − ln(n + ½)."""
    square = 1 / (numbers + 0.5) ** 2
    return square * (1 / 24 - square * (7 / 960 - square * (31 / 8064 - square * 127 / 30720)))


def _harmonic(numbers: np.ndarray) -> np.ndarray:
    """H(n) − γ of integers in [0, 2^40], as int64 in units of 2^-57."""
    mantissa, exponent = np.frexp((2 * numbers + 1).astype(np.float64))
    step = (mantissa * (1 << _STEPS)).astype(np.intp)
    centre = (step + 0.5) / (1 << _STEPS)
    rest = 2 * _artanh((mantissa - centre) / (mantissa + centre), 4)  # of at most 2^-7
    rest = np.rint((rest + _correction(numbers)) * 2.0**_BITS).astype(np.int64)
    series = _OF_EXPONENT[exponent] + _OF_CENTRE[step] + rest
    return np.where(numbers < _SERIES, _FIRST[np.minimum(numbers, _SERIES - 1)], series)


def tails_and_shares(before: np.ndarray, tied: np.ndarray, number: int) -> tuple[np.ndarray, np.ndarray]:
    """The tail and the share of some of N samples with one score, for each score, as int64 in units of 2^-57."""
    through, most = _harmonic(before + tied), int(_harmonic(np.asarray([number]))[0])
    if tied.max(initial=1) == 1:  # the bounds below are equal
        return most - through, np.rint(before / (before + 1) * 2.0**_BITS).astype(np.int64)
    below = _harmonic(before)
    z = tied / (2 * before + tied + 1)
    series = 2 * _artanh(z, 7) + (_correction(before + tied) - _correction(before))
    close = (z <= _CLOSE) & (before >= _SERIES)
    share = before / tied * np.where(close, series, (through - below) * 2.0**-_BITS)
    middle = (tied + 1) / 2  # the mean 1 − share lies between that of the chord and the value at the middle
    share = np.clip(share, before / (before + middle), (before + (tied - middle)) / (before + tied))
    return most - through, np.rint(share * 2.0**_BITS).astype(np.int64)


def sum_of_gains(sizes: np.ndarray, tails: np.ndarray, shares: np.ndarray) -> int:
    """Σ sizes·(tail − share), in units of 2^-57; the sizes, which may be below 0, are of less than 2^60 in all."""
    total = int(np.abs(sizes).sum())
    return weighted_sum(sizes, tails, 62, total) - weighted_sum(sizes, shares, _BITS + 1, total)


def _sum_of_gains(sizes: np.ndarray, before: np.ndarray, tied: np.ndarray, *, number: int) -> int:
    """Σ sizes·(tail − share), in units of 2^-57: of N samples, some with one score, of which `sizes` are summed."""
    return sum_of_gains(sizes, *tails_and_shares(before, tied, number))


def unit_of_gains(number: int) -> int:
    """Of how many samples gains are in which unit: its inverse."""
    return MULTIPLE**2 if number <= FEW_SAMPLES else 1 << _BITS


class Gains(NamedTuple):
    """The gain of a run of errors over random order, in the unit of `unit_of_gains`."""

    total: int  # without the right samples that score between this run and the one before, if these are summed
    out_of_order: bool  # whether some error does not score higher than all right samples
    even: int  # samples in groups of equal scores with the share of errors of all samples
    above: int  # right samples above the first threshold, and all samples up to these
    through: int
    reached: int  # right samples at or above the last threshold
    margin: int = 0  # 1 or −1 if rounding may add to the gain, or take from it, since several scores were cut to one


def gains(counts: Counts) -> Gains:
    """The gain of a run."""
    number = counts.num_positives + counts.num_negatives
    sizes, tp, above, fp = (to_numpy(column) for column in (counts.sizes, counts.tp, counts.above, counts.fp))
    before, tied = number - tp - fp, sizes + fp - above
    few, others = sizes, fp - above
    if number <= FEW_SAMPLES:
        total = _exact_sum(sizes, before, tied, number)
    elif counts.num_positives <= counts.num_negatives:
        total = -_sum_of_gains(sizes, before, tied, number=number)
    else:
        between = above[1:] - fp[:-1]  # right samples between two errors, as if they had one score
        some, apart = others > 0, between > 0
        columns = zip(
            (others[some], before[some], tied[some]),
            (between[apart], (before + tied)[1:][apart], between[apart]),
        )
        total = _sum_of_gains(*(np.concatenate(column) for column in columns), number=number)
        few = others
    smaller = min(counts.num_positives, counts.num_negatives)
    even = int(tied[ratio_of(few, tied) == smaller / number].sum())
    through = int(before[0] + tied[0])
    return Gains(total, bool(fp[-1] > 0), even, int(above[0]), through, int(fp[-1]))


def _exact_sum(sizes: np.ndarray, before: np.ndarray, tied: np.ndarray, number: int) -> int:
    last, total = HARMONIC_NUMBERS[number], 0
    for size, lower, equal in zip(sizes.tolist(), before.tolist(), tied.tolist()):
        through = HARMONIC_NUMBERS[lower + equal]
        share = lower * (through - HARMONIC_NUMBERS[lower]) * (MULTIPLE // equal)
        total += size * (share - (last - through) * MULTIPLE)
    return total


def gain_of(parts: Sequence[Gains], num_errors: int, num_right: int) -> int:
    """The gain of all runs, from the highest on: E − Σ_k e(k)/k, in the unit of `unit_of_gains`."""
    number = num_errors + num_right
    gain = sum(part.total for part in parts)
    if number <= FEW_SAMPLES:
        return gain
    if num_right < num_errors:  # those between the runs, and below the last
        reached = [0, *(part.reached for part in parts)]
        groups = [(part.above - before, part.through) for part, before in zip(parts, reached)]
        groups = [(size, lower) for size, lower in [*groups, (num_right - reached[-1], 0)] if size > 0]
        if groups:
            sizes, lower = (np.asarray(column) for column in zip(*groups))
            gain += _sum_of_gains(sizes, lower, sizes, number=number)
    elif not parts:
        return 0
    if sum(part.even for part in parts) == number:  # the risk is the same at all coverages
        gain = 0
    margins = [part.margin for part in parts if part.margin]
    return gain + (margins[0] * min(num_errors, num_right) * MARGIN if margins else 0)


def _gain_and_most(parts: Sequence[Gains], num_errors: int, num_right: int) -> tuple[int, int]:
    """The gain, and that of the perfect order: with R right ones of N samples R·(H(N) − H(R))."""
    number = num_errors + num_right
    if number <= FEW_SAMPLES:
        most = num_right * (HARMONIC_NUMBERS[number] - HARMONIC_NUMBERS[num_right]) * MULTIPLE
    elif num_errors <= num_right:
        most = -_sum_of_gains(*np.asarray([[num_errors], [num_right], [num_errors]]), number=number)
    else:
        most = _sum_of_gains(*np.asarray([[num_right], [0], [num_right]]), number=number)
    if not any(part.out_of_order for part in parts):  # the perfect order, to the last bit
        return most, most
    return min(gain_of(parts, num_errors, num_right), most), most


def _ends(order: Callable[[Counts, Array], Counts], margin: int) -> Callable[[Counts, Array], Gains]:
    def part(counts: Counts, was_cut: Array) -> Gains:
        unsure = bool(array_namespace(was_cut).any(was_cut & (places(counts)[1] > 1)))
        return gains(order(counts, was_cut))._replace(margin=margin if unsure else 0)

    return part


_BOUNDS = Bounds(_ends(negatives_first, -1), _ends(positives_first, 1))  # of what only rises, or only falls, with gains


def _area(parts: list[Gains], num_errors: int, num_right: int) -> float:
    number = num_errors + num_right
    unit = unit_of_gains(number)
    return min(1.0, (num_errors * unit - gain_of(parts, num_errors, num_right)) / (number * unit))


def _area_of_right(parts: list[Gains], num_errors: int, num_right: int) -> float:
    number = num_errors + num_right
    unit = unit_of_gains(number)
    return max(0.0, (num_right * unit + gain_of(parts, num_errors, num_right)) / (number * unit))


def _excess(parts: list[Gains], num_errors: int, num_right: int) -> float:
    gain, most = _gain_and_most(parts, num_errors, num_right)
    number = num_errors + num_right
    return (most - gain) / (number * unit_of_gains(number))


def _rejection_ratio(parts: list[Gains], num_errors: int, num_right: int) -> float:
    gain, most = _gain_and_most(parts, num_errors, num_right)
    return gain / most


def _generalised_area(wins: list[int], num_errors: int, num_right: int) -> float:
    lost = 2 * num_errors * num_right - sum(wins)
    return (lost + num_errors**2) / (2 * (num_errors + num_right) ** 2)


AURC = Quantity(gains, _area, False, _BOUNDS)
AUARC = Quantity(gains, _area_of_right, True, _BOUNDS)
E_AURC = Quantity(gains, _excess, False, _BOUNDS)
PRR = Quantity(gains, _rejection_ratio, True, _BOUNDS)
AUGRC = AUROC._replace(value=_generalised_area, higher=False)


def among_first(number: int, counts: Counts) -> tuple[int, int, int]:
    """Errors of a run among the first `number` samples: a count of whole scores, a ratio of a partly accepted one."""
    xp = array_namespace(counts.tp)
    before, tied = places(counts)
    whole, some = before + tied <= number, (before < number) & (number < before + tied)
    errors, lower, equal = (int(xp.sum(column[some])) for column in (counts.sizes, before, tied))
    return int(xp.sum(counts.sizes[whole])), errors * (number - lower) if equal else 0, equal


def expected(parts: list[tuple[int, int, int]]) -> tuple[int, int]:
    """The errors that all parts of `among_first` expect, as a ratio of integers."""
    whole, split, tied = (sum(column) for column in zip((0, 0, 0), *parts))
    return whole * (tied or 1) + split, tied or 1


def risk_at(coverage: float) -> Quantity:
    """The risk of the first ⌈coverage·N⌉ samples."""

    def part(counts: Counts) -> tuple[int, int, int]:
        return among_first(least_reaching(coverage, counts.num_positives + counts.num_negatives), counts)

    def value(parts: list[tuple[int, int, int]], num_errors: int, num_right: int) -> float:
        errors, unit = expected(parts)
        return errors / (least_reaching(coverage, num_errors + num_right) * unit)

    return Quantity(part, value, False, in_either_order(part))


def coverage_at(risk: float) -> Quantity:
    """The highest coverage of a threshold at which the risk is at most `risk`; 0 if there is none."""

    def part(counts: Counts) -> int:
        xp = array_namespace(counts.tp)
        before, _ = places(counts)
        some = before > 0
        risks = ratio_of(counts.num_positives - counts.tp, xp.where(some, before, 1))
        return int(xp.max(xp.where(some & (risks <= risk), before, 0)))

    def value(parts: list[int], num_errors: int, num_right: int) -> float:
        total = num_errors + num_right
        return max([*parts, total if num_errors / total <= risk else 0]) / total

    return Quantity(part, value, True)


RISK_POINTS = {"risk@cov": risk_at, "coverage@risk": coverage_at}
_RISK_POINT = re.compile(rf"({'|'.join(RISK_POINTS)}){PERCENT}", re.ASCII)


def parse_risk(name: str) -> tuple[str, Fraction] | None:
    """Parse the name of a risk at a coverage, or a coverage at a risk, into its kind and share; None for another name.

    >>> parse_risk("risk@cov80"), parse_risk("coverage@risk0"), parse_risk("risk@cov0")
    (('risk@cov', Fraction(4, 5)), ('coverage@risk', Fraction(0, 1)), None)
    """
    match = _RISK_POINT.fullmatch(name)
    share = Fraction(match[2]) / 100 if match else Fraction()
    return (match[1], share) if match and share <= 1 and (share or match[1] == "coverage@risk") else None
