"""Two models on the same samples: which is better, by how much, and how sure that is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .arrays.options import as_confidence_level, as_int
from .loading import metric_class
from .metric.bootstrap import as_resamples, percentiles, rates, shown
from .metric.group_results import Key, flat_rates
from .metric.metric import INTERVAL_OPTIONS, Metric
from .metric.units import Units

TABLE = ("key", "first", "second", "difference", "low", "high", "p_value")


def compare(
    metric: str | Metric,
    first: Any,
    second: Any,
    *,
    references: Any = None,
    confidence_level: float = 0.95,
    n_resamples: int = INTERVAL_OPTIONS["n_resamples"],
    random_state: int = INTERVAL_OPTIONS["random_state"],
    **others: Any,
) -> dict[str, list[Any]]:
    """Compare the rates of two models on the same samples, by a paired bootstrap.

    difference = first − second,  p = min(1, 2·(min(#{Δ ≤ 0}, #{Δ ≥ 0}) + 1)/(B + 1))  over B resamples Δ

    Each resample draws samples (images, for anomaly maps and detection) with replacement within their strata, the same
    for both models.

    Parameters: metric, a name or a metric with its options; first and second, each model's predictions, or a dict of
    its own columns, such as {"predictions": …, "open_scores": …}; references and other columns that both share, and
    options of the metric, as keywords; confidence_level in (0, 1); n_resamples, from 1 to a million; random_state, the
    seed.

    Returns a table, a dict of lists of one length: "key", "first", "second", "difference", and of the difference "low",
    "high" and "p_value". Two equal models have a difference of 0 and a p-value of 1. With a column `groups` it has a
    "group" too: None in rows of the means, which come first.
    Raises what the metric raises, and ValueError where the samples of the two are not the same in number and kind.
    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993; p with + 1, so that it is never 0.

    >>> table = compare("ood_bench", [0.1, 0.2, 0.8, 0.9], [0.1, 0.2, 0.8, 0.9], references=[0, 0, 1, 1])
    >>> table["key"], table["difference"], table["p_value"]
    (['auroc', 'fpr95tpr'], [0.0, 0.0], [1.0, 1.0])
    """
    level, n_resamples = as_confidence_level(confidence_level), as_resamples(n_resamples)
    rng = np.random.default_rng(as_int(random_state, "random_state", 0))
    metric = metric_class(metric)() if isinstance(metric, str) else metric
    if not hasattr(metric, "results_and_units"):
        raise TypeError(f"metric: expected a name or a metric such as OpenAUC(), got {type(metric).__name__}")
    shared = others if references is None else {**others, "references": references}
    found = [_results_and_units(metric, model, shared, name) for name, model in (("first", first), ("second", second))]
    values, models = [flat_rates(results) for results, _ in found], [units for _, units in found]
    kept = paired_differences(values, models, n_resamples, rng)
    table: dict[str, list[Any]] = {name: [] for name in TABLE}
    by_group = any(not isinstance(key, str) for key in kept)
    groups: list[str | None] = []
    for key, column in kept.items():
        ours, theirs = values[0][key], values[1][key]
        group, name_of_key = (None, key) if isinstance(key, str) else key
        groups.append(group)
        low, high = percentiles(column, level)
        for name, value in zip(TABLE, (name_of_key, ours, theirs, ours - theirs, low, high, p_value(column))):
            table[name].append(value)
    return {"group": groups, **table} if by_group else table


def paired_differences(
    values: Sequence[Mapping[Key, float]], models: Sequence[Units], n_resamples: int, rng: np.random.Generator
) -> dict[Key, np.ndarray]:
    """The differences of two models' rates in so many resamples, (B,) each, of the same samples for both.

    Parameters: values, the rates of either model; models, their units; n_resamples; rng, of which the draws come.
    Raises ValueError where the samples of the two are not the same in number and kind.
    """
    pairs = _pairs(*models)
    merged = [rates(units.results(units.strata)) for units in models]
    kept: dict[Key, np.ndarray] = {key: np.empty(n_resamples) for key in merged[0] if key in merged[1]}
    draws = ([rng.integers(0, len(rows), len(rows)) for rows, _ in pairs] for _ in range(n_resamples))
    for number, drawn in enumerate(shown(draws, n_resamples)):
        results = [
            units.results([_counts(pair[i][rows], stratum) for pair, rows, stratum in zip(pairs, drawn, units.strata)])
            for i, units in enumerate(models)
        ]
        for key, column in kept.items():
            column[number] = results[0][key] - results[1][key]
    # where rows were merged, the differences are moved by what that of the values was moved by
    moved = {key: (values[0][key] - values[1][key]) - (merged[0][key] - merged[1][key]) for key in kept}
    return {key: column + moved[key] for key, column in kept.items()}


def _results_and_units(
    metric: Metric, model: Any, shared: Mapping[str, Any], name: str
) -> tuple[dict[str, Any], Units]:
    own = model if isinstance(model, Mapping) else {"predictions": model}
    twice = [column for column in own if column in shared]
    if twice:
        raise TypeError(f"{twice[0]}: expected it of {name} or of both models, got both")
    return metric.results_and_units(**own, **shared)


def _pairs(first: Units, second: Units) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each stratum, the row of each unit in either model, in an order that is not that of the units."""
    (rows, strata), (other_rows, other_strata) = first.members(), second.members()
    if len(rows) != len(other_rows) or (strata != other_strata).any():
        raise ValueError(
            f"first, second: expected the same samples, got {len(rows)} and {len(other_rows)}, or of other kinds"
        )
    pairs = []
    for i in range(len(first.strata)):
        pair = rows[strata == i], other_rows[strata == i]
        order = np.lexsort(pair)
        pairs.append((pair[0][order], pair[1][order]))
    return pairs


def _counts(rows: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    return np.bincount(rows, minlength=len(stratum))


def p_value(differences: np.ndarray) -> float:
    """That of no difference, from the differences in resamples."""
    rarer = min(np.count_nonzero(differences <= 0), np.count_nonzero(differences >= 0))
    return min(1.0, 2 * (int(rarer) + 1) / (len(differences) + 1))
