"""AUPRO from a sampled curve, as in some evaluations: approximate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.arrays import Array, to_numpy
from ..arrays.options import as_fractions, as_int
from .aupro import checked_pixels


def sampled_aupro(region_scores: Any, region_sizes: Any, normal: Any, limits: Any, num_thresholds: int) -> list[float]:
    """AUPRO from a sampled curve: thresholds at evenly spaced ranks of the normal pixels. Approximate.

    The FPR at rank r (from 0) of N normal pixels is taken as 1 − (r + 1)/N, which is wrong if scores tie. A pixel is
    anomalous iff score > threshold; the curve is cut at the limit by interpolation.

    Parameters: as of `aupro`; num_thresholds ≥ 2. Returns and raises as `aupro`.
    Source: PyADMetric's PRO, as in the evaluation of MVTec 3D-AD (Bergmann et al., VISAPP 2022).
    """
    limits = as_fractions(limits, "integration_limits")
    num_thresholds = as_int(num_thresholds, "num_thresholds", 2)
    scores, sizes, others = checked_pixels(region_scores, region_sizes, normal)
    return sampled_areas(scores, sizes, others.repeated(), limits, num_thresholds)


def sampled_areas(
    region_scores: Array, region_sizes: np.ndarray, normal: Array, limits: Sequence[float], num_thresholds: int
) -> list[float]:
    """As `sampled_aupro`, of checked pixels; the normal ones ascend."""
    normal, scores = to_numpy(normal), to_numpy(region_scores)
    ranks = np.linspace(0, len(normal) - 1, num=num_thresholds, dtype=int)
    # a pixel exceeds the first so many of the thresholds
    exceeded = np.searchsorted(normal[ranks], scores, side="left")
    region = np.repeat(np.arange(len(region_sizes)), region_sizes)
    width = num_thresholds + 1
    histogram = np.bincount(region * width + exceeded, minlength=len(region_sizes) * width).reshape(-1, width)
    overlap = np.cumsum(histogram[:, :0:-1], axis=1) / region_sizes[:, None]  # highest threshold first
    pro = np.asarray([math.fsum(column) for column in overlap.T]) / len(region_sizes)
    fpr = 1.0 - (ranks[::-1] + 1) / len(normal)
    fpr, pro = np.concatenate([fpr, [1.0]]), np.concatenate([pro, [1.0]])
    return [_area_up_to(fpr, pro, limit) / limit for limit in limits]


def _area_up_to(x: np.ndarray, y: np.ndarray, limit: float) -> float:
    """Trapezoid area of a curve from its first point to x = limit, interpolated there."""
    inside = x <= limit
    area = float(np.trapezoid(y[inside], x[inside]))
    if inside.all() or x[inside][-1] == limit:
        return area
    at = int(np.count_nonzero(inside))
    x0, x1, y0, y1 = x[at - 1], x[at], y[at - 1], y[at]
    y_limit = y0 + (y1 - y0) * (limit - x0) / (x1 - x0)
    return area + float((y_limit + y0) / 2 * (limit - x0))
