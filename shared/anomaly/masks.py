"""Anomaly maps and masks: stacks or lists, checked against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    Array,
    array_namespace,
    is_floating,
    is_narrow,
    is_numpy_array,
    is_torch_array,
    on_device,
    on_one_device,
    widen,
    without_arrow,
)
from ..arrays.columns import as_numbers, check_lengths, check_no_nan
from .image_scores import maxima

AsMask = Callable[[Array, str, bool], Array]
_SWAPPED = "are predictions and references swapped?"


class CheckedMaps(NamedTuple):
    """Scores in float32 or float64 and masks of the same shapes, as two stacks or two lists.

    maxima: (N,) the highest score of each map; None unless the check for NaN computed it
    """

    maps: Any
    masks: Any
    maxima: Array | None = None


def checked_maps(maps: Any, masks: Any, regions: str) -> CheckedMaps:
    """Check maps and masks, and convert them.

    Masks are booleans if regions are "components", and integers of at least 0 if they are "labels". Raises ValueError
    for NaN, other shapes and other values, and for masks in which regions cannot be found.
    """
    check_lengths(predictions=maps, references=masks)
    if regions == "labels":
        return _as_lists(maps, masks, as_region_numbers)
    checked = _as_stacks(maps, masks) or _as_lists(maps, masks, as_binary)
    _check_shapes(checked.masks)
    return checked


def as_images(x: Any, name: str) -> Sequence[Array]:
    """The images of a stack, or of any sequence; shapes may differ in the latter."""
    x = without_arrow(x)
    if (is_numpy_array(x) and x.dtype != object) or is_torch_array(x):
        stack = as_numbers(x, name)
        if stack.shape == (0,):
            return []
        if stack.ndim != 3:
            raise ValueError(f"{name}: expected (N, H, W) or a list of (H, W), got shape {tuple(stack.shape)}")
        return stack
    if isinstance(x, (str, bytes, Mapping)) or not isinstance(x, Iterable):
        raise TypeError(f"{name}: expected (N, H, W) or a list of (H, W), got {type(x).__name__}")
    return [as_numbers(row, f"{name}[{i}]") for i, row in enumerate(x)]


def _as_stacks(maps: Any, masks: Any) -> CheckedMaps | None:
    """Two stacks that pass all checks as a whole; None for lists, and for stacks with a wrong image, which is named
    when its turn comes.
    """
    if isinstance(maps, list) or isinstance(masks, list) or maps.shape != masks.shape:
        return None
    maps, masks = on_one_device(maps, masks)
    xp = array_namespace(masks)
    flags = masks if masks.dtype == xp.bool else masks == 1
    scores = maps if is_narrow(maps) else widen(maps, "predictions")
    binary = flags is masks or bool(xp.all(flags | (masks == 0)))
    if not binary:
        return None
    # a maximum passes NaN on, and is faster than isnan of every pixel
    highest = None if is_narrow(scores) or not math.prod(scores.shape) else maxima(scores)
    has_nan = bool(xp.any(xp.isnan(scores if highest is None else highest)))
    return None if has_nan else CheckedMaps(scores, flags, highest)


def _as_lists(maps: Any, masks: Any, as_mask: AsMask) -> CheckedMaps:
    """Check maps and masks pair by pair, on the device of the first; pairs may differ in shape."""
    pairs = [
        _checked_pair(on_device(score_map, maps[0]), on_device(mask, maps[0]), i, as_mask)
        for i, (score_map, mask) in enumerate(zip(maps, masks))
    ]
    return CheckedMaps([score_map for score_map, _ in pairs], [mask for _, mask in pairs])


def _checked_pair(score_map: Array, mask: Array, i: int, as_mask: AsMask) -> tuple[Array, Array]:
    if score_map.ndim != 2 or tuple(score_map.shape) != tuple(mask.shape):
        raise ValueError(
            f"predictions[{i}], references[{i}]: expected a map (H, W) and a mask of the same shape, "
            f"got {tuple(score_map.shape)} and {tuple(mask.shape)}"
        )
    mask = as_mask(mask, f"references[{i}]", is_floating(mask) and not is_floating(score_map))
    if not is_narrow(score_map):
        score_map = widen(score_map, f"predictions[{i}]")
    check_no_nan(score_map, f"predictions[{i}]")
    return score_map, mask


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
    for i, mask in enumerate(masks):
        if min(mask.shape) == 1 and int(array_namespace(mask).count_nonzero(mask)) > 1:
            raise ValueError(
                f"references[{i}]: expected a mask with rows and columns, since regions are grown from neighbouring "
                f"pixels, got shape {tuple(mask.shape)}; for point clouds give the region of each point, from 1, and 0 "
                "for normal ones, with regions='labels'"
            )


def image_labels_of(masks: Any) -> Array:
    """Whether each mask has an anomaly."""
    if not isinstance(masks, list):
        return array_namespace(masks).any(masks, axis=(1, 2))
    return np.asarray([bool(array_namespace(mask).any(mask != 0)) for mask in masks], dtype=bool)
