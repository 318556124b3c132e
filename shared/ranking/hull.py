"""The upper convex hull of the ROC curve, and the least costs of decisions, which lie at its vertices.

    C(t) = a·FN(t) + b·FP(t)  over every threshold t, and over detecting nothing

A cost that is linear in the counts is least at a vertex of the hull, and of thresholds with equal costs, the one that
the fewest samples exceed is a vertex too. So one pass over the counts keeps a few vertices of each run, and all costs
are compared there, in integers, and divided once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from itertools import chain, pairwise
from typing import NamedTuple

from ..arrays.arrays import array_namespace
from .counts import Counts
from .curves import BestValue
from .quantities import Quantity, at_best

_PART = 8  # a pass that drops fewer than one point in so many is the last
_LARGEST_INT = 1 << 62


class Vertex(NamedTuple):
    """The decisions that detect a score and higher ones."""

    fp: int
    tp: int
    score: float | None  # None where nothing is detected


def _vertices(counts: Counts) -> list[Vertex]:
    """The vertices of the hull of a run, and perhaps a few points more.

    A point on or below the line between its neighbours is no vertex, whether or not they are.
    """
    xp = array_namespace(counts.tp)
    fits = counts.num_positives * counts.num_negatives < _LARGEST_INT
    columns = counts.fp, counts.tp, counts.thresholds
    while (number := columns[0].shape[0]) > 2:
        right, up = (each[1:] - each[:-1] for each in columns[:2])
        if fits:
            above = up[:-1] * right[1:] > up[1:] * right[:-1]
        else:  # products of float64s that are less say so of the integers
            right, up = xp.astype(right, xp.float64), xp.astype(up, xp.float64)
            above = up[:-1] * right[1:] >= up[1:] * right[:-1]
        ends = xp.ones_like(above[:1])
        is_vertex = xp.concat([ends, above, ends])
        columns = columns[0][is_vertex], columns[1][is_vertex], columns[2][is_vertex]
        if (number - columns[0].shape[0]) * _PART < number:
            break
    return [*map(Vertex, *(column.tolist() for column in columns))]


def _hull(parts: Iterable[Iterable[Vertex]]) -> list[Vertex]:
    """The vertices of the hull, from "nothing is detected" to "all positives are"."""
    hull = [Vertex(0, 0, None)]
    for point in chain.from_iterable(parts):
        while len(hull) > 1 and _is_below(hull[-1], hull[-2], point):
            hull.pop()
        hull.append(point)
    return hull


def _is_below(point: Vertex, before: Vertex, after: Vertex) -> bool:
    """Whether a point is on or below the line between two others."""
    return (point.tp - before.tp) * (after.fp - point.fp) <= (after.tp - point.tp) * (point.fp - before.fp)


# from the numbers of positives and of negatives, the integers a and b
Weights = Callable[[int, int], tuple[int, int]]


def least_cost(weights: Weights, value: Callable[[int, int, int], float], higher: bool) -> Quantity:
    """The quantity value(C, P, N) of the least cost C = a·FN + b·FP, as a `BestValue`.

    Parameters: weights, P, N → (a, b), both at least 0; value; higher, whether a higher value is better.
    """

    def best(parts: list[list[Vertex]], num_positives: int, num_negatives: int) -> BestValue:
        a, b = weights(num_positives, num_negatives)
        costs = [(a * (num_positives - tp) + b * fp, score) for fp, tp, score in _hull(parts)]
        cost, score = min(costs, key=lambda pair: pair[0])  # the first of equal ones, which detects the fewest
        return BestValue(value(cost, num_positives, num_negatives), score)

    return Quantity(_vertices, best, higher, at_best(_vertices))


def of_rates(miss: int, false_alarm: int) -> Weights:
    """The weights of miss·FNR + false_alarm·FPR, times P·N."""
    return lambda num_positives, num_negatives: (miss * num_negatives, false_alarm * num_positives)


# min_t ½(FNR + FPR), and 1 − that
DETECTION_ERROR = least_cost(of_rates(1, 1), lambda cost, p, n: cost / (2 * p * n), False)
BEST_BALANCED_ACCURACY = least_cost(of_rates(1, 1), lambda cost, p, n: (2 * p * n - cost) / (2 * p * n), True)


class DetectionCost(NamedTuple):
    """The cost of detection miss·FNR + false_alarm·FPR, divided by the lesser of both; integers above 0."""

    miss: int
    false_alarm: int

    @staticmethod
    def of(prior: Fraction, cost_miss: Fraction, cost_false_alarm: Fraction) -> DetectionCost:
        """The cost with c_miss·π·FNR + c_fa·(1 − π)·FPR, for a prior π of positives."""
        ratio = cost_miss * prior / (cost_false_alarm * (1 - prior))
        return DetectionCost(*ratio.as_integer_ratio())

    def swapped(self) -> DetectionCost:
        """The same of the other class as positives."""
        return DetectionCost(self.false_alarm, self.miss)

    def at(self, misses: int, false_alarms: int, num_positives: int, num_negatives: int) -> float:
        """The cost of decisions, divided once."""
        a, b = of_rates(*self)(num_positives, num_negatives)
        return self._normalised(a * misses + b * false_alarms, num_positives, num_negatives)

    def least(self) -> Quantity:
        """The least cost, in [0, 1]: that of detecting nothing, or everything, is at most 1."""
        return least_cost(of_rates(*self), self._normalised, False)

    def _normalised(self, cost: int, num_positives: int, num_negatives: int) -> float:
        return cost / (min(self) * num_positives * num_negatives)


def reliability(cost: Fraction) -> Quantity:
    """The most right answers less `cost` times the wrong ones, of all samples, over thresholds; wrong ones score high.

    Answers that are right are negatives below the threshold: N − FP − c·FN. Source: Whitehead et al., Reliable Visual
    Question Answering, ECCV 2022.
    """
    c, unit = cost.as_integer_ratio()
    return least_cost(lambda *_: (c, unit), lambda loss, p, n: (unit * n - loss) / (unit * (p + n)), True)


def _equal_error_of_hull(parts: list[list[Vertex]], num_positives: int, num_negatives: int) -> float:
    def excess(vertex: Vertex) -> int:
        """FPR − FNR, times P·N."""
        return vertex.fp * num_positives + vertex.tp * num_negatives - num_positives * num_negatives

    # the last vertex has an FNR of 0
    before, after = next(pair for pair in pairwise(_hull(parts)) if excess(pair[1]) >= 0)
    low, high = excess(before), excess(after)
    return float(Fraction(before.fp * high - low * after.fp, (high - low) * num_negatives))


# where the hull meets FPR = FNR. Source: Brümmer and de Villiers, The BOSARIS Toolkit, 2013
EER_HULL = Quantity(_vertices, _equal_error_of_hull, False, at_best(_vertices))
