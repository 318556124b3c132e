"""Read a model's anomaly maps and the masks of a data set, image by image, as columns of anomaly_suite."""

from __future__ import annotations

import math
import os
import platform
import re
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...anomaly.anomaly_suite import AnomalySuite, check_ignore_value, check_levels, check_regions
from ...arrays.arrays import widen
from ...arrays.checks import as_bool, as_real
from ...metric.clusters import CLUSTERS
from ..cures import CurableError, Cure, Or, advice_of
from ..image_clusters import clusters_of_images
from ..limits import COMMANDS, Limits, size_text
from ..places import image_size
from ..progress import progress_bar
from ..reading import ALONE, Category, Input, Place, Reading
from ..reasons import named, some
from .layouts import LAYOUTS, TITLES
from .listing import AnomalyImage, is_archive
from .masks import VOID, MaskRules, Masks, invalid_pixels, read_masks, saturations_of
from .names import key_of
from .pairing import MAPS, AnomalyMaps, check_names, list_models
from .planes import MASK_SUFFIXES, read_map, read_mask_values, stated_shape

WAYS = ("nearest", "bilinear")
_BATCH, _BATCH_PIXELS = 64, 1 << 22  # images that are added together
_CHOICES = ("resize", "void_where_invalid", "mask_threshold", "sample_pattern")  # that move numbers
_ARRAYS = (".npy", ".npz")
_LOOKED_AT = 4  # masks of defects, to see whether they are inverted
THREADS = min(8, (os.cpu_count() or 1) + 2)  # some wait for the disk while others decode
_VERSIONS = ("openworld-metrics", "numpy", "scipy")
_Item = TypeVar("_Item")
_Read = TypeVar("_Read")
Pair = tuple[AnomalyImage, Path]  # an image, and its map


