"""The state of a batch of anomaly maps and masks: scores of images and of pixels, region by region."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, array_namespace, on_device, on_one_device, to_numpy, widen
from ..arrays.checks import (
    as_flags,
    as_int,
    as_scores,
    check_arrays,
    check_lengths,
    check_rows,
    count_column,
    flag_column,
    integer_column,
    integer_scalar,
    score_column,
)
from ..arrays.exact import digits_of, shifted_sum
from ..arrays.sorting import split
from ..metric.prepared import MissingClassError
from ..ranking.counts import Side, as_side
from ..ranking.quantities import checked_bits
from .components import COMPONENT_ARRAYS, COMPONENT_TABLES, ComponentColumns, checked_components
from .images import checked_ids
from .masks import CheckedImages, check_left, maxima
from .regions import DEFECT_ARRAYS, DefectPixels, RegionPixels, check_defects, check_sum, checked_defects

if TYPE_CHECKING:
    from typing_extensions import NotRequired

    from .anomaly_suite import AnomalySuite


SCORES_OF_PIXELS = ("normal", "anomalous", "defect_pixels")  # in a state
_ARRAYS = (
    "image_scores",
    "image_labels",
    "normal",
    "anomalous",
    "region_sizes",
    "num_normal",
    "num_regions",
    "image_reduction",
)
_OPTIONAL = ("normal_counts", "significant_bits", "ignore_value", "regions", "samples")
_OF_IMAGES = ("image_scores", "image_labels", "num_normal", "num_regions", "num_defects", "samples", *COMPONENT_TABLES)
_SUMMED = 1 << 26  # pixels: sums of halves of so many mantissas are exact in float64


class AnomalyState(RegionPixels, DefectPixels, ComponentColumns):
    """Scores of images, and of their pixels.

    ignore_value: the value of void pixels in masks, which were not counted; absent if there is none
    regions: "labels" if masks held the numbers of regions; absent if regions are connected components
    """

    image_scores: Array  # (N,) higher is more anomalous
    image_labels: Array  # (N,) whether the image is anomalous
    image_reduction: np.ndarray  # how image scores were computed from maps, as a text
    significant_bits: NotRequired[np.ndarray]  # the number of bits kept of a pixel's score; absent if all were kept
    ignore_value: NotRequired[np.ndarray]
    regions: NotRequired[np.ndarray]
    samples: NotRequired[np.ndarray]  # (N,) the id of the sample that each image shows; absent if there are none


def checked_state(state: Mapping[str, Any], options: AnomalySuite) -> AnomalyState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `AnomalySuite` cannot have reduced."""
    rule = options.component_rule
    names = [*_ARRAYS, *(DEFECT_ARRAYS if state.keys() & DEFECT_ARRAYS else ()), *(COMPONENT_ARRAYS if rule else ())]
    check_arrays(state, [*names, *_OPTIONAL], _OPTIONAL)
    checked: Any = {
        "image_scores": score_column(state, "image_scores"),
        "image_labels": flag_column(state, "image_labels"),
        "normal": score_column(state, "normal"),
        "anomalous": score_column(state, "anomalous"),
        "region_sizes": integer_column(state, "region_sizes", 1, MAX_EXACT),
        "num_normal": integer_column(state, "num_normal", 0, MAX_EXACT),
        "num_regions": integer_column(state, "num_regions", 0, MAX_EXACT),
        **_checked_options(state, options),
        **checked_defects(state),
        **checked_components(state, rule),
        **checked_ids(state),
    }
    if "normal_counts" in state:
        checked["normal_counts"] = count_column(state, "normal_counts")
    for table in (_OF_IMAGES, ("normal", "normal_counts")):
        check_rows({name: column for name, column in checked.items() if name in table})
    check_sum(checked["region_sizes"], "region_sizes", len(checked["anomalous"]), "anomalous pixels")
    check_sum(checked["num_regions"], "num_regions", len(checked["region_sizes"]), "regions")
    if "normal_counts" not in checked:  # counted pixels may belong to several images
        check_sum(checked["num_normal"], "num_normal", len(checked["normal"]), "normal pixels")
    check_defects(checked)
    return checked


def _checked_options(state: Mapping[str, Any], options: AnomalySuite) -> dict[str, np.ndarray]:
    """The options that a state was reduced with, as its entries. Raises ValueError unless they are the same here."""
    reduction, value = state["image_reduction"], None
    if np.ndim(reduction) or str(reduction) != str(options.image_reduction):
        raise ValueError(
            f"state: expected image_reduction={options.image_reduction}, as here, got {str(reduction)[:80]}"
        )
    checked = {"image_reduction": np.asarray(str(reduction)), **checked_bits(state, options.significant_bits)}
    if "ignore_value" in state:
        value = int(integer_scalar(state, "ignore_value", LOWEST_VOID, HIGHEST_VOID))
        checked["ignore_value"] = np.asarray(value)
    if value != options.ignore_value:
        raise ValueError(f"state: expected ignore_value={options.ignore_value}, as here, got {value}")
    regions = str(state.get("regions", "components"))
    if regions != options.regions:
        raise ValueError(f"state: expected regions={options.regions!r}, as here, got {regions[:80]!r}")
    return {**checked, "regions": np.asarray(regions)} if "regions" in state else checked


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
        left = maps if voids is None else [score_map[~void] for score_map, void in zip(maps, voids)]
        scores = reduced_maps(left, image_reduction)
    if image_labels is not None:
        labels = as_flags(image_labels, "image_labels")
    elif isinstance(masks, list):
        labels = np.asarray([bool(array_namespace(mask).any(mask != 0)) for mask in masks], dtype=bool)
    else:
        labels = array_namespace(masks).any(masks, axis=(1, 2))
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


def level_sides(state: Mapping[str, Any], level: str) -> tuple[Side, Side]:
    """The anomalous and the normal side of a level, sorted; errors as of `level_scores`."""
    positives, negatives, counts = level_scores(state, level)
    return as_side(positives), as_side(negatives, counts)


def level_scores(state: Mapping[str, Any], level: str) -> tuple[Array, Array, Array | None]:
    """Scores of both sides of a level, and the number of samples that each normal score stands for; None: one each.

    Raises ValueError if there are no anomalous or no normal ones.
    """
    counts = None
    if level == "pixel":
        positives, negatives, counts = state["anomalous"], state["normal"], state.get("normal_counts")
    else:
        positives, negatives = split(state["image_scores"], state["image_labels"])
    if not positives.shape[0] or not negatives.shape[0]:
        raise MissingClassError(
            f"references: expected anomalous and normal {level}s, got {positives.shape[0]} anomalous and "
            f"{negatives.shape[0]} normal; leave {level!r} out of levels={LEVELS} to go without"
        )
    return positives, negatives, counts


LEVELS = ("image", "pixel")
LOWEST_VOID, HIGHEST_VOID = -(2**31), 2**31 - 1
