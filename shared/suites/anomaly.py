"""Evaluate a folder of anomaly maps against a data set on disk, category by category."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from re import Pattern
from typing import Any, NamedTuple

import numpy as np

from ..anomaly.anomaly_suite import AnomalySuite, check_levels, check_reduction
from ..anomaly.aupro import pro_curve
from ..anomaly.masks import reduced_maps
from ..anomaly.rates import level_sides
from ..arrays.arrays import State
from ..arrays.checks import as_fractions, plain_value
from ..metric.bootstrap import ByGroup, assembled
from ..metric.groups import ALL, as_parts
from ..metric.results import Results
from ..metric.signature import signed
from ..metric.states import joined
from ..ranking.roc import roc_curve
from ..reading.maps.listing import AnomalyImage
from ..reading.maps.maps import MapAndMask, Pair, groups_of, map_reader, pattern_of, read_ahead, sample_ids
from ..reading.maps.masks import VOID
from ..reading.maps.pairing import AnomalyMaps, check_names, list_anomaly_maps
from ..reading.progress import progress_bar
from ..reading.reading import Census, Place
from ..reading.reasons import named
from ..written.results import census_record

MAX_POINTS = 400  # of a curve
# the options of files, in the order of the record
READING = {"resize": None, "void_where_invalid": False, "mask_threshold": None, "sample_pattern": None}
_VERSIONS = ("openworld-metrics", "numpy", "scipy")
_BATCH = 64  # images
_BATCH_PIXELS = 1 << 22
Points = list[tuple[float, float]]
Reader = Callable[[Pair], MapAndMask]


class ScoredImage(NamedTuple):
    """A test image: its files, its map, whether it is anomalous, its score, and whether its mask has a pixel."""

    image: AnomalyImage
    map_file: Path
    anomalous: bool
    score: float
    marked: bool

    @property
    def lacks_pixels(self) -> bool:
        """Whether it is anomalous by its folder, but has a mask without an anomalous pixel."""
        return self.anomalous and bool(self.image.masks) and not self.marked


class AnomalyRun(NamedTuple):
    """The results of a model's maps.

    listed: the files
    results: the metrics, and a record of the evaluation
    images: each test image with its score
    curves: by group, with the option `curves`, "image_roc", "pixel_roc" and "pro" of the `levels`, over the FPR
    tables: with `per_image`, the `per_image_table` of each group, with the names of its images
    """

    listed: AnomalyMaps
    results: Results
    images: list[ScoredImage]
    curves: dict[str, dict[str, Points]]
    tables: dict[str, Results]

    @property
    def groups(self) -> list[str]:
        """The groups with images of their own, sorted, without means of other groups."""
        names = self.results["groups"]["group"]
        return [name for name in names if not any(other.startswith(f"{name}/") for other in names)]


def images_table(run: AnomalyRun) -> Results:
    """A table with a row for each image of each group: `run.tables`, with the name of the group first.

    A normal image is in all groups of its category, and is judged in each.
    """
    rows: Results = {"group": []}
    for group, table in run.tables.items():
        rows["group"] += [group] * len(table["image"])
        for key, column in table.items():
            rows.setdefault(key, []).extend(column)
    return rows


def images_of(run: AnomalyRun, group: str) -> list[ScoredImage]:
    """The images of a group with their scores: a normal image is in all groups of its category."""
    category = group.partition("/")[0]
    return [image for image in run.images if image.image.category == category and belongs_to(image, group)]


def belongs_to(scored: ScoredImage, group: str) -> bool:
    """Whether an image of a category is in one of its groups: a normal one is in all."""
    image = scored.image
    return not scored.anomalous or group in (image.category, f"{image.category}/{image.defect}")


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
    partner, or with other problems of names, are left out; progress, whether to show a bar on a
    terminal; options of the metric, such as integration_limits or image_reduction, each a value, or a dict of values by
    category, such as the thresholds that `openworld-metrics threshold` fits.

    An image is anomalous if its folder says so, even if its mask is empty; in a plain folder, if its mask has an
    anomalous pixel. A mask holds 0 and one other value, which is anomalous, unless a `mask_threshold` cuts it, or
    regions="labels" makes values numbers of regions; pixels of the `ignore_value` are void. If a layout separates kinds
    of defects (MVTec LOCO), each kind is a group with the normal images of its category; if it has saturation areas (in
    its defects_config.json), results include the areas of sPRO.

    Returns each rate's unweighted mean over the groups; "groups", a table of them; "evaluation", a record of folders,
    layout, options, numbers of files and versions; with per_image=True, "per_image", the `images_table`. Raises
    ValueError with the name of the file for the first error, TypeError for unknown options.
    """
    which: dict[str, Any] = {"layout": layout, "categories": categories, "leave_out": leave_out}
    listed = list_anomaly_maps(maps, data, needs_masks=needs_masks(options), **which)
    run = evaluate_maps(listed, progress=progress, **options)
    return {**run.results, "per_image": images_table(run)} if run.tables else run.results


