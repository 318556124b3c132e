"""The numbers of a report of anomaly maps, with intervals if these are quick."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite
from ..anomaly.aupro import by_limit
from ..arrays.checks import as_fractions
from ..comparison import compare
from ..metric.results import Results
from ..written.results import KINDS
from .anomaly import READING, AnomalyRun, evaluate_maps
from .differences import LEVEL, RESAMPLES, compared_runs, quick_options

_FIRST = ("sample_auroc", "image_auroc", "pixel_auroc", "pixel_ap", "image_ap", "image_f1_max", "pixel_f1_max")
_OF_IMAGES = "of rates of images: "
ENDS = ("_low", "_high", "_error")


class Numbers(NamedTuple):
    """The results of a model, of another model if there is one, and their comparison, with intervals if quick.

    intervals: a description of how they were computed
    """

    results: Results
    other: Results | None
    comparison: Mapping[str, Any] | None
    intervals: str = "none"

    @property
    def keys(self) -> list[str]:
        """The keys of rates, most important first."""
        options = self.results["evaluation"]["options"]
        limits = as_fractions(options["integration_limits"], "integration_limits")
        reaches = by_limit("aupro", limits, limits)
        first = [max(reaches, key=lambda name: reaches[name]), *_FIRST]
        rates = [key for key, value in self.results.items() if type(value) is float and not key.endswith(ENDS)]
        return [key for key in first if key in rates] + [key for key in rates if key not in first]

    @property
    def of_images_only(self) -> bool:
        """Whether only the rates of images have intervals."""
        return self.intervals.startswith(_OF_IMAGES)

    def higher(self, key: str) -> bool | None:
        """Whether higher is better."""
        known: bool | None = self.results.get(KINDS, {}).get(key, {}).get("higher")
        return known


def report_numbers(run: AnomalyRun, other: AnomalyRun | None, comparison: Mapping[str, Any] | None) -> Numbers:
    """The numbers of one or two runs, with intervals.

    Without a confidence_level, intervals use 200 resamples: for small data of all rates, otherwise of the rates of
    images, for which no file is read.
    """
    options = {**run.results["evaluation"]["options"], "per_image": False}
    if options["confidence_level"] is None:
        quick = quick_options([one.listed for one in (run, other) if one is not None], {}, reported=True)
        if not quick:
            return with_image_intervals(run, other)
        options |= quick
        record = run.results["evaluation"]
        reading = {name: record[name] for name in READING}
        run, comparison = evaluate_maps(run.listed, **reading, **options), None
    if other is not None and comparison is None:
        comparison = compared_runs(run, other, **options)
    return numbers_of_runs(run, other, comparison, options)


def numbers_of_runs(
    run: AnomalyRun, other: AnomalyRun | None, comparison: Mapping[str, Any] | None, options: Mapping[str, Any]
) -> Numbers:
    """The numbers as they are, with the intervals that the options of the runs or of the comparison gave them."""
    options = {**AnomalySuite.options, **options}
    words = "none" if options["confidence_level"] is None else _words(options)
    return Numbers(run.results, None if other is None else other.results, comparison, words)


def _words(options: Mapping[str, Any], of: str = "") -> str:
    level, number = options["confidence_level"], options["n_resamples"]
    return f"{of}{100 * level:g} %, {number:,} resamples of the images, seed {options['random_state']}"


def with_image_intervals(run: AnomalyRun, other: AnomalyRun | None, n_resamples: int = RESAMPLES) -> Numbers:
    """The numbers with intervals of image rates; each image's score is passed as a map of one pixel."""
    theirs = None if other is None else other.results
    if any("/" in group for group in run.groups) or "image_auroc" not in run.results:
        return Numbers(run.results, theirs, None)
    chosen = {name: run.results["evaluation"]["options"][name] for name in ("random_state", "groups_without")}
    metric = AnomalySuite(levels="image", confidence_level=LEVEL, n_resamples=n_resamples, **chosen)
    words = _words(metric.loaded_options, _OF_IMAGES)
    # sorted by name, so that the order is equal for two models
    models = [
        sorted(each.images, key=lambda image: (image.image.category, image.image.name))
        for each in filter(None, (run, other))
    ]
    maps = [np.asarray([image.score for image in images])[:, None, None] for images in models]
    shared: dict[str, Any] = {
        "references": np.zeros(maps[0].shape, bool),
        "image_labels": np.asarray([image.anomalous for image in models[0]]),
        **({"groups": [image.image.category for image in models[0]]} if len(run.groups) > 1 else {}),
    }
    summary = metric.compute(predictions=maps[0], **shared)
    results = {**run.results, **{key: value for key, value in summary.items() if key.endswith(("_low", "_high"))}}
    if other is None:
        return Numbers(results, None, None, words)
    table = compare(metric, *maps, n_resamples=n_resamples, random_state=chosen["random_state"], **shared)
    rows = [i for i, group in enumerate(table.get("group", [None] * len(table["key"]))) if group is None]
    means = {name: [column[i] for i in rows] for name, column in table.items() if name != "group"}
    return Numbers(results, theirs, means, words)
