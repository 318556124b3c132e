"""AUPIMO of a state and of drawn images, whose normal pixels also set the thresholds.

Only the highest normal pixels are read, until their false-positive rate in the resample reaches the upper bound. So a
resample has the AUPIMO of its images, up to the rounding of sums.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.sorting import indices, sorted_with
from ..metric.results import Rate, Results
from ..ranking.counts import Side, runs, sort_sides
from .aupimo import aupimo_of_images, mean_aupimo, pimo_pixels, shares_of_pixels
from .aupro import STEPS
from .judging import Judge
from .maps import AnomalyState

_FIRST = 1 << 12  # normal pixels that are looked at first


class PimoRates(Judge):
    """The mean AUPIMO between bounds; of_images (N,), the AUPIMO of each image, None for an image without one.

    Parameters: state of `reduce_maps`; bounds as of `aupimo`. Raises as `aupimo_of_images`.
    """

    def __init__(self, state: AnomalyState, bounds: tuple[float, float]) -> None:
        self.state, self.bounds = state, bounds
        self.of_images = aupimo_of_images(state, bounds)

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image occurs `images` times."""
        value = mean_aupimo(self.of_images) if images is None else self._drawn.mean(images)
        return {"aupimo": Rate(value, higher=True)}

    @cached_property
    def _drawn(self) -> _DrawnPixels:
        return _DrawnPixels(self.state, self.bounds)


class _DrawnPixels:
    """Normal pixels in descending order, and the steps between two of them at which the anomalous pixels lie."""

    def __init__(self, state: AnomalyState, bounds: tuple[float, float]) -> None:
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
        owner = np.repeat(pixels.judged_images, pixels.num_pixels)
        pairs, self.counts = np.unique(step * number + owner, return_counts=True)
        self.steps, self.owners = np.divmod(pairs, number)
        self.weights, self.sizes, self.num_pixels = np.zeros((3, number), np.int64)
        self.weights[pixels.normal_images], self.sizes[pixels.normal_images] = pixels.weights, pixels.sizes
        self.num_pixels[pixels.judged_images] = pixels.num_pixels

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