def evaluate_maps(listed: AnomalyMaps, *, progress: bool = False, curves: bool = False, **options: Any) -> AnomalyRun:
    """Compute the metric anomaly_suite from listed files; see `evaluate_anomaly_folder`.

    Parameters: listed, as `list_anomaly_maps` returns it; curves, whether to keep the curves of each group.
    """
    check_names(listed)
    reading: dict[str, Any] = {name: options.pop(name, default) for name, default in READING.items()}
    samples = pattern_of(listed, reading.pop("sample_pattern"))
    if listed.data.layout is None:  # a plain folder, whose name says nothing
        options = with_only_values(options)
    for category in listed.by_category:
        options_of(options, category)  # each must have its own
    suite = AnomalySuite(**options_of(options, listed.pairs[0][0].category))
    of_categories = {name: dict(value) for name, value in options.items() if isinstance(value, Mapping)}
    settings = {**suite.loaded_options, **of_categories}
    read = map_reader(listed, ignore_value=settings["ignore_value"], regions=settings["regions"], **reading)
    judged = with_void(options, reading["void_where_invalid"])
    check_reduction(settings["image_reduction"])  # before the files are read
    check_levels(settings["levels"])
    as_fractions(settings["integration_limits"], "integration_limits")
    by_group: dict[str, Results] = {}
    replicates: ByGroup = {}
    images: list[ScoredImage] = []
    drawn: dict[str, dict[str, Points]] = {}
    tables: dict[str, dict[str, Any]] = {}
    with progress_bar(total=len(listed.pairs), unit=" images", shown=progress) as bar:
        for category, pairs in listed.by_category.items():
            # one category at a time, to free its pixels after its results
            metric, scored = read_category(listed, pairs, read, judged, bar.update, samples)
            images += scored
            results, drawn_counts = metric.results_by_group(category)
            if curves:
                states = _states_of(metric, category)
                of_groups = {group: _curves_of(states[group], row) for group, row in results.items()}
                drawn |= {group: own for group, own in of_groups.items() if own}
            replicates |= drawn_counts
            for group, row in results.items():
                members = _members_of(group, scored)
                counts = {"images": len(members), "anomalous_images": sum(image.anomalous for image in members)}
                by_group[group] = {**counts, **row}
                if "per_image" in row:
                    tables[group] = _in_reading_order(by_group[group].pop("per_image"), members, scored)
    record = _record(listed, settings, sum(image.lacks_pixels for image in images))
    record |= {**reading, "sample_pattern": samples and samples.pattern}
    census = listed.census if listed.leaves_out else Census()
    if listed.leaves_out:
        record["left_out"] = census.text()
    moved = {name: value for name, value in reading.items() if value}
    summary = assembled(suite, by_group, replicates)._replace(**signed(suite, {**settings, **moved}))
    results = {**summary.as_dict(), **summary.record(), "evaluation": record, **census_record(census)}
    return AnomalyRun(listed, results, images, drawn, tables)


def _in_reading_order(
    table: Mapping[str, list[Any]], members: Sequence[ScoredImage], scored: Sequence[ScoredImage]
) -> dict[str, list[Any]]:
    """The table of a group's images, with their names, in the order of reading."""
    position = {image.map_file: i for i, image in enumerate(scored)}
    order = sorted(range(len(members)), key=lambda i: position[members[i].map_file])
    columns = {**table, "image": [image.image.name for image in members]}
    return {key: [column[i] for i in order] for key, column in columns.items()}


def _states_of(metric: AnomalySuite, category: str) -> dict[str, State]:
    """The state of each group of a category, including the images that all its groups share."""
    parts = as_parts({name: array for name, array in metric.state().items() if name != "metric"})
    shared = parts.pop(ALL, {})
    return {group: joined([own, shared]) for group, own in parts.items()} or {category: shared}


def _record(listed: AnomalyMaps, settings: dict[str, Any], empty: int) -> dict[str, Any]:
    """A record of the evaluation for JSON: folders, layout, options, numbers of files, versions."""
    files = {
        "images": sum(image.image is not None for image, _ in listed.pairs),
        "maps": len(listed.pairs),
        "masks": sum(len(image.masks) for image, _ in listed.pairs),
        "empty_masks_of_anomalous_images": empty,
    }
    options = {name: plain_value(value) for name, value in settings.items()}
    return {
        "maps": str(listed.folder),
        "data": str(listed.data_folder),
        "layout": listed.data.layout_name,
        "categories": sorted(listed.by_category),
        "options": {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()},
        "files": files,
        "versions": {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}},
    }


