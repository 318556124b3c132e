"""Sums and sums of squares of floats without rounding, so that they depend on neither order nor batches."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

_DIGITS = 53  # bits of a float64
_HALF = 27
_BLOCK = 1 << 22  # values: halves of 27 bits add up to less than 2^53, which float64 holds


class Sums(NamedTuple):
    """Exact sums of numbers.

    number: how many there are
    total: Σ x
    squares: Σ x²
    """

    number: int = 0
    total: Fraction = Fraction()
    squares: Fraction = Fraction()

    def plus(self, values: np.ndarray) -> Sums:
        """The sums with more values, finite floats of any shape.

        >>> Sums().plus(np.asarray([0.5, 1e300, -1e300, 1.0])).total
        Fraction(3, 2)
        """
        sums = self
        flat = values.reshape(-1)
        for start in range(0, flat.size, _BLOCK):
            more = _sums(flat[start : start + _BLOCK])
            sums = Sums(sums.number + more.number, sums.total + more.total, sums.squares + more.squares)
        return sums


def _sums(values: np.ndarray) -> Sums:
    mantissas, exponents = np.frexp(values.astype(np.float64))
    digits = (mantissas * 2.0**_DIGITS).astype(np.int64)  # x = digits·2^(exponent − 53)
    lowest = int(exponents.min())
    places = (exponents - lowest).astype(np.intp)
    # digits = high·2^27 + low, both at most 2^26 away from 0, so that products fit 53 bits
    high = (digits + (1 << (_HALF - 1))) >> _HALF
    low = digits - (high << _HALF)
    squares = _shifted_sum(high * high, 2 * places) << (2 * _HALF)
    if low.any():  # never of float32
        squares += (_shifted_sum(high * low, 2 * places) << (_HALF + 1)) + _shifted_sum(low * low, 2 * places)
    unit = Fraction(2) ** (lowest - _DIGITS)
    return Sums(values.size, _shifted_sum(digits, places) * unit, squares * unit**2)


def _shifted_sum(numbers: np.ndarray, places: np.ndarray) -> int:
    """Σ numbers·2^places, of integers of up to 53 bits."""
    total = 0
    for shift, half in ((_HALF, numbers >> _HALF), (0, numbers & ((1 << _HALF) - 1))):
        by_place = np.bincount(places, weights=half.astype(np.float64))  # exact below 2^53
        total += sum(int(by_place[place]) << int(place + shift) for place in np.flatnonzero(by_place))
    return total
