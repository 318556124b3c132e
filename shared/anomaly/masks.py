"""Anomaly maps and masks of a batch, checked once: stacks or lists, with void pixels and with masks of defects.

The score and the label of an image are given, or follow from its pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    Array,
    array_namespace,
    check_not_sparse,
    device_of,
    equal,
    is_floating,
    is_narrow,
    is_torch_array,
    on_device,
    on_one_device,
    to_numpy,
    widen,
    without_arrow,
)
from ..arrays.checks import as_flags, as_int, as_labels, as_numbers, as_scores, check_lengths, check_no_nan
from ..arrays.exact import digits_of, shifted_sum
from ..arrays.threads import in_threads, parts_of, threads_for

KEYS = ("masks", "saturation_areas")  # of a reference with defects
_SUMMED = 1 << 26  # pixels: sums of halves of so many mantissas are exact in float64
_SWAPPED = "are predictions and references swapped?"


class Defects(NamedTuple):
    """The defects of an image: their masks (D, H, W), booleans, and their saturation areas (D,)."""

    masks: Array
    areas: np.ndarray


class CheckedImages(NamedTuple):
    """Maps and masks of images, of equal shapes and on one device: all stacks (N, H, W), or all lists of (H_i, W_i)."""

    maps: Any  # scores without NaN, in float32, float64 or a type of 16 bits at most
    masks: Any  # booleans, whether a pixel is anomalous, or int64, k > 0 in region k; void pixels are normal here
    voids: Any = None  # booleans, whether a pixel is void; None if no pixel is
    defects: Sequence[Defects] | None = None  # the defects of each image; None if references are plain masks
    maxima: Array | None = None  # (N,) the highest score of each map; None unless the check for NaN computed it


def checked_images(predictions: Any, references: Any, ignore_value: int | None, regions: str) -> CheckedImages:
    """Check maps and masks, or dicts with separate defects (see `_as_defects`), and convert them.

    Masks become booleans if regions are "components", and integers if they are "labels". Raises ValueError for NaN,
    other shapes and other values, and for masks in which regions cannot be found; TypeError for other types.
    """
    maps = as_images(predictions, "predictions")
    masks, voids, defects = _truth(references, maps, ignore_value, regions)
    check_lengths(predictions=maps, references=masks)
    checked = None
    if regions == "components" and not isinstance(maps, list) and not isinstance(masks, list):
        checked = _as_stacks(maps, masks)
    if checked is None:
        checked = _as_lists(maps, masks, as_binary if regions == "components" else as_region_numbers)
    if regions == "components":
        _check_shapes(checked.masks)
    if voids is not None:
        if isinstance(checked.maps, list) or isinstance(voids, list):
            voids = [on_device(void, score_map) for void, score_map in zip(voids, checked.maps)]
        else:
            voids = on_device(voids, checked.maps)
    return checked._replace(voids=voids, defects=defects)


def as_images(x: Any, name: str) -> Sequence[Array]:
    """The images of a stack, or of any sequence; shapes may differ in the latter."""
    x = without_arrow(x)
    if (isinstance(x, np.ndarray) and x.dtype != object) or is_torch_array(x):
        stack = as_numbers(x, name)
        if stack.shape == (0,):
            return []
        if stack.ndim != 3:
            raise ValueError(f"{name}: expected (N, H, W) or a list of (H, W), got shape {tuple(stack.shape)}")
        return stack
    if isinstance(x, (str, bytes, Mapping)) or not isinstance(x, Iterable):
        raise TypeError(f"{name}: expected (N, H, W) or a list of (H, W), got {type(x).__name__}")
    return [as_numbers(row, f"{name}[{i}]") for i, row in enumerate(x)]


def _as_stacks(maps: Array, masks: Array) -> CheckedImages | None:
    """Two stacks that pass all checks as a whole; None if an image is wrong, which is named when its turn
    comes.
    """
    if maps.shape != masks.shape:
        return None
    if not (isinstance(maps, np.ndarray) and isinstance(masks, np.ndarray)):
        maps, masks = on_one_device(maps, masks)
    xp = array_namespace(masks)
    flags = masks if masks.dtype == xp.bool else masks == 1
    if flags is not masks and not bool(xp.all(flags | (masks == 0))):
        return None
    if is_narrow(maps):
        return None if bool(xp.any(xp.isnan(maps))) else CheckedImages(maps, flags)
    scores = widen(maps, "predictions")
    # a maximum passes NaN on, and is faster than isnan of every pixel
    highest = maxima(scores) if math.prod(scores.shape) else None
    has_nan = highest is not None and bool(xp.any(xp.isnan(highest)))
    return None if has_nan else CheckedImages(scores, flags, maxima=highest)


def maxima(maps: Array) -> Array:
    """The highest score of each map of a stack (N, H, W) with pixels, (N,); NaN for a map with a NaN."""
    if not isinstance(maps, np.ndarray):
        return array_namespace(maps).max(maps, axis=(1, 2))
    threads = min(threads_for(maps.size), len(maps))
    if threads == 1:
        return maps.max(axis=(1, 2))
    parts = parts_of(len(maps), threads)
    return np.concatenate(in_threads([partial(np.max, maps[part], axis=(1, 2)) for part in parts], threads))


def _as_lists(maps: Any, masks: Any, as_mask: Callable[[Array, str, bool], Array]) -> CheckedImages:
    """Check maps and masks pair by pair, on the device of the first; pairs may differ in shape."""
    checked = CheckedImages([], [])
    for i, (score_map, mask) in enumerate(zip(maps, masks)):
        score_map, mask = on_device(score_map, maps[0]), on_device(mask, maps[0])
        if score_map.ndim != 2 or tuple(score_map.shape) != tuple(mask.shape):
            raise ValueError(
                f"predictions[{i}], references[{i}]: expected a map (H, W) and a mask of the same shape, "
                f"got {tuple(score_map.shape)} and {tuple(mask.shape)}"
            )
        checked.masks.append(as_mask(mask, f"references[{i}]", is_floating(mask) and not is_floating(score_map)))
        if not is_narrow(score_map):
            score_map = widen(score_map, f"predictions[{i}]")
        check_no_nan(score_map, f"predictions[{i}]")
        checked.maps.append(score_map)
    return checked


def as_binary(mask: Array, name: str, swapped: bool = False) -> Array:
    """A mask as booleans. Raises ValueError unless it holds 0 and 1; `swapped` says whether it looks like a map."""
    xp = array_namespace(mask)
    if mask.dtype == xp.bool:
        return mask
    ones = mask == 1
    others = ~ones & (mask != 0)
    if bool(xp.any(others)):
        cure = _SWAPPED if swapped else "binarise it, for example mask > 0"
        raise ValueError(f"{name}: expected a mask of 0 and 1 or booleans, got {mask[others][0].item()!r}; {cure}")
    return ones


def as_region_numbers(mask: Array, name: str, swapped: bool = False) -> Array:
    """A mask as int64, 0 for normal pixels and k > 0 in region k; ValueError for other values; swapped as before."""
    xp = array_namespace(mask)
    if is_floating(mask):
        wrong = ~((mask >= 0) & (mask < MAX_EXACT) & (mask == xp.round(mask)))
    else:
        wrong = mask < 0 if xp.isdtype(mask.dtype, "signed integer") else xp.zeros_like(mask, dtype=xp.bool)
    if bool(xp.any(wrong)):
        cure = f"; {_SWAPPED}" if swapped else ""
        raise ValueError(
            f"{name}: expected the region of each pixel, an integer of at least 0, got {mask[wrong][0].item()!r}{cure}"
        )
    return xp.astype(mask, xp.int64)


def _check_shapes(masks: Any) -> None:
    """Raise ValueError for a mask of one row or column with several anomalous pixels, which have no regions."""
    if not isinstance(masks, list) and min(masks.shape[1:]) > 1:
        return
    for i, mask in enumerate(masks):
        if min(mask.shape) == 1 and int(array_namespace(mask).count_nonzero(mask)) > 1:
            raise ValueError(
                f"references[{i}]: expected a mask with rows and columns, since regions are grown from neighbouring "
                f"pixels, got shape {tuple(mask.shape)}; for point clouds give the region of each point, from 1, and 0 "
                "for normal ones, with regions='labels'"
            )


def _truth(
    references: Any, maps: Sequence[Array], ignore_value: int | None, regions: str
) -> tuple[Any, Any, list[Defects] | None]:
    """Masks without void pixels, where these are, and defects; None for voids and defects if there are none.

    Where images have defects, masks are their unions or, with the regions "labels", their numbers.
    """
    rows = without_arrow(references)
    is_array = (isinstance(rows, np.ndarray) and rows.dtype != object) or is_torch_array(rows)
    if not is_array and isinstance(rows, Iterable) and not isinstance(rows, (str, bytes, Mapping)):
        rows = list(rows)
        if any(isinstance(row, Mapping) for row in rows):
            return _union_of_defects(rows, maps, ignore_value, regions)
    masks = as_images(rows, "references")
    return (masks, None, None) if ignore_value is None else (*without_void(masks, ignore_value), None)


def without_void(masks: Any, ignore_value: int) -> tuple[Any, Any]:
    """Masks, a stack or a list, with 0 for void pixels; and where these are, None if there are none.

    >>> without_void([np.asarray([[0, 255, 1]])], 255)
    ([array([[0, 0, 1]])], [array([[False,  True, False]])])
    """
    if isinstance(masks, list):
        flags = [equal(mask, ignore_value) for mask in masks]
        if not any(bool(array_namespace(void).any(void)) for void in flags):
            return masks, None
        xps = map(array_namespace, masks)
        return [xp.where(void, xp.zeros_like(x), x) for xp, x, void in zip(xps, masks, flags)], flags
    void = equal(masks, ignore_value)
    xp = array_namespace(void)
    return (xp.where(void, xp.zeros_like(masks), masks), void) if bool(xp.any(void)) else (masks, None)


def check_left(voids: Any) -> None:
    """Raise ValueError for an entirely void image, whose pixels give neither a score nor a label."""
    for i, void in enumerate(voids):
        if math.prod(void.shape) and bool(array_namespace(void).all(void)):
            raise ValueError(
                f"references[{i}]: expected a pixel that is not void, since the image's score and label come of its "
                "pixels; give image_scores and image_labels where images are all void"
            )


def _union_of_defects(
    references: Sequence[Any], maps: Sequence[Array], ignore_value: int | None, regions: str
) -> tuple[list[Array], list[Array] | None, list[Defects]]:
    """The masks of images, their void pixels, and their defects: see `_truth` and `_as_defects`."""
    check_lengths(predictions=maps, references=references)
    names = [f"references[{i}]" for i in range(len(references))]
    rows = [_as_defects(row, score_map, name, ignore_value) for row, score_map, name in zip(references, maps, names)]
    defects = [defects_of_image for _, defects_of_image in rows]
    if regions == "labels":
        masks = [_numbered(each.masks, name) for each, name in zip(defects, names)]
    else:
        masks = [array_namespace(each.masks).any(each.masks, axis=0) for each in defects]
    return masks, None if ignore_value is None else [void for void, _ in rows], defects


def _as_defects(row: Any, score_map: Array, name: str, ignore_value: int | None) -> tuple[Array, Defects]:
    """The void pixels of an image, and its defects without them.

    Parameters: row, {"masks": (D, H, W), "saturation_areas": (D,)}, D ≥ 0; score_map, whose shape void pixels have
    where D is 0; name, for errors; ignore_value, the value of void pixels, in whatever mask.
    Raises TypeError for anything but such a dict, ValueError for shapes, values other than 0 and 1, areas below 1.
    """
    check_not_sparse(row, name)  # SciPy's dictionary of keys is a dict
    if not isinstance(row, Mapping) or row.keys() != {*KEYS}:
        came = ", ".join(map(str, row)) or "nothing" if isinstance(row, Mapping) else type(row).__name__
        raise TypeError(f"{name}: expected a dict of {' and '.join(KEYS)}, as the others are, got {came}")
    masks = as_numbers(row["masks"], f"{name}['masks']")
    if masks.shape == (0,):  # an empty list
        masks = masks.reshape((0, *score_map.shape))
    if masks.ndim != 3:
        raise ValueError(f"{name}['masks']: expected (D, H, W), got shape {tuple(masks.shape)}")
    areas = to_numpy(as_labels(row["saturation_areas"], f"{name}['saturation_areas']"))
    if len(areas) != len(masks) or not 1 <= int(areas.min(initial=1)) <= int(areas.max(initial=1)) <= MAX_EXACT:
        raise ValueError(
            f"{name}['saturation_areas']: expected numbers of pixels, at least 1, of {len(masks)} masks, "
            f"got {', '.join(map(str, areas.tolist()[:9])) or 'none'}"
        )
    xp = array_namespace(masks)
    void = xp.zeros(masks.shape[1:], dtype=xp.bool, device=device_of(masks))
    if ignore_value is not None:
        masks, voids = without_void(masks, ignore_value)
        void = void if voids is None else xp.any(voids, axis=0)
    return void, Defects(as_binary(masks, f"{name}['masks']") & ~void, areas)


def _numbered(masks: Array, name: str) -> Array:
    """The number of each pixel's defect, from 1, (H, W); 0 where there is none."""
    xp = array_namespace(masks)
    shared = int(xp.count_nonzero(xp.sum(xp.astype(masks, xp.int64), axis=0) > 1))
    if shared:
        raise ValueError(f"{name}['masks']: expected defects that share no pixel, with regions='labels'; got {shared}")
    numbers = xp.arange(1, masks.shape[0] + 1, dtype=xp.int64, device=device_of(masks))
    return xp.sum(masks * numbers[:, None, None], axis=0)


