"""Anomaly maps: pixels by region.

A batch of maps and masks becomes the scores of the normal pixels, those of the anomalous pixels grouped by region,
and the sizes of the regions. Regions are the 8-connected components of a mask; they are found in the part of each
mask that holds them, by SciPy on the CPU.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import (
    Array,
    State,
    array_namespace,
    as_flags,
    as_int,
    as_numbers,
    as_scores,
    check_lengths,
    check_no_nan,
    concatenate,
    is_floating,
    is_numpy_array,
    is_torch_array,
    on_device,
    on_one_device,
    to_numpy,
    widen,
)
from ._counts import split

REDUCTIONS = ("max", "mean")


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
        image_scores = _image_scores(maps, image_reduction)
    if image_labels is None:
        image_labels = _image_labels(masks)
    image_scores, image_labels = as_scores(image_scores, "image_scores"), as_flags(image_labels, "image_labels")
    check_lengths(predictions=maps, image_scores=image_scores, image_labels=image_labels)
    image_scores, image_labels = on_one_device(image_scores, image_labels)
    return {"image_scores": image_scores, "image_labels": image_labels, **_pixels(list(zip(maps, masks)))}


def _pixels(pairs: Sequence[tuple[Array, Array]]) -> State:
    """Scores of all maps' pixels: the normal ones, the anomalous ones region by region, and the regions' sizes."""
    if not pairs:
        empty = np.zeros(0, dtype=np.float32)
        return {"normal": empty, "anomalous": empty, "region_sizes": np.zeros(0, dtype=np.int64)}
    xp = array_namespace(*(score_map for score_map, _ in pairs))
    num_normal = sum(math.prod(mask.shape) - int(array_namespace(mask).count_nonzero(mask)) for _, mask in pairs)
    dtype = xp.result_type(*(score_map for score_map, _ in pairs))
    # filled map by map: joining the parts in the end would hold all pixels twice
    normal, at = xp.empty((num_normal,), dtype=dtype, device=pairs[0][0].device), 0
    anomalous, sizes = [], []
    for score_map, mask in pairs:
        part, regions, region_sizes = split_regions(score_map, mask)
        normal[at : at + part.shape[0]] = part
        at += part.shape[0]
        anomalous.append(regions)
        sizes.append(region_sizes)
    return {
        "normal": normal,
        "anomalous": concatenate(anomalous),
        "region_sizes": np.concatenate(sizes).astype(np.int64),
    }


def check_reduction(image_reduction: Any) -> None:
    """Check that an image reduction is "max", "mean" or a positive int."""
    if not isinstance(image_reduction, str):
        as_int(image_reduction, "image_reduction", 1)
    elif image_reduction not in REDUCTIONS:
        raise ValueError(f"image_reduction: expected 'max', 'mean' or an int, got {image_reduction!r}")


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
    images = on_one_device(*maps, *masks)
    pairs = [_checked_pair(*pair, i) for i, pair in enumerate(zip(images[: len(maps)], images[len(maps) :]))]
    return [score_map for score_map, _ in pairs], [mask for _, mask in pairs]


def _has_nan(scores: Array) -> bool:
    """Whether there is a NaN in a stack of maps; it is then the maximum of its map, which is quick to find."""
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


def _image_scores(maps: Any, image_reduction: str | int) -> Array:
    if not isinstance(maps, list) and image_reduction == "max" and math.prod(maps.shape):
        return array_namespace(maps).max(maps, axis=(1, 2))
    return _stack_scalars([_image_score(score_map, image_reduction) for score_map in maps])


def _image_labels(masks: Any) -> np.ndarray:
    """Whether each mask has an anomaly."""
    if not isinstance(masks, list):
        return to_numpy(array_namespace(masks).any(masks, axis=(1, 2)))
    return np.asarray([bool(array_namespace(mask).any(mask)) for mask in masks], dtype=bool)


def _image_score(score_map: Array, image_reduction: str | int) -> Array:
    xp = array_namespace(score_map)
    if math.prod(score_map.shape) == 0:
        raise ValueError(f"predictions: expected maps with pixels, got shape {tuple(score_map.shape)}")
    if image_reduction == "max":
        return xp.max(score_map)
    # in float64 and in one order, so that equal values give equal means
    pixels = xp.astype(xp.reshape(score_map, (-1,)), xp.float64)
    if image_reduction != "mean":
        k = as_int(image_reduction, "image_reduction", 1, pixels.shape[0])
        pixels = xp.sort(pixels)[-k:]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = xp.sum(pixels) / pixels.shape[0]
    if bool(xp.isnan(mean)):
        raise ValueError(
            f"predictions: expected maps with a mean (image_reduction={image_reduction!r}), got +inf and -inf"
        )
    return mean


def _stack_scalars(values: list[Array]) -> Array:
    if not values or isinstance(values[0], (np.ndarray, np.generic)):
        return np.asarray(values, dtype=np.result_type(*values) if values else np.float32)
    return array_namespace(values[0]).stack(values)


def split_regions(score_map: Array, mask: Array) -> tuple[Array, Array, np.ndarray]:
    """Split one map's pixels into normal ones, and anomalous ones region by region with the regions' sizes.

    Parameters: score_map (H, W); mask (H, W) booleans. Regions are 8-connected.

    >>> scores, mask = np.asarray([[1, 2, 3], [4, 5, 6]]), np.asarray([[1, 0, 1], [0, 0, 1]], dtype=bool)
    >>> [part.tolist() for part in split_regions(scores, mask)]
    [[2, 4, 5], [1, 3, 6], [1, 2]]
    """
    xp = array_namespace(score_map, mask)
    mask = mask if mask.dtype == xp.bool else mask != 0
    pixels, flat = xp.reshape(score_map, (-1,)), xp.reshape(mask, (-1,))
    anomalous = to_numpy(xp.nonzero(flat)[0])
    if not len(anomalous):
        return pixels, pixels[:0], np.zeros(0, dtype=np.int64)
    regions = _components(to_numpy(mask), anomalous)
    order = np.argsort(regions, kind="stable")
    inside, outside = split(pixels, flat)
    return outside, inside[on_device(order, inside)], np.bincount(regions)[1:]


def _components(mask: np.ndarray, anomalous: np.ndarray) -> np.ndarray:
    """Number of the 8-connected component of each anomalous pixel (flat indices), from 1."""
    from scipy import ndimage  # its import takes longer than most metrics

    rows, columns = np.divmod(anomalous, mask.shape[1])
    top, left = rows[0], columns.min()
    part = mask[top : rows[-1] + 1, left : columns.max() + 1]
    labels, _ = ndimage.label(part, structure=np.ones((3, 3), dtype=bool))
    return labels[rows - top, columns - left]
