"""Computations of folders of anomaly maps, of detections, and of OOD sets, with their results as files keep them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite, check_levels
from ..arrays.checks import plain_value
from ..detection.boxes import DetectionState
from ..detection.coco import COCO_LIMIT, coco_averages, coco_averages_of_state
from ..detection.openset_detection import OpenSetDetection
from ..metric.groups import ALL
from ..metric.results import Key, Rate, Results, Summary, kind_of
from ..metric.rounding import number_text
from ..metric.signature import signed
from ..reading.boxes.dataset import Detections, with_names_in_tables
from ..reading.boxes.reading import BoxReading
from ..reading.cures import Advice, Cure
from ..reading.maps.files import Pair
from ..reading.maps.layouts import PLAIN
from ..reading.maps.listing import AnomalyImage
from ..reading.maps.reading import MapReading
from ..reading.reading import Category, Census
from ..reading.sets import Sets
from ..written.results import KINDS, census_record
from .answer import Group
from .computing import Computation, compute_models, options_of
from .subject import Computed, subject_of

CHOICES = ("resize", "void_where_invalid", "mask_threshold", "sample_pattern")  # of the reader of maps
ENDS = ("low", "high", "p_value", "better")


def compute_maps(
    reading: MapReading,
    options: Mapping[str, Any],
    *,
    intervals: bool | None = False,
    shown: Callable[[Computed], Group] | None = None,
    progress: bool = False,
) -> Folders:
    """Compute anomaly_suite of the maps of a reading in which each category is a group.

    Parameters: options of the metric, each a value, or a dict of values by category; of a plain folder, whose name says
    nothing, a dict of one value is that value; intervals, shown and progress, as of `compute_models`. Raises the errors
    of `evaluate_anomaly_folder`.
    """
    if reading.first.data.layout is PLAIN:
        options = with_only_values(options)
    first, *_ = (AnomalySuite(**options_of(options, category)) for category in reading.category_names)
    settings = {**first.loaded_options, **{name: dict(x) for name, x in options.items() if isinstance(x, Mapping)}}
    folders = Folders(reading, settings)
    void = {name: reading.options[name] for name in ("ignore_value",) if name in reading.options}
    subject, with_void = subject_of(AnomalySuite.name), {**settings, **void}
    folders.done = compute_models(
        subject,
        reading,
        with_void,
        intervals=intervals,
        shown=shown,
        beside=folders.counted,
        bounded=False,
        progress=progress,
    )
    return folders


@dataclass
class Folders:
    """Computed folders of maps, one for each model.

    settings: the options of the metric; done: their computation, in which a group has its numbers of images, too
    tables: with `per_image`, by model and group, the table of the images, in the order of reading, and their files
    """

    reading: MapReading
    settings: Mapping[str, Any]
    done: Computation = field(init=False)
    tables: dict[str, dict[str, tuple[Results, list[Pair]]]] = field(default_factory=dict)

    def counted(self, category: Category, model: str, group: str, results: Results) -> Results:
        """The results of a group with the numbers of its images, without their table, which is kept."""
        pairs, rows = self.reading.listed[model].by_category[category.name], category.rows
        at = [*rows.get(group, ()), *rows.get(ALL, ())] if rows else range(len(pairs))
        numbers = {"images": len(at), "anomalous_images": sum(self.reading.is_anomalous(pairs[i][0]) for i in at)}
        others = {key: result for key, result in results.items() if key != "per_image"}
        if "per_image" in results:
            table = {**results["per_image"], "image": [pairs[i][0].name for i in at]}
            order = sorted(range(len(at)), key=lambda place: at[place])
            ordered = {key: [column[place] for place in order] for key, column in table.items()}
            self.tables.setdefault(model, {})[group] = ordered, [pairs[at[place]] for place in order]
        return {**numbers, **others}

    @cached_property
    def suite(self) -> AnomalySuite:
        """The metric with the options of the first category."""
        return AnomalySuite(**options_of(self.settings, self.reading.category_names[0]))

    def results(self, model: str, summary: Summary) -> Results:
        """The results of a model and a record of the evaluation, from its summary, with or without intervals."""
        listed = self.reading.listed[model]
        options = {name: plain_value(value) for name, value in self.settings.items()}
        plain = {name: [*value] if isinstance(value, tuple) else value for name, value in options.items()}
        named = summary._replace(**signed(self.suite, {**self.settings, **self.reading.settings}))
        census = listed.census if listed.leaves_out else Census()
        evaluation = {**self.reading.record(model), "options": plain}
        return {**named.as_dict(), **named.record(), "evaluation": evaluation, **census_record(census)}

    def table(self, model: str) -> Results:
        """A table with a row for each image of each group: a normal image is judged in all groups of its category."""
        rows: Results = {"group": []}
        for group, (table, pairs) in self.tables.get(model, {}).items():
            rows["group"] += [group] * len(pairs)
            for key, column in table.items():
                rows.setdefault(key, []).extend(column)
        return rows

    def files(self, model: str) -> list[tuple[AnomalyImage, Path]]:
        """The image and the map of each row of the `table` of a model."""
        return [pair for _, pairs in self.tables.get(model, {}).values() for pair in pairs]

    def compared(self, first: Results, second: Results, *, drawn: bool = True) -> Results:
        """The `differences` of the results of the two models and, if they were compared and `drawn`, their intervals.

        Returns {"key", "first", "second", "difference", "low", "high", "p_value", "better": […], "groups": a table of
        the groups with <key>, <key>_low, <key>_high, <key>_p_value and <key>_better}.
        """
        table = differences(first, second)
        if not drawn or not self.done.comparisons:
            return table
        rows, none = self.done.compared(*self.done.models).rows(), dict.fromkeys(ENDS)

        def ends(keys: Sequence[Key], end: str) -> list[Any]:
            return [rows.get(key, none)[end] for key in keys]

        groups: Results = {"group": table["groups"]["group"]}
        for key in table["key"]:
            groups[key], places = table["groups"][key], [(name, key) for name in groups["group"]]
            if rows.keys() & {*places}:
                groups |= {f"{key}_{end}": ends(places, end) for end in ENDS}
        return {**table, **{end: ends(table["key"], end) for end in ENDS}, "groups": groups}


def differences(first: Results, second: Results) -> Results:
    """Differences of two models, in each rate and by group: the first minus the second.

    Parameters: first and second, results as of `Folders.results`, of the same groups.
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


