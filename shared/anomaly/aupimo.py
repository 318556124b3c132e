"""AUPIMO: the recall of each anomalous image, averaged over the logarithm of a low false-positive rate.

The false-positive rate is that of the normal images alone, so it does not depend on the anomalies. Each pixel of an
anomalous image adds a step to that image's curve, at the numbers of normal pixels above, and at or above, its score. So
an image's score is a mean over its pixels, and no curve has to be built.

Drawn normal images set the thresholds, too: only their highest pixels are read, until their false-positive rate reaches
the upper bound. So a resample has the AUPIMO of its images, up to the rounding of sums.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, on_device, to_numpy
from ..arrays.sorting import indices, sorted_with
from ..metric.results import Rate, Results, mean
from ..ranking.counts import Side, as_side, runs, sort_sides
from .aupro import STEPS
from .maps import check_single
from .rates import MapRates
from .regions import regions_of

_MAX_WEIGHT = 1 << 53  # of all normal pixels together: float64 holds it


class PimoPixels(NamedTuple):
    """The pixels that AUPIMO is computed from."""

    normal: Array  # (P,) the pixels of normal images, image by image
    normal_images: np.ndarray  # (M,) indices of these images
    sizes: np.ndarray  # (M,) their numbers of pixels
    weights: np.ndarray  # (M,) the weight of one pixel of each
    anomalous: Array  # (A,) the anomalous pixels of anomalous images, image by image
    anomalous_images: np.ndarray  # with num_pixels: (J,) indices of these images, and their numbers of anomalous pixels
    num_pixels: np.ndarray


def pimo_pixels(state: Mapping[str, Any], bounds: tuple[float, float]) -> PimoPixels:
    """The pixels of a state from which AUPIMO is computed.

    Raises ValueError for scores that were cut or counted, without normal or anomalous pixels in images of that kind,
    and if the lower bound is below the smallest false-positive rate that the normal pixels can have.
    """
    if "significant_bits" in state:
        raise ValueError("pimo_bounds: expected None with significant_bits, since AUPIMO has no error bound")
    check_single(state, "pimo_bounds")
    labels, sizes = to_numpy(state["image_labels"]), state["num_normal"]
    num_pixels = regions_of(state).num_pixels
    normal, defective = (np.flatnonzero(here) for here in (~labels & (sizes > 0), labels & (num_pixels > 0)))
    if not len(normal) or not len(defective):
        raise ValueError(
            "references: expected normal images, and anomalous ones with anomalous pixels, for aupimo; got "
            f"{len(normal)} and {len(defective)}; leave pimo_bounds out to go without"
        )
    weights = pixel_weights(sizes[normal])
    smallest = int(weights.min()) / int(weights @ sizes[normal])
    if smallest > bounds[0]:
        raise ValueError(
            f"pimo_bounds: expected a lower bound of at least {smallest!r}, the smallest false-positive rate that the "
            f"{int(sizes[normal].sum())} pixels of {len(normal)} normal images can give; got {bounds[0]!r}"
        )
    return PimoPixels(
        _of_images(state["normal"], sizes, ~labels),
        normal,
        sizes[normal],
        weights,
        _of_images(state["anomalous"], num_pixels, labels),
        defective,
        num_pixels[defective],
    )


def aupimo_of_images(state: Mapping[str, Any], bounds: tuple[float, float]) -> list[float | None]:
    """The AUPIMO of each image of a state; None for images without anomalous pixels, such as normal ones.

    See `aupimo`; raises as `pimo_pixels`.
    """
    normal, _, sizes, weights, anomalous, defective, num_pixels = pimo_pixels(state, bounds)
    # pixels that all weigh 1 need no weights
    each = None if (weights == 1).all() else on_device(np.repeat(weights, sizes), normal)
    values: list[float | None] = [None] * len(state["num_normal"])
    for i, value in zip(defective.tolist(), aupimo(anomalous, num_pixels, as_side(normal, each), bounds)):
        values[i] = value
    return values


def _of_images(scores: Array, sizes: np.ndarray, chosen: np.ndarray) -> Array:
    """The scores of the chosen images, image by image."""
    return scores[on_device(np.repeat(chosen, sizes), scores)]


def pixel_weights(sizes: np.ndarray) -> np.ndarray:
    """The integer weight of a pixel of each normal image, so that images of all sizes weigh the same.

    A weight is a multiple of 1/size. It is exact if the least common multiple of the sizes, times the number of images,
    is at most 2^53, as for images of one size; otherwise its relative error is at most images·size/2^53.

    >>> pixel_weights(np.asarray([4, 4, 6])).tolist()
    [3, 3, 2]
    """
    whole = math.lcm(*set(sizes.tolist())) if len(sizes) else 1
    if whole * len(sizes) > _MAX_WEIGHT:
        whole = _MAX_WEIGHT // len(sizes)
    return np.asarray([(2 * whole + size) // (2 * size) for size in sizes.tolist()], np.int64)


def aupimo(anomalous: Array, num_pixels: np.ndarray, normal: Array | Side, bounds: tuple[float, float]) -> list[float]:
    """The area under each anomalous image's recall, over the logarithm of the false-positive rate of normal images.

    AUPIMO_i = 1/ln(U/L) ∫_(ln L)^(ln U) T_i(F⁻¹(z)) d ln z,  T_i(t) = |{p anomalous in i : s_p > t}| / num_pixels_i

    F(t) is the share of the normal pixels that score more than t. All distinct scores are thresholds; where pixels of
    both kinds share a score, the curve is linear in ln F; below the lowest F above 0, T is its value at F = 0.

    Parameters: anomalous (A,), the anomalous pixels image by image; num_pixels (M,), those of each image, Σ = A;
    normal, the pixels of the normal images, or a side of them with weights; bounds (L, U), 0 < L < U ≤ 1.
    Returns a float in [0, 1] for each image, the same for any increasing transform of all scores.
    Source: Bertoldo et al., AUPIMO, BMVC 2024.

    >>> aupimo(np.asarray([0.9, 0.2]), np.asarray([1, 1]), np.asarray([0.1, 0.5, 0.3, 0.4]), (0.25, 0.5))
    [1.0, 0.0]
    """
    ordered, order = sorted_with(anomalous, indices(anomalous))
    positives, negatives = sort_sides(Side(ordered), normal)
    steps = STEPS.of(runs(positives, negatives))
    first, last = (to_numpy(column) / negatives.total for column in (steps.above, steps.fp))
    shares = shares_of_pixels(first, last, bounds)[to_numpy(steps.of_pixels(order))]
    parts = np.split(shares, np.cumsum(num_pixels)[:-1])
    return [math.fsum(part.tolist()) / len(part) for part in parts]


def shares_of_pixels(first: np.ndarray, last: np.ndarray, bounds: tuple[float, float]) -> np.ndarray:
    """The share of [ln L, ln U] on which pixels are found; a pixel is found from an F between `first` and `last` on."""
    low, high = bounds
    shares = np.where(last <= low, 1.0, 0.0)
    inside = (last > low) & (first < high) & ((last < high) | (first > 0))
    a, b = first[inside], last[inside]
    found_shares = np.maximum(0.0, np.log(high / b))
    tied = (a > 0) & (a < b)  # from F = 0 there is no way in ln F: T is held
    a, b = a[tied], b[tied]
    upper, lower = (np.log(np.clip(end, low, high) / a) for end in (b, a))
    found_shares[tied] += (upper - lower) * (upper + lower) / (2 * np.log(b / a))
    shares[inside] = np.minimum(found_shares / math.log(high / low), 1.0)
    return shares


_FIRST = 1 << 12  # normal pixels that are looked at first


class PimoRates(MapRates):
    """The mean AUPIMO between bounds; of_images (N,), the AUPIMO of each image, None for an image without one.

    Parameters: state of `AnomalySuite`; bounds as of `aupimo`. Raises as `aupimo_of_images`.
    """

    def __init__(self, state: Mapping[str, Any], bounds: tuple[float, float]) -> None:
        self.state, self.bounds = state, bounds
        self.of_images = aupimo_of_images(state, bounds)

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times."""
        there = (value for value in self.of_images if value is not None)
        value = mean(there) if images is None else self._drawn.mean(images)
        return {"aupimo": Rate(value, higher=True)}

    @cached_property
    def _drawn(self) -> _DrawnPixels:
        return _DrawnPixels(self.state, self.bounds)


