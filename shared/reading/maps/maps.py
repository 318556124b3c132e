"""Resize maps, as torch.nn.functional.interpolate does."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ...anomaly.anomaly_suite import AnomalySuite, check_ignore_value, check_regions
from ...arrays.arrays import widen
from ...arrays.checks import as_bool, as_real
from ..images import image_size
from ..progress import progress_bar
from ..reasons import named
from .listing import AnomalyImage, AnomalyMaps
from .masks import MaskRules, Masks, invalid_pixels, read_masks, saturations_of
from .pixels import size_text
from .planes import read_map, read_mask_values

WAYS = ("nearest", "bilinear")


def resized_map(score_map: np.ndarray, shape: tuple[int, int], way: str) -> np.ndarray:
    """Resize a map: the pixel at ⌊i·H/H'⌋ ("nearest"), or interpolated between pixel centres at i + ½ ("bilinear").

    Parameters: score_map (H, W); shape (H', W'); way, "nearest" or "bilinear" (align_corners=False, no antialiasing).
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
        low, high, share = _neighbours(values.shape[axis], new)
        first, second = (np.take(values, at, axis=axis) for at in (low, high))
        share = share[:, None] if axis == 0 else share
        # the difference of two infinite neighbours is NaN
        with np.errstate(invalid="ignore"):
            values = np.where((first == second) | (share == 0), first, first * (1 - share) + second * share)
    small = score_map.dtype.kind == "f" and score_map.dtype.itemsize < values.dtype.itemsize
    return values.astype(np.float32) if small else values


def _neighbours(old: int, new: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two old pixels beside each new pixel, and the weight of the second."""
    place = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    low = place.astype(np.int64)
    return low, np.minimum(low + 1, old - 1), place - low


# Read files in several threads, in order.


THREADS = min(8, (os.cpu_count() or 1) + 2)  # some wait for the disk while others decode
_Item = TypeVar("_Item")
_Read = TypeVar("_Read")


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


# Read maps and masks, and check them against each other.


class MapAndMask(NamedTuple):
    """The anomaly map of an image, (H, W) in float32 or float64, and its masks."""

    score_map: np.ndarray
    masks: Masks


def map_reader(
    listed: AnomalyMaps,
    resize: str | None = None,
    ignore_value: int | None = AnomalySuite.ignore_value,
    *,
    void_where_invalid: bool = False,
    regions: str = AnomalySuite.regions,
    mask_threshold: float | None = None,
) -> Callable[[tuple[AnomalyImage, Path]], MapAndMask]:
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
    if clouds and (listed.data.layout is None or listed.data.layout.clouds is None):
        raise ValueError(
            "void_where_invalid: expected a layout with clouds of points, which mvtec-3d is, got "
            f"{listed.data.layout_name}"
        )
    size = None
    if resize is not None and listed.data.layout is None:
        size = _common_size(listed)
    threshold = _threshold_of(listed, check_regions(regions), mask_threshold)
    rules = MaskRules(value, clouds, regions, saturations_of(listed, value), threshold)
    return partial(_read, resize=resize, size=size, rules=rules)


def reading_options(record: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `map_reader` that results were computed with, from their entry "evaluation"."""
    options = record["options"]
    return {
        "resize": record["resize"],
        "ignore_value": options["ignore_value"],
        "void_where_invalid": record["void_where_invalid"],
        "regions": options["regions"],
        "mask_threshold": record["mask_threshold"],
    }


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
    pair: tuple[AnomalyImage, Path],
    resize: str | None,
    size: tuple[int, int] | None,
    rules: MaskRules,
) -> MapAndMask:
    image, path = pair
    score_map, masks = read_map(path), None
    if image.masks:
        masks, told_by = read_masks(image, rules), image.masks[0]
        wanted = masks.mask.shape
        if image.anomalous is False and masks.mask.any():
            count = np.count_nonzero(masks.mask)
            raise ValueError(f"{told_by}: expected no anomalous pixel of a normal image, got {count:,}")
    elif image.image is not None:
        width, height = image_size(image.image)
        wanted, told_by = (height, width), image.image
    else:
        wanted, told_by = size or score_map.shape, path
    if score_map.shape != wanted:
        if resize is None:
            raise ValueError(
                f"{path}: expected {size_text(wanted)} pixels as {told_by}, got {size_text(score_map.shape)};"
                " maps are resized with --resize nearest or bilinear only"
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
        raise ValueError(f"{told_by}: expected a pixel that is not void, got none")
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

    def problem(pair: tuple[AnomalyImage, Path]) -> str | None:
        try:
            read(pair)
        except (ValueError, TypeError, OSError) as error:
            return str(error)
        return None

    try:
        read = map_reader(listed, resize, ignore_value, **options)
    except (ValueError, TypeError) as error:
        return [*listed.problems, str(error)]
    bar = progress_bar(total=len(listed.pairs), unit=" images", shown=progress)
    with bar:
        lines = []
        for line in read_ahead(problem, listed.pairs):
            lines += [line] if line is not None else []
            bar.update()
    return [*listed.problems, *lines]


def check_names(listed: AnomalyMaps) -> None:
    """Raise ValueError with the first problem of the files' names, and the number of problems."""
    if listed.problems:
        more = f" (the first of {len(listed.problems)} problems: --list-problems)" if listed.problems[1:] else ""
        raise ValueError(listed.problems[0] + more)
