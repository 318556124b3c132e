"""Anomaly maps and masks: checked, and reduced to the scores of images and of pixels, region by region."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, on_one_device
from ..arrays.columns import as_flags, as_scores, check_lengths
from ..arrays.states import check_arrays, check_rows, count_column, flag_column, integer_column, score_column
from ..ranking.rounding import check_bits, checked_bits, cut
from .component_state import (
    COMPONENT_ARRAYS,
    COMPONENT_TABLES,
    ComponentColumns,
    check_rule,
    checked_components,
    component_columns,
)
from .image_scores import check_reduction, checked_reduction, reduced_maps
from .masks import CheckedMaps, as_images, checked_maps, image_labels_of
from .regions import RegionPixels, check_sum, pixels_by_region
from .samples import as_sample_ids, checked_ids
from .spro import DefectPixels, check_defects, checked_defects, defect_columns, saturated_pixels
from .truth import as_truth, check_regions, checked_regions
from .void import check_ignore_value, check_left, checked_ignore_value, pixels_left

if TYPE_CHECKING:
    from typing_extensions import NotRequired


SCORES_OF_PIXELS = ("normal", "anomalous", "defect_pixels")  # in a state


class AnomalyState(RegionPixels, DefectPixels, ComponentColumns):
    """Scores of images, and of their pixels.

    image_scores: (N,) higher is more anomalous
    image_labels: (N,) whether the image is anomalous
    image_reduction: how image scores were computed from maps, as a text
    significant_bits: the number of bits kept of a pixel's score; absent if all were kept
    ignore_value: the value of void pixels in masks, which were not counted; absent if there is none
    regions: "labels" if masks held the numbers of regions; absent if regions are connected components
    samples: (N,) the id of the sample that each image shows; absent if there are none
    """

    image_scores: Array
    image_labels: Array
    image_reduction: np.ndarray
    significant_bits: NotRequired[np.ndarray]
    ignore_value: NotRequired[np.ndarray]
    regions: NotRequired[np.ndarray]
    samples: NotRequired[np.ndarray]


def as_anomaly_state(
    state: Mapping[str, Any],
    *,
    image_reduction: str | int,
    significant_bits: int | None,
    ignore_value: int | None,
    regions: str,
    components: bool,
    pixel_threshold: float | None,
    min_predicted: int,
    min_object: int,
) -> AnomalyState:
    """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce_maps` cannot return."""
    pixels = ("normal", "anomalous", "region_sizes", "num_normal", "num_regions")
    names = ("image_scores", "image_labels", *pixels, "image_reduction")
    optional = ("normal_counts", "significant_bits", "ignore_value", "regions", "samples")
    rule = check_rule(components, pixel_threshold, min_predicted, min_object)
    check_arrays(state, [*names, *defect_columns(state), *(COMPONENT_ARRAYS if rule else ()), *optional], optional)
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
        **checked_regions(state, regions),
        **checked_defects(state),
        **checked_components(state, rule),
        **checked_ids(state),
    }
    if "normal_counts" in state:
        checked["normal_counts"] = count_column(state, "normal_counts")
    of_images = (
        "image_scores",
        "image_labels",
        "num_normal",
        "num_regions",
        "num_defects",
        "samples",
        *COMPONENT_TABLES,
    )
    for table in (of_images, ("normal", "normal_counts")):
        check_rows({name: column for name, column in checked.items() if name in table})
    check_sum(checked["region_sizes"], "region_sizes", len(checked["anomalous"]), "anomalous pixels")
    check_sum(checked["num_regions"], "num_regions", len(checked["region_sizes"]), "regions")
    if "normal_counts" not in checked:  # counted pixels may belong to several images
        check_sum(checked["num_normal"], "num_normal", len(checked["normal"]), "normal pixels")
    check_defects(checked)
    return checked


def map_state(
    predictions: Any,
    references: Any,
    image_scores: Any = None,
    image_labels: Any = None,
    samples: Any = None,
    *,
    image_reduction: str | int,
    significant_bits: int | None,
    ignore_value: int | None,
    regions: str,
    components: bool,
    pixel_threshold: float | None,
    min_predicted: int,
    min_object: int,
) -> AnomalyState:
    """The state of a batch: see `reduce_maps`."""
    value, kind = check_ignore_value(ignore_value), check_regions(regions)
    reduction, bits = check_reduction(image_reduction), check_bits(significant_bits)
    rule = check_rule(components, pixel_threshold, min_predicted, min_object)
    maps = as_images(predictions, "predictions")
    truth = as_truth(references, maps, value, kind)
    checked = checked_maps(maps, truth.masks, kind)
    maps, masks, _ = checked

    of_images = _image_columns(checked, truth.voids, image_scores, image_labels, image_reduction)
    pixels: Any = pixels_by_region(maps, masks, truth.voids, regions=kind)
    if truth.defects is not None:
        pixels |= saturated_pixels(maps, truth.defects)
    if rule is not None:
        pixels |= component_columns(maps, masks, truth.voids, rule)
    state: Any = {**of_images, "image_reduction": reduction, **pixels}
    if samples is not None:
        state["samples"] = as_sample_ids(samples, maps)
    if bits is not None:
        state |= {name: cut(state[name], bits) for name in SCORES_OF_PIXELS if name in state}
        state["significant_bits"] = np.asarray(bits)
    if value is not None:
        state["ignore_value"] = np.asarray(value)
    if kind != "components":
        state["regions"] = np.asarray(kind)
    return state


def _image_columns(
    checked: CheckedMaps, voids: Any, image_scores: Any, image_labels: Any, image_reduction: str | int
) -> dict[str, Array]:
    """The scores and labels of images: from their own columns, or from their pixels."""
    if voids is not None and (image_scores is None or image_labels is None):
        check_left(voids)
    maps, masks, highest = checked
    if image_scores is not None:
        scores = as_scores(image_scores, "image_scores")
    elif highest is not None and voids is None and image_reduction == "max":
        scores = highest
    else:
        scores = reduced_maps(maps if voids is None else pixels_left(maps, voids), image_reduction)
    labels = image_labels_of(masks) if image_labels is None else as_flags(image_labels, "image_labels")
    check_lengths(predictions=maps, image_scores=scores, image_labels=labels)
    return dict(zip(("image_scores", "image_labels"), on_one_device(scores, labels)))