def image_columns(
    images: CheckedImages, image_scores: Any, image_labels: Any, image_reduction: str | int
) -> dict[str, Array]:
    """The scores and labels of images: from their own columns, or from their pixels that are not void."""
    maps, masks, voids = images.maps, images.masks, images.voids
    if voids is not None and (image_scores is None or image_labels is None):
        check_left(voids)
    if image_scores is not None:
        scores = as_scores(image_scores, "image_scores")
    elif images.maxima is not None and voids is None and image_reduction == "max":
        scores = images.maxima
    else:
        valid = maps if voids is None else [score_map[~void] for score_map, void in zip(maps, voids)]
        scores = reduced_maps(valid, image_reduction)
    if image_labels is not None:
        labels = as_flags(image_labels, "image_labels")
    elif isinstance(masks, list):
        labels = np.asarray([bool(array_namespace(mask).any(mask != 0)) for mask in masks], dtype=bool)
    else:
        xp = array_namespace(masks)
        labels = xp.any(xp.reshape(masks, (len(masks), math.prod(masks.shape[1:]))), axis=1)  # two axes would be copied
    if image_scores is not None or image_labels is not None:
        check_lengths(predictions=maps, image_scores=scores, image_labels=labels)
    if not (isinstance(scores, np.ndarray) and isinstance(labels, np.ndarray)):
        scores, labels = on_one_device(scores, labels)
    return {"image_scores": scores, "image_labels": labels}


