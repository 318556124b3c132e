"""Quantities computed from exceedance counts, any number of them in one pass, and their errors where scores were cut.

Sums are integers, with float64 ratios as multiples of 2^-117 (see arrays/exact.py); maxima are over single divisions.
So results are identical for any order of the samples, any batches and any runs.

Scores may have fewer values, in the same order: cut to some significant bits, or rounded up to thresholds. Both keep
order, x ≤ y ⇒ f(x) ≤ f(y), and leave rounded scores unchanged. So a score has the same value in all batches, and states
can be joined.

Cutting keeps the order and marks the scores that it changes. So equal marked scores may have been in any order
before; all others are in their true order. A bin of equal marked scores holds P positives and N negatives, with tp₀
positives and fp₀ negatives above it. A result is least or greatest if all positives of the bin are above all its
negatives, or the other way round; each side of the bin may have been one score or several.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_device, widen
from ..arrays.checks import as_int, integer_scalar
from ..arrays.exact import as_written
from ..arrays.threads import in_threads, parts_of, threads_for
from ..metric.results import Rate
from .counts import Counts, Cut, Side, cuts_of, runs_of_both

MIN_BITS, MAX_BITS = 4, 52
UNIT_BITS = 40  # shares that come of logarithms are in units of 2^-40, rounded outwards by more than their errors


class Quantity(NamedTuple):
    """A quantity of a curve: value(parts, num_positives, num_negatives) from the part(counts) of each run, in order."""

    part: Callable[[Counts], Any]
    value: Callable[[list[Any], int, int], Any]
    higher: bool | None  # whether higher is better; None if neither direction is, or if it is not a result
    bounds: Bounds | None = None  # other parts, which bound the value before scores were cut; None if none are known

    def of(self, runs: Iterable[Counts]) -> Any:
        """Its value, from one pass over the runs of counts."""
        parts, totals = [], (0, 0)
        for run in runs:
            parts.append(self.part(run))
            totals = run.num_positives, run.num_negatives
        return self.value(parts, *totals)


def quantities(
    positives: Side,
    negatives: Side,
    wanted: Mapping[str, Quantity],
    of_negatives: Mapping[str, Quantity] = MappingProxyType({}),
) -> dict[str, Any]:
    """Values of the wanted quantities, by name, from one pass over the counts of two sides.

    `of_negatives` are quantities of the negatives as positives, by negated scores. Several threads share the blocks of
    large sides, and each block has parts of its own.
    """
    cuts, both = cuts_of(positives, negatives), (wanted, of_negatives)
    if len(cuts) == 2:  # one block, such as a resample of few rows
        by_piece = [_parts_of_runs(positives, negatives, both, cuts)]
    else:
        threads = threads_for(sum(cuts[-1])) if isinstance(positives.scores, np.ndarray) else 1
        parts = parts_of(len(cuts) - 1, min(4 * threads, (len(cuts) + 1) // 2) if threads > 1 else 1)
        pieces = [partial(_parts_of_runs, positives, negatives, both, cuts[p.start : p.stop + 1]) for p in parts[::-1]]
        by_piece = in_threads(pieces, threads)
    values = {}
    for second, (quantity_of, *totals) in enumerate(
        ((wanted, positives.total, negatives.total), (of_negatives, negatives.total, positives.total))
    ):
        for name, quantity in quantity_of.items():
            column = [part for columns in by_piece for part in columns[second][name]]
            values[name] = quantity.value(column[::-1] if second else column, *totals)
    return values


def _parts_of_runs(
    positives: Side, negatives: Side, both: tuple[Mapping[str, Quantity], ...], cuts: Sequence[Cut]
) -> list[dict[str, list[Any]]]:
    """The parts of each quantity of positives and of negatives, one of each run."""
    columns: list[dict[str, list[Any]]] = [{name: [] for name in wanted} for wanted in both]
    distinct = [dict.fromkeys([quantity.part for quantity in wanted.values()]) for wanted in both]
    for runs in runs_of_both(positives, negatives, cuts, (bool(both[0]), bool(both[1]))):
        for counts, wanted, some, of_side in zip(runs, both, distinct, columns):
            if counts is not None:
                parts = {part: part(counts) for part in some}
                for name, quantity in wanted.items():
                    of_side[name].append(parts[quantity.part])
    return columns


def bounded(wanted: Mapping[str, Quantity], bits: int) -> dict[str, Quantity]:
    """Turn each quantity with bounds into one of (value, end, end), for scores cut to `bits` significant bits."""
    parts: dict[Any, Any] = {}  # one for all quantities of the same part and bounds, which share its counts
    return {
        name: _bounded(quantity, parts.setdefault((quantity.part, quantity.bounds), _bounded_part(quantity, bits)))
        for name, quantity in wanted.items()
        if quantity.bounds
    }


def _bounded_part(quantity: Quantity, bits: int) -> Callable[[Counts], tuple[Any, ...]]:
    """The part of a quantity and the parts of its bounds, as a function of a run."""
    bounds: Any = quantity.bounds

    def part(counts: Counts) -> tuple[Any, ...]:
        flags = was_cut(counts.thresholds, bits)
        return quantity.part(counts), bounds.first(counts, flags), bounds.second(counts, flags)

    return part


def _bounded(quantity: Quantity, part: Callable[[Counts], tuple[Any, ...]]) -> Quantity:
    def value(parts: list[Any], *totals: int) -> tuple[Any, ...]:
        return tuple(quantity.value([*one], *totals) for one in zip(*parts))

    return Quantity(part, value, quantity.higher)


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
            bounded[name] = rate._replace(error=error_of(rate.value, between, share=rate.share))
        elif name in ends:
            bounded[name] = rate
    return bounded


def error_of(value: float, ends: tuple[float, ...], *, share: bool = True) -> float:
    """The distance to the farther end, rounded up; of shares at most 1."""
    distance = max(abs(end - value) for end in ends)
    # half a unit in the last place for each of the end and the difference
    error = math.nextafter(distance + math.ulp(max(value, *ends)), math.inf) if distance else 0.0
    return min(1.0, error) if share else error


def check_bits(significant_bits: Any) -> int | None:
    """Check the option of that name: None, or an int in [4, 52]."""
    return None if significant_bits is None else as_int(significant_bits, "significant_bits", MIN_BITS, MAX_BITS)


def cut(scores: Array, bits: int) -> Array:
    """Cut scores to the leading bits of their significand; one more bit says whether any dropped bit was 1.

    So a score that fits in `bits`, or is ±inf, is unchanged; all scores between two neighbouring scores that fit become
    the middle between them.

    Parameters: scores, float32 or float64, or a narrower type that is widened; bits in [4, 52], the leading one
    included. Returns an array of that shape. Scores of both types are cut to the same values.

    >>> cut(np.asarray([1.0, 1.875, 1.9, -1.99, np.inf]), 4).tolist()
    [1.0, 1.875, 1.9375, -1.9375, inf]
    """
    scores = widen(scores)
    xp = array_namespace(scores)
    single = scores.dtype == xp.float32
    integers, stored = (xp.int32, 23) if single else (xp.int64, 52)
    dropped = stored + 1 - bits
    if dropped <= 0:
        return scores
    patterns = scores.view(integers)
    low = (1 << dropped) - 1
    sticky = (((patterns & low) + low) & (low + 1)) >> 1
    rounded = ((patterns & ~low) | sticky).view(scores.dtype)
    if single:
        magnitudes = patterns & 0x7FFFFFFF
        small = (magnitudes > 0) & (magnitudes < 1 << stored)  # subnormal: float64 has more bits for these
        if bool(xp.any(small)):
            rounded[small] = xp.astype(cut(xp.astype(scores[small], xp.float64), bits), xp.float32)
    return rounded


def was_cut(scores: Array, bits: int) -> Array:
    """Flag the scores of `cut` that stand for a range of scores, rather than for themselves.

    >>> was_cut(cut(np.asarray([1.875, 1.9, np.inf]), 4), 4).tolist()
    [False, True, False]
    """
    xp = array_namespace(scores)
    return (xp.astype(scores, xp.float64).view(xp.int64) & ((1 << (53 - bits)) - 1)) != 0


def rounded_up(scores: Array, thresholds: np.ndarray) -> Array:
    """The lowest of the thresholds that each score does not exceed, in float64; +inf above them all.

    Parameters: scores (N,), thresholds (T,) in ascending order. At every threshold, score ≤ threshold as before.

    >>> rounded_up(np.asarray([0.1, 0.2, 0.7]), np.asarray([0.2, 0.5])).tolist()
    [0.2, 0.2, inf]
    """
    xp = array_namespace(scores)
    levels = on_device(np.append(thresholds, np.inf), scores)
    return levels[xp.searchsorted(levels[:-1], xp.astype(scores, xp.float64), side="left")]


def checked_bits(state: Mapping[str, Any], significant_bits: int | None) -> dict[str, np.ndarray]:
    """The significant_bits of a state from elsewhere, as an entry. Raises ValueError if they differ from the option."""
    if ("significant_bits" in state) != (significant_bits is not None):
        came = (
            None if significant_bits is not None else int(integer_scalar(state, "significant_bits", MIN_BITS, MAX_BITS))
        )
        raise ValueError(f"state: expected significant_bits={significant_bits}, as here, got significant_bits={came}")
    if significant_bits is None:
        return {}
    bits = integer_scalar(state, "significant_bits", MIN_BITS, MAX_BITS)
    if int(bits) != significant_bits:
        raise ValueError(f"state: expected significant_bits={significant_bits}, as here, got significant_bits={bits}")
    return {"significant_bits": bits}


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


PERCENT = r"((?!0\d)\d{1,3}(?:\.\d+)?)"  # a share in the name of a result, as `percent` writes it


def percent(share: float) -> str:
    """A share in percent, as in the names of results; exactly, so that no two shares have one name.

    >>> percent(0.95), percent(0.07), percent(0.001), percent(2 / 3)
    ('95', '7', '0.1', '66.66666666666666')
    """
    return f"{Decimal(str(float(share))).scaleb(2).normalize() + 0:f}"
