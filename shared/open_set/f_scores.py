"""F-scores of a sweep: approximate for comparison, rounded as results, and as fractions if rounding hides which is
greater.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ..arrays.arrays import Array, array_namespace, to_numpy
from .sweep import Swept, count_ids, macro_sweep, micro_sweep

Sums = tuple[Array, Array]  # the two numbers that F is computed from, (N,) each


class MacroF(NamedTuple):
    """F after each sample, of the precision and recall averaged over C classes.

    outcomes, totals, occurring, sizes: as of `macro_sweep`
    num_classes: C
    rounding: by how much of each a swept value may be off, twice
    """

    outcomes: Array
    totals: Array
    occurring: int
    sizes: Array | None
    num_classes: int
    rounding: float = 2.0**-48

    def sweep(self, within: slice = slice(None)) -> Iterator[Swept]:
        """Sums over classes of precision and recall after each sample, block by block."""
        return macro_sweep(self.outcomes, self.totals, self.occurring, self.sizes, within)

    def rounded(self, sums: Sums) -> Array:
        """F within 3 units in the last place, 2½ of them for the rounded sums."""
        return macro_f(*sums, self.num_classes)

    def exact(self, places: np.ndarray, sums: Sums) -> list[Fraction]:
        """P·R/(P + R) in fractions, of ascending places."""
        outcomes = to_numpy(self.outcomes[: int(places[-1]) + 1])
        sizes = None if self.sizes is None else to_numpy(self.sizes[: len(outcomes)])
        ids, right = outcomes >> 1, outcomes & 1 == 1
        first_hit = np.full(len(self.totals), len(ids))
        hit = np.flatnonzero(right)[::-1]
        first_hit[ids[hit]] = hit  # of several, the last that is assigned
        # a sample of a class without a hit changes nothing, unless it is one
        changes = np.cumsum(right | (np.arange(len(ids)) > first_hit[ids]))[places]
        _, distinct, place = np.unique(changes, return_index=True, return_inverse=True)
        hits, accepted = (np.zeros(len(self.totals), np.int64) for _ in range(2))
        start, values = 0, []
        for stop in (places[distinct] + 1).tolist():
            part = slice(start, stop)
            counts = None if sizes is None else sizes[part]
            hits += count_ids(ids[part], len(hits), np.where(right[part], 1 if counts is None else counts, 0))
            accepted += count_ids(ids[part], len(hits), counts)
            values.append(exact_macro_f(hits, accepted, to_numpy(self.totals)))
            start = stop
        return [values[i] for i in place.tolist()]


class MicroF(NamedTuple):
    """F after each sample, of pooled counts: 2·hits/(accepted + known).

    correct, sizes: as of `micro_sweep`
    known: the number of known samples
    rounding: 0, since the order of distinct numbers survives one rounding
    """

    correct: Array
    sizes: Array | None
    known: int
    rounding: float = 0.0

    def sweep(self, within: slice = slice(None)) -> Iterator[Swept]:
        """Hits and accepted samples after each sample, and F, rounded once, block by block."""
        for sums in micro_sweep(self.correct, self.sizes, within):
            yield Swept(*sums, self.rounded(sums))

    def rounded(self, sums: Sums) -> Array:
        """F, rounded once."""
        xp = array_namespace(sums[0])
        return xp.astype(2 * sums[0], xp.float64) / xp.astype(sums[1] + self.known, xp.float64)

    def exact(self, places: np.ndarray, sums: Sums) -> list[Fraction]:
        """hits/(accepted + known) in fractions."""
        hits, accepted = map(to_numpy, sums)
        common = np.gcd(hits, accepted + self.known)
        distinct, place = np.unique(
            np.stack([hits // common, (accepted + self.known) // common], axis=1), axis=0, return_inverse=True
        )
        values = [Fraction(*pair) for pair in distinct.tolist()]
        return [values[i] for i in place.reshape(-1).tolist()]


def exact_macro_f(hits: np.ndarray, accepted: np.ndarray, samples: np.ndarray) -> Fraction:
    """Macro F from counts by class, up to a factor common to all thresholds: C is left out of both P and R."""
    hit = np.flatnonzero(hits)
    precision, recall = (_sum_of_fractions(hits[hit], totals[hit]) for totals in (accepted, samples))
    return precision * recall / (precision + recall) if len(hit) else Fraction()


def _sum_of_fractions(counts: np.ndarray, totals: np.ndarray) -> Fraction:
    """Σ counts/totals; fractions with equal denominators are added first."""
    distinct, place = np.unique(totals, return_inverse=True)
    sums = count_ids(place.reshape(-1), len(distinct), counts)
    return sum((Fraction(*pair) for pair in zip(sums.tolist(), distinct.tolist())), Fraction())


def macro_f(precision: Array, recall: Array, num_classes: int) -> Array:
    """F of the means over classes, from the sums over them, as accurate as if rounded once; 0/0 is 0.

    F = 2·P·R / (C·(P + R)): the quotient of the rounded terms, plus the remainder of the division.
    """
    xp = array_namespace(precision)
    total, total_rest = _sum_and_rest(precision, recall)
    divisor = xp.where(total == 0, xp.ones_like(total), total * num_classes)
    f = 2 * precision * recall / divisor
    product, product_rest = _product_and_rest(2 * precision, recall)
    times, times_rest = _product_and_rest(f, xp.full_like(f, float(num_classes)))
    back, back_rest = _product_and_rest(times, total)
    left = (product - back) + (product_rest - back_rest - times * total_rest - times_rest * total)
    return f + left / divisor


def _sum_and_rest(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a + b rounded, and its rounding error. Source: Knuth's TwoSum."""
    total = a + b
    rest = total - a
    return total, (a - (total - rest)) + (b - rest)


def _product_and_rest(a: Array, b: Array) -> tuple[Array, Array]:
    """Return a·b rounded, and its rounding error. Source: Dekker's product of halves of 26 bits."""
    halves = []
    for x in (a, b):
        scaled = 134217729.0 * x  # 2^27 + 1
        high = scaled - (scaled - x)
        halves.append((high, x - high))
    (a1, a2), (b1, b2) = halves
    product = a * b
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2
