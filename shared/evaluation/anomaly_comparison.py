"""Compare two models' anomaly maps of the same images: differences with intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite
from ..comparison import Comparison, compared, differences_of_parts
from ..metric.bootstrap import ByGroup, Part
from ..reading.maps.maps import map_reader, pattern_of, reading_options
from .anomaly_batches import read_category
from .anomaly_run import AnomalyRun
from .category_options import options_of, with_only_values, with_void
from .differences import differences

ENDS = ("low", "high", "p_value", "better")


def compared_runs(first: AnomalyRun, second: AnomalyRun, **options: Any) -> dict[str, Any]:
    """The `differences` of two models; with a confidence_level, also the interval and p-value of each.

    A paired bootstrap, as in `compare`: images are drawn within their category, identically for both models. Each
    category is read again and resampled separately, so only one is in memory.

    Parameters: first and second, the runs, of the same images; options of the metric that they were run with.
    Returns {"key", "first", "second", "difference", "low", "high", "p_value", "better": […], "groups": a table of the
    groups with <key>, <key>_low, <key>_high, <key>_p_value and <key>_better}; without a confidence_level, as
    `differences`.
    """
    table = differences(first.results, second.results)
    options = {**options, "per_image": False}
    if first.listed.data.layout is None:
        options = with_only_values(options)
    metric = AnomalySuite(**options_of(options, first.listed.pairs[0][0].category))
    level = metric.confidence_level
    if level is None:
        return table
    record = first.results["evaluation"]
    samples = pattern_of(first.listed, record["sample_pattern"])
    judged = with_void(options, record["void_where_invalid"])
    readers = [map_reader(run.listed, **reading_options(record)) for run in (first, second)]

    def parts() -> Iterator[tuple[Part, Part, ByGroup]]:
        for (category, own), theirs in zip(first.listed.by_category.items(), second.listed.by_category.values()):
            models = [
                read_category(run.listed, pairs, read, judged, samples=samples)[0]
                for run, pairs, read in zip((first, second), (own, theirs), readers)
            ]
            prepared = [model.prepared(category) for model in models]
            yield from differences_of_parts(*prepared, n_resamples=metric.n_resamples, random_state=metric.random_state)

    return _with_ends(table, compared(parts(), level, skipping=metric.groups_without == "skip"))


def _with_ends(table: dict[str, Any], comparison: Comparison) -> dict[str, Any]:
    """Differences with their intervals, p-values and verdicts."""
    compared_keys = comparison.rows()
    none = dict.fromkeys(ENDS)
    groups: dict[str, Any] = {"group": table["groups"]["group"]}
    for key in table["key"]:
        groups[key] = table["groups"][key]
        rows = [compared_keys.get((name, key)) for name in groups["group"]]
        if any(rows):
            groups |= {f"{key}_{end}": [(row or none)[end] for row in rows] for end in ENDS}
    means = [compared_keys.get(key, none) for key in table["key"]]
    return {**table, **{end: [row[end] for row in means] for end in ENDS}, "groups": groups}