def read_category(
    listed: AnomalyMaps,
    pairs: Sequence[Pair],
    read: Reader,
    options: Mapping[str, Any],
    progress: Callable[[int], object] = lambda images: None,
    samples: Pattern[str] | None = None,
) -> tuple[AnomalySuite, list[ScoredImage]]:
    """A metric with the images of a category, grouped if its defects are judged separately, and the image scores.

    Normal images belong to all groups of their category. Options may differ by category (see `options_of`);
    `samples` finds the samples that images show (see `sample_ids`).
    """
    category = pairs[0][0].category
    metric = AnomalySuite(**options_of(options, category))
    by_defect = groups_of(listed, pairs) != [category]
    images: list[ScoredImage] = []
    for batch, contents in _batches_of(pairs, read_ahead(read, pairs)):
        scored = [_scored(pair, content, metric.image_reduction) for pair, content in zip(batch, contents)]
        names = [f"{each.category}/{each.defect}" if each.anomalous else None for each, _ in batch]
        metric.add_batch(
            predictions=[content.score_map for content in contents],
            references=[content.masks.reference(metric.ignore_value) for content in contents],
            image_scores=np.asarray([image.score for image in scored], dtype=np.float64),
            image_labels=np.asarray([image.anomalous for image in scored], dtype=bool),
            groups=names if by_defect else None,
            samples=None if samples is None else sample_ids(batch, samples),
        )
        images += scored
        progress(len(batch))
    return metric, images


def _scored(pair: Pair, content: MapAndMask, image_reduction: str | int) -> ScoredImage:
    """An image with its score, and whether it is anomalous: by its folder, else by its mask."""
    (image, path), (score_map, masks) = pair, content
    pixels = score_map if masks.void is None else score_map[~masks.void]
    with named(path):
        score = float(reduced_maps([pixels], image_reduction)[0])
    marked = bool(masks.mask.any())
    return ScoredImage(image, path, marked if image.anomalous is None else image.anomalous, score, marked)


def _members_of(group: str, scored: Sequence[ScoredImage]) -> list[ScoredImage]:
    """The images of a group in the order of its state: its anomalous images, then the shared normal images."""
    own = [image for image in scored if belongs_to(image, group)]
    return own if "/" not in group else sorted(own, key=lambda image: not image.image.anomalous)


def _batches_of(
    pairs: Sequence[Pair], contents: Iterator[MapAndMask]
) -> Iterator[tuple[Sequence[Pair], list[MapAndMask]]]:
    """Images with their maps and masks, a few at a time."""
    start, held, pixels = 0, [], 0
    for end, content in enumerate(contents, 1):
        held.append(content)
        pixels += content.score_map.size
        if len(held) == _BATCH or pixels >= _BATCH_PIXELS or end == len(pairs):
            yield pairs[start:end], held
            start, held, pixels = end, [], 0


def _curves_of(state: State, results: Results) -> dict[str, Points]:
    """The curves of a state of anomaly_suite at the levels that results have, each of at most MAX_POINTS points."""
    curves: dict[str, Points] = {}
    for level in ("image", "pixel"):
        if f"{level}_auroc" in results:
            anomalous, normal = level_sides(state, level)
            roc = roc_curve(positives=anomalous, negatives=normal, max_points=MAX_POINTS)
            curves[f"{level}_roc"] = [*zip(roc["fpr"], roc["tpr"])]
            if level == "pixel":
                pro = pro_curve(state["anomalous"], state["region_sizes"], normal, max_points=MAX_POINTS)
                curves["pro"] = [*zip(pro["fpr"], pro["pro"])]
    return curves


def options_of(options: Mapping[str, Any], category: str) -> dict[str, Any]:
    """The options of one category: mappings give its value. Raises ValueError for a mapping without the category.

    >>> options_of({"pixel_threshold": {"can": 0.3, "vial": 0.4}, "levels": "pixel"}, "vial")
    {'pixel_threshold': 0.4, 'levels': 'pixel'}
    """
    for name, value in options.items():
        if isinstance(value, Mapping) and category not in value:
            raise ValueError(f"{name}: expected a value for category {category!r}, got values for {', '.join(value)}")
    return {name: value[category] if isinstance(value, Mapping) else value for name, value in options.items()}


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


def with_void(options: Mapping[str, Any], void_where_invalid: bool) -> Mapping[str, Any]:
    """The options with an ignore_value for void pixels, which references need even if masks have no such value.

    >>> with_void({"levels": "pixel"}, True)
    {'levels': 'pixel', 'ignore_value': -1}
    """
    named = options.get("ignore_value") is not None
    return {**options, "ignore_value": VOID} if void_where_invalid and not named else options
