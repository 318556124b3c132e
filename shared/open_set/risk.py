"""Risk and coverage of a classifier that abstains from what looks most unknown.

Samples are accepted from the lowest score on. An error is a sample that must not be accepted: one that is classified
wrongly, or unknown. With e(k) errors expected among the first k of N, tied samples being in random order, the coverage
is k/N, the risk e(k)/k and the generalised risk e(k)/N.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from ..arrays.arrays import array_namespace, on_one_device
from ..arrays.columns import as_scores
from ..arrays.options import plain_value
from ..arrays.ratios import ratio_of
from ..ranking.bounds import in_either_order
from ..ranking.counts import Counts, Side, as_side, runs, sort_sides
from ..ranking.quantities import Quantity, quantities
from ..ranking.shares import least_reaching
from .risk_areas import AUGRC, AURC, places

RISK_METRICS = ("aurc", "augrc")
_AREAS = {"aurc": AURC, "augrc": AUGRC}
_POINT = re.compile(r"(risk@cov|coverage@risk)((?!0\d)\d{1,3}(?:\.\d+)?)")


def risk_coverage(errors: Any, right: Any, metrics: Any = RISK_METRICS) -> dict[str, float]:
    """Risk of a classifier that abstains from the samples that score highest, by name.

    aurc            1/N Σ_k e(k)/k, the area under the risk-coverage curve
    augrc           ∫ e/N d(k/N) = (E·R·(1 − AUROC) + E²/2)/N², that under the generalised one, in [0, ½]
    risk@cov80      e(k)/k of the first k = ⌈0.8·N⌉ samples; likewise any number in (0, 100]
    coverage@risk5  the highest coverage of a threshold, all that score lower being accepted or all samples, at which
                    the risk is at most 0.05, and 0 where there is none; likewise any number in [0, 100]

    Parameters: errors (E,) and right (R,), scores of the samples that must not be accepted, and of the N − E = R
    others, higher is more uncertain or unknown; metrics, a name or a list of names. AUROC is that of errors over right.
    Returns {name: float in [0, 1]}. augrc, risk@ and coverage@ are divided once; aurc is off by 1e-14 at most.
    Raises ValueError for NaN, an unknown name, and no samples at all.
    Source: Geifman and El-Yaniv, Selective Classification for Deep Neural Networks, NeurIPS 2017; Traub et al.,
    Overcoming Common Flaws in the Evaluation of Selective Classification Systems, NeurIPS 2024.

    >>> risk_coverage([0.2, 0.4], [0.05, 0.1, 0.3], ["augrc", "risk@cov80", "coverage@risk5"])
    {'augrc': 0.12, 'risk@cov80': 0.25, 'coverage@risk5': 0.4}
    """
    wanted = risk_quantities(metrics, "metrics")
    if not wanted:
        raise ValueError("metrics: expected at least one name, got none")
    positives, negatives = on_one_device(as_scores(errors, "errors"), as_scores(right, "right"))
    return risk_of_sides(as_side(positives), as_side(negatives), wanted)


def risk_quantities(metrics: Any, name: str) -> dict[str, Quantity]:
    """Those of some names, or of none, of the errors as positives and the others as negatives; see `risk_coverage`."""
    given = plain_value(metrics)
    names = [given] if isinstance(given, str) or not isinstance(given, Iterable) else [*given]
    return {str(each): _quantity(each, name) for each in names}


def risk_of_sides(errors: Side, right: Side, wanted: Mapping[str, Quantity]) -> dict[str, Any]:
    """The values of quantities."""
    if not errors.total and not right.total:
        raise ValueError("errors: expected at least one sample that is an error or right, got none")
    if not errors.total:
        return {name: quantity.value([], 0, right.total) for name, quantity in wanted.items()}
    return quantities(runs(*sort_sides(errors, right)), wanted)


def both_sides(first: Side, second: Side) -> Side:
    """The samples of two sides as one."""
    xp = array_namespace(first.scores, second.scores)
    scores = xp.concat([first.scores, second.scores])
    if first.before is None or second.before is None:
        return as_side(scores, owned=True)
    return as_side(scores, xp.concat([xp.diff(first.before), xp.diff(second.before)]))


def _quantity(metric: Any, name: str) -> Quantity:
    if isinstance(metric, str) and metric in _AREAS:
        return _AREAS[metric]
    match = _POINT.fullmatch(metric) if isinstance(metric, str) else None
    if match:
        share = Fraction(match[2]) / 100
        if share <= 1 and (share or match[1] == "coverage@risk"):
            return _POINTS[match[1]](float(share))
    points = "risk@cov<number in (0, 100]>, coverage@risk<number in [0, 100]>"
    raise ValueError(f"{name}: unknown metric {metric!r}; known are {', '.join(_AREAS)}, {points}")


def _risk_at(coverage: float) -> Quantity:
    def part(counts: Counts) -> tuple[int, int, int]:
        """Errors of scores that are accepted, and those of the score that is accepted in part, as a ratio."""
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
