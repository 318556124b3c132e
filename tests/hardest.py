"""Searches for the counts at which a number is farthest from its rational value."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np


def ulps(value: float, exact: Fraction) -> float:
    """How far a double is from a rational value, in units in the last place of the latter."""
    if not exact:
        return 0.0 if value == 0 else math.inf
    return float(abs(Fraction(value) - exact) / Fraction(math.ulp(float(exact))))


def worst_of(
    error: Callable[[np.ndarray], float], shape: Any, least: Any, most: int, rng: np.random.Generator, steps: int = 60
) -> float:
    """The largest error found: from random counts in [least, most] on, one is changed by at most 3 as long as it grows.

    Parameters: error of an array of counts; the shape of that; least, a number or an array; most.
    """
    counts = rng.integers(least, most, shape, endpoint=True)
    found = error(counts)
    for _ in range(steps):
        changed = counts.copy()
        changed[tuple(rng.integers(shape))] += rng.integers(-3, 4)
        changed = np.maximum(changed, least)
        if (now := error(changed)) >= found:
            found, counts = now, changed
    return found