def with_only_values(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options where a mapping of a single category is replaced by its value, whatever the category.

    >>> with_only_values({"pixel_threshold": {"maps": 0.3}})
    {'pixel_threshold': 0.3}
    """
    return {
        name: next(iter(value.values())) if isinstance(value, Mapping) and len(value) == 1 else value
        for name, value in options.items()
    }


def needs_masks(options: Mapping[str, Any]) -> bool:
    """Whether pixels are judged, in any category.

    >>> needs_masks({}), needs_masks({"levels": "image"}), needs_masks({"levels": {"can": "image", "vial": ["pixel"]}})
    (True, False, True)
    """
    levels = options.get("levels", AnomalySuite.levels)
    return any("pixel" in check_levels(each) for each in (levels.values() if isinstance(levels, Mapping) else [levels]))


def compute_detections(reading: BoxReading, options: Mapping[str, Any], **how: Any) -> Detectors:
    """Compute the open-set metrics of the detectors of a reading.

    Parameters: a reading; options of the metric, as of `class_options`; how, as of `compute_models`. Raises TypeError
    and ValueError as the metric does.
    """
    subject = subject_of("openset_detection")
    settings = subject.metric(**options).loaded_options
    reading.check(options)
    done = compute_models(subject, reading, settings, keeps_samples=True, bounded=False, **how)
    return Detectors({name: one.summary for name, one in done.models.items()}, done, settings)


class Detectors(dict[str, Summary]):
    """The summaries of detectors by name, without results that none of them can have; `done` is their computation."""

    def __init__(self, summaries: Mapping[str, Summary], done: Computation, settings: Mapping[str, Any]) -> None:
        super().__init__(summaries)
        self.done, self.settings = done, settings

    @property
    def states(self) -> dict[str, Any]:
        """The state of the boxes of each detector, by name."""
        return {name: one.state for name, one in self.done.models.items()}

    def compared(self) -> dict[str, list[Any]]:
        """The table of `compare`, of the results that the two detectors have."""
        return self.done.compared(*self).table()


def detection_results(
    summary: Summary,
    detections: Detections,
    state: DetectionState,
    options: Mapping[str, Any],
    *,
    standard: bool = True,
    max_detections: int | None = None,
) -> Results:
    """The results of `evaluate_detections`, from a summary of openset_detection and the state of its boxes."""
    results = {
        "openset_metrics": with_names_in_tables(summary.as_dict(), detections.dataset, options),
        **summary.record(),
    }
    if not standard:
        return results
    limits: dict[str, Any] = {"conf_threshold": _lowest(options), "max_detections": max_detections}
    closed = coco_averages_of_state(state, options["known_classes"], **limits)
    kinds = {key: kind_of(Rate(value, True)) for key, value in closed.items() if isinstance(value, float)}
    return {"standard_metrics": closed, **results, KINDS: {**kinds, **results[KINDS]}}


def _lowest(options: Mapping[str, Any]) -> float:
    """The confidence below which a box of a known class is left out, or called unknown, which is left out."""
    return max(options.get("conf_threshold", 0.0), options.get("unknown_below") or 0.0)


def standard_metrics(
    detections: Detections,
    known_classes: Sequence[int],
    *,
    conf_threshold: float = OpenSetDetection.conf_threshold,
    max_detections: int | None = None,
) -> dict[str, float]:
    """The averages of `coco_averages` for detections, as a reader gives them."""
    limits: dict[str, Any] = {"conf_threshold": conf_threshold, "max_detections": max_detections}
    return coco_averages(detections.predictions, detections.dataset.references, known_classes, **limits)


def limit_note(results: Results, detections: Detections, known_classes: Sequence[int], **options: Any) -> str:
    """A sentence where COCO's limit would change the standard metrics, computed without one; "" where it would not.

    Parameters: results of `evaluate_detections`, and its other arguments.
    """
    many = [boxes["labels"] for boxes in detections.predictions if len(boxes["labels"]) > COCO_LIMIT]
    if all(np.unique(labels, return_counts=True)[1].max() <= COCO_LIMIT for labels in many):
        return ""
    limits: dict[str, Any] = {"conf_threshold": _lowest(options), "max_detections": COCO_LIMIT}
    limited = standard_metrics(detections, known_classes, **limits)
    texts = {
        name: [number_text(values[name], 6) for values in (results["standard_metrics"], limited)] for name in limited
    }
    changed = [f"{name} {theirs} instead of {ours}" for name, (ours, theirs) in texts.items() if ours != theirs]
    limit = f"COCO counts {COCO_LIMIT} predictions of a class in an image, which gives {', '.join(changed)}"
    return Advice(limit, Cure("to count so", {"max_detections": COCO_LIMIT})) if changed else ""


def compute_sets(reading: Sets, options: Mapping[str, Any], **how: Any) -> Computation:
    """Compute ood_bench of OOD sets, as of `compute_models`."""
    return compute_models(subject_of("ood_bench"), reading, options, bounded=False, **how)


def with_accuracy(done: Computation, reading: Sets) -> Summary:
    """The summary of OOD sets, with the accuracy of the known samples, if they have classes."""
    (one,) = done.models.values()
    summary = one.summary
    if reading.accuracy is None:
        return summary
    known_right = {"closed_set_accuracy": Rate(reading.accuracy, True)}  # independent of the set, and so no mean
    groups = {name: {**row, **known_right} for name, row in (summary.groups or {}).items()}
    return summary._replace(results={**summary.results, **known_right}, groups=groups)
