"""Anomaly maps and masks: checked, and reduced to the scores of images and of pixels, region by region."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays.arrays import MAX_EXACT, Array, array_namespace, device_of, on_one_device, to_numpy
from ..arrays.checks import (
    as_choice,
    as_flags,
    as_scores,
    check_arrays,
    check_lengths,
    check_rows,
    count_column,
    flag_column,
    integer_column,
    plain_value,
    score_column,
)
from ..arrays.sorting import split
from ..metric.prepared import MissingClassError
from ..ranking.counts import Side, as_side
from ..ranking.quantities import check_bits, checked_bits, cut
from .components import (
    COMPONENT_ARRAYS,
    COMPONENT_TABLES,
    ComponentColumns,
    check_rule,
    checked_components,
    component_columns,
)
from .images import as_sample_ids, check_reduction, checked_ids, checked_reduction, reduced_maps
from .masks import (
    CheckedMaps,
    as_images,
    as_truth,
    check_ignore_value,
    check_left,
    check_regions,
    checked_ignore_value,
    checked_maps,
    checked_regions,
    image_labels_of,
    pixels_left,
)
from .regions import (
    DefectPixels,
    RegionPixels,
    check_defects,
    check_sum,
    checked_defects,
    defect_columns,
    overlaps_of,
    pixels_by_region,
    regions_of,
    saturated_pixels,
)

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


# The levels of anomaly_suite, images and pixels, each with an anomalous and a normal side.


LEVELS = ("image", "pixel")


def check_levels(levels: Any) -> list[str]:
    """Check the levels to report: "image", "pixel", or a list of them."""
    levels = plain_value(levels)
    if not isinstance(levels, Iterable):
        raise TypeError(f"levels: expected a list of {LEVELS}, got {levels!r}")
    chosen = [levels] if isinstance(levels, str) else list(levels)
    if not chosen:
        raise ValueError(f"levels: expected at least one of {LEVELS}, got none")
    return [as_choice(level, "levels", LEVELS) for level in chosen]


def level_sides(state: AnomalyState, level: str) -> tuple[Side, Side]:
    """The anomalous and the normal side of a level, sorted; parameters and errors as of `level_counts`."""
    positives, negatives, counts = level_scores(state, level)
    return as_side(positives), as_side(negatives, counts)


def level_scores(state: AnomalyState, level: str) -> tuple[Array, Array, Array | None]:
    """Scores of both sides of a level, and the number of samples that each normal score stands for; None: one each."""
    counts = None
    if as_choice(level, "levels", LEVELS) == "pixel":
        positives, negatives, counts = state["anomalous"], state["normal"], state.get("normal_counts")
    else:
        positives, negatives = split(state["image_scores"], state["image_labels"])
    if not positives.shape[0] or not negatives.shape[0]:
        raise MissingClassError(
            f"references: expected anomalous and normal {level}s, got {positives.shape[0]} anomalous and "
            f"{negatives.shape[0]} normal; leave {level!r} out of levels={LEVELS} to go without"
        )
    return positives, negatives, counts


# Images as the rows that resamples are drawn from, in an order independent of the order in which they were added.


class ImageRows(NamedTuple):
    """Rows of equal images, or of equal samples of several images.

    strata: (R,) ascending, the kind of each row; a resample has as many of each kind
    counts: (R,) how many images, or samples, each row stands for
    of_images: (N,) the row of each image
    first: (N,) booleans, whether an image is the first of its sample
    standing: (N,) booleans, whether an image is of the sample that stands for its row in a resample
    """

    strata: np.ndarray
    counts: np.ndarray
    of_images: np.ndarray
    first: np.ndarray
    standing: np.ndarray


def image_rows(state: AnomalyState) -> ImageRows:
    """A row for each image, or for each sample, ordered by kind, then by the highest score, then by content.

    Kinds are told apart by whether a row has anomalous images, normal and anomalous pixels, and normal images, so that
    no resample lacks any of these. Equal ones are one row, since their order would be the caller's.
    """
    labels = to_numpy(state["image_labels"])
    names = np.arange(len(labels)) if "samples" not in state else state["samples"]
    _, first, sample = np.unique(names, return_index=True, return_inverse=True)
    kinds = np.zeros(len(first), np.int64)
    for flags in (labels, state["num_normal"], state["num_regions"], ~labels):
        kinds = 2 * kinds + (np.bincount(sample, to_numpy(flags) > 0, len(first)) > 0)
    images: list[list[tuple[float, bytes]]] = [[] for _ in first]
    for each, score, content in zip(sample.tolist(), to_numpy(state["image_scores"]).tolist(), _contents(state)):
        images[each].append((score, content))
    keys = [(kind, tuple(sorted(each, reverse=True))) for kind, each in zip(kinds.tolist(), images)]
    place = {key: row for row, key in enumerate(sorted(set(keys)))}
    rows = np.asarray([place[key] for key in keys], dtype=np.int64)
    _, standing, counts = np.unique(rows, return_index=True, return_counts=True)
    return ImageRows(
        kinds[standing],
        counts,
        rows[sample],
        np.isin(np.arange(len(labels)), first),
        np.isin(sample, standing),
    )


_NUMBERS = ("image_labels", "num_normal", "num_regions", "num_defects", *COMPONENT_TABLES)


def _contents(state: AnomalyState) -> Iterator[bytes]:
    """All that tells each image apart, but its score: a digest of its pixels, whatever type they came in, and regions.

    Then its label, its numbers of pixels, regions and defects, and its objects and predicted components.
    """
    normal = np.split(to_numpy(state["normal"]), np.cumsum(to_numpy(state["num_normal"])))
    overlaps = [
        (
            np.split(each.sizes, np.cumsum(each.numbers)),
            np.split(to_numpy(each.scores), np.cumsum(each.num_pixels)),
        )
        for each in overlaps_of(state).values()
    ]
    columns: Mapping[str, Any] = state
    numbers = [to_numpy(columns[name]) for name in _NUMBERS if name in columns]
    tables = [
        np.split(columns[name], np.cumsum(columns[number]))
        for number, names in COMPONENT_TABLES.items()
        for name in names
        if name in columns
    ]
    for i in range(len(normal) - 1):
        digest = hashlib.blake2b(digest_size=16)
        for part in (normal[i], *(column[i] for pair in overlaps for column in pair)):
            digest.update((part.astype(np.float64) + 0.0).tobytes())  # 0.0 for −0.0
        others = np.concatenate([[column[i] for column in numbers], *(table[i] for table in tables)])
        yield digest.digest() + others.astype(np.float64).tobytes()


# A table of images, with the decision for each and the overlap with its anomaly.


def per_image_table(
    state: AnomalyState,
    *,
    image_threshold: float | None,
    pixel_threshold: float | None,
    pimo: list[float | None] | None,
) -> dict[str, list[Any]]:
    """A table of the images in their order, with scores, labels, and decisions at thresholds.

    IoU = |A ∩ P| / |A ∪ P| of the anomalous pixels A and the pixels P with a score above the threshold; if both are
    empty, as in a normal image without such pixels, it is None.

    Parameters: state of `reduce_maps`, with pixels image by image; the thresholds of decisions score > threshold, or
    None to leave their columns out; pimo, the AUPIMO of each image, None for an image without one.
    Returns {"image": [0, 1, …], "score": […], "label": [0 or 1, …], "decision": […], "iou": […], "aupimo": […]}.
    Raises ValueError if pixels of several images have been counted together.
    """
    scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])
    table: dict[str, list[Any]] = {
        "image": [*range(len(scores))],
        "score": (scores + 0.0).tolist(),  # 0.0 for −0.0
        "label": labels.astype(int).tolist(),
    }
    if image_threshold is not None:
        table["decision"] = (scores > np.float64(image_threshold)).astype(int).tolist()
    if pixel_threshold is not None:
        table["iou"] = _ious(state, pixel_threshold)
    if pimo is not None:
        table["aupimo"] = pimo
    return table


def _ious(state: AnomalyState, threshold: float) -> list[float | None]:
    if "normal_counts" in state:
        raise ValueError(
            "per_image: pixels of several images have been counted together; give it at load, not at compute"
        )
    num_pixels = regions_of(state).num_pixels
    tp = exceeding(state["anomalous"], num_pixels, threshold)
    fp = exceeding(state["normal"], to_numpy(state["num_normal"]), threshold)
    pairs = zip(tp.tolist(), (num_pixels + fp).tolist())
    return [common / either if either else None for common, either in pairs]


def exceeding(scores: Array, numbers: np.ndarray, threshold: float) -> np.ndarray:
    """The number of each image's scores that exceed the threshold, (N,); `numbers` holds how many scores each image
    has.

    >>> exceeding(np.asarray([0.1, 0.9, 0.5, 0.7]), np.asarray([2, 0, 2]), 0.5).tolist()
    [1, 0, 1]
    """
    xp = array_namespace(scores)
    # as an array, float32 scores are compared in float64
    at = xp.asarray([threshold], dtype=xp.float64, device=device_of(scores))
    places = to_numpy(xp.nonzero(scores > at)[0])
    return np.bincount(np.searchsorted(np.cumsum(numbers), places, side="right"), minlength=len(numbers))