@dataclass
class MapReading(Reading):
    """The contents of files of maps and masks: `listed` are the files of each model, of one data set.

    chosen: the choices of `map_reader`, sample_pattern and groups
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
            "layout": listed.data.layout_name,
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
                files = _Files(self.models[name]["predictions"].files.read, [at[image.key] for image, _ in pairs])
                pattern = pattern_of(listed, self.chosen.get("sample_pattern"))
                by_row = groups if by_defect else []
                models[name] = _columns(files, by_row, pattern, self.options.get("ignore_value"), self.clusters)
            names = _names([image for image, _ in pairs], several and self.first.data.layout is not None)
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
    data: Place | Sequence[Place],
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
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

    Parameters: maps, data, layout, categories, leave_out and limits, as of `list_models`; resize, void_where_invalid,
    mask_threshold, ignore_value and regions, as of `map_reader`; sample_pattern, a regular expression whose first group
    is the id of a sample in the images' names, by default the layout's own; groups, whether folders are groups: None,
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
    choices: dict[str, Any] = {"layout": layout, "categories": categories, "leave_out": leave_out, "limits": limits}
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
    several = len(listed.by_category) > 1 and listed.data.layout is not None
    names = _names([image for image, _, _ in rows], several)
    by_key = {image.key: name for name, (image, _, _) in zip(names, rows)}  # a normal image may be in several rows
    clustered = clusters_of_images([*by_key.values()], clusters, clusters_from_name, limits)
    cluster_of = dict(zip(by_key, clustered.names))
    for name, each in models.items():
        read = map_reader(
            each,
            resize,
            ignore_value,
            void_where_invalid=void_where_invalid,
            regions=regions,
            mask_threshold=mask_threshold,
        )
        at = {pair[0].key: pair for pair in each.pairs}
        pairs = [at[image.key] for image, _, _ in rows]
        groups_of_rows = [group for _, _, group in rows] if groups is not False else []
        columns[name] = _columns(_Files(read, pairs), groups_of_rows, pattern, options["ignore_value"], cluster_of)
    doubt = inverted_masks(listed, ignore_value, regions, mask_threshold)
    return MapReading(
        "anomaly_suite",
        columns,
        {name: value for name, value in options.items() if value != AnomalySuite.options[name]},
        _guesses(listed),
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
    category, layout = pairs[0][0].category, listed.data.layout
    if layout is None or not layout.by_defect:
        return [category]
    defects = sorted({image.defect for image, _ in pairs} - {*layout.normal})
    return [f"{category}/{defect}" for defect in defects] or [category]


def _columns(
    files: _Files,
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


def _guesses(listed: AnomalyMaps) -> list[str]:
    if listed.data.layout is not None:
        layout = listed.data.layout
        usual = next(each.normal for each in LAYOUTS if each.name == layout.name)
        normal = [name for name in layout.normal if name not in usual]
        called = f" Normal images are in {some(normal)}." if normal else ""
        return [f"The data set is laid out as {layout.title} (layout {layout.name}).{called}"]
    if not listed.guessed:
        return []
    return [f"Folders are categories: {some([*listed.by_category])} (layout folders: one group)."]


def _notes(models: Mapping[str, AnomalyMaps], names: Sequence[str], images: Sequence[AnomalyImage]) -> list[str]:
    first = next(iter(models.values()))
    path = first.pairs[0][1]
    notes = [f"{len(first.pairs):,} maps, paired with their masks by name."]
    if without := sorted({name for name, image in zip(names, images) if not image.masks and not image.anomalous}):
        notes.append(f"{len(without):,} have no mask and count as normal: {some(without)}.")
    notes += [f"Left out: {text}." for each in models.values() if (text := each.census.text())]
    with first.archives.naming():
        if path.suffix.lower() == ".png" and read_map(path).dtype.itemsize == 1:
            notes.append("Maps of 8 bits hold at most 256 scores, so that many tie.")
    return list(dict.fromkeys(notes))


def _contents(models: Mapping[str, AnomalyMaps]) -> list[str]:
    listed = next(iter(models.values()))
    used = ", ".join(f"{number:,} {kind}" for kind, number in listed.census.used.items() if kind != MAPS)
    maps = ", ".join(f"{name}: {len(each.pairs):,} maps" for name, each in models.items())
    return [maps, f"{TITLES.get(listed.data.layout_name, 'a folder')}: {used or 'no masks'}"]


class MapAndMask(NamedTuple):
    """The anomaly map of an image, (H, W) in float32 or float64, and its masks."""

    score_map: np.ndarray
    masks: Masks


class _Files:
    """The maps and masks of images, read together; masks are kept until both have been asked for."""

    def __init__(self, read: Callable[[Pair], MapAndMask], pairs: Sequence[Pair]) -> None:
        self.read, self.pairs = read, pairs
        self.waiting: dict[int, tuple[Any, MapAndMask]] = {}


class Maps(Sequence[Any]):
    """A column with an entry for each image, whose files are read when it is asked for."""

    def __init__(self, files: _Files, part: Callable[[MapAndMask], Any]) -> None:
        self.files, self.part_of = files, part

    def __len__(self) -> int:
        return len(self.files.pairs)

    def part(self, rows: Sequence[int]) -> Maps:
        """Some entries of the column."""
        return Maps(_Files(self.files.read, [self.files.pairs[row] for row in rows]), self.part_of)

    def __iter__(self) -> Iterator[Any]:
        return read_ahead(self._entry, range(len(self)))

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [*read_ahead(self._entry, range(len(self))[place])]
        return self._entry(range(len(self))[place])

    def _entry(self, row: int) -> Any:
        other, content = self.files.waiting.pop(row, (self, None))
        if other is not self and content is not None:
            return self.part_of(content)
        content = self.files.read(self.files.pairs[row])
        part = self.part_of(content)
        self.files.waiting[row] = self, content
        return part


def check_sizes(reading: Reading, limits: Limits) -> None:
    """Raise RefusedError for files of maps and masks that hold more than the limits allow of an input."""
    maps = [columns["predictions"] for columns in reading.models.values()]
    pairs = [pair for column in maps if isinstance(column, Maps) for pair in column.files.pairs]
    inputs = ([path for _, path in pairs], [mask for image, _ in pairs for mask in image.masks])
    with reading.archives.naming():
        for files in inputs:
            total = 0
            for file in dict.fromkeys(files):
                if file.suffix.lower() == ".npz":
                    with file.open("rb") as content:
                        limits.check_members(str(file), content)
                total += 8 * math.prod(stated_shape(file))
                limits.check_unpacked(str(file), total)


def read_all(reading: Reading) -> None:
    """Read all files once, and keep none: for the errors of their contents."""
    for columns in reading.models.values():
        maps = columns["predictions"]
        for _ in read_ahead(maps.files.read, maps.files.pairs) if isinstance(maps, Maps) else ():
            pass


def hold_maps(inputs: Sequence[Sequence[Path]]) -> bool:
    """Whether all files hold one map or mask each, or are archives of such; a single array on each side is a column.

    Raises ValueError for images beside arrays of several.
    """
    files = [path for paths in inputs for path in paths]
    alone = all(len(paths) == 1 and paths[0].suffix.lower() in _ARRAYS for paths in inputs if paths)
    if not files or alone:
        return False
    held = [*map(_holds_maps, files)]
    images = [path.name for path in files if path.suffix.lower() in {*MASK_SUFFIXES} - {*_ARRAYS}]
    if images and not all(held):
        got = f"{images[0]} and {files[held.index(False)].name}"
        raise ValueError(f"expected all maps and masks in files of one image, or all in arrays, got {got}")
    return all(held)


def _holds_maps(path: Path) -> bool:
    if path.suffix.lower() not in _ARRAYS:
        return path.is_dir() or is_archive(path) or path.suffix.lower() in MASK_SUFFIXES
    try:
        shape = stated_shape(path)
    except ValueError:  # which the reader of arrays says
        return False
    return len(shape) > 1 and sum(side > 1 for side in shape) < 3


def inverted_masks(listed: AnomalyMaps, ignore_value: int | None, regions: str, mask_threshold: float | None) -> str:
    """A sentence where the first masks of defects all mark most of their pixels, as masks do in which 0 is a defect.

    Parameters: as of `map_reader`. A mask that cannot be read says nothing here: its error comes when it is used.
    """
    images = [image for image, _ in listed.pairs if image.masks and image.anomalous is not False][:_LOOKED_AT]
    shares: list[float] = []
    with suppress(OSError, ValueError), listed.archives.naming():
        rules = MaskRules(ignore_value, False, regions, None, _threshold_of(listed, regions, mask_threshold))
        shares = [read_masks(image, rules).mask.mean() for image in images]
    if len(shares) < 2 or min(shares) <= 0.5:
        return ""
    text = f"{images[0].masks[0].name}, like the other {len(shares) - 1} of the first masks of defects, marks"
    return f"{text} more than half of its pixels as anomalous: are these masks inverted? 0 is normal in a mask"


def map_reader(
    listed: AnomalyMaps,
    resize: str | None = None,
    ignore_value: int | None = AnomalySuite.ignore_value,
    *,
    void_where_invalid: bool = False,
    regions: str = AnomalySuite.regions,
    mask_threshold: float | None = None,
) -> Callable[[Pair], MapAndMask]:
    """A function that reads an image's map and masks; a normal image without a mask has no anomalous pixel.

    Parameters: listed, the files; resize, how maps are resized to their masks or, without a mask, to their images:
    "nearest", "bilinear", or None, the default, for not at all; ignore_value, the value of void pixels in masks;
    void_where_invalid, whether pixels without a point in the clouds of the layout are void too; regions, "labels" if
    masks hold the numbers of regions; mask_threshold, the number above which values of masks are anomalous, by default
    the layout's, or None if masks hold 0 and one other value.
    Raises ValueError for another `resize`, for a `mask_threshold` below 0 or beside numbers of regions, for maps of
    normal images to resize in a plain folder with masks of several sizes, for clouds of a layout without clouds, and
    for errors in a file of saturation areas.
    """
    if resize is not None and resize not in WAYS:
        raise ValueError(f"resize: expected one of {', '.join(WAYS)}, got {resize!r}")
    value, clouds = check_ignore_value(ignore_value), as_bool(void_where_invalid, "void_where_invalid")
    layout = listed.data.layout
    if clouds and (layout is None or layout.clouds is None):
        raise ValueError(
            "void_where_invalid: expected a layout with clouds of points, which mvtec-3d is, got "
            f"{listed.data.layout_name}"
        )
    with listed.archives.naming():
        size = _common_size(listed) if resize is not None and layout is None else None
        threshold = _threshold_of(listed, check_regions(regions), mask_threshold)
        rules = MaskRules(value, clouds, regions, saturations_of(listed, value), threshold)

    def read(pair: Pair) -> MapAndMask:
        with listed.archives.naming():
            return _read(*pair, resize, size, rules)

    return read


def _threshold_of(listed: AnomalyMaps, regions: str, mask_threshold: float | None) -> float | None:
    """The number above which values of masks are anomalous: as chosen, else of the layout."""
    if mask_threshold is None:
        layout = listed.data.layout
        return 0.0 if regions == "labels" else None if layout is None else layout.mask_threshold
    threshold = as_real(mask_threshold, "mask_threshold")
    if threshold < 0 or regions == "labels":
        expected = "none beside regions='labels'" if regions == "labels" else "a number of at least 0"
        raise ValueError(f"mask_threshold: expected {expected}, got {threshold!r}")
    return threshold


def _common_size(listed: AnomalyMaps) -> tuple[int, int] | None:
    """The common size of the masks of a plain folder, and so of its normal images; None without masks."""
    if all(image.masks for image, _ in listed.pairs):
        return None
    sizes: dict[Any, Path] = {
        read_mask_values(image.masks[0]).shape: image.masks[0] for image, _ in reversed(listed.pairs) if image.masks
    }
    if len(sizes) > 1:
        names = " and ".join(f"{path} of {size_text(size)}" for size, path in list(sizes.items())[:2])
        raise ValueError(
            f"{listed.folder}: expected masks of one size, or of all images, to know the size of normal images,"
            f" got {names}"
        )
    return next(iter(sizes), None)


def _read(
    image: AnomalyImage, path: Path, resize: str | None, size: tuple[int, int] | None, rules: MaskRules
) -> MapAndMask:
    score_map, masks = read_map(path), None
    if image.masks:
        masks, origin = read_masks(image, rules), image.masks[0]
        wanted = masks.mask.shape
        if image.anomalous is False and masks.mask.any():
            count = np.count_nonzero(masks.mask)
            raise ValueError(f"{origin}: expected no anomalous pixel of a normal image, got {count:,}")
    elif image.image is not None:
        width, height = image_size(image.image)
        wanted, origin = (height, width), image.image
    else:
        wanted, origin = size or score_map.shape, path
    if score_map.shape != wanted:
        if resize is None:
            raise CurableError(
                f"{path}: expected {size_text(wanted)} pixels as {origin}, got {size_text(score_map.shape)}",
                Cure("to resize maps", {"resize": Or(*WAYS)}),
            )
        score_map = resized_map(score_map, wanted, resize)
        if np.isnan(np.max(score_map)):
            raise ValueError(f"{path}: expected a map that can be resized, got +inf beside -inf")
    with named(path):
        score_map = widen(score_map, "map")
    if masks is None:
        void = invalid_pixels(image, wanted) if rules.void_where_invalid else None
        void = None if void is None or not void.any() else void
        masks = Masks(np.zeros(wanted, dtype=bool), void, None if rules.saturations is None else ())
    if masks.void is not None and masks.void.all():
        raise ValueError(f"{origin}: expected a pixel that is not void, got none")
    return MapAndMask(score_map, masks)


def file_problems(
    listed: AnomalyMaps,
    resize: str | None = None,
    ignore_value: int | None = AnomalySuite.ignore_value,
    *,
    progress: bool = False,
    **options: Any,
) -> list[str]:
    """List the problems of the files, a line each: first of their names, then of their contents, read one by one.

    Parameters: as of `map_reader`; progress, whether to show a bar on a terminal.
    """

    def problem(pair: Pair) -> str | None:
        try:
            read(pair)
        except (ValueError, TypeError, OSError) as error:
            return advice_of(error)
        return None

    try:
        read = map_reader(listed, resize, ignore_value, **options)
    except (ValueError, TypeError) as error:
        return [*listed.problems, advice_of(error)]
    lines = read_ahead(problem, listed.pairs)
    shown = progress_bar(lines, total=len(listed.pairs), unit=" images", shown=progress)
    return [*listed.problems, *(line for line in shown if line is not None)]


def pattern_of(listed: AnomalyMaps, sample_pattern: str | None) -> re.Pattern[str] | None:
    """A regular expression with the id of a sample as its first group, as chosen, or else the layout's own, if any."""
    if sample_pattern is None:
        sample_pattern = None if listed.data.layout is None else listed.data.layout.samples
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