def reduced_maps(maps: Any, image_reduction: str | int) -> Array:
    """The score of each map: its maximum, its mean ("mean"), or the mean of its k highest pixels (k).

    Parameters: maps (N, H, W) or a list of (H_i, W_i), real and without NaN.
    Returns (N,) on the device of the maps. Raises ValueError for a map without pixels, k beyond its pixels, and a mean
    of +inf and -inf.
    """
    if not isinstance(maps, list) and image_reduction == "max" and math.prod(maps.shape):
        return maxima(widen(maps))
    scores = np.asarray([_reduced(widen(score_map), image_reduction) for score_map in maps], dtype=np.float64)
    return on_device(scores, maps[0]) if len(scores) else scores


def _reduced(score_map: Array, image_reduction: str | int) -> float:
    xp = array_namespace(score_map)
    if math.prod(score_map.shape) == 0:
        raise ValueError(f"predictions: expected maps with pixels, got shape {tuple(score_map.shape)}")
    if image_reduction == "max":
        return float(xp.max(score_map))
    pixels = xp.reshape(score_map, (-1,))
    if image_reduction != "mean":
        k = as_int(image_reduction, "image_reduction", 1, pixels.shape[0])
        pixels = xp.sort(pixels)[-k:]
    infinite = {float(value) for value in (xp.min(pixels), xp.max(pixels)) if bool(xp.isinf(value))}
    if len(infinite) > 1:
        raise ValueError(
            f"predictions: expected maps with a mean (image_reduction={image_reduction!r}), got +inf and -inf"
        )
    return infinite.pop() if infinite else exact_mean(pixels)


def exact_mean(values: Array) -> float:
    """The mean of finite values, rounded once: identical in any order and on any device, without overflow.

    >>> exact_mean(np.asarray([0.1] * 77)), exact_mean(np.asarray([1e308, 1.5e308]))
    (0.1, 1.25e+308)
    """
    values, total = to_numpy(values), Fraction()
    for start in range(0, len(values), _SUMMED):
        digits, places, unit = digits_of(values[start : start + _SUMMED])
        total += shifted_sum(digits, places) * unit
    return float(total / len(values))
