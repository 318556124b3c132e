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
from .levels import check_levels
from .maps import AnomalyState

MAX_BINS = 1 << 12  # of the pixels of either kind
_OF_A_REGION = 1 << 30  # shares of a region's pixels are multiples of 2^-30, whose sums are exact

Rates = Callable[[np.ndarray], dict[str, float]]  # of how often each image occurs


def anomaly_units(state: AnomalyState, *, integration_limits: Any, levels: Any, num_thresholds: Any) -> Units:
    """The images, for resampling: equal ones in any order, the others by their content.

    Strata are their kinds, by label and by whether they have anomalous and normal pixels, so that each resample has
    some of each: an image may be labelled anomalous and have an empty mask. Results are the
    rates; an AUPRO of sampled thresholds has no interval.
    Raises ValueError for states in which pixels of several images have been counted together.
    """
    if int(to_numpy(state["num_normal"]).sum()) != state["normal"].shape[0]:
        raise ValueError(
            "confidence_level: pixels of several images have been counted together; give it at load, not at compute"
        )
    labels, order = to_numpy(state["image_labels"]), _canonical_order(state)
    has_anomalous, has_normal = (to_numpy(state[name]) > 0 for name in ("num_regions", "num_normal"))
    kinds = np.unique(4 * labels + 2 * has_anomalous + has_normal, return_inverse=True)[1].reshape(-1).astype(np.int64)
    strata = [order[kinds[order] == kind] for kind in range(int(kinds.max()) + 1)]
    limits = [] if num_thresholds is not None else as_fractions(integration_limits, "integration_limits")
    makers = {"image": partial(_image_rates, state), "pixel": partial(_pixel_rates, state, limits)}
    parts = [makers[level]() for level in check_levels(levels)]

    def results(counts: Sequence[np.ndarray]) -> dict[str, float]:
        occurring = np.zeros(len(labels), np.int64)
        for images, numbers in zip(strata, counts):
            occurring[images] = numbers
        return {key: value for rates in parts for key, value in rates(occurring).items()}

    def members() -> tuple[np.ndarray, np.ndarray]:
        place = np.empty(len(labels), np.int64)
        for images in strata:
            place[images] = np.arange(len(images))
        return place, kinds

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


def _image_rates(state: AnomalyState) -> Rates:
    scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])

    def rates(occurring: np.ndarray) -> dict[str, float]:
        kinds = ((occurring > 0) & labels, (occurring > 0) & ~labels)
        sides = (as_side(scores[kind], occurring[kind]) for kind in kinds)
        return curve_rates(quantities(runs(*sort_sides(*sides)), CURVE), "image_")

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


def _area(overlap: np.ndarray, above: np.ndarray, fp: np.ndarray, limit: float) -> float:
    """AUPRO from the mean share of regions' pixels in each bin, and the normal pixels above, and at or above, it."""
    reach = limit * fp[0]
    whole = reach - (above + fp) / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = np.where(above < reach, (reach - above) ** 2 / (2 * (fp - above)), 0.0)
    return math.fsum((overlap * np.where(fp <= reach, whole, cut) / reach).tolist())
