"""What is resampled for intervals of anomaly_suite: images, each with all its pixels.

Pixels of an image resemble each other, so intervals from resampled pixels are several times too narrow. Each image is
a histogram of its normal pixels and one of its anomalous pixels over common bins of the scores; those of a resample are
sums of them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..core.arrays import to_numpy
from ..core.counts import as_side, runs, sort_sides
from ..core.curves import CURVE, curve_rates, quantities
from ..core.options import as_fractions
from ..core.units import Rows, Units, rows_of_sides
from .decisions import as_thresholds, cut_threshold, decision_rates, rates_of_decision
from .levels import check_levels
from .maps import AnomalyState

MAX_BINS = 1 << 12  # of the pixels of either kind
_OF_A_REGION = 1 << 30  # shares of a region's pixels are multiples of 2^-30, whose sums are exact

Rates = Callable[[np.ndarray], dict[str, float]]  # of how often each image occurs


def anomaly_units(
    state: AnomalyState,
    *,
    integration_limits: Any,
    levels: Any,
    num_thresholds: Any,
    image_threshold: Any = None,
    pixel_threshold: Any = None,
    pimo_bounds: Any = None,
) -> Units:
    """The normal and the anomalous images, for resampling: equal ones in any order, the others by their content.

    Results are the rates; an AUPRO of sampled thresholds and AUPIMO have no interval. Pixels are merged in bins for the
    curves, and are counted one by one at a pixel_threshold.
    Raises ValueError for states in which pixels of several images have been counted together.
    """
    if "normal_counts" in state:
        raise ValueError(
            "confidence_level: pixels of several images have been counted together; give it at load, not at compute"
        )
    labels, order = to_numpy(state["image_labels"]), _canonical_order(state)
    strata = [order[labels[order] == label] for label in (False, True)]
    limits = [] if num_thresholds is not None else as_fractions(integration_limits, "integration_limits")
    thresholds = as_thresholds(image_threshold, pixel_threshold)
    makers = {"image": partial(_image_rates, state, thresholds["image"]), "pixel": partial(_pixel_rates, state, limits)}
    chosen = check_levels(levels)
    parts = [makers[level]() for level in chosen]
    if "pixel" in chosen and thresholds["pixel"] is not None:
        parts.append(_pixel_decisions(state, thresholds["pixel"]))

    def results(counts: Sequence[np.ndarray]) -> dict[str, float]:
        occurring = np.zeros(len(labels), np.int64)
        for images, numbers in zip(strata, counts):
            occurring[images] = numbers
        return {key: value for rates in parts for key, value in rates(occurring).items()}

    def members() -> tuple[np.ndarray, np.ndarray]:
        place = np.empty(len(labels), np.int64)
        for images in strata:
            place[images] = np.arange(len(images))
        return place, labels.astype(np.int64)

    return Units(tuple(np.ones(len(images), np.int64) for images in strata), results, members)


def _canonical_order(state: AnomalyState) -> np.ndarray:
    """The images by their scores, and those of one score by what their pixels are."""
    scores = to_numpy(state["image_scores"])
    contents = [hashlib.blake2b(content, digest_size=16).digest() for content in _contents(state)]
    return np.asarray(sorted(range(len(scores)), key=lambda i: (scores[i], contents[i])), np.int64)


def _contents(state: AnomalyState) -> list[bytes]:
    regions = np.repeat(np.arange(len(state["num_regions"])), to_numpy(state["num_regions"]))
    per_image = np.bincount(regions, state["region_sizes"], len(state["num_regions"])).astype(np.int64)
    parts = zip(
        np.split(to_numpy(state["normal"]), np.cumsum(to_numpy(state["num_normal"]))[:-1]),
        np.split(to_numpy(state["anomalous"]), np.cumsum(per_image)[:-1]),
    )
    return [normal.tobytes() + b"|" + anomalous.tobytes() for normal, anomalous in parts]


def _image_rates(state: AnomalyState, threshold: float | None) -> Rates:
    scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])

    def rates(occurring: np.ndarray) -> dict[str, float]:
        kinds = ((occurring > 0) & labels, (occurring > 0) & ~labels)
        sides = sort_sides(*(as_side(scores[kind], occurring[kind]) for kind in kinds))
        found = curve_rates(quantities(runs(*sides), CURVE), "image_")
        return found if threshold is None else {**found, **decision_rates(*sides, threshold, "image_")}

    return rates


def _pixel_rates(state: AnomalyState, limits: Sequence[float]) -> Rates:
    anomalous, normal = map(to_numpy, (state["anomalous"], state["normal"]))
    counts = state.get("normal_counts")
    counts = np.ones(len(normal), np.int64) if counts is None else to_numpy(counts)
    rows = rows_of_sides(as_side(anomalous), as_side(normal, counts), most=MAX_BINS)
    edges = np.unique(np.concatenate([each.scores for each in rows]))
    bins = Rows(edges, np.ones(len(edges), np.int64))
    num_regions, sizes = to_numpy(state["num_regions"]), to_numpy(state["region_sizes"])
    num_images = len(num_regions)
    image_of_region = np.repeat(np.arange(num_images), num_regions)
    image_of_normal = np.repeat(np.arange(num_images), to_numpy(state["num_normal"]))
    region_of_pixel = np.repeat(np.arange(len(sizes)), sizes)
    image_of_pixel = image_of_region[region_of_pixel]

    def histogram(images: np.ndarray, scores: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """Sums of integers by bin and image."""
        cells = bins.places(scores) * num_images + images
        return np.bincount(cells, weights, num_images * len(edges)).astype(np.int64).reshape(-1, num_images)

    of_normal = histogram(image_of_normal, normal, counts)
    of_anomalous = histogram(image_of_pixel, anomalous, np.ones(len(anomalous)))
    shares = histogram(image_of_pixel, anomalous, np.rint(_OF_A_REGION / sizes)[region_of_pixel])

    def rates(occurring: np.ndarray) -> dict[str, float]:
        # products of integers are exact, and those of float64 would start threads for each
        positives, negatives = of_anomalous @ occurring, of_normal @ occurring
        sides = (bins.side(numbers) for numbers in (positives, negatives))
        found = curve_rates(quantities(runs(*sort_sides(*sides)), CURVE), "pixel_")
        fp = np.cumsum(negatives[::-1])[::-1]
        overlap = shares @ occurring / (_OF_A_REGION * int(num_regions @ occurring))
        return {**found, **{f"aupro@{limit}": _area(overlap, fp - negatives, fp, limit) for limit in limits}}

    return rates


def _pixel_decisions(state: AnomalyState, threshold: float) -> Rates:
    """Rates at a threshold, from how many pixels of each image reach it."""
    bits = state.get("significant_bits")
    at = np.asarray([threshold if bits is None else cut_threshold(threshold, int(bits))])
    anomalous, normal = (to_numpy(state[name]) >= at for name in ("anomalous", "normal"))
    num_regions = to_numpy(state["num_regions"])
    num_images = len(num_regions)
    image_of_pixel = np.repeat(np.repeat(np.arange(num_images), num_regions), to_numpy(state["region_sizes"]))
    image_of_normal = np.repeat(np.arange(num_images), to_numpy(state["num_normal"]))
    images = (image_of_pixel[anomalous], image_of_normal[normal], image_of_pixel)
    numbers = [np.bincount(each, minlength=num_images) for each in images]

    def rates(occurring: np.ndarray) -> dict[str, float]:
        tp, fp, num_positives = (int(each @ occurring) for each in numbers)
        return rates_of_decision(tp, fp, num_positives, "pixel_")

    return rates


def _area(overlap: np.ndarray, above: np.ndarray, fp: np.ndarray, limit: float) -> float:
    """AUPRO from the mean share of regions' pixels in each bin, and the normal pixels above, and at or above, it."""
    reach = limit * fp[0]
    whole = reach - (above + fp) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = np.where(above < reach, (reach - above) ** 2 / (2 * (fp - above)), 0.0)
    return math.fsum((overlap * np.where(fp <= reach, whole, cut) / reach).tolist())
