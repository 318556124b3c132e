"""Shares of a total as integer counts: a bound is read as it is written in decimals, and compared exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from ..arrays.options import as_written


def most_within(share: float | Fraction, total: int) -> int:
    """The largest count with count/total ≤ share, for a share in [0, 1].

    >>> most_within(0.07, 100), most_within(0.29, 100), most_within(1 / 3, 3)
    (7, 29, 0)
    """
    return math.floor(as_written(share) * total)


def least_reaching(share: float | Fraction, total: int) -> int:
    """The smallest count, at least 1, with count/total ≥ share, for a share in (0, 1].

    >>> least_reaching(0.07, 100), least_reaching(0.29, 100), least_reaching(2 / 3, 3)
    (7, 29, 2)
    """
    return max(1, math.ceil(as_written(share) * total))


def percent(share: float) -> str:
    """A share in percent, as in the names of results.

    >>> percent(0.95), percent(0.07), percent(0.001)
    ('95', '7', '0.1')
    """
    return f"{100 * share:.12g}"


def with_own_names(shares: Sequence[float], name: str) -> Sequence[float]:
    """Check that shares get distinct names in results, and return them.

    Raises ValueError for different shares with the same name.
    """
    named: dict[str, float] = {}
    for share in shares:
        other = named.setdefault(percent(share), share)
        if other != share:
            raise ValueError(
                f"{name}: expected numbers with names of their own, got {other!r} and {share!r}, "
                f"which both are {percent(share)} %"
            )
    return shares
