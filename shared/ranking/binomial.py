"""Decisions about the lower tail of a binomial distribution, P(X ≤ k) for X ~ Bin(trials, rate).

Tails are scipy's. One that is too close to its bound for floats is decided in integers, or, of many trials, is taken
for too large: a promise is then a little stricter than it has to be.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction

_MARGIN = 1e-9  # of the chance: far above the error of scipy's tails
_MANY = 10_000  # trials, above which integers would take seconds


def tail_within(count: int, trials: int, rate: Fraction, chance: Fraction) -> bool:
    """Whether P(Bin(trials, rate) ≤ count) ≤ chance; rate and chance in (0, 1).

    >>> [tail_within(0, trials, Fraction(1, 20), Fraction(1, 20)) for trials in (58, 59)]
    [False, True]
    """
    from scipy.special import bdtr  # needed by promises alone

    tail, bound = float(bdtr(count, trials, float(rate))), float(chance)
    if abs(tail - bound) > _MARGIN * bound:
        return tail <= bound
    return trials <= _MANY and _is_within(count, trials, rate, chance)


def largest_within(trials: int, rate: Fraction, chance: Fraction) -> int:
    """The largest k with P(Bin(trials, rate) ≤ k) ≤ chance; −1 if not even k = 0 qualifies.

    >>> [largest_within(trials, Fraction(1, 20), Fraction(1, 20)) for trials in (58, 59, 92, 93, 10_000)]
    [-1, 0, 0, 1, 463]
    """
    return bisect_left(range(trials), True, key=lambda k: not tail_within(k, trials, rate, chance)) - 1


def least_trials(rate: Fraction, chance: Fraction) -> int:
    """The least number of trials with P(Bin(trials, rate) = 0) = (1 − rate)^trials ≤ chance.

    >>> least_trials(Fraction(1, 20), Fraction(1, 20)), least_trials(Fraction(1, 2), Fraction(1, 4))
    (59, 2)
    """
    trials = _ln(chance) / _ln(1 - rate)
    if trials > _MANY:
        return math.ceil(trials * (1 + Fraction(1, 10**12)))  # above the errors of the logarithms
    first = max(1, round(trials) - 1)
    return next(n for n in range(first, first + 4) if tail_within(0, n, rate, chance))


def _ln(number: Fraction) -> Fraction:
    """The logarithm of a number in (0, 1), to some 15 digits, however close it is to 0 or to 1."""
    rest = 1 - number
    if rest < Fraction(1, 2):
        return rest * Fraction(math.log1p(-float(rest)) / float(rest))
    return Fraction(math.log(number.numerator) - math.log(number.denominator))


def _is_within(count: int, trials: int, rate: Fraction, chance: Fraction) -> bool:
    """Whether P(Bin(trials, rate) ≤ count) ≤ chance, in integers."""
    hit, miss = rate.numerator, rate.denominator - rate.numerator
    # Σ C(trials, k)·hit^k·miss^(trials − k), by Horner's rule in hit/miss
    total, ways = 0, math.comb(trials, count)
    for k in range(count, -1, -1):
        total = total * hit + ways * miss ** (count - k)
        ways = ways * k // (trials - k + 1)
    return total * miss ** (trials - count) * chance.denominator <= chance.numerator * rate.denominator**trials
