"""Anomaly maps and masks: checked, and reduced to the scores of images and of pixels, region by region."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import (
    Array,
    State,
    array_namespace,
    is_floating,
    is_numpy_array,
    is_torch_array,
    on_device,
    on_one_device,
    widen,
)
from ._columns import as_flags, as_numbers, as_scores, check_lengths, check_no_nan
from ._image_scores import check_reduction, reduced_maps
from ._regions import pixels_by_region


def reduce_maps(
    predictions: Any,
    references: Any,
    image_scores: Any = None,
    image_labels: Any = None,
    *,
    image_reduction: str | int = "max",
) -> State:
    """Reduce a batch of anomaly maps and masks to the scores of their pixels, regions and images.

    Parameters: predictions (N, H, W) anomaly maps, higher is more anomalous, or a list of (H_i, W_i); references,
    masks of the same shapes, 0 or False for normal; image_scores and image_labels (N,), by default the map's
    maximum (or what `image_reduction` says: "mean", or an int k for the mean of the k highest) and whether the
    mask has an anomaly.

    Returns `image_scores` and `image_labels` (N,), `normal` and `anomalous` pixel scores, the latter region by
    region, and `region_sizes` in that order.
    Raises ValueError for NaN, shapes that differ, masks that are not binary, k beyond the pixels of a map.
    """
    check_reduction(image_reduction)
    maps, masks = _images(predictions, "predictions"), _images(references, "references")
    check_lengths(predictions=maps, references=masks)
    maps, masks = _checked(maps, masks)
    if image_scores is None:
        image_scores = reduced_maps(maps, image_reduction)
    if image_labels is None:
        image_labels = _image_labels(masks)
    image_scores, image_labels = as_scores(image_scores, "image_scores"), as_flags(image_labels, "image_labels")
    check_lengths(predictions=maps, image_scores=image_scores, image_labels=image_labels)
    image_scores, image_labels = on_one_device(image_scores, image_labels)
    return {"image_scores": image_scores, "image_labels": image_labels, **pixels_by_region(list(zip(maps, masks)))}


def _images(x: Any, name: str) -> Sequence[Array]:
    """The images of a stack, or of any sequence in which their shapes may differ."""
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


def _checked(maps: Any, masks: Any) -> tuple[Any, Any]:
    """Maps in float32 or float64 without NaN, and masks of booleans of the same shapes: two stacks or two lists."""
    if not isinstance(maps, list) and not isinstance(masks, list) and maps.shape == masks.shape:
        maps, masks = on_one_device(maps, masks)
        xp = array_namespace(masks)
        flags = masks if masks.dtype == xp.bool else masks == 1
        scores = widen(maps, "predictions")
        binary = flags is masks or bool(xp.all(flags | (masks == 0)))
        if binary and not _has_nan(scores):  # else one of the images is wrong, and the message says which
            return scores, flags
    pairs = [
        _checked_pair(on_device(score_map, maps[0]), on_device(mask, maps[0]), i)
        for i, (score_map, mask) in enumerate(zip(maps, masks))
    ]
    return [score_map for score_map, _ in pairs], [mask for _, mask in pairs]


def _has_nan(scores: Array) -> bool:
    """Whether a stack of maps has a NaN; max passes it on, and is faster than isnan of every pixel."""
    xp = array_namespace(scores)
    return bool(math.prod(scores.shape)) and bool(xp.any(xp.isnan(xp.max(scores, axis=(1, 2)))))


def _checked_pair(score_map: Array, mask: Array, i: int) -> tuple[Array, Array]:
    if score_map.ndim != 2 or tuple(score_map.shape) != tuple(mask.shape):
        raise ValueError(
            f"predictions[{i}], references[{i}]: expected a map (H, W) and a mask of the same shape, "
            f"got {tuple(score_map.shape)} and {tuple(mask.shape)}"
        )
    xp = array_namespace(mask)
    if mask.dtype != xp.bool:
        ones = mask == 1
        if bool(xp.any(~ones & (mask != 0))):
            other = mask[~ones & (mask != 0)][0].item()
            swapped = is_floating(mask) and not is_floating(score_map)
            raise ValueError(
                f"references[{i}]: expected a mask of 0 and 1 or booleans, got {other!r}; "
                + ("are predictions and references swapped?" if swapped else "binarise it, for example mask > 0")
            )
        mask = ones
    score_map = widen(score_map, f"predictions[{i}]")
    check_no_nan(score_map, f"predictions[{i}]")
    return score_map, mask


def _image_labels(masks: Any) -> Array:
    """Whether each mask has an anomaly."""
    if not isinstance(masks, list):
        return array_namespace(masks).any(masks, axis=(1, 2))
    return np.asarray([bool(array_namespace(mask).any(mask)) for mask in masks], dtype=bool)
