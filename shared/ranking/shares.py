"""Shares of a total as integer counts, so that a bound is met exactly if it can be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction


def most_within(share: float, total: int) -> int:
    """The largest count with count/total ≤ share, for a share in [0, 1].

    The division is rounded once, as in a reported rate, so 7 of 100 are within 0.07, although 0.07·100 is not 7 in
    float64.

    >>> most_within(0.07, 100), most_within(0.29, 100), most_within(1 / 3, 3)
    (7, 29, 1)
    """
    count = min(total, math.floor(share * total) + 1)
    while count / total > share:
        count -= 1
    return count


def least_reaching(share: float, total: int) -> int:
    """The smallest count, at least 1, with count/total ≥ share, for a share in (0, 1].

    The division is rounded once, as in a reported rate.

    >>> least_reaching(0.07, 100), least_reaching(0.29, 100), least_reaching(1 / 3, 3)
    (7, 29, 1)
    """
    count = max(1, math.ceil(share * total) - 1)
    while count / total < share:
        count += 1
    return count


def bound_between_counts(bound: Fraction, total: int, *, from_below: bool) -> float:
    """A bound in (0, 1] that a share of the total meets iff it meets the exact one, however both are rounded.

    It lies half a count beyond the last share that does: below the least one that is ≥ the bound, if it is a bound
    from below, or above the greatest one that is ≤ it.

    >>> bound_between_counts(Fraction(995, 1000), 200, from_below=True)
    0.9925
    """
    count = math.ceil(bound * total) - 0.5 if from_below else math.floor(bound * total) + 0.5
    return min(1.0, count / total)


def as_written(value: float) -> Fraction:
    """Read a number as an exact decimal: 0.1 is exactly one tenth, which no float64 is.

    >>> as_written(0.1), as_written(1 / 3)
    (Fraction(1, 10), Fraction(3333333333333333, 10000000000000000))
    """
    return Fraction(repr(value))


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
