"""Bounds on the error of a result after scores were cut to some significant bits.

Cutting keeps the order and marks the scores that it changes. So equal marked scores may have been in any order before;
all others are in their true order. A bin of equal marked scores holds P positives and N negatives, with tp₀ positives
and fp₀ negatives above it. A result is least or greatest if all positives of the bin are above all its negatives, or
the other way round; each side of the bin may have been one score or several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..arrays.arrays import Array, array_namespace
from ..metric.results import Rate
from .counts import Counts

UNIT_BITS = 40  # shares that come of logarithms are in units of 2^-40, rounded outwards by more than their errors


class Bounds(NamedTuple):
    """Two parts of a quantity that bound its value before scores were cut; either may be the lower bound.

    Each is a function of the counts of a run and of (T,) flags, whether the scores of a threshold were cut.
    """

    first: Callable[[Counts, Array], Any]
    second: Callable[[Counts, Array], Any]


def in_either_order(part: Callable[[Counts], Any]) -> Bounds:
    """Bounds of a quantity that never falls if a positive moves above a negative."""
    return Bounds(
        lambda counts, was_cut: part(negatives_first(counts, was_cut)),
        lambda counts, was_cut: part(positives_first(counts, was_cut)),
    )


def at_best(part: Callable[[Counts], Any]) -> Bounds:
    """Bounds of the best value over all thresholds.

    If a bin was several scores, the threshold at its end still exists, and others may be better, so one bound is the
    value itself. No threshold within the bin accepts more than its P positives, or fewer than none of its negatives, so
    the other bound is the value with the positives first.
    """
    return Bounds(lambda counts, was_cut: part(counts), lambda counts, was_cut: part(positives_first(counts, was_cut)))


def positives_first(counts: Counts, was_cut: Array) -> Counts:
    """The counts if in each bin the positives were one score, above the negatives."""
    return counts._replace(fp=array_namespace(was_cut).where(was_cut, counts.above, counts.fp))


def negatives_first(counts: Counts, was_cut: Array) -> Counts:
    """The counts if in each bin the positives were one score, below the negatives."""
    return counts._replace(above=array_namespace(was_cut).where(was_cut, counts.fp, counts.above))


def unsure_precision(counts: Counts, was_cut: Array) -> Array:
    """Flag thresholds at which the precision may have differed, which needs negatives, and more than one positive."""
    return was_cut & (counts.fp > 0) & ((counts.sizes > 1) | (counts.fp > counts.above))


def least_precision(counts: Counts) -> Array:
    """The least mean precision at the P positives of each bin, F = fp₀ + N > 0, as (T,) int64 in units of 2^-40.

    It is that of distinct positives below the negatives; each term is at most its mean over a unit around j.

    1/P Σ_(j=1..P) (tp₀ + j)/(tp₀ + j + F) = 1 − F/P Σ_j 1/(tp₀ + j + F) ≥ 1 − F/P · ln(1 + P/(tp₀ + F + ½))
    """
    xp = array_namespace(counts.tp)
    sizes, tp, fp = (xp.astype(column, xp.float64) for column in (counts.sizes, counts.tp, counts.fp))
    share = 1 - fp * xp.log1p(sizes / (tp - sizes + fp + 0.5)) / sizes
    return xp.clip(xp.astype(xp.floor(share * 2.0**UNIT_BITS), xp.int64) - 1, 0, None)


def most_twice_precision(counts: Counts) -> Array:
    """The greatest mean sum of precision at and before the P positives of each bin, as (T,) int64 in units of 2^-40.

    It is that of distinct positives above the negatives. Precision k/(k + fp₀) is concave in the number k of
    positives, so that trapezoids under it, which only grow by more points, stay below its integral.

    1/P Σ_(k=tp₀..tp₀+P−1) k/(k + fp₀) + (k + 1)/(k + 1 + fp₀) ≤ 2 − 2·fp₀/P · ln(1 + P/(tp₀ + fp₀))
    """
    xp = array_namespace(counts.tp)
    sizes, tp, above = (xp.astype(column, xp.float64) for column in (counts.sizes, counts.tp, counts.above))
    before = tp - sizes + above
    share = 2 - 2 * above * xp.log1p(sizes / xp.where(before > 0, before, 1.0)) / sizes
    return xp.clip(xp.astype(xp.floor(share * 2.0**UNIT_BITS), xp.int64) + 2, None, 2 << UNIT_BITS)


def with_errors(results: Mapping[str, Rate], ends: Mapping[str, tuple[float, ...] | None]) -> dict[str, Rate]:
    """Results of cut scores with their errors: the distance to the farther end, rounded up; 0.0 where all are equal.

    Results without bounds are dropped; bounds of None mark a result that cutting does not change.

    >>> rates = {"a": Rate(0.5, True), "b": Rate(1.0, True), "c": Rate(7.0, False)}
    >>> {key: rate.error for key, rate in with_errors(rates, {"a": (0.25, 0.75), "b": None}).items()}
    {'a': 0.25000000000000017, 'b': None}
    """
    bounded: dict[str, Rate] = {}
    for name, rate in results.items():
        between = ends.get(name)
        if between is not None:
            bounded[name] = rate._replace(error=error_of(rate.value, between))
        elif name in ends:
            bounded[name] = rate
    return bounded


def error_of(value: float, ends: tuple[float, ...]) -> float:
    """The distance to the farther end, rounded up."""
    distance = max(abs(end - value) for end in ends)
    # half a unit in the last place for each of the end and the difference
    error = math.nextafter(distance + math.ulp(max(value, *ends)), math.inf) if distance else 0.0
    return min(1.0, error)
