"""Evaluate a folder of anomaly maps against a data set on disk, category by category."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

from ..anomaly.anomaly_suite import AnomalySuite, check_levels, check_reduction
from ..anomaly.maps import LEVELS
from ..arrays.arrays import State
from ..arrays.checks import as_fractions, plain_value
from ..metric.bootstrap import ByGroup, assembled
from ..metric.groups import ALL, as_parts
from ..metric.results import Results
from ..metric.signature import signed
from ..metric.states import joined
from ..reading.maps.maps import map_reader, pattern_of
from ..reading.maps.pairing import AnomalyMaps, check_names, list_anomaly_maps
from ..reading.progress import progress_bar
from ..reading.reading import Place
from .anomaly_batches import members_of, read_category
from .anomaly_curves import Curves, curves_of
from .anomaly_run import AnomalyRun, ScoredImage, images_table
from .category_options import by_category, check_categories, needs_masks, options_of, with_only_values, with_void

_VERSIONS = ("openworld-metrics", "numpy", "scipy")


def evaluate_anomaly_folder(
    maps: Place | Sequence[Place],
    data: Place | Sequence[Place],
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    resize: str | None = None,
    sample_pattern: str | None = None,
    void_where_invalid: bool = False,
    mask_threshold: float | None = None,
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
    masks = needs_masks(options)
    listed = list_anomaly_maps(maps, data, layout=layout, categories=categories, needs_masks=masks, leave_out=leave_out)
    reading: dict[str, Any] = {
        "resize": resize,
        "void_where_invalid": void_where_invalid,
        "mask_threshold": mask_threshold,
    }
    run = evaluate_maps(listed, **reading, sample_pattern=sample_pattern, progress=progress, **options)
    return {**run.results, "per_image": images_table(run)} if run.tables else run.results


def evaluate_maps(
    listed: AnomalyMaps,
    *,
    resize: str | None = None,
    sample_pattern: str | None = None,
    void_where_invalid: bool = False,
    mask_threshold: float | None = None,
    progress: bool = False,
    curves: bool = False,
    **options: Any,
) -> AnomalyRun:
    """Compute the metric anomaly_suite from listed files; see `evaluate_anomaly_folder`.

    Parameters: listed, as `list_anomaly_maps` returns it; curves, whether to keep the curves of each group.
    """
    check_names(listed)
    samples = pattern_of(listed, sample_pattern)
    if listed.data.layout is None:  # a plain folder, whose name says nothing
        options = with_only_values(options)
    check_categories(options, listed.by_category)
    suite = AnomalySuite(**options_of(options, listed.pairs[0][0].category))
    settings = {**suite.loaded_options, **by_category(options)}
    reading: dict[str, Any] = {"resize": resize, "void_where_invalid": void_where_invalid}
    reading["mask_threshold"] = mask_threshold
    read = map_reader(listed, ignore_value=settings["ignore_value"], regions=settings["regions"], **reading)
    judged = with_void(options, void_where_invalid)
    check_reduction(settings["image_reduction"])  # before the files are read
    check_levels(settings["levels"])
    as_fractions(settings["integration_limits"], "integration_limits")
    by_group: dict[str, Results] = {}
    replicates: ByGroup = {}
    images: list[ScoredImage] = []
    drawn: dict[str, Curves] = {}
    tables: dict[str, dict[str, Any]] = {}
    with progress_bar(total=len(listed.pairs), unit=" images", shown=progress) as bar:
        for category, pairs in listed.by_category.items():
            # one category at a time, to free its pixels after its results
            metric, scored = read_category(listed, pairs, read, judged, bar.update, samples)
            images += scored
            results, own = metric.results_by_group(category)
            if curves:
                levels = {
                    group: [level for level in LEVELS if f"{level}_auroc" in row] for group, row in results.items()
                }
                states = states_of(metric, category)
                drawn |= {group: curves_of(states[group], chosen) for group, chosen in levels.items() if chosen}
            replicates |= own
            for group, row in results.items():
                members = members_of(group, scored)
                by_group[group] = {**_counts(members), **row}
                if "per_image" in row:
                    tables[group] = _in_reading_order(by_group[group].pop("per_image"), members, scored)
    record = _record(listed, settings, sum(image.lacks_pixels for image in images))
    record |= {**reading, "sample_pattern": samples and samples.pattern}
    if listed.leaves_out:
        record["left_out"] = listed.census.text()
    moved = {name: value for name, value in reading.items() if value}
    summary = assembled(suite, by_group, replicates)._replace(**signed(suite, {**settings, **moved}))
    return AnomalyRun(listed, {**summary.as_dict(), **summary.record(), "evaluation": record}, images, drawn, tables)


def _in_reading_order(
    table: Mapping[str, list[Any]], members: Sequence[ScoredImage], scored: Sequence[ScoredImage]
) -> dict[str, list[Any]]:
    """The table of a group's images, with their names, in the order of reading."""
    position = {image.map_file: i for i, image in enumerate(scored)}
    order = sorted(range(len(members)), key=lambda i: position[members[i].map_file])
    columns = {**table, "image": [image.image.name for image in members]}
    return {key: [column[i] for i in order] for key, column in columns.items()}


def states_of(metric: AnomalySuite, category: str) -> dict[str, State]:
    """The state of each group of a category, including the images that all its groups share."""
    parts = as_parts({name: array for name, array in metric.state().items() if name != "metric"})
    shared = parts.pop(ALL, {})
    return {group: joined([own, shared]) for group, own in parts.items()} or {category: shared}


def _counts(scored: Sequence[ScoredImage]) -> dict[str, int]:
    return {"images": len(scored), "anomalous_images": sum(image.anomalous for image in scored)}


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
