"""Evaluate folders of anomaly maps against a data set on disk, category by category."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite, check_levels
from ..answers.answer import Group
from ..answers.computing import Computation, compute_models, options_of
from ..answers.subject import Computed, subject_of
from ..arrays.checks import plain_value
from ..metric.groups import ALL
from ..metric.results import Key, Results, Summary
from ..metric.signature import signed
from ..reading.maps.listing import AnomalyImage
from ..reading.maps.maps import MapReading, Pair, reading_of
from ..reading.maps.pairing import MAPS, list_models
from ..reading.reading import Category, Census, Place
from ..written.results import census_record

CHOICES = ("resize", "void_where_invalid", "mask_threshold", "sample_pattern")  # of the reader
_CLUSTERS = ("clusters", "clusters_from_name")
ENDS = ("low", "high", "p_value", "better")


def evaluate_anomaly_folder(
    maps: Place | Sequence[Place],
    data: Place | Sequence[Place],
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    leave_out: bool = False,
    progress: bool = False,
    **options: Any,
) -> dict[str, Any]:
    """Compute the metric anomaly_suite from files, category by category; the mean of the categories stands first.

    Parameters: maps, a folder or an archive (.zip) of a model's anomaly maps; data, of a data set, or of masks alone;
    layout, one of NAMES of `reading.maps.layouts`, detected by default; categories, by default all; resize, "nearest"
    or "bilinear", for maps that differ in size from their masks, otherwise an error; sample_pattern, a regular
    expression with the id of a sample, such as a product, as its first group in the names of images, by default the
    layout's own, which Real-IAD has; void_where_invalid, whether pixels without a point in the clouds of MVTec 3D-AD
    are void; mask_threshold, the number above which values of masks are anomalous; leave_out, whether files without a
    partner, or with other problems of names, are left out; clusters and clusters_from_name, what images depend on, as
    of `read_maps`, each within a category; progress, whether to show a bar on a
    terminal; options of the metric, such as integration_limits or image_reduction, each a value, or a dict of values by
    category, such as the thresholds that `openworld-metrics threshold` fits.

    An image is anomalous if its folder says so, even if its mask is empty; in a plain folder, if its mask has an
    anomalous pixel. A mask holds 0 and one other value, which is anomalous, unless a `mask_threshold` cuts it, or
    regions="labels" makes values numbers of regions; pixels of the `ignore_value` are void. If a layout separates kinds
    of defects (MVTec LOCO), each kind is a group with the normal images of its category; if it has saturation areas (in
    its defects_config.json), results include the areas of sPRO.

    Returns each rate's unweighted mean over the groups; "groups", a table of them; "evaluation", a record of folders,
    layout, options, numbers of files and versions; with per_image=True, "per_image", the table of all images. Raises
    ValueError with the name of the file for the first error, TypeError for unknown options.
    """
    which: dict[str, Any] = {"layout": layout, "categories": categories, "leave_out": leave_out}
    models = list_models({MAPS: maps}, data, needs_masks=needs_masks(options), **which)
    choices = {name: options.pop(name) for name in (*CHOICES, *_CLUSTERS) if name in options}
    choices |= {name: options[name] for name in ("ignore_value", "regions") if name in options}
    folders = compute_maps(reading_of(models, groups=True, **choices), options, progress=progress)
    results = folders.results(MAPS, folders.done.models[MAPS].summary)
    return {**results, "per_image": folders.table(MAPS)} if folders.tables else results


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
    if reading.first.data.layout is None:
        options = with_only_values(options)
    first, *_ = (AnomalySuite(**options_of(options, category)) for category in reading.category_names)
    settings = {**first.loaded_options, **{name: dict(x) for name, x in options.items() if isinstance(x, Mapping)}}
    folders = Folders(reading, settings)
    void = {name: reading.options[name] for name in ("ignore_value",) if name in reading.options}
    subject, own = subject_of(AnomalySuite.name), {**settings, **void}
    folders.done = compute_models(
        subject,
        reading,
        own,
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
