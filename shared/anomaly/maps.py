"""Anomaly maps and masks: checked, and reduced to the scores of images and of pixels, region by region."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.arrays import (
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
from ..core.columns import as_flags, as_numbers, as_scores, check_lengths, check_no_nan
from ..core.rounding import check_bits, checked_bits, cut
from ..core.states import check_arrays, check_rows, count_column, flag_column, integer_column, score_column
from .image_scores import check_reduction, checked_reduction, reduced_maps
from .regions import RegionPixels, pixels_by_region
from .void import check_ignore_value, check_left, checked_ignore_value, pixels_left, without_void

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class AnomalyState(RegionPixels):
    """Scores of images, and of their pixels.

    image_scores: (N,) higher is more anomalous
    image_labels: (N,) whether the image is anomalous
    image_reduction: what image scores were made of maps by, as a text
    significant_bits: how many of a pixel's score were kept; absent where all were
    ignore_value: that of void pixels in masks, which were not counted; absent where there is none
    """

    image_scores: Array
    image_labels: Array
    image_reduction: np.ndarray
    significant_bits: NotRequired[np.ndarray]
    ignore_value: NotRequired[np.ndarray]


def as_anomaly_state(
    state: Mapping[str, Any],
    *,
    image_reduction: str | int = "max",
    significant_bits: int | None = None,
    ignore_value: int | None = None,
) -> AnomalyState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce_maps` cannot have made."""
    pixels = ("normal", "anomalous", "region_sizes", "num_normal", "num_regions")
    names = ("image_scores", "image_labels", *pixels, "image_reduction")
    optional = ("normal_counts", "significant_bits", "ignore_value")
    check_arrays(state, [*names, *optional], optional)
    checked: Any = {
        "image_scores": score_column(state, "image_scores"),
        "image_labels": flag_column(state, "image_labels"),
        "normal": score_column(state, "normal"),
        "anomalous": score_column(state, "anomalous"),
        "region_sizes": integer_column(state, "region_sizes", 1, MAX_EXACT),
        "num_normal": integer_column(state, "num_normal", 0, MAX_EXACT),
        "num_regions": integer_column(state, "num_regions", 0, MAX_EXACT),
        "image_reduction": checked_reduction(state, image_reduction),
        **checked_bits(state, significant_bits),
        **checked_ignore_value(state, ignore_value),
    }
    if "normal_counts" in state:
        checked["normal_counts"] = count_column(state, "normal_counts")
    for table in (("image_scores", "image_labels", "num_normal", "num_regions"), ("normal", "normal_counts")):
        check_rows({name: column for name, column in checked.items() if name in table})
    _check_sum(checked["region_sizes"], "region_sizes", len(checked["anomalous"]), "anomalous pixels")
    _check_sum(checked["num_regions"], "num_regions", len(checked["region_sizes"]), "regions")
    if "normal_counts" not in checked:  # pixels that have been counted may be those of several images
        _check_sum(checked["num_normal"], "num_normal", len(checked["normal"]), "normal pixels")
    return checked


def _check_sum(numbers: np.ndarray, name: str, total: int, what: str) -> None:
    if sum(numbers.tolist()) != total:
        raise ValueError(f"state: expected {name} of {total} {what} together, got {sum(numbers.tolist())}")


def reduce_maps(
    predictions: Any,
    references: Any,
    image_scores: Any = None,
    image_labels: Any = None,
    *,
    image_reduction: str | int = "max",
    significant_bits: int | None = None,
    ignore_value: int | None = None,
) -> AnomalyState:
    """Reduce a batch of anomaly maps and masks to the scores of their pixels, regions and images.

    Parameters: predictions (N, H, W) anomaly maps, higher is more anomalous, or a list of (H_i, W_i); references,
    masks of the same shapes, 0 or False for normal; image_scores and image_labels (N,), by default the map's
    maximum (or what `image_reduction` says: "mean", or an int k for the mean of the k highest) and whether the
    mask has an anomaly; significant_bits in [4, 52], how many bits of each pixel's score are kept (see `cut`), for
    memory that does not grow with the normal pixels, unless intervals are asked for at load; None keeps them as they
    are. Scores of images are kept whole; ignore_value, that of void pixels in the masks, such as 255: they are neither
    normal nor anomalous, part regions, and do not count for the scores and labels of images.

    Returns an `AnomalyState`.
    Raises ValueError for NaN, shapes that differ, masks that are not binary, k beyond the pixels of a map, an image
    that is all void without a score and a label of its own.
    """
    value, voids = check_ignore_value(ignore_value), None
    if value is not None:
        references, voids = without_void(_images(references, "references"), value)
    reduction, bits = check_reduction(image_reduction), check_bits(significant_bits)
    maps, masks = as_maps(predictions, references)
    if voids is not None and (image_scores is None or image_labels is None):
        check_left(voids)
    left = maps if voids is None else pixels_left(maps, voids)
    scores = reduced_maps(left, image_reduction) if image_scores is None else as_scores(image_scores, "image_scores")
    labels = _image_labels(masks) if image_labels is None else as_flags(image_labels, "image_labels")
    check_lengths(predictions=maps, image_scores=scores, image_labels=labels)
    scores, labels = on_one_device(scores, labels)
    pixels = pixels_by_region(list(zip(maps, masks)), voids)
    state: Any = {"image_scores": scores, "image_labels": labels, "image_reduction": reduction, **pixels}
    if bits is not None:
        state["normal"], state["anomalous"] = cut(pixels["normal"], bits), cut(pixels["anomalous"], bits)
        state["significant_bits"] = np.asarray(bits)
    if value is not None:
        state["ignore_value"] = np.asarray(value)
    return state


def as_maps(predictions: Any, references: Any) -> tuple[Any, Any]:
    """Check maps and masks; return scores in float32 or float64 and masks of booleans, as two stacks or two lists."""
    maps, masks = _images(predictions, "predictions"), _images(references, "references")
    check_lengths(predictions=maps, references=masks)
    return _as_stacks(maps, masks) or _as_lists(maps, masks)


def _images(x: Any, name: str) -> Sequence[Array]:
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
    if not is_narrow(score_map):
        score_map = widen(score_map, f"predictions[{i}]")
    check_no_nan(score_map, f"predictions[{i}]")
    return score_map, mask


def _image_labels(masks: Any) -> Array:
    """Whether each mask has an anomaly."""
    if not isinstance(masks, list):
        return array_namespace(masks).any(masks, axis=(1, 2))
    return np.asarray([bool(array_namespace(mask).any(mask)) for mask in masks], dtype=bool)