class _DrawnPixels:
    """Normal pixels in descending order, and the steps between two of them at which the anomalous pixels lie."""

    def __init__(self, state: Mapping[str, Any], bounds: tuple[float, float]) -> None:
        self.bounds = bounds
        pixels = pimo_pixels(state, bounds)
        ascending, owners = sorted_with(to_numpy(pixels.normal), np.repeat(pixels.normal_images, pixels.sizes))
        self.scores, self.image = ascending[::-1], owners[::-1]
        anomalous = to_numpy(pixels.anomalous)
        ordered, at = sorted_with(anomalous, indices(anomalous))
        sides = sort_sides(Side(ordered), Side(ascending))
        steps = STEPS.of(runs(*sides))
        # anomalous pixels of one step are found alike: how many each image has of them
        length, number = len(self.scores) + 1, len(state["num_normal"])
        distinct, place = np.unique(steps.above * length + steps.fp, return_inverse=True)
        step = place[steps.of_pixels(at)]
        self.above, self.reached = np.divmod(distinct, length)
        owner = np.repeat(pixels.anomalous_images, pixels.num_pixels)
        pairs, self.counts = np.unique(step * number + owner, return_counts=True)
        self.steps, self.owners = np.divmod(pairs, number)
        self.weights, self.sizes, self.num_pixels = np.zeros((3, number), np.int64)
        self.weights[pixels.normal_images], self.sizes[pixels.normal_images] = pixels.weights, pixels.sizes
        self.num_pixels[pixels.anomalous_images] = pixels.num_pixels

    def mean(self, images: np.ndarray) -> float:
        """The mean AUPIMO over the drawn images that have anomalous pixels.

        F(step) = Σ_i weight_i·images_i·|{normal pixels of i above the step}| / Σ_i weight_i·images_i·size_i
        AUPIMO_i = Σ_steps |{pixels of i at the step}| · share(F) / num_pixels_i
        """
        drawn = self.weights * images
        total = int(drawn @ self.sizes)
        running = _running(self.scores, self.image, drawn, self.bounds[1] * total)
        seen = int(np.searchsorted(self.above, len(running) - 1))  # steps; the others lie beyond the upper bound
        first, last = running[self.above[:seen]] / total, running[self.reached[:seen]] / total
        shares = shares_of_pixels(first, last, self.bounds)
        end = int(np.searchsorted(self.steps, seen))
        areas = np.bincount(self.owners[:end], self.counts[:end] * shares[self.steps[:end]], len(images))
        there = (self.num_pixels > 0) & (images > 0)
        values = areas[there] / self.num_pixels[there] * images[there]
        return math.fsum(values.tolist()) / int(images[there].sum())


def _running(scores: np.ndarray, image: np.ndarray, drawn: np.ndarray, reach: float) -> np.ndarray:
    """Running sums of the weights of the highest scores, from 0 on, until they reach `reach` where a score ends."""
    size = min(_FIRST, len(scores))
    while True:
        running: Any = np.concatenate([[0], np.cumsum(drawn[image[:size]])])
        ends = np.append(scores[1:size] != scores[: size - 1], size == len(scores))
        enough = np.flatnonzero(ends & (running[1:] >= reach))
        if len(enough) or size == len(scores):
            return running[: int(enough[0]) + 2] if len(enough) else running
        size = min(4 * size, len(scores))