def read_ahead(read: Callable[[_Item], _Read], items: Iterable[_Item], threads: int = THREADS) -> Iterator[_Read]:
    """Map a function over items in several threads, in order, only a few items ahead.

    >>> list(read_ahead(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    with ThreadPoolExecutor(threads) as pool:
        ahead: deque[Future[Any]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(read, item))
                if len(ahead) >= 2 * threads:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()


def resized_map(score_map: np.ndarray, shape: tuple[int, int], way: str) -> np.ndarray:
    """Resize a map: the pixel at ⌊i·H/H'⌋ ("nearest"), or interpolated between pixel centres at i + ½ ("bilinear").

    Parameters: score_map (H, W); shape (H', W'); way, "nearest" or "bilinear", as torch.nn.functional.interpolate
    does (align_corners=False, no antialiasing).
    Returns float64 for integers and float64, else float32, rounded once; with "nearest", the type of the map.

    >>> resized_map(np.asarray([[0.0, 1.0]]), (1, 4), "bilinear").tolist()
    [[0.0, 0.25, 0.75, 1.0]]
    >>> resized_map(np.asarray([[0.0, 1.0]]), (1, 4), "nearest").tolist()
    [[0.0, 0.0, 1.0, 1.0]]
    """
    if score_map.shape == shape:
        return score_map
    if way == "nearest":
        rows, columns = (np.arange(new) * old // new for new, old in zip(shape, score_map.shape))
        return score_map[np.ix_(rows, columns)]
    values = score_map.astype(np.float64)
    for axis, new in enumerate(shape):
        old = values.shape[axis]
        place = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
        low = place.astype(np.int64)
        share = place - low if axis else (place - low)[:, None]
        first, second = (np.take(values, at, axis=axis) for at in (low, np.minimum(low + 1, old - 1)))
        # the difference of two infinite neighbours is NaN
        with np.errstate(invalid="ignore"):
            values = np.where((first == second) | (share == 0), first, first * (1 - share) + second * share)
    small = score_map.dtype.kind == "f" and score_map.dtype.itemsize < values.dtype.itemsize
    return values.astype(np.float32) if small else values
