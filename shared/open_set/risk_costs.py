"""Selective risk with different costs for two kinds of errors, and a chosen share of unknown samples.

An accepted sample costs c if it is unknown, 1 − c if it is known but misclassified, and 0 otherwise. With
a share π of unknown samples, each of these weighs π/N_u, and each known one (1 − π)/N_k; without it, all weigh 1/N.
So two numbers are in every sum, the loss and the weight of the samples accepted at each score, and both are integers
over a common denominator: each result is divided once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import array_namespace, distinct_values, to_numpy
from ..arrays.ratios import weighted_sum
from ..ranking.counts import Side, runs, sort_sides
from ..ranking.shares import least_reaching
from .risk_areas import AURC, area_of_sum, both_sides

_LARGEST_INT = 1 << 62


class Costs(NamedTuple):
    """Costs of errors, and weights of samples.

    unknown, wrong: the loss of an accepted unknown, or wrongly classified, sample
    unknown_share: π, the share of unknown samples; None for their share in the data
    """

    unknown: Fraction
    wrong: Fraction
    unknown_share: Fraction | None = None


class _Weights(NamedTuple):
    """Integers, in one unit: the loss of an unknown and of a wrong sample, the weight of an unknown and a known one."""

    loss_unknown: int
    loss_wrong: int
    unknown: int
    known: int


def risks_with_costs(
    unknown: Side, wrong: Side, right: Side, wanted: Mapping[str, tuple[str, Fraction]], costs: Costs
) -> dict[str, float]:
    """Risks of `risk_coverage` by name, with costs.

    Parameters: the three kinds of samples; wanted, by name the kind, such as "risk@cov", and its share.
    Raises ValueError for aurc with an unknown_share, and for a share where one of both sides has no samples.
    """
    accepted = _accepted(unknown, wrong, right)
    weights = _weights(unknown.total, wrong.total + right.total, costs)
    risks = {}
    for name, (kind, share) in wanted.items():
        if kind == "aurc":
            risks[name] = _area_with_costs(unknown, wrong, right, costs)
        elif kind == "augrc":
            risks[name] = _generalised_with_costs(accepted, weights)
        elif kind == "risk@cov":
            risks[name] = _risk_with_costs(share, accepted, weights, costs)
        else:
            risks[name] = _coverage_with_costs(share, accepted, weights)
    return risks


def _accepted(*sides: Side) -> list[np.ndarray]:
    """The numbers of samples of each side that score at most each distinct score, ascending, beginning with 0: (T + 1,)
    int64 each.
    """
    xp = array_namespace(*(side.scores for side in sides))
    dtype = xp.result_type(*(side.scores for side in sides))
    scores = [xp.astype(side.scores, dtype, copy=False) for side in sides]
    distinct = distinct_values(xp.concat(scores))
    below = (side.below(xp.searchsorted(own, distinct, side="right")) for side, own in zip(sides, scores))
    return [np.concatenate([[0], to_numpy(column).astype(np.int64)]) for column in below]


def _weights(num_unknown: int, num_known: int, costs: Costs) -> _Weights:
    of_unknown, of_known = Fraction(1), Fraction(1)
    if costs.unknown_share is not None:
        if not num_unknown or not num_known:
            raise ValueError(
                f"unknown_share: expected unknown and known samples, got {num_unknown} unknown and {num_known} known"
            )
        of_unknown, of_known = costs.unknown_share / num_unknown, (1 - costs.unknown_share) / num_known
    exact = (costs.unknown * of_unknown, costs.wrong * of_known, of_unknown, of_known)
    unit = math.lcm(*(each.denominator for each in exact))
    return _Weights(*(int(each * unit) for each in exact))


def _loss_and_weight(accepted: list[np.ndarray], weights: _Weights, factor: int = 1) -> tuple[Any, Any]:
    """The loss and the weight of the samples accepted at each score; products with the factor do not overflow."""
    unknown, wrong, right = accepted
    most = factor * max(weights) * sum(int(column[-1]) for column in accepted)
    if most >= _LARGEST_INT:
        unknown, wrong, right = (column.astype(object) for column in accepted)
    loss = weights.loss_unknown * unknown + weights.loss_wrong * wrong
    return loss, weights.unknown * unknown + weights.known * (wrong + right)


def _area_with_costs(unknown: Side, wrong: Side, right: Side, costs: Costs) -> float:
    """1/N Σ_k e(k)/k, as the sum of this area for unknown and for wrong samples, each times its cost."""
    if costs.unknown_share is not None:
        raise ValueError("unknown_share: expected None with aurc, a mean over ranks, got a share; augrc has one")
    unit = math.lcm(costs.unknown.denominator, costs.wrong.denominator)
    total = unknown.total + wrong.total + right.total
    sums = 0
    for cost, errors, others in ((costs.unknown, unknown, (wrong, right)), (costs.wrong, wrong, (unknown, right))):
        if errors.total:
            counts = runs(*sort_sides(errors, both_sides(*others)))
            sums += int(cost * unit) * sum(map(AURC.part, counts))
    return area_of_sum(sums, unit * total)


def _generalised_with_costs(accepted: list[np.ndarray], weights: _Weights) -> float:
    """∫ e dκ, where both are linear between distinct scores: of pairs of samples, ties counting half."""

    def twice_area(errors: np.ndarray, weighed: np.ndarray) -> int:
        """2·∫ errors d(weighed), in counts."""
        twice = errors[1:] + errors[:-1]
        return weighted_sum(np.diff(weighed), twice, int(twice[-1]).bit_length(), int(weighed[-1]))

    unknown, wrong, right = accepted
    known = wrong + right
    area = sum(
        loss * (weights.unknown * twice_area(errors, unknown) + weights.known * twice_area(errors, known))
        for loss, errors in ((weights.loss_unknown, unknown), (weights.loss_wrong, wrong))
    )
    whole = weights.unknown * int(unknown[-1]) + weights.known * int(known[-1])
    return area / (2 * whole**2)


def _risk_with_costs(coverage: Fraction, accepted: list[np.ndarray], weights: _Weights, costs: Costs) -> float:
    """The risk of the first ⌈coverage·N⌉ samples, ties in random order; by weight, at the lowest score that covers."""
    loss, weight = _loss_and_weight(accepted, weights, coverage.denominator)
    if costs.unknown_share is not None:
        enough = weight * coverage.denominator >= int(weight[-1]) * coverage.numerator
        at = int(np.argmax(enough))
        return int(loss[at]) / int(weight[at])
    # all weigh the same, so that weights are numbers of samples
    counts = accepted[0] + accepted[1] + accepted[2]
    number = least_reaching(coverage, int(counts[-1]))
    at = int(np.searchsorted(counts, number))
    before, tied = int(counts[at - 1]), int(counts[at] - counts[at - 1])
    expected = int(loss[at - 1]) * tied + int(loss[at] - loss[at - 1]) * (number - before)
    return expected / (weights.known * number * tied)


def _coverage_with_costs(risk: Fraction, accepted: list[np.ndarray], weights: _Weights) -> float:
    """The largest share of the weight that a threshold accepts at a risk of at most `risk`; 0 if there is none."""
    loss, weight = _loss_and_weight(accepted, weights, max(risk.numerator, risk.denominator))
    within = np.flatnonzero(loss[1:] * risk.denominator <= weight[1:] * risk.numerator)
    return int(weight[1 + within[-1]]) / int(weight[-1]) if len(within) else 0.0
