"""The reading of anomaly maps and masks: columns of anomaly_suite, category by category, and their record."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ...anomaly.anomaly_suite import AnomalySuite, check_levels
from ...metric.clusters import CLUSTERS
from ..image_clusters import clusters_of_images
from ..limits import COMMANDS, Limits
from ..reading import ALONE, Category, Input, Place, Reading
from ..reasons import some
from .files import MapAndMask, MapFiles, Maps, Pair, first_masks, inverted, map_reader, read_ahead, rules_of
from .layouts import PLAIN
from .listing import AnomalyImage
from .masks import VOID
from .names import key_of
from .pairing import MAPS, AnomalyMaps, check_names
from .planes import read_map
from .sources import list_models

_BATCH, _BATCH_PIXELS = 64, 1 << 22  # images that are added together
_CHOICES = ("resize", "void_where_invalid", "mask_threshold", "sample_pattern")  # that move numbers
_VERSIONS = ("openworld-metrics", "numpy", "scipy")


@dataclass
class MapReading(Reading):
    """The contents of files of maps and masks: `listed` are the files of each model, of one data set.

    chosen: the choices of `map_reader` and `rules_of`, sample_pattern and groups
    doubt: a sentence where masks may be inverted, "" otherwise
    marked: of the images that were computed, by their keys, whether their masks have an anomalous pixel
    clusters: what images depend on, by their keys, and joined, a sentence on it; empty where they are drawn one by one
    """

    listed: dict[str, AnomalyMaps] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    doubt: str = ""
    marked: dict[tuple[str, str], bool] = field(default_factory=dict)
    clusters: Mapping[tuple[str, str], str] = field(default_factory=dict)
    joined: Sequence[str] = ()

    @property
    def category_names(self) -> Sequence[str]:
        """The names of the categories, which are computed one after another; one without a name for all together."""
        return [ALONE] if self.chosen.get("groups") is False else [*self.first.by_category]

    @property
    def first(self) -> AnomalyMaps:
        """The files of the first model."""
        return next(iter(self.listed.values()))

    @property
    def settings(self) -> dict[str, Any]:
        """The choices that move numbers, for the signature."""
        return {name: self.chosen[name] for name in _CHOICES if self.chosen.get(name)}

    @property
    def length(self) -> int:
        """The number of images to read, of all models."""
        return sum(len(listed.pairs) for listed in self.listed.values())

    def record(self, model: str) -> dict[str, Any]:
        """Folders, layout, categories, numbers of files, choices and versions of a model's maps that were computed."""
        listed, images = self.listed[model], [image for image, _ in self.listed[model].pairs]
        pattern = pattern_of(listed, self.chosen.get("sample_pattern"))
        record: dict[str, Any] = {
            "maps": str(listed.folder),
            "data": str(listed.data_folder),
            "layout": listed.data.layout.name,
            "categories": sorted(listed.by_category),
            "files": {
                "images": sum(image.image is not None for image in images),
                "maps": len(images),
                "masks": sum(len(image.masks) for image in images),
                "empty_masks_of_anomalous_images": len(self.empty_masks),
            },
            "versions": {"python": platform.python_version(), **{name: version(name) for name in _VERSIONS}},
            **{name: self.chosen[name] for name in _CHOICES},
            "sample_pattern": pattern and pattern.pattern,
        }
        return record | ({"left_out": listed.census.text()} if listed.leaves_out else {})

    @property
    def empty_masks(self) -> list[Path]:
        """The masks without an anomalous pixel of images that are anomalous by their folder."""
        images = (image for image, _ in self.first.pairs if image.anomalous and image.masks)
        return [image.masks[0] for image in images if self.marked.get(image.key) is False]

    def is_anomalous(self, image: AnomalyImage) -> bool:
        """Whether an image that was computed is anomalous: by its folder, or else by its masks."""
        return self.marked[image.key] if image.anomalous is None else image.anomalous

    def categories(self) -> Iterator[Category]:
        """The images of each category, each once: normal ones belong to all groups of their category.

        Raises ValueError for a cluster with images of two categories, which are drawn one after another.
        """
        several = len(self.category_names) > 1
        if self.chosen.get("groups") is False:
            yield from super().categories()
            return
        category_of: dict[str, str] = {}
        for category, pairs in self.first.by_category.items():
            for cluster in {self.clusters[image.key] for image, _ in pairs} if self.clusters else ():
                if category_of.setdefault(cluster, category) != category:
                    raise ValueError(
                        f"clusters: expected the images of each in one category, since categories are drawn one after "
                        f"another, got {cluster!r} in {category_of[cluster]} and in {category}"
                    )
            by_defect = groups_of(self.first, pairs) != [category]
            groups = [f"{category}/{image.defect}" if image.anomalous else None for image, _ in pairs]
            models = {}
            for name, listed in self.listed.items():
                at = {pair[0].key: pair for pair in listed.pairs}
                files = MapFiles(self.models[name]["predictions"].files.read, [at[image.key] for image, _ in pairs])
                pattern = pattern_of(listed, self.chosen.get("sample_pattern"))
                by_row = groups if by_defect else []
                models[name] = _columns(files, by_row, pattern, self.options.get("ignore_value"), self.clusters)
            names = _names([image for image, _ in pairs], several and self.first.data.layout is not PLAIN)
            group = category if several or self.chosen.get("groups") else ALONE
            yield Category(category, group, models, names, self._batches)

    def _batches(self, columns: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Columns, a few images at a time, which are read ahead."""
        maps = columns["predictions"]
        if not isinstance(maps, Maps) or not isinstance(columns["references"], Maps):
            yield from super()._batches(columns)
            return
        start, pixels, held = 0, 0, list[MapAndMask]()
        for end, content in enumerate(read_ahead(maps.files.read, maps.files.pairs), 1):
            held.append(content)
            pixels += content.score_map.size
            if len(held) == _BATCH or pixels >= _BATCH_PIXELS or end == len(maps):
                rows = slice(start, end)
                batch = {name: column[rows] for name, column in columns.items() if not isinstance(column, Maps)}
                planes = {name: [*map(columns[name].part_of, held)] for name in ("predictions", "references")}
                images = (image.key for image, _ in maps.files.pairs[start:end])
                self.marked |= zip(images, (bool(content.masks.mask.any()) for content in held))
                yield start, {**planes, **batch}
                start, pixels, held = end, 0, []


def read_maps(
    maps: Input,
    data: Place | Sequence[Place] | None = None,
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | None = None,
    resize: str | None = None,
    sample_pattern: str | None = None,
    groups: bool | None = None,
    void_where_invalid: bool = False,
    mask_threshold: float | None = None,
    ignore_value: int | None = AnomalySuite.ignore_value,
    regions: str = AnomalySuite.regions,
    levels: str | Sequence[str] = AnomalySuite.levels,
    clusters: str | None = None,
    clusters_from_name: str | None = None,
    leave_out: bool = False,
    limits: Limits = COMMANDS,
) -> MapReading:
    """Read the anomaly maps of one or more models, and the masks of a data set, as columns of anomaly_suite.

    Parameters: maps, data, layout, categories, columns, leave_out and limits, as of `list_models`; resize, as of
    `map_reader`; void_where_invalid, mask_threshold, ignore_value and regions, as of `rules_of`; sample_pattern, a
    regular expression whose first group is the id of a sample in the images' names, by default the layout's own;
    groups, whether folders are groups: None,
    the default, for several categories of a data set, and folders that look like them, True also for an only one;
    levels, of the metric: masks are not needed for "image" alone; clusters and clusters_from_name, what images depend
    on, as of `clusters_of_images`.

    Files are read when an entry of a column is indexed, but for the first masks, which may be inverted. Several
    categories are groups, and so are the kinds of defects of MVTec LOCO AD, each with the normal images of its
    category: these are in the columns once for each kind if there are several categories. Labels of
    images are those of a layout's folders; otherwise the masks'.
    Raises ValueError with the name of the file for the first error of the names, with its cures.
    """
    needs_masks = "pixel" in check_levels(levels)
    choices: dict[str, Any] = {"layout": layout, "categories": categories, "columns": columns}
    choices |= {"leave_out": leave_out, "limits": limits}
    reading = reading_of(
        list_models(maps, data, needs_masks=needs_masks, **choices),
        resize=resize,
        sample_pattern=sample_pattern,
        groups=groups,
        void_where_invalid=void_where_invalid,
        mask_threshold=mask_threshold,
        ignore_value=ignore_value,
        regions=regions,
        clusters=clusters,
        clusters_from_name=clusters_from_name,
        limits=limits,
    )
    options = {**reading.options, **({"levels": levels} if levels != AnomalySuite.levels else {})}
    return replace(reading, options=options, guesses=reading.guesses if layout is None else [])


def reading_of(
    models: Mapping[str, AnomalyMaps],
    *,
    resize: str | None = None,
    sample_pattern: str | None = None,
    groups: bool | None = None,
    void_where_invalid: bool = False,
    mask_threshold: float | None = None,
    ignore_value: int | None = AnomalySuite.ignore_value,
    regions: str = AnomalySuite.regions,
    clusters: str | None = None,
    clusters_from_name: str | None = None,
    limits: Limits = COMMANDS,
) -> MapReading:
    """The reading of the maps of models, by name, as of `list_models`; see `read_maps`."""
    for each in models.values():
        check_names(each)
    listed = next(iter(models.values()))
    pattern = pattern_of(listed, sample_pattern)
    options: dict[str, Any] = {"ignore_value": VOID if void_where_invalid and ignore_value is None else ignore_value}
    options |= {"regions": regions}
    columns, rows = {}, _rows_of(listed)
    several = len(listed.by_category) > 1 and listed.data.layout is not PLAIN
    names = _names([image for image, _, _ in rows], several)
    by_key = {image.key: name for name, (image, _, _) in zip(names, rows)}  # a normal image may be in several rows
    clustered = clusters_of_images([*by_key.values()], clusters, clusters_from_name, limits)
    cluster_of = dict(zip(by_key, clustered.names))
    rules = rules_of(
        listed,
        ignore_value,
        void_where_invalid=void_where_invalid,
        regions=regions,
        mask_threshold=mask_threshold,
    )
    masks = first_masks(listed, rules)
    for name, each in models.items():
        read = map_reader(each, rules, resize, masks)
        at = {pair[0].key: pair for pair in each.pairs}
        pairs = [at[image.key] for image, _, _ in rows]
        groups_of_rows = [group for _, _, group in rows] if groups is not False else []
        columns[name] = _columns(MapFiles(read, pairs), groups_of_rows, pattern, options["ignore_value"], cluster_of)
    doubt = inverted(listed, masks)
    return MapReading(
        "anomaly_suite",
        columns,
        {name: value for name, value in options.items() if value != AnomalySuite.options[name]},
        _guesses(models),
        [*_notes(models, names, [image for image, _, _ in rows]), *([f"{doubt}."] if doubt else []), *clustered.notes],
        listed.census,
        _contents(models),
        images=names,
        archives=listed.archives,
        listed=dict(models),
        chosen={
            "resize": resize,
            "void_where_invalid": void_where_invalid,
            "mask_threshold": mask_threshold,
            "sample_pattern": sample_pattern,
            "groups": groups,
        },
        doubt=doubt,
        clusters=cluster_of,
        joined=clustered.notes,
        noun_of_clusters=clustered.noun,
    )


def _names(images: Sequence[AnomalyImage], several: bool) -> list[str]:
    """The names of images, with their categories if there are several."""
    return [key_of(f"{image.category}/{image.name}" if several else image.name) for image in images]


def _rows_of(listed: AnomalyMaps) -> list[tuple[AnomalyImage, Path, str | None]]:
    """Each image with its map and its group; None for all groups, or for the only one."""
    by_category = listed.by_category
    rows: list[tuple[AnomalyImage, Path, str | None]] = []
    for category, pairs in by_category.items():
        groups = groups_of(listed, pairs)
        for image, path in pairs:
            if groups == [category]:
                rows.append((image, path, category if len(by_category) > 1 else None))
            elif image.anomalous:
                rows.append((image, path, f"{category}/{image.defect}"))
            else:
                rows += [(image, path, group) for group in (groups if len(by_category) > 1 else [None])]
    return rows


def groups_of(listed: AnomalyMaps, pairs: Sequence[Pair]) -> list[str]:
    """The names of a category's groups: its own, or one for each defect."""
    category = pairs[0][0].category
    if listed.data.layout.saturation is None:
        return [category]
    defects = sorted({image.defect for image, _ in pairs if image.anomalous})
    return [f"{category}/{defect}" for defect in defects] or [category]


def _columns(
    files: MapFiles,
    groups: Sequence[str | None],
    pattern: re.Pattern[str] | None,
    ignore_value: int | None,
    clusters: Mapping[tuple[str, str], str],
) -> dict[str, Any]:
    columns: dict[str, Any] = {
        "predictions": Maps(files, lambda content: content.score_map),
        "references": Maps(files, lambda content: content.masks.reference(ignore_value)),
    }
    labels = [image.anomalous for image, _ in files.pairs]
    if None not in labels:
        columns["image_labels"] = labels
    if any(groups):
        columns["groups"] = groups
    if pattern is not None:
        columns["samples"] = sample_ids(files.pairs, pattern)
    if clusters:
        columns[CLUSTERS] = [clusters[image.key] for image, _ in files.pairs]
    return columns


def _guesses(models: Mapping[str, AnomalyMaps]) -> list[str]:
    listed = next(iter(models.values()))
    guesses = [listed.data.guess, *(each.guess for each in models.values())]
    if listed.guessed:
        guesses.append(f"Folders are categories: {some([*listed.by_category])} (layout folders: one group).")
    return [*filter(None, dict.fromkeys(guesses))]


def _notes(models: Mapping[str, AnomalyMaps], names: Sequence[str], images: Sequence[AnomalyImage]) -> list[str]:
    first = next(iter(models.values()))
    path = first.pairs[0][1]
    lists = [each for each in models.values() if each.is_listed]
    notes = [f"{len(first.pairs):,} maps, paired with their masks {'as listed' if lists else 'by name'}."]
    if without := sorted({name for name, image in zip(names, images) if not image.masks and not image.anomalous}):
        notes.append(f"{len(without):,} have no mask and count as normal: {some(without)}.")
    notes += [each.note for each in lists if each.note]
    notes += [f"Left out: {text}." for each in models.values() if (text := each.census.text())]
    with first.archives.naming():
        if path.suffix.lower() == ".png" and read_map(path).dtype.itemsize == 1:
            notes.append("Maps of 8 bits hold at most 256 scores, so that many tie.")
    return list(dict.fromkeys(notes))


def _contents(models: Mapping[str, AnomalyMaps]) -> list[str]:
    listed = next(iter(models.values()))
    used = ", ".join(f"{number:,} {kind}" for kind, number in listed.census.used.items() if kind != MAPS)
    maps = ", ".join(f"{name}: {len(each.pairs):,} maps" for name, each in models.items())
    return [maps, f"{listed.data.layout.title}: {used or 'no masks'}"]


def pattern_of(listed: AnomalyMaps, sample_pattern: str | None) -> re.Pattern[str] | None:
    """A regular expression with the id of a sample as its first group, as chosen, or else the layout's own, if any."""
    if sample_pattern is None:
        sample_pattern = listed.data.layout.samples
    if sample_pattern is None:
        return None
    try:
        pattern = re.compile(sample_pattern)
    except (re.error, TypeError) as error:
        raise ValueError(f"sample_pattern: expected a regular expression, got {sample_pattern!r}: {error}") from error
    if not pattern.groups:
        raise ValueError(f"sample_pattern: expected a group, as in '^([^_]+)_', got {sample_pattern!r}")
    return pattern


def sample_ids(pairs: Sequence[Pair], pattern: re.Pattern[str]) -> list[str]:
    """The ids of the samples in the images: the first group of a pattern in the images' names.

    Raises ValueError, with the name of the image, if it does not match.
    """
    ids = []
    for image, path in pairs:
        match = pattern.search(image.name)
        if match is None or not match[1]:
            raise ValueError(f"{path}: expected a name in which {pattern.pattern!r} finds a sample, got {image.name!r}")
        ids.append(match[1])
    return ids
