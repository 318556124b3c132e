"""AUPIMO of resampled images: each occurs another number of times, and so do the normal pixels that it is judged by.

Of the normal pixels only the highest are looked at, until their false-positive rate in the resample reaches the upper
bound; for these all is as of `aupimo` itself. So a resample has the AUPIMO of its images, but for the rounding of sums.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.sorting import indices, sorted_with
from ..ranking.counts import Side, runs, sort_sides
from .aupimo import pimo_pixels, shares_of_pixels
from .aupro import counts_of_pixels
from .maps import AnomalyState

_FIRST = 1 << 12  # normal pixels that are looked at first


def pimo_rates(state: AnomalyState, bounds: tuple[float, float]) -> Callable[[np.ndarray], dict[str, float]]:
    """A function from how often each image occurs to the mean AUPIMO.

    Parameters: state of `reduce_maps`; bounds as of `aupimo`. Raises as `aupimo_of_images`.
    """
    pixels = pimo_pixels(state, bounds)
    ascending, owners_of_normal = sorted_with(to_numpy(pixels.normal), np.repeat(pixels.normal_images, pixels.sizes))
    scores, image = ascending[::-1], owners_of_normal[::-1]
    anomalous = to_numpy(pixels.anomalous)
    ordered, at = sorted_with(anomalous, indices(anomalous))
    sides = sort_sides(Side(ordered), Side(ascending))
    above, reached = (to_numpy(rows) for rows in counts_of_pixels(at).of(runs(*sides)))
    # pixels between the same two of the normal ones are found alike: how many each image has of them
    steps, step = np.unique(above * (len(scores) + 1) + reached, return_inverse=True)
    owner = np.repeat(pixels.judged_images, pixels.num_pixels)
    numbers = len(state["num_normal"])
    pairs, counts = np.unique(step * numbers + owner, return_counts=True)
    steps_of_pairs, owners = np.divmod(pairs, numbers)
    above, reached = np.divmod(steps, len(scores) + 1)
    weights, sizes = np.zeros(numbers, np.int64), np.zeros(numbers, np.int64)
    weights[pixels.normal_images], sizes[pixels.normal_images] = pixels.weights, pixels.sizes
    of_images = np.zeros(numbers, np.int64)
    of_images[pixels.judged_images] = pixels.num_pixels

    def rates(occurring: np.ndarray) -> dict[str, float]:
        drawn = weights * occurring
        total = int(drawn @ sizes)
        running = _running(scores, image, drawn, bounds[1] * total)
        seen = int(np.searchsorted(above, len(running) - 1))  # of the steps; the others are beyond the upper bound
        shares = shares_of_pixels(running[above[:seen]] / total, running[reached[:seen]] / total, bounds)
        end = int(np.searchsorted(steps_of_pairs, seen))
        found = np.bincount(owners[:end], counts[:end] * shares[steps_of_pairs[:end]], numbers)
        there = (of_images > 0) & (occurring > 0)
        values = found[there] / of_images[there] * occurring[there]
        return {"aupimo": math.fsum(values.tolist()) / int(occurring[there].sum())}

    return rates


def _running(scores: np.ndarray, image: np.ndarray, drawn: np.ndarray, reach: float) -> np.ndarray:
    """Sums of weights of so many of the highest scores, from 0 on, until they reach so much where a score ends."""
    size = min(_FIRST, len(scores))
    while True:
        running: Any = np.concatenate([[0], np.cumsum(drawn[image[:size]])])
        ends = np.append(scores[1:size] != scores[: size - 1], size == len(scores))
        enough = np.flatnonzero(ends & (running[1:] >= reach))
        if len(enough) or size == len(scores):
            return running[: int(enough[0]) + 2] if len(enough) else running
        size = min(4 * size, len(scores))
