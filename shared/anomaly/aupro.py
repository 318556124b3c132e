"""Per-region overlap (PRO) and the area under its curve.

The PRO curve, over the false-positive rate, is the mean of the regions' ROC curves. Each pixel of a region adds a
step to it that rises between the normal pixels above its score and those at or above it. The area up to a limit is
then, for every region, a sum of integers over its pixels, so no curve has to be built or cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_device, to_numpy
from ..arrays.options import as_fractions, as_int
from ..arrays.sorting import indices, sorted_with
from ..ranking.bounds import in_either_order
from ..ranking.counts import Counts, Side, check_both_classes, runs, sort_sides
from ..ranking.quantities import Quantity

Area = TypeVar("Area")


def aupro(region_scores: Array, region_sizes: np.ndarray, normal: Array, limits: Any) -> list[float]:
    """Area under the per-region overlap curve up to limits of the false-positive rate, divided by the limit.

    AUPRO@L = 1/L ∫_0^L PRO(f) df,  PRO(FPR(t)) = 1/K Σ_k |{p ∈ C_k : s_p > t}| / |C_k|

    FPR is counted over the normal pixels; between distinct scores the curve is linear, and it is cut at L exactly.

    Parameters: region_scores (A,), the anomalous pixels region by region; region_sizes (K,), Σ = A; normal (N,), the
    normal pixels; limits in (0, 1].
    Returns one float in [0, 1] for each limit. Raises ValueError for a limit out of range, or if a side is empty.
    Source: Bergmann et al., The MVTec Anomaly Detection Dataset, IJCV 2021.

    >>> aupro(np.asarray([0.9, 0.2]), np.asarray([1, 1]), np.asarray([0.1, 0.5]), [1.0])
    [0.75]
    """
    limits = as_fractions(limits, "integration_limits")
    check_both_classes(region_scores.shape[0], normal.shape[0])
    ordered, order = sorted_with(region_scores, indices(region_scores))
    counts = counts_of_pixels(order).of(runs(*sort_sides(Side(ordered), normal)))
    return areas_up_to(counts, region_sizes, normal.shape[0], limits)


def by_limit(name: str, limits: Sequence[float], areas: Iterable[Area]) -> dict[str, Area]:
    """Areas by their names in results, such as aupro@0.3.

    >>> by_limit("aupro", [0.3, 1.0], [0.5, 0.75])
    {'aupro@0.3': 0.5, 'aupro@1.0': 0.75}
    """
    return {f"{name}@{limit}": area for limit, area in zip(limits, areas)}


def counts_of_pixels(order: Array) -> Quantity:
    """Normal pixels above, and at or above, the score of each anomalous pixel; `order` says how these ascend.

    Before scores were cut, the ramp of a pixel lay between the two: so the area is between those of steps at either.
    """
    xp = array_namespace(order)

    def part(counts: Counts) -> tuple[Array, Array]:
        return xp.repeat(counts.above, counts.sizes), xp.repeat(counts.fp, counts.sizes)

    def value(parts: list[tuple[Array, Array]], *_: int) -> tuple[Array, Array]:
        above, fp = (xp.empty_like(order, dtype=xp.int64) for _ in range(2))
        descending = xp.flip(order)
        for column, values in zip((above, fp), zip(*parts)):
            column[descending] = xp.concat(values)
        return above, fp

    return Quantity(part, value, None, in_either_order(part))


def areas_up_to(
    counts: tuple[Array, Array], region_sizes: np.ndarray, num_normal: int, limits: Sequence[float]
) -> list[float]:
    """AUPRO up to each limit from the counts of each pixel, region by region.

    AUPRO@L = 1/(L·K) Σ_k 1/|C_k| Σ_{p ∈ C_k} ∫_0^L ramp_p(f) df

    where ramp_p rises from 0 at FPR above_p/N to 1 at fp_p/N, the normal pixels that score above p, and at least as
    much. With n = L·N normal pixels up to the limit, the integral of a pixel times N is n − (above + fp)/2 if its ramp
    ends before the limit, (n − above)²/(2·(fp − above)) if the limit cuts it, and 0 beyond.

    Parameters: counts (above, fp) of each pixel, integers; region_sizes |C_k|, (K,); num_normal N; limits L in (0, 1],
    exact as fractions share/unit, so that n = reach/unit with the integer reach = share·N.
    Returns a float in [0, 1] for each limit.
    """
    above, fp = counts
    sizes = region_sizes.tolist()
    areas = []
    for limit in limits:
        share, unit = limit.as_integer_ratio()
        reach = share * num_normal  # the limit in normal pixels, times unit
        whole = fp <= reach // unit  # the pixel's step ends before the limit
        cut = (above < -(-reach // unit)) & ~whole  # the limit cuts it; one group of equal scores at most
        count, twice, partial = (_region_sums(x, region_sizes) for x in (whole, whole * (above + fp), cut))
        at = int(array_namespace(cut).argmax(cut * 1))
        low, step = int(above[at]), max(1, int(fp[at]) - int(above[at]))
        # of a region: count·n − twice/2, and partial·(n − low)²/(2·step) of the pixels that are cut; all over one
        # denominator, so that each region's term is rounded once
        ramp = (reach - low * unit) ** 2
        terms = zip(count, twice, partial, sizes)
        over = 2 * unit * step * len(sizes) * reach
        areas.append(
            math.fsum(((2 * n * reach - s * unit) * step * unit + m * ramp) / (over * size) for n, s, m, size in terms)
        )
    return areas


def _region_sums(values: Array, sizes: np.ndarray) -> list[int]:
    """Sums of integers over consecutive runs of the given sizes."""
    xp = array_namespace(values)
    running = xp.cumulative_sum(xp.astype(values, xp.int64), include_initial=True)
    ends = on_device(np.cumsum(sizes), values)
    return np.diff(to_numpy(running[ends]), prepend=0).tolist()


def sampled_aupro(
    region_scores: Array, region_sizes: np.ndarray, normal: Array, limits: Any, num_thresholds: int
) -> list[float]:
    """AUPRO from a sampled curve: thresholds at evenly spaced ranks of the normal pixels. Approximate.

    The FPR at rank r (from 0) of N normal pixels is taken as 1 − (r + 1)/N whether or not scores tie, which is wrong
    where they do. A pixel is anomalous iff score > threshold; the curve is cut at the limit by interpolation.

    Parameters: as of `aupro`; num_thresholds ≥ 2. Returns and raises as `aupro`.
    Source: PyADMetric's PRO, as in the evaluation of MVTec 3D-AD (Bergmann et al., VISAPP 2022).
    """
    limits = as_fractions(limits, "integration_limits")
    num_thresholds = as_int(num_thresholds, "num_thresholds", 2)
    normal, scores = np.sort(to_numpy(normal)), to_numpy(region_scores)
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
