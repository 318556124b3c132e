"""Risk and coverage of a classifier that abstains from the samples that look most unknown.

Samples are accepted in ascending order of their scores. An error is a sample that must not be accepted, since it is
misclassified or unknown. With e(k) errors expected among the first k of N, and ties in random order, the coverage is
k/N, the risk e(k)/k and the generalised risk e(k)/N.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ..arrays.arrays import array_namespace, on_one_device
from ..arrays.columns import as_scores
from ..arrays.options import as_open_share, as_share, as_written, by_keyword, plain_value
from ..arrays.ratios import ratio_of
from ..ranking.bounds import in_either_order
from ..ranking.counts import Counts, Side, as_side, sort_sides
from ..ranking.quantities import Quantity, quantities
from ..ranking.shares import least_reaching
from .risk_areas import AUGRC, AURC, both_sides, places
from .risk_costs import Costs, risks_with_costs

RISK_METRICS = ("aurc", "augrc")
_AREAS = {"aurc": AURC, "augrc": AUGRC}
_RISK_POINT = re.compile(r"(risk@cov|coverage@risk)((?!0\d)\d{1,3}(?:\.\d+)?)", re.ASCII)


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

    Returns {name: float in [0, 1]}. augrc, risk@ and coverage@ are rounded once; aurc is off by at most 1e-14.
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
        return risk_of_sides(wrong, accepted, risk_quantities(metrics, "metrics"))
    if costs is not None:
        return risks_with_costs(more[0], wrong, accepted, wanted, costs)
    return risk_of_sides(both_sides(more[0], wrong), accepted, risk_quantities(metrics, "metrics"))


def as_costs(ood_cost: Any, unknown_share: Any) -> Costs | None:
    """Check the options of costs and shares; None without either."""
    if ood_cost is None and unknown_share is None:
        return None
    cost = None if ood_cost is None else as_written(as_share(ood_cost, "ood_cost"))
    share = None if unknown_share is None else as_written(as_open_share(unknown_share, "unknown_share"))
    return Costs(Fraction(1), Fraction(1), share) if cost is None else Costs(cost, 1 - cost, share)


def risk_names(metrics: Any, name: str) -> dict[str, tuple[str, Fraction]]:
    """Parse names of risks into their kinds, such as "risk@cov", and shares; see `risk_coverage`."""
    names = plain_value(metrics)
    if isinstance(names, str) or not isinstance(names, Iterable):
        names = [names]
    return {str(each): _parsed(each, name) for each in names}


def risk_quantities(metrics: Any, name: str) -> dict[str, Quantity]:
    """Quantities by name, with errors as positives and all other samples as negatives; see `risk_coverage`."""
    return {
        each: _AREAS[kind] if kind in _AREAS else _POINTS[kind](float(share))
        for each, (kind, share) in risk_names(metrics, name).items()
    }


def risk_of_sides(errors: Side, right: Side, wanted: Mapping[str, Quantity]) -> dict[str, Any]:
    """The values of quantities."""
    if not errors.total and not right.total:
        raise ValueError("errors: expected at least one sample that is an error or right, got none")
    if not errors.total:
        return {name: quantity.value([], 0, right.total) for name, quantity in wanted.items()}
    return quantities(*sort_sides(errors, right), wanted)


def _parsed(metric: Any, name: str) -> tuple[str, Fraction]:
    if isinstance(metric, str) and metric in _AREAS:
        return metric, Fraction(1)
    match = _RISK_POINT.fullmatch(metric) if isinstance(metric, str) else None
    if match:
        share = Fraction(match[2]) / 100
        if share <= 1 and (share or match[1] == "coverage@risk"):
            return match[1], share
    points = "risk@cov<number in (0, 100]>, coverage@risk<number in [0, 100]>"
    raise ValueError(f"{name}: unknown metric {metric!r}; known are {', '.join(_AREAS)}, {points}")


def _risk_at(coverage: float) -> Quantity:
    def part(counts: Counts) -> tuple[int, int, int]:
        """Errors among fully accepted scores, and errors of the partly accepted score, as a ratio."""
        xp = array_namespace(counts.tp)
        accepted = least_reaching(coverage, counts.num_positives + counts.num_negatives)
        before, tied = places(counts)
        whole, some = before + tied <= accepted, (before < accepted) & (accepted < before + tied)
        errors, lower, equal = (int(xp.sum(column[some])) for column in (counts.sizes, before, tied))
        return int(xp.sum(counts.sizes[whole])), errors * (accepted - lower), equal

    def value(parts: list[tuple[int, int, int]], num_errors: int, num_right: int) -> float:
        accepted = least_reaching(coverage, num_errors + num_right)
        whole, split, tied = (sum(column) for column in zip((0, 0, 0), *parts))
        return (whole * (tied or 1) + split) / (accepted * (tied or 1))

    return Quantity(part, value, False, in_either_order(part))


def _coverage_at(risk: float) -> Quantity:
    def part(counts: Counts) -> int:
        xp = array_namespace(counts.tp)
        before, _ = places(counts)
        some = before > 0
        risks = ratio_of(counts.num_positives - counts.tp, xp.where(some, before, 1))
        return int(xp.max(xp.where(some & (risks <= risk), before, 0)))

    def value(parts: list[int], num_errors: int, num_right: int) -> float:
        total = num_errors + num_right
        return max([*parts, total if num_errors / total <= risk else 0]) / total

    return Quantity(part, value, True)


_POINTS = {"risk@cov": _risk_at, "coverage@risk": _coverage_at}
