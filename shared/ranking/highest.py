"""Precision and recall of the samples that score highest, ties at the border in random order."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .counts import Counts
from .quantities import Quantity, in_either_order, least_reaching
from .risk_curves import among_first, expected

Number = Callable[[int, int], int]  # of samples, from the numbers of positives and of negatives


def share_of_all(share: Fraction) -> Number:
    """⌈share·(P + N)⌉."""
    return lambda num_positives, num_negatives: least_reaching(share, num_positives + num_negatives)


def precision_at(number: Number) -> Quantity:
    """The share of positives among the n highest samples: (TP above + (n − above)·p/m)/n.

    p of the m samples at the border are positives. The others, which score lower, are the first of an ascending order.
    """
    return _of_highest(number, number)


def recall_at(number: Number) -> Quantity:
    """The share of the positives that are among the n highest samples."""
    return _of_highest(number, lambda num_positives, _: num_positives)


def _of_highest(number: Number, divisor: Number) -> Quantity:
    def lowest(num_positives: int, num_negatives: int) -> int:
        return num_positives + num_negatives - number(num_positives, num_negatives)

    def part(counts: Counts) -> tuple[int, int, int]:
        return among_first(lowest(counts.num_positives, counts.num_negatives), counts)

    def value(parts: list[tuple[int, int, int]], num_positives: int, num_negatives: int) -> float:
        lower, unit = expected(parts)
        return (num_positives * unit - lower) / (divisor(num_positives, num_negatives) * unit)

    return Quantity(part, value, True, in_either_order(part))
