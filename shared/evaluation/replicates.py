"""Rates in the resamples of groups that were read one after the other, and of the means over them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.options import as_confidence_level, as_int
from ..metric.bootstrap import as_resamples, percentiles, replicates
from ..metric.group_results import Key, Results, with_ends
from ..metric.groups import is_below, prefixes
from ..metric.metric import Metric

Replicates = dict[tuple[str, str], np.ndarray]  # (B,) by group and key


def with_means(found: Mapping[Any, np.ndarray]) -> dict[Key, np.ndarray]:
    """Rates of groups in resamples, with those of what is before a slash and of all: means over the groups.

    >>> means = with_means({("nut/cut", "auroc"): np.ones(2), ("nut/bent", "auroc"): np.zeros(2)})
    >>> [*means], means["auroc"].tolist()
    ([('nut/cut', 'auroc'), ('nut/bent', 'auroc'), ('nut', 'auroc'), 'auroc'], [0.5, 0.5])
    """
    every: dict[Key, np.ndarray] = {**found}
    names = list(dict.fromkeys(name for name, _ in found))
    for key in dict.fromkeys(key for _, key in found):
        for prefix in sorted(prefixes(names)):
            every[prefix, key] = _mean([x for (name, own), x in found.items() if own == key and is_below(name, prefix)])
        every[key] = _mean([x for (_, own), x in found.items() if own == key])
    return every


def shuffled(found: Mapping[str, np.ndarray], category: str, random_state: int) -> dict[str, np.ndarray]:
    """A category's rates in resamples, in an order of its own.

    All categories draw from one seed, so that each has the interval that it has alone; but equal draws in all of them
    would not be draws of their mean.
    """
    seed = np.random.SeedSequence(random_state, spawn_key=tuple(category.encode()))
    number = max(map(len, found.values()), default=0)
    order = np.random.default_rng(seed).permutation(number)
    return {key: values[order] for key, values in found.items()}


def results_and_replicates(metric: Metric) -> tuple[Results, dict[str, np.ndarray]]:
    """The results of the batches that were added, and with a confidence_level the rates in resamples."""
    options = metric.loaded_options
    if options["confidence_level"] is None:
        return metric.compute(), {}
    number, seed = as_resamples(options["n_resamples"]), as_int(options["random_state"], "random_state", 0)
    as_confidence_level(options["confidence_level"])
    results, units = metric.results_and_units()
    found = replicates(units, results, number, seed)
    return results, {key: values for key, values in found.items() if isinstance(key, str)}


def with_intervals(results: Results, found: Replicates, confidence_level: Any) -> Results:
    """Results of groups, and of the means over them, with the intervals of rates that were resampled."""
    if not found:
        return results
    level = as_confidence_level(confidence_level)
    return with_ends(results, {key: percentiles(values, level) for key, values in with_means(found).items()})


def _mean(columns: list[np.ndarray]) -> np.ndarray:
    """The mean of each resample; sums are exact, so that it does not depend on the order of the groups."""
    rows = zip(*(column.tolist() for column in columns))
    return np.asarray([math.fsum(row) / len(columns) for row in rows])
