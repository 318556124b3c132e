"""Exact numbers: bounds as decimals, ratios of counts and their sums, and sums of floats and their squares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from .arrays import NUMPY, Array, array_namespace, device_of, extremes
from .threads import worth_compiling

RATIO_UNIT = 64 + 53  # ratios of counts below 2^64 are float64s of at least 2^-64: multiples of 2^-117
_SPAN = 10  # exponents whose mantissas fit int64 in one unit
_PIECE = 27  # bits of a piece of a ratio
_MOST_BITS = 36  # of the sum of the sizes, whose products with pieces int64 holds
_AT_ONCE = 1 << 10  # ratios, which fit a cache
_RATIO_WORK = 4  # the cost of a ratio, in scores


def as_written(value: float | Fraction) -> Fraction:
    """Read a bound as it is written in decimals: 0.1 is exactly one tenth, which no float64 is.

    >>> as_written(0.1), as_written(1 / 3)
    (Fraction(1, 10), Fraction(3333333333333333, 10000000000000000))
    """
    return Fraction(str(value))


def ratio_of(count: Array, total: Array | int) -> Array:
    """Divide counts by totals; each result is a float64 that is rounded once."""
    xp = array_namespace(count)
    if xp is NUMPY:
        return np.true_divide(count, total, dtype=np.float64)
    if isinstance(total, int):  # as an array: CUDA would multiply by the rounded inverse of a plain number
        total = xp.asarray(total, device=device_of(count))
    return xp.astype(count, xp.float64) / xp.astype(total, xp.float64)


def rounded_sum(ratios: Iterable[tuple[int, int]], divisor: int) -> float:
    """Σ countᵢ/totalᵢ, divided by an integer: the float64 nearest to it.

    >>> rounded_sum([(1, 3), (2, 3)], 1), rounded_sum([(1, 3), (1, 7)], 2)
    (1.0, 0.23809523809523808)
    """
    pairs = list(ratios)
    # each is rounded down to a multiple of 2^-117, so that all of them together are less than a unit each too low
    low = sum([(count << RATIO_UNIT) // total for count, total in pairs])
    unit = divisor << RATIO_UNIT
    nearest = low / unit
    if nearest == (low + len(pairs)) / unit:
        return nearest
    return float(sum((Fraction(*pair) for pair in pairs), Fraction()) / divisor)


def sum_and_rest(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a + b rounded, and its rounding error, which float64 holds exactly. Source: Knuth's TwoSum."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


def weighted_sum(sizes: Array, values: Array, bits: int, total: int) -> int:
    """Σ sizes·values, exactly, of integers in [0, 2^bits); the sizes sum to `total` at most.

    The bits are cut into pieces, with a sum for each that int64 holds.
    """
    xp, weighted = array_namespace(sizes), 0
    for low, part in pieces(values, bits, total):
        weighted += int(sizes @ part if xp is NUMPY else xp.sum(sizes * part)) << low  # a product without a new array
    return weighted


def pieces(values: Array, bits: int, total: int) -> Iterator[tuple[int, Array]]:
    """Split integers in [0, 2^bits) into pieces small enough that sums of sizes·piece fit int64.

    Returns (low, part) of each, with values = Σ part·2^low; `total` is the sum of the sizes.

    >>> import numpy as np
    >>> [(low, part.tolist()) for low, part in pieces(np.asarray([5, 9]), 4, 2**59)]
    [(0, [1, 1]), (2, [1, 2])]
    """
    piece = 62 - total.bit_length()
    for low in range(0, bits, piece):
        part = values >> low if low else values
        yield low, part if low + piece >= bits else part & ((1 << piece) - 1)


def sum_of_ratios(sizes: Array, counts: Array, totals: Array, total: int) -> int:
    """Σ sizes·(counts/totals), of ratios that are rounded to float64; exactly, in units of 2^-117.

    Parameters: counts from 0 to their totals, which are at least 1; sizes, which sum to `total`, at most 2^40.
    """
    loop = worth_compiling(add_ratios, _RATIO_WORK * sizes.shape[0], sizes, counts, totals)
    if loop is not None and total <= 1 << _MOST_BITS:
        *sums, smallest = loop(sizes, counts, totals)
        if smallest >= 2.0**-_PIECE:
            return sum([int(part) << (RATIO_UNIT + 1 - _PIECE * i) for i, part in enumerate(sums, 1)])
    return sum_of_shares(sizes, ratio_of(counts, totals), total)


def add_ratios(sizes: Any, counts: Any, totals: Any) -> Any:
    """The sums of three pieces of ratios, times their sizes, in units of 2^-26, 2^-53 and 2^-80, and the least ratio.

    A ratio of at least 2^-27 is a multiple of 2^-79. The pieces of 26, 27 and 27 bits are cut in short loops, which a
    compiler vectorises: it may add integers in any order.
    """
    high = middle = low = np.int64(0)
    smallest = 1.0
    ratios, pieces = np.empty(_AT_ONCE), np.empty((3, _AT_ONCE), np.int32)
    first, second, third = pieces
    for start in range(0, sizes.size, _AT_ONCE):
        length = min(_AT_ONCE, sizes.size - start)
        some, count, total = sizes[start:], counts[start:], totals[start:]
        for i in range(length):
            ratios[i] = count[i] / total[i]
        for i in range(length):
            smallest = min(smallest, ratios[i])
        for i in range(length):
            rest = ratios[i] * 67108864.0  # 2^26
            first[i] = np.int32(rest)
            rest = (rest - first[i]) * 134217728.0  # 2^27
            second[i] = np.int32(rest)
            third[i] = np.int32((rest - second[i]) * 134217728.0)
        for i in range(length):
            high += first[i] * some[i]
            middle += second[i] * some[i]
            low += third[i] * some[i]
    return high, middle, low, smallest


def sum_of_shares(sizes: Array, ratios: Array, total: int) -> int:
    """Σ sizes·ratios of float64s that are 0 or in [2^-64, 1], exactly, in units of 2^-117; the sizes sum to `total`."""
    xp = array_namespace(sizes)
    smallest, largest = extremes(ratios)
    smallest = smallest or float(xp.min(xp.where(ratios > 0, ratios, 1.0)))
    lowest, highest = math.frexp(smallest)[1], math.frexp(largest)[1]
    if highest - lowest < _SPAN:  # in almost all runs
        units = xp.astype(ratios * 2.0 ** (53 - lowest), xp.int64)
        return weighted_sum(sizes, units, 53 + highest - lowest, total) << (RATIO_UNIT - 53 + lowest)
    units_sum = 0
    for low in range(lowest, highest + 1, _SPAN):
        chosen = (ratios >= 2.0 ** (low - 1)) & (ratios < 2.0 ** (low - 1 + _SPAN))
        units = xp.astype(ratios[chosen] * 2.0 ** (53 - low), xp.int64)
        units_sum += weighted_sum(sizes[chosen], units, 53 + _SPAN, total) << (RATIO_UNIT - 53 + low)
    return units_sum


_DIGITS = 53  # bits of a float64
_HALF = 27
_VALUES_AT_ONCE = 1 << 22  # values: halves of 27 bits add up to less than 2^53, which float64 holds


class Sums(NamedTuple):
    """Exact sums of numbers."""

    number: int = 0  # how many there are
    total: Fraction = Fraction()  # Σ x
    squares: Fraction = Fraction()  # Σ x²

    def plus(self, values: np.ndarray) -> Sums:
        """The sums with more values, finite floats of any shape.

        >>> Sums().plus(np.asarray([0.5, 1e300, -1e300, 1.0])).total
        Fraction(3, 2)
        """
        sums = self
        flat = values.reshape(-1)
        for start in range(0, flat.size, _VALUES_AT_ONCE):
            more = _sums(flat[start : start + _VALUES_AT_ONCE])
            sums = Sums(sums.number + more.number, sums.total + more.total, sums.squares + more.squares)
        return sums


def _sums(values: np.ndarray) -> Sums:
    digits, places, unit = digits_of(values)
    # digits = high·2^27 + low, both at most 2^26 away from 0, so that products fit 53 bits
    high = (digits + (1 << (_HALF - 1))) >> _HALF
    low = digits - (high << _HALF)
    squares = shifted_sum(high * high, 2 * places) << (2 * _HALF)
    if low.any():  # never of float32
        squares += (shifted_sum(high * low, 2 * places) << (_HALF + 1)) + shifted_sum(low * low, 2 * places)
    return Sums(values.size, shifted_sum(digits, places) * unit, squares * unit**2)


def digits_of(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, Fraction]:
    """The digits d, places p and unit u of finite floats x = d·2^p·u, d integers of up to 53 bits."""
    mantissas, exponents = np.frexp(values.astype(np.float64))
    lowest = int(exponents.min())
    digits = (mantissas * 2.0**_DIGITS).astype(np.int64)
    return digits, (exponents - lowest).astype(np.intp), Fraction(2) ** (lowest - _DIGITS)


def shifted_sum(numbers: np.ndarray, places: np.ndarray) -> int:
    """Σ numbers·2^places, of integers of up to 53 bits."""
    total = 0
    for shift, half in ((_HALF, numbers >> _HALF), (0, numbers & ((1 << _HALF) - 1))):
        by_place = np.bincount(places, weights=half.astype(np.float64))  # exact below 2^53
        total += sum(int(by_place[place]) << int(place + shift) for place in np.flatnonzero(by_place))
    return total
