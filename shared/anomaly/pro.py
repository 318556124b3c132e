"""The per-region overlap (PRO) curve, as a table of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.arrays import Array, to_numpy
from ..arrays.sorting import sorted_with
from ..ranking.counts import Side, sort_sides
from ..ranking.vertices import MAX_POINTS, Vertices, curve_vertices, table
from .aupro import checked_pixels

# a pixel's share of the curve is an integer in units of 2^-61, and its remainder one in units of 2^-91: both
# add up within int64 over as many as 2^32 pixels, and the loss is far below the rounding of a float64
_UNIT, _REST = 61, 30


def pro_curve(
    region_scores: Any, region_sizes: Any, normal: Any, *, max_points: int | None = MAX_POINTS
) -> dict[str, list[float]]:
    """The per-region overlap curve; a pixel is anomalous iff score > threshold.

    PRO(t) = 1/K Σ_k |{p ∈ C_k : s_p > t}| / |C_k|,  FPR(t) = |{normal p : s_p > t}| / N

    It starts at the highest score and ends at −inf. The trapezoids under all vertices add up to AUPRO@1.

    Parameters: region_scores (A,), the anomalous pixels region by region; region_sizes (K,), Σ = A; normal (N,), the
    normal pixels; max_points, as of `roc_curve`, with its bound on the distance.
    Returns {"threshold", "fpr", "pro"}, lists of one length.
    Raises ValueError for NaN, an empty side, and sizes that do not add up. Source: as of `aupro`.

    >>> pro_curve([0.9, 0.2], [1, 1], [0.1, 0.5])
    {'threshold': [0.9, 0.5, 0.2, 0.1, -inf], 'fpr': [0.0, 0.0, 0.5, 0.5, 1.0], 'pro': [0.0, 0.5, 0.5, 1.0, 1.0]}
    """
    pixels, sizes, others = checked_pixels(region_scores, region_sizes, normal)
    num_normal = others.total
    scores, overlap = mean_overlap(to_numpy(pixels), sizes)

    def place(vertices: Vertices) -> tuple[np.ndarray, np.ndarray]:
        pro = overlap[vertices.tp]
        return (pro + vertices.fp / num_normal) / 2, pro

    vertices = curve_vertices(*sort_sides(Side(scores), others.on_cpu()), place, max_points)
    return table(threshold=vertices.thresholds, fpr=vertices.fp / num_normal, pro=overlap[vertices.tp])


def mean_overlap(region_scores: Array, sizes: np.ndarray) -> tuple[Array, np.ndarray]:
    """The scores in ascending order, and (A + 1,) the mean overlap of all regions with the k highest, k = 0 … A."""
    scores, regions = sorted_with(region_scores, np.repeat(np.arange(len(sizes)), sizes))
    totals = [len(sizes) * size for size in sizes.tolist()]
    shares = np.asarray([(1 << _UNIT) // total for total in totals], np.int64)
    rests = np.asarray([((1 << _UNIT) % total << _REST) // total for total in totals], np.int64)
    whole, rest = (np.concatenate([[0], np.cumsum(part[regions[::-1]])]) for part in (shares, rests))
    return scores, (whole.astype(np.float64) + rest.astype(np.float64) / 2**_REST) / 2**_UNIT
