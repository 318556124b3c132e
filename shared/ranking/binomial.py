"""Exact decisions about the lower tail of a binomial distribution, P(X ≤ k) for X ~ Bin(trials, rate).

P(X = k) is taken relative to that of the most likely number, and ratios of neighbours lead from there to both ends:

    P(X = k − 1) / P(X = k) = k·(1 − rate) / ((trials − k + 1)·rate)  ≤ 1 below the most likely number

In integers, rounded down at each step, a weight is too low by less than `trials` units, and so is a weight that is left
out because it has become 0. A comparison that this leaves undecided is repeated with integers of any length.
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import accumulate

_GUARD_BITS = 128  # beyond those of the chance and of the slack of a sum, (trials + 1)²


def tail_within(count: int, trials: int, rate: Fraction, chance: Fraction) -> bool:
    """Whether P(Bin(trials, rate) ≤ count) ≤ chance, decided exactly; rate and chance in (0, 1).

    >>> [tail_within(0, trials, Fraction(1, 20), Fraction(1, 20)) for trials in (58, 59)]
    [False, True]
    """
    return count <= largest_within(trials, rate, chance)


def largest_within(trials: int, rate: Fraction, chance: Fraction) -> int:
    """The largest k with P(Bin(trials, rate) ≤ k) ≤ chance, decided exactly; −1 if not even k = 0 qualifies.

    >>> [largest_within(trials, Fraction(1, 20), Fraction(1, 20)) for trials in (58, 59, 92, 93, 10_000)]
    [-1, 0, 0, 1, 463]
    """
    bits = _GUARD_BITS + 4 * trials.bit_length() + chance.denominator.bit_length()
    first, weights = _weights(trials, rate, bits)
    slack = (trials + 1) ** 2  # a sum of weights is too low by less
    # P ≤ chance, as below/sum(weights) ≤ numerator/denominator
    whole = chance.numerator * sum(weights)
    largest = first - 1  # the weights that are left out are below the slack, far below the chance
    for k, below in enumerate(accumulate(weights), first):
        if chance.denominator * below > whole + chance.numerator * slack:
            break
        surely = chance.denominator * (below + slack) <= whole
        if not surely and not _is_within(k, trials, rate, chance):
            break
        largest = k
    return largest


def least_trials(rate: Fraction, chance: Fraction) -> int:
    """The least number of trials with P(Bin(trials, rate) = 0) = (1 − rate)^trials ≤ chance.

    >>> least_trials(Fraction(1, 20), Fraction(1, 20)), least_trials(Fraction(1, 2), Fraction(1, 4))
    (59, 2)
    """
    miss = 1 - rate
    lost = max(len(str(number.denominator)) for number in (rate, chance)) + 3  # digits of a logarithm close to 0
    digits = 3 * lost
    while True:
        with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)):
            trials = _ln(chance) / _ln(miss)
            nearest = trials.to_integral_value()
            sure = abs(trials - nearest) > nearest.max(1).scaleb(lost - digits)
        if sure:
            return math.ceil(trials)
        # where (1 − rate)^n = chance, n is no more than the bits of the denominator of the chance
        if int(nearest) <= chance.denominator.bit_length() and miss ** int(nearest) == chance:
            return int(nearest)
        digits *= 2


def _ln(number: Fraction) -> Decimal:
    return (Decimal(number.numerator) / number.denominator).ln()


def _weights(trials: int, rate: Fraction, bits: int) -> tuple[int, list[int]]:
    """Relative probabilities of k, k + 1, …, and this first k; all others round to 0."""
    hit, miss = rate.numerator, rate.denominator - rate.numerator
    likeliest = math.floor((trials + 1) * rate)
    below = [1 << bits]
    for k in range(likeliest, 0, -1):
        if not below[-1]:
            break
        below.append(below[-1] * k * miss // ((trials - k + 1) * hit))
    above = below[:1]
    for k in range(likeliest, trials):
        if not above[-1]:
            break
        above.append(above[-1] * (trials - k) * hit // ((k + 1) * miss))
    return likeliest - len(below) + 1, [*below[::-1], *above[1:]]


def _is_within(count: int, trials: int, rate: Fraction, chance: Fraction) -> bool:
    """Whether P(Bin(trials, rate) ≤ count) ≤ chance, in integers."""
    hit, miss = rate.numerator, rate.denominator - rate.numerator
    # Σ C(trials, k)·hit^k·miss^(trials − k), by Horner's rule in hit/miss
    total, ways = 0, math.comb(trials, count)
    for k in range(count, -1, -1):
        total = total * hit + ways * miss ** (count - k)
        ways = ways * k // (trials - k + 1)
    return total * miss ** (trials - count) * chance.denominator <= chance.numerator * rate.denominator**trials
