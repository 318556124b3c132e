"""Ratios of counts, and exact sums of ratios."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from .arrays import Array, array_namespace

RATIO_UNIT = 64 + 53  # ratios of counts below 2^64 are float64s of at least 2^-64: multiples of 2^-117
_SPAN = 10  # exponents whose mantissas fit int64 in one unit


def ratio_of(count: Array, total: Array | int) -> Array:
    """Divide counts by totals; each result is a float64 that is rounded once."""
    xp = array_namespace(count)
    return xp.astype(count, xp.float64) / (total if isinstance(total, int) else xp.astype(total, xp.float64))


def rounded_sum(ratios: Iterable[tuple[int, int]], divisor: int) -> float:
    """Σ countᵢ/totalᵢ, divided by an integer: the float64 nearest to it.

    >>> rounded_sum([(1, 3), (2, 3)], 1), rounded_sum([(1, 3), (1, 7)], 2)
    (1.0, 0.23809523809523808)
    """
    pairs = list(ratios)
    # each is rounded down to a multiple of 2^-117, so that all of them together are less than a unit each too low
    low = sum((count << RATIO_UNIT) // total for count, total in pairs)
    unit = divisor << RATIO_UNIT
    nearest = low / unit
    if nearest == (low + len(pairs)) / unit:
        return nearest
    return float(sum((Fraction(*pair) for pair in pairs), Fraction()) / divisor)


def weighted_sum(sizes: Array, values: Array, bits: int, total: int) -> int:
    """Σ sizes·values, exactly, of integers in [0, 2^bits); the sizes sum to `total` at most.

    The bits are cut into pieces, with a sum for each that int64 holds.
    """
    xp = array_namespace(sizes)
    return sum(int(xp.sum(sizes * part)) << low for low, part in pieces(values, bits, total))


def pieces(values: Array, bits: int, total: int) -> Iterator[tuple[int, Array]]:
    """Split integers in [0, 2^bits) into pieces small enough that sums of sizes·piece fit int64.

    Yields (low, part), with values = Σ part·2^low; `total` is the sum of the sizes.

    >>> import numpy as np
    >>> [(low, part.tolist()) for low, part in pieces(np.asarray([5, 9]), 4, 2**59)]
    [(0, [1, 1]), (2, [1, 2])]
    """
    piece = 62 - total.bit_length()
    if bits <= piece:
        yield 0, values
        return
    for low in range(0, bits, piece):
        yield low, (values >> low) & ((1 << piece) - 1)


def sum_of_ratios(sizes: Array, counts: Array, totals: Array, total: int) -> int:
    """Σ sizes·(counts/totals), at most 1 each, of ratios that are rounded to float64; exactly, in units of 2^-117."""
    return sum_of_shares(sizes, ratio_of(counts, totals), total)


def sum_of_shares(sizes: Array, ratios: Array, total: int) -> int:
    """Σ sizes·ratios of float64s that are 0 or in [2^-64, 1], exactly, in units of 2^-117; the sizes sum to `total`."""
    xp = array_namespace(sizes)
    smallest = float(xp.min(ratios)) or float(xp.min(xp.where(ratios > 0, ratios, 1.0)))
    lowest, highest = math.frexp(smallest)[1], math.frexp(float(xp.max(ratios)))[1]
    if highest - lowest < _SPAN:  # in almost all runs
        units = xp.astype(ratios * 2.0 ** (53 - lowest), xp.int64)
        return weighted_sum(sizes, units, 53 + highest - lowest, total) << (RATIO_UNIT - 53 + lowest)
    units_sum = 0
    for low in range(lowest, highest + 1, _SPAN):
        chosen = (ratios >= 2.0 ** (low - 1)) & (ratios < 2.0 ** (low - 1 + _SPAN))
        units = xp.astype(ratios[chosen] * 2.0 ** (53 - low), xp.int64)
        units_sum += weighted_sum(sizes[chosen], units, 53 + _SPAN, total) << (RATIO_UNIT - 53 + low)
    return units_sum
