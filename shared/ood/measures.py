"""Measures of a benchmark, computed from its two sides, which are sorted once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
from ..ranking.counts import Side, sort_sides
from ..ranking.quantities import Quantity


class Sides:
    """The two sides of a benchmark, with arrays that several metrics share, computed once."""

    def __init__(self, positives: Side, negatives: Side) -> None:
        self.positives, self.negatives = positives, negatives

    @cached_property
    def ascending(self) -> tuple[Side, Side]:
        """Both sides in one type."""
        return sort_sides(self.positives, self.negatives)

    def flipped(self) -> tuple[Side, Side]:
        """In-distribution samples as positives and OOD samples as negatives, by negated scores."""
        positives, negatives = self.ascending
        return negatives.flipped(), positives.flipped()

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores in an order independent of the order of the samples."""
        # in float64, since scikit-learn computes in the precision of its input
        sides = [to_numpy(side.repeated()).astype(np.float64) for side in reversed(self.ascending)]
        labels = np.repeat(np.asarray([0, 1]), [len(side) for side in sides])
        return labels, np.concatenate(sides)


class Measure(NamedTuple):
    """How a metric of a benchmark is computed.

    source: a quantity of exceedance counts, or a function of the sides
    higher: whether higher is better
    of_inside: whether the positives of a quantity are the in-distribution samples, by negated scores
    share: whether its value is a share, in [0, 1]
    of_decisions: whether it is of the decisions score > threshold
    """

    source: Quantity | Callable[[Sides], float]
    higher: bool | None
    of_inside: bool = False
    share: bool = True
    of_decisions: bool = False


def required_threshold(threshold: float | None, name: str) -> float:
    """Return the threshold of a metric of decisions. Raises ValueError if there is none."""
    if threshold is None:
        raise ValueError(f"threshold: expected a number, since {name!r} judges scores > threshold; got None")
    return threshold


def measure_of(quantity: Quantity, *, of_inside: bool = False) -> Measure:
    """The measure of a quantity, with the quantity's direction."""
    return Measure(quantity, quantity.higher, of_inside)
