"""Two models' anomaly maps of the same images: by how much they differ, and how sure that is."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite
from ..arrays.options import as_confidence_level, as_int
from ..comparison import p_value, paired_differences
from ..metric.bootstrap import as_resamples, percentiles
from ..metric.group_results import Key, Results, flat_rates
from ..metric.units import Units
from .anomaly_batches import Pair, add_images, batches_of, groups_of, scored_images
from .anomaly_run import AnomalyRun
from .differences import differences
from .map_reading import map_reader, read_ahead
from .replicates import Replicates, with_means

ENDS = ("low", "high", "p_value")


def compared_runs(first: AnomalyRun, second: AnomalyRun, **options: Any) -> Results:
    """The `differences` of two models; with a confidence_level, the interval and the p-value of each beside it.

    A paired bootstrap, as of `compare`: images are drawn within their category, and for both models the same. Each
    category is read again, and resampled by itself, so that memory is of one. A difference of means is the mean of the
    differences in the resamples of the categories, which are drawn apart.

    Parameters: first and second, the runs, of the same images; options of the metric that they were run with.
    Returns {"key", "first", "second", "difference", "low", "high", "p_value": […], "groups": a table of the groups with
    <key>, <key>_low, <key>_high and <key>_p_value}; without a confidence_level, as `differences`.
    """
    table = differences(first.results, second.results)
    settings = AnomalySuite(**options).loaded_options
    if settings["confidence_level"] is None:
        return table
    level = as_confidence_level(settings["confidence_level"])
    number, seed = as_resamples(settings["n_resamples"]), as_int(settings["random_state"], "random_state", 0)
    found: Replicates = {}
    per_category = zip(*(groupby(run.listed.pairs, key=lambda pair: pair[0].category) for run in (first, second)))
    for (category, own), (_, theirs) in per_category:
        models = [_model(run, list(pairs), options) for run, pairs in ((first, own), (second, theirs))]
        # of a stream of its own: equal draws in all categories would not be draws of their mean
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(category.encode())))
        values, units = zip(*models)
        found |= {key: x for key, x in paired_differences(values, units, number, rng).items() if isinstance(key, tuple)}
    return _with_ends(table, found, level)


def _model(run: AnomalyRun, pairs: Sequence[Pair], options: dict[str, Any]) -> tuple[dict[Key, float], Units]:
    """The rates of a model in a category, by group, and what is resampled of them."""
    listed, resize = run.listed, run.results["evaluation"]["resize"]
    metric = AnomalySuite(**{**options, "per_image": False})
    names = groups_of(listed, pairs)
    by_defect = names != [pairs[0][0].category]
    read = map_reader(listed, resize, metric.loaded_options["ignore_value"])
    for batch, contents in batches_of(pairs, read_ahead(read, pairs)):
        scored = scored_images(batch, contents, metric.loaded_options["image_reduction"])
        groups: list[str | None] = [*names] * len(batch)
        if by_defect:  # normal images are in all groups
            groups = [f"{each.category}/{each.defect}" if each.anomalous else None for each, _ in batch]
        add_images(metric, contents, scored, groups)
    results, units = metric.results_and_units()
    return flat_rates(results), units


def _with_ends(table: Results, found: Replicates, level: float) -> Results:
    """Differences with their intervals and p-values, from those in resamples by (group, key)."""
    ends = {key: (*percentiles(values, level), p_value(values)) for key, values in with_means(found).items()}
    groups: Results = {"group": table["groups"]["group"]}
    for key in table["key"]:
        groups[key] = table["groups"][key]
        if key in ends:
            columns = zip(*(ends[name, key] for name in groups["group"]))
            groups |= {f"{key}_{end}": list(column) for end, column in zip(ENDS, columns)}
    means = zip(*(ends.get(key, (None, None, None)) for key in table["key"]))
    return {**table, **{end: list(column) for end, column in zip(ENDS, means)}, "groups": groups}
