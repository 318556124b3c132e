"""Differences of two models' anomaly maps of the same images, and intervals that are added where they are quick."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite
from ..arrays.checks import as_int
from ..comparison import Comparison, Differences, compared, differences_of_parts
from ..metric.bootstrap import MAX_RESAMPLES
from ..metric.results import Results
from ..reading.maps.maps import Pair, groups_of, map_reader, pattern_of, reading_options
from ..reading.maps.pairing import AnomalyMaps
from ..reading.maps.planes import read_map
from ..reading.places import image_size
from .anomaly import AnomalyRun, options_of, read_category, with_only_values, with_void

ENDS = ("low", "high", "p_value", "better")
LEVEL, RESAMPLES = 0.95, 200
_PIXELS = 4_000_000  # which are all in memory, image by image
# a resample of a group takes as long as its images, a histogram each, and 28 more: 40,000 take about a second
_OF_A_GROUP = 28
_SHOWN, _REPORTED = 1 << 16, 1 << 19


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Results:
    """Differences of two models, in each rate and by group: the first minus the second.

    Parameters: first and second, as `grouped_results` returns them, of the same groups.
    Returns {"key": [rates], "first": […], "second": […], "difference": […], "groups": {"group": […], rate: […]}}, with
    None for a group that lacks a rate.
    """
    ends = {f"{key}_{end}" for key in first for end in ("low", "high")}
    rates = [key for key, value in first.items() if type(value) is float and type(second.get(key)) is float]
    keys = [key for key in rates if key not in ends]

    def subtracted(key: str) -> list[float | None]:
        pairs = zip(first["groups"][key], second["groups"][key])
        return [None if one is None or other is None else one - other for one, other in pairs]

    return {
        "key": keys,
        "first": [first[key] for key in keys],
        "second": [second[key] for key in keys],
        "difference": [first[key] - second[key] for key in keys],
        "groups": {"group": first["groups"]["group"], **{key: subtracted(key) for key in keys}},
    }


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

    def parts() -> Iterator[Differences]:
        for (category, own), theirs in zip(first.listed.by_category.items(), second.listed.by_category.values()):
            models = [
                read_category(run.listed, pairs, read, judged, samples=samples)[0]
                for run, pairs, read in zip((first, second), (own, theirs), readers)
            ]
            prepared = [model.prepared_parts(category) for model in models]
            yield from differences_of_parts(*prepared, n_resamples=metric.n_resamples, random_state=metric.random_state)

    return _with_ends(table, compared(parts(), level, **metric.means))


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


def quick_options(
    models: Sequence[AnomalyMaps], options: Mapping[str, Any], *, reported: bool = False
) -> dict[str, Any]:
    """The options that give all rates intervals, if these take about a second; else, or if they are requested, none.

    Parameters: models, one or two to compare, which are resampled together; options of the metric; reported, whether
    the intervals are for a report, which may take longer.
    """
    if options.get("confidence_level") is not None:
        return {}
    number = as_int(options.get("n_resamples", RESAMPLES), "n_resamples", 1, MAX_RESAMPLES)
    pairs = models[0].pairs
    groups = sum(len(groups_of(models[0], each)) for each in models[0].by_category.values())
    if number * len(models) * (len(pairs) + _OF_A_GROUP * groups) > (_REPORTED if reported else _SHOWN):
        return {}
    return {"confidence_level": LEVEL, "n_resamples": number} if len(pairs) * _pixels(pairs[0]) <= _PIXELS else {}


def _pixels(pair: Pair) -> int:
    """The number of pixels of an image: of its mask, of the image itself, or of its map."""
    image, path = pair
    for file in (*image.masks[:1], *filter(None, [image.image])):
        with suppress(OSError, ValueError):  # which is said where all files are read
            width, height = image_size(file)
            return width * height
    with suppress(OSError, ValueError):
        return read_map(path).size
    return 0


def without_intervals(run: AnomalyRun, options: Mapping[str, Any]) -> Results:
    """The results of a run without its automatic intervals, as the user's own options give them."""
    results, record = run.results, run.results["evaluation"]
    ends = {f"{key}_{end}" for key in results for end in ("low", "high")}
    drawn = ("confidence_level", "n_resamples")
    chosen = {name: options.get(name, AnomalySuite.options[name]) for name in drawn}
    return {
        **{key: value for key, value in results.items() if key not in ends},
        "groups": {key: column for key, column in results["groups"].items() if key not in ends},
        "options": {name: value for name, value in results["options"].items() if name not in drawn},
        "evaluation": {**record, "options": {**record["options"], **chosen}},
    }
