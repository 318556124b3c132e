"""What is resampled for intervals of anomaly_suite: images, each with all its pixels.

Pixels of an image resemble each other, so intervals from resampled pixels are several times too narrow. Each image is
a histogram of its normal pixels and one of its anomalous pixels over common bins of the scores; those of a resample are
sums of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.options import as_fractions
from ..metric.prepared_units import Units
from ..ranking.counts import as_side, runs, sort_sides
from ..ranking.curves import CURVE, curve_rates
from ..ranking.quantities import quantities
from ..ranking.rows import Rows, rows_of_sides
from .aupimo import check_pimo_bounds
from .aupro import by_limit
from .canonical import canonical_order, kinds_of_images
from .decisions import as_thresholds, cut_threshold, decision_rates, rates_of_decision
from .levels import check_levels
from .maps import AnomalyState
from .per_image import reaching
from .pimo_resampling import pimo_rates
from .regions import Regions
from .spro import regions_of

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
    per_image: Any = None,
) -> Units:
    """The images, for resampling: equal ones in any order, the others by their content.

    Results are the rates; an AUPRO of sampled thresholds has no interval. Pixels are merged in bins for the
    curves, and are counted one by one at a pixel_threshold. Strata are kinds of images by their labels and by whether
    they have normal and anomalous pixels, so that no resample lacks either.
    Raises ValueError for states in which pixels of several images have been counted together.
    """
    if "normal_counts" in state:
        raise ValueError(
            "confidence_level: pixels of several images have been counted together; give it at load, not at compute"
        )
    order, kinds = canonical_order(state), kinds_of_images(state)
    strata = [order[kinds[order] == kind] for kind in range(8)]
    limits = [] if num_thresholds is not None else as_fractions(integration_limits, "integration_limits")
    thresholds = as_thresholds(image_threshold, pixel_threshold)
    makers = {"image": partial(_image_rates, state, thresholds["image"]), "pixel": partial(_pixel_rates, state, limits)}
    chosen = check_levels(levels)
    parts = [makers[level]() for level in chosen]
    if "pixel" in chosen and thresholds["pixel"] is not None:
        parts.append(_pixel_decisions(state, thresholds["pixel"]))
    bounds = check_pimo_bounds(pimo_bounds)
    if "pixel" in chosen and bounds is not None:
        parts.append(pimo_rates(state, bounds))

    def results(counts: Sequence[np.ndarray]) -> dict[str, float]:
        occurring = np.zeros(len(kinds), np.int64)
        for images, numbers in zip(strata, counts):
            occurring[images] = numbers
        return {key: value for rates in parts for key, value in rates(occurring).items()}

    def members() -> tuple[np.ndarray, np.ndarray]:
        place = np.empty(len(kinds), np.int64)
        for images in strata:
            place[images] = np.arange(len(images))
        return place, kinds

    return Units(tuple(np.ones(len(images), np.int64) for images in strata), results, members)


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
    rows = rows_of_sides(as_side(anomalous), as_side(normal), most=MAX_BINS)
    edges = np.unique(np.concatenate([each.scores for each in rows]))
    bins = Rows(edges, np.ones(len(edges), np.int64))

    def histograms(scores: np.ndarray, numbers: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
        """(bins, images), how many pixels there are of each, or sums of integer weights."""
        table = np.empty((len(edges), len(numbers)), np.int64)
        start = 0
        for i, stop in enumerate(np.cumsum(numbers).tolist()):
            here = None if weights is None else weights[start:stop]
            table[:, i] = np.bincount(bins.places(scores[start:stop]), here, len(edges))
            start = stop
        return table

    def overlaps(regions: Regions) -> np.ndarray:
        """The same of the pixels of regions, each as its share of its region."""
        weights = np.repeat(np.rint(_OF_A_REGION / regions.sizes), regions.sizes)
        return histograms(to_numpy(regions.scores), regions.num_pixels, weights)

    of_normal = histograms(normal, to_numpy(state["num_normal"]))
    of_anomalous = histograms(anomalous, regions_of(state)["aupro"].num_pixels)
    regions = {name: (overlaps(each), each.numbers) for name, each in regions_of(state).items()}

    def rates(occurring: np.ndarray) -> dict[str, float]:
        # products of integers are exact, and those of float64 would start threads for each
        positives, negatives = of_anomalous @ occurring, of_normal @ occurring
        sides = (bins.side(numbers) for numbers in (positives, negatives))
        found = curve_rates(quantities(runs(*sort_sides(*sides)), CURVE), "pixel_")
        fp = np.cumsum(negatives[::-1])[::-1]
        for name, (shares, numbers) in regions.items():
            overlap = shares @ occurring / (_OF_A_REGION * int(numbers @ occurring))
            found |= by_limit(name, limits, (_area(overlap, fp - negatives, fp, limit) for limit in limits))
        return found

    return rates


def _pixel_decisions(state: AnomalyState, threshold: float) -> Rates:
    """Rates at a threshold, from how many pixels of each image reach it."""
    bits = state.get("significant_bits")
    at = threshold if bits is None else cut_threshold(threshold, int(bits))
    num_pixels = regions_of(state)["aupro"].num_pixels
    normal = reaching(state["normal"], to_numpy(state["num_normal"]), at)
    numbers = (reaching(state["anomalous"], num_pixels, at), normal, num_pixels)

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
