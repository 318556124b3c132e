"""Read the anomaly map of an image and its masks together: ahead, in several threads, and resized to one another."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...anomaly.anomaly_suite import AnomalySuite, check_ignore_value, check_regions
from ...arrays.arrays import widen
from ...arrays.checks import as_bool, as_real
from ..cures import CurableError, Cure, Or, advice_of
from ..limits import Limits, size_text
from ..places import image_size
from ..progress import progress_bar
from ..reading import Reading
from ..reasons import named
from .layouts import PLAIN
from .listing import AnomalyImage, is_archive
from .lists import holds_maps, is_list
from .masks import MaskRules, Masks, invalid_pixels, read_masks, saturations_of
from .pairing import AnomalyMaps
from .planes import MASK_SUFFIXES, read_map, read_mask_values, stated_shape

WAYS = ("nearest", "bilinear")
_ARRAYS = (".npy", ".npz")
_LOOKED_AT = 4  # masks of defects, to see whether they are inverted
THREADS = min(8, (os.cpu_count() or 1) + 2)  # some wait for the disk while others decode
_Item = TypeVar("_Item")
_Read = TypeVar("_Read")
Pair = tuple[AnomalyImage, Path]  # an image, and its map


class MapAndMask(NamedTuple):
    """The anomaly map of an image, (H, W) in float32 or float64, and its masks."""

    score_map: np.ndarray
    masks: Masks


class MapFiles:
    """The maps and masks of images, read together; masks are kept until both have been asked for."""

    def __init__(self, read: Callable[[Pair], MapAndMask], pairs: Sequence[Pair]) -> None:
        self.read, self.pairs = read, pairs
        self.waiting: dict[int, tuple[Any, MapAndMask]] = {}


class Maps(Sequence[Any]):
    """A column with an entry for each image, whose files are read when it is asked for."""

    def __init__(self, files: MapFiles, part: Callable[[MapAndMask], Any]) -> None:
        self.files, self.part_of = files, part

    def __len__(self) -> int:
        return len(self.files.pairs)

    def part(self, rows: Sequence[int]) -> Maps:
        """Some entries of the column."""
        return Maps(MapFiles(self.files.read, [self.files.pairs[row] for row in rows]), self.part_of)

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


def hold_lists(files: Sequence[Path]) -> bool:
    """Whether files of one input are lists with maps, or hold one, so that there need be no other input."""
    return bool(files) and all(map(holds_maps, files))


def _holds_maps(path: Path) -> bool:
    if path.suffix.lower() not in _ARRAYS:
        return path.is_dir() or is_archive(path) or path.suffix.lower() in MASK_SUFFIXES or is_list(path)
    try:
        shape = stated_shape(path)
    except ValueError:  # which the reader of arrays says
        return False
    return len(shape) > 1 and sum(side > 1 for side in shape) < 3


def first_masks(listed: AnomalyMaps, rules: MaskRules) -> dict[tuple[str, str], Masks]:
    """The masks of the first images with defects, by the keys of the images, to see whether they are inverted.

    Those that cannot be read are not among them: their error comes when they are used.
    """
    images = [image for image, _ in listed.pairs if image.masks and image.anomalous is not False][:_LOOKED_AT]
    masks: dict[tuple[str, str], Masks] = {}
    with suppress(OSError, ValueError), listed.archives.naming():
        for image in images:
            masks[image.key] = read_masks(image, rules)
    return masks if len(masks) == len(images) else {}


def inverted(listed: AnomalyMaps, masks: Mapping[tuple[str, str], Masks]) -> str:
    """A sentence where all of some masks mark most of their pixels, as masks do in which 0 is a defect."""
    if len(masks) < 2 or min(each.mask.mean() for each in masks.values()) <= 0.5:
        return ""
    name = next(image.masks[0].name for image, _ in listed.pairs if image.key in masks)
    text = f"{name}, like the other {len(masks) - 1} of the first masks of defects, marks"
    return f"{text} more than half of its pixels as anomalous: are these masks inverted? 0 is normal in a mask"


def map_reader(
    listed: AnomalyMaps, rules: MaskRules, resize: str | None = None, masks: Mapping[tuple[str, str], Masks] = {}
) -> Callable[[Pair], MapAndMask]:
    """A function that reads an image's map and masks; a normal image without a mask has no anomalous pixel.

    Parameters: listed, the files; rules, of masks; resize, how maps are resized to their masks or, without a mask, to
    their images: "nearest", "bilinear", or None, the default, for not at all; masks, of some images, by their keys,
    that have been read.
    Raises ValueError for another `resize`, and for maps of images to resize whose size no file tells, where masks have
    several sizes.
    """
    if resize is not None and resize not in WAYS:
        raise ValueError(f"resize: expected one of {', '.join(WAYS)}, got {resize!r}")
    with listed.archives.naming():
        size = _common_size(listed) if resize is not None and listed.data.layout is PLAIN else None

    def read(pair: Pair) -> MapAndMask:
        with listed.archives.naming():
            return _read(*pair, resize, size, rules, masks.get(pair[0].key))

    return read


def rules_of(
    listed: AnomalyMaps,
    ignore_value: int | None = AnomalySuite.ignore_value,
    *,
    void_where_invalid: bool = False,
    regions: str = AnomalySuite.regions,
    mask_threshold: float | None = None,
) -> MaskRules:
    """The rules by which the masks of a data set are read.

    Parameters: listed, the files; ignore_value, the value of void pixels in masks; void_where_invalid, whether pixels
    without a point in the clouds of the layout are void too; regions, "labels" if masks hold the numbers of regions;
    mask_threshold, the number above which values of masks are anomalous, by default the layout's, or None if masks hold
    0 and one other value.
    Raises ValueError for a `mask_threshold` below 0 or beside numbers of regions, for clouds of a layout without
    clouds, and for errors in a file of saturation areas.
    """
    value, clouds = check_ignore_value(ignore_value), as_bool(void_where_invalid, "void_where_invalid")
    layout = listed.data.layout
    if clouds and layout.clouds is None:
        raise ValueError(
            f"void_where_invalid: expected a layout with clouds of points, which mvtec-3d is, got {layout.name}"
        )
    with listed.archives.naming():
        threshold = _threshold_of(listed, check_regions(regions), mask_threshold)
        return MaskRules(value, clouds, regions, saturations_of(listed, value), threshold)


def _threshold_of(listed: AnomalyMaps, regions: str, mask_threshold: float | None) -> float | None:
    """The number above which values of masks are anomalous: as chosen, else of the layout."""
    if mask_threshold is None:
        return 0.0 if regions == "labels" else listed.data.layout.mask_threshold
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
    image: AnomalyImage,
    path: Path,
    resize: str | None,
    size: tuple[int, int] | None,
    rules: MaskRules,
    masks: Masks | None,
) -> MapAndMask:
    score_map = read_map(path)
    if image.masks:
        masks, origin = masks or read_masks(image, rules), image.masks[0]
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

    Parameters: as of `map_reader` and `rules_of`; progress, whether to show a bar on a terminal.
    """

    def problem(pair: Pair) -> str | None:
        try:
            read(pair)
        except (ValueError, TypeError, OSError) as error:
            return advice_of(error)
        return None

    try:
        read = map_reader(listed, rules_of(listed, ignore_value, **options), resize)
    except (ValueError, TypeError) as error:
        return [*listed.problems, advice_of(error)]
    lines = read_ahead(problem, listed.pairs)
    shown = progress_bar(lines, total=len(listed.pairs), unit=" images", shown=progress)
    return [*listed.problems, *(line for line in shown if line is not None)]


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
