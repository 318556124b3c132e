"""Automatic intervals of anomaly maps, if they are quick, which is decided before the files are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite
from ..metric.bootstrap import as_resamples
from ..metric.results import Results
from ..reading.maps.maps import Pair, groups_of
from ..reading.maps.pairing import AnomalyMaps
from ..reading.maps.planes import read_map
from ..reading.places import image_size
from .anomaly_run import AnomalyRun

LEVEL, RESAMPLES = 0.95, 200
_PIXELS = 4_000_000  # which are all in memory, image by image
# a resample of a group takes as long as its images, a histogram each, and 28 more: 40,000 take about a second
_OF_A_GROUP = 28
_SHOWN, _REPORTED = 1 << 16, 1 << 19


def quick_options(
    models: Sequence[AnomalyMaps], options: Mapping[str, Any], *, reported: bool = False
) -> dict[str, Any]:
    """The options that give all rates intervals, if these take about a second; else, or if they are requested, none.

    Parameters: models, one or two to compare, which are resampled together; options of the metric; reported, whether
    the intervals are for a report, which may take longer.
    """
    if options.get("confidence_level") is not None:
        return {}
    number = as_resamples(options.get("n_resamples", RESAMPLES))
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
