"""Quantities computed from runs of thresholds, any number of them in one pass.

Sums are integers, with float64 ratios as multiples of 2^-117 (see ratios.py); maxima are over single divisions. So
results are identical for any order of the samples, any batches and any runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from ..arrays.arrays import is_numpy_array
from ..arrays.threads import in_threads, threads_for
from .bounds import Bounds
from .counts import Counts, Side, runs, segments
from .rounding import was_cut


class Quantity(NamedTuple):
    """A quantity of a curve: value(parts, num_positives, num_negatives) from the part(counts) of each run, in order.

    `higher` says whether higher is better; None if neither direction is, or if the quantity is not a result. `bounds`
    has other parts for `value`, which bound the value before scores were cut; None if no bounds are known.
    """

    part: Callable[[Counts], Any]
    value: Callable[[list[Any], int, int], Any]
    higher: bool | None
    bounds: Bounds | None = None

    def of(self, runs: Iterable[Counts]) -> Any:
        """Its value, from one pass over the runs of counts."""
        parts, totals = [], (0, 0)
        for run in runs:
            parts.append(self.part(run))
            totals = run.num_positives, run.num_negatives
        return self.value(parts, *totals)


def quantities(positives: Side, negatives: Side, wanted: Mapping[str, Quantity]) -> dict[str, Any]:
    """Values of the wanted quantities, by name, from one pass over the counts of two sides.

    Several threads share the segments of a large side, and each segment has parts of its own.
    """

    def parts(within: tuple[int, int] | None) -> list[list[Any]]:
        return [
            [quantity.part(run) for quantity in wanted.values()] for run in runs(positives, negatives, None, within)
        ]

    rows = positives.scores.shape[0] + negatives.scores.shape[0]
    threads = threads_for(rows) if is_numpy_array(positives.scores) else 1
    within = [None] if threads == 1 else segments(positives, 4 * threads)
    columns = zip(*chain(*in_threads([partial(parts, each) for each in within], threads)))
    totals = positives.total, negatives.total
    return {name: q.value([*column], *totals) for (name, q), column in zip(wanted.items(), columns)}


def bounded(wanted: Mapping[str, Quantity], bits: int) -> dict[str, Quantity]:
    """Turn each quantity with bounds into one of (value, end, end), for scores cut to `bits` significant bits."""
    return {name: _bounded(quantity, quantity.bounds, bits) for name, quantity in wanted.items() if quantity.bounds}


def _bounded(quantity: Quantity, bounds: Bounds, bits: int) -> Quantity:
    def part(counts: Counts) -> tuple[Any, ...]:
        flags = was_cut(counts.thresholds, bits)
        return quantity.part(counts), bounds.first(counts, flags), bounds.second(counts, flags)

    def value(parts: list[Any], *totals: int) -> tuple[Any, ...]:
        return tuple(quantity.value([*one], *totals) for one in zip(*parts))

    return Quantity(part, value, quantity.higher)
