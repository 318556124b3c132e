"""Anomaly maps and masks as they are given: stacks or lists, checked against each other."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.arrays import (
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


def as_maps(predictions: Any, references: Any) -> tuple[Any, Any]:
    """Check maps and masks; return scores in float32 or float64 and masks of booleans, as two stacks or two lists."""
    maps, masks = as_images(predictions, "predictions"), as_images(references, "references")
    check_lengths(predictions=maps, references=masks)
    return _as_stacks(maps, masks) or _as_lists(maps, masks)


def as_images(x: Any, name: str) -> Sequence[Array]:
    """The images of a stack, or of any sequence in which their shapes may differ."""
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


def _as_stacks(maps: Any, masks: Any) -> tuple[Array, Array] | None:
    """Two stacks that are in order as they are; None for lists, and where an image is wrong: its turn says which."""
    if isinstance(maps, list) or isinstance(masks, list) or maps.shape != masks.shape:
        return None
    maps, masks = on_one_device(maps, masks)
    xp = array_namespace(masks)
    flags = masks if masks.dtype == xp.bool else masks == 1
    scores = maps if is_narrow(maps) else widen(maps, "predictions")
    binary = flags is masks or bool(xp.all(flags | (masks == 0)))
    return (scores, flags) if binary and not _has_nan(scores) else None


def _as_lists(maps: Any, masks: Any) -> tuple[list[Array], list[Array]]:
    """Maps and masks one by one, on the device of the first; of one shape each pair, and not of one all pairs."""
    pairs = [
        _checked_pair(on_device(score_map, maps[0]), on_device(mask, maps[0]), i)
        for i, (score_map, mask) in enumerate(zip(maps, masks))
    ]
    return [score_map for score_map, _ in pairs], [mask for _, mask in pairs]


def _has_nan(scores: Array) -> bool:
    """Whether a stack of maps has a NaN."""
    xp = array_namespace(scores)
    if is_narrow(scores):
        return bool(xp.any(xp.isnan(scores)))
    # max passes it on, and is faster than isnan of every pixel
    return bool(math.prod(scores.shape)) and bool(xp.any(xp.isnan(xp.max(scores, axis=(1, 2)))))


def _checked_pair(score_map: Array, mask: Array, i: int) -> tuple[Array, Array]:
    if score_map.ndim != 2 or tuple(score_map.shape) != tuple(mask.shape):
        raise ValueError(
            f"predictions[{i}], references[{i}]: expected a map (H, W) and a mask of the same shape, "
            f"got {tuple(score_map.shape)} and {tuple(mask.shape)}"
        )
    mask = as_binary(mask, f"references[{i}]", is_floating(mask) and not is_floating(score_map))
    if not is_narrow(score_map):
        score_map = widen(score_map, f"predictions[{i}]")
    check_no_nan(score_map, f"predictions[{i}]")
    return score_map, mask


def as_binary(mask: Array, name: str, swapped: bool = False) -> Array:
    """A mask as booleans. Raises ValueError unless it holds 0 and 1; swapped, whether it looks like a map."""
    xp = array_namespace(mask)
    if mask.dtype == xp.bool:
        return mask
    ones = mask == 1
    others = ~ones & (mask != 0)
    if bool(xp.any(others)):
        raise ValueError(
            f"{name}: expected a mask of 0 and 1 or booleans, got {mask[others][0].item()!r}; "
            + ("are predictions and references swapped?" if swapped else "binarise it, for example mask > 0")
        )
    return ones


def image_labels_of(masks: Any) -> Array:
    """Whether each mask has an anomaly."""
    if not isinstance(masks, list):
        return array_namespace(masks).any(masks, axis=(1, 2))
    return np.asarray([bool(array_namespace(mask).any(mask)) for mask in masks], dtype=bool)
