"""Risk of a classifier that abstains: its areas and points by name, and with costs of errors.

Samples are accepted in ascending order of their scores. An error is a sample that must not be accepted, since it is
misclassified or unknown.

With costs, an accepted sample costs c if it is unknown, 1 − c if it is known but misclassified, and 0 otherwise. With
a share π of unknown samples, each of these weighs π/N_u, and each known one (1 − π)/N_k; without it, all weigh 1/N.
So two numbers are in every sum, the loss and the weight of the samples accepted at each score, and both are integers
over a common denominator: each result is divided once.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import array_namespace, distinct_values, on_one_device, to_numpy
from ..arrays.checks import as_open_share, as_scores, as_share, by_keyword, plain_value
from ..arrays.exact import as_written, weighted_sum
from ..ranking.counts import Side, as_side, runs, sort_sides
from ..ranking.quantities import Quantity, least_reaching, quantities
from ..ranking.risk_curves import AUGRC, AURC, RISK_POINTS, gain_of, gains, parse_risk, unit_of_gains

_AREAS = {"aurc": AURC, "augrc": AUGRC}
RISK_METRICS = (*_AREAS,)
_LARGEST_INT = 1 << 62


class Costs(NamedTuple):
    """Costs of errors, and weights of samples."""

    unknown: Fraction  # with wrong: the loss of an accepted unknown, or wrongly classified, sample
    wrong: Fraction
    unknown_share: Fraction | None = None  # π, the share of unknown samples; None for their share in the data


@by_keyword
def risk_coverage(
    *,
    errors: Any,
    right: Any,
    metrics: Any = RISK_METRICS,
    unknown: Any = None,
    ood_cost: float | None = None,
    unknown_share: float | None = None,
) -> dict[str, float]:
    """Risk of a classifier that abstains from the samples that score highest, by name.

    aurc            1/N Σ_k e(k)/k, the area under the risk-coverage curve
    augrc           ∫ e/N d(k/N) = (E·R·(1 − AUROC) + E²/2)/N², the area under the generalised curve, in [0, ½]
    risk@cov80      e(k)/k of the first k = ⌈0.8·N⌉ samples; likewise any number in (0, 100]
    coverage@risk5  the highest coverage of a threshold, which accepts all lower scores, or all samples, at which the
                    risk is at most 0.05, and 0 if there is none; likewise any number in [0, 100]

    Parameters: errors (E,) and right (R,), scores of the samples that must not be accepted, and of the N − E = R
    others, higher is more uncertain or unknown; metrics, a name or a list of names. AUROC is that of errors over right.

    Further errors are the unknown (U,) samples, which may have other costs and weights: with an ood_cost c in [0, 1],
    an accepted unknown sample costs c and one of `errors` 1 − c, instead of 1 each; with an unknown_share π in (0, 1),
    unknown samples weigh π/U each and known ones (1 − π)/(E + R), instead of 1/N. There is then no aurc, and risk@cov80
    is the risk of the lowest threshold that accepts 0.8 of the weight. Both numbers are read as exact decimals.

    Returns {name: float in [0, 1]}. augrc, risk@ and coverage@ are rounded once, and so is aurc of up to 256 samples;
    of more, it is off by at most 1e-14.
    Raises ValueError for NaN, an unknown name, no samples at all, and numbers out of range.
    Source: Geifman and El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS 2017; Traub et al.,
    Overcoming Common Flaws in the Evaluation of Selective Classification Systems, NeurIPS 2024; costs: Xia and
    Bouganis, Augmenting Softmax Information for Selective Classification with Out-of-Distribution Data, ACCV 2022,
    with β = 1 − c.

    >>> risk_coverage(errors=[0.2, 0.4], right=[0.05, 0.1, 0.3], metrics=["augrc", "risk@cov80", "coverage@risk5"])
    {'augrc': 0.12, 'risk@cov80': 0.25, 'coverage@risk5': 0.4}
    >>> risk_coverage(errors=[3.0], right=[1.0, 2.0, 5.0], unknown=[4.0], metrics="risk@cov80", ood_cost=0.75)
    {'risk@cov80': 0.25}
    """
    wanted, costs = risk_names(metrics, "metrics"), as_costs(ood_cost, unknown_share)
    if not wanted:
        raise ValueError("metrics: expected at least one name, got none")
    scores = [as_scores(errors, "errors"), as_scores(right, "right")]
    scores += [] if unknown is None else [as_scores(unknown, "unknown")]
    wrong, accepted, *more = map(as_side, on_one_device(*scores))
    if not more:
        if costs is not None:
            raise ValueError("unknown: expected scores with an ood_cost or an unknown_share, got none")
        return risk_of_sides(wrong, accepted, risk_quantities(wanted))
    if costs is not None:
        return risks_with_costs(more[0], wrong, accepted, wanted, costs)
    return risk_of_sides(both_sides(more[0], wrong), accepted, risk_quantities(wanted))


def as_costs(ood_cost: Any, unknown_share: Any) -> Costs | None:
    """Check the options of costs and shares; None without either."""
    if ood_cost is None and unknown_share is None:
        return None
    cost = None if ood_cost is None else as_written(as_share(ood_cost, "ood_cost"))
    share = None if unknown_share is None else as_written(as_open_share(unknown_share, "unknown_share"))
    return Costs(Fraction(1), Fraction(1), share) if cost is None else Costs(cost, 1 - cost, share)


def risk_names(metrics: Any, name: str) -> dict[str, tuple[str, Fraction]]:
    """Parse names of risks into their kinds, such as "risk@cov", and shares; see `risk_coverage`."""
    return {str(each): _kind_and_share(each, name) for each in names_of(metrics)}


def names_of(metrics: Any) -> Iterable[Any]:
    """A name, or several."""
    names = plain_value(metrics)
    return [names] if isinstance(names, str) or not isinstance(names, Iterable) else names


def risk_quantities(wanted: Mapping[str, tuple[str, Fraction]]) -> dict[str, Quantity]:
    """Quantities of `risk_names`, with errors as positives and all other samples as negatives; see `risk_coverage`."""
    return {
        name: _AREAS[kind] if kind in _AREAS else RISK_POINTS[kind](float(share))
        for name, (kind, share) in wanted.items()
    }


def risk_of_sides(errors: Side, right: Side, wanted: Mapping[str, Quantity]) -> dict[str, Any]:
    """The values of quantities."""
    if not errors.total and not right.total:
        raise ValueError("errors: expected at least one sample that is an error or right, got none")
    if not errors.total:
        return {name: quantity.value([], 0, right.total) for name, quantity in wanted.items()}
    return quantities(*sort_sides(errors, right), wanted)


def _kind_and_share(metric: Any, name: str) -> tuple[str, Fraction]:
    if isinstance(metric, str) and metric in _AREAS:
        return metric, Fraction(1)
    point = parse_risk(metric) if isinstance(metric, str) else None
    if point:
        return point
    points = "risk@cov<number in (0, 100]>, coverage@risk<number in [0, 100]>"
    raise ValueError(f"{name}: unknown metric {metric!r}; known are {', '.join(_AREAS)}, {points}")


def both_sides(first: Side, second: Side) -> Side:
    """Merge the samples of two sides into one."""
    xp = array_namespace(first.scores, second.scores)
    scores = xp.concat([first.scores, second.scores])
    if first.before is None and second.before is None:
        return as_side(scores)
    return as_side(scores, xp.concat([first.sizes, second.sizes]))


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
    below = (side.below(xp.searchsorted(of_side, distinct, side="right")) for side, of_side in zip(sides, scores))
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
    of_gains, sums = unit_of_gains(total), 0
    for cost, errors, others in ((costs.unknown, unknown, (wrong, right)), (costs.wrong, wrong, (unknown, right))):
        if errors.total:
            counts = runs(*sort_sides(errors, both_sides(*others)))
            gain = gain_of([*map(gains, counts)], errors.total, total - errors.total)
            sums += int(cost * unit) * (errors.total * of_gains - gain)
    return min(1.0, sums / (unit * total * of_gains))


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
