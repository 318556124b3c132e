"""Per-region overlap (PRO) and the area under its curve.

The PRO curve, over the false-positive rate, is the mean of the regions' ROC curves. Each pixel of a region adds a
step to it that rises between the normal pixels above its score and those at or above it. The area up to a limit is
then, for every region, a sum of integers over its pixels, so no curve has to be built or cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..arrays.arrays import Array, array_namespace, device_of, on_device, to_numpy, trapezoid_area
from ..arrays.checks import as_fractions, as_labels, as_scores
from ..arrays.sorting import indices, sorted_with
from ..arrays.threads import in_threads, runs_of_work, threads_for, worth_compiling
from ..ranking.counts import Counts, Side, as_side, check_both_classes, runs, sort_sides
from ..ranking.quantities import Quantity, in_either_order
from ..ranking.roc import MAX_POINTS, Vertices, curve_vertices, table

Area = TypeVar("Area")
_WORK = 8  # summing the terms of a pixel takes about as long as so many scores


def aupro(region_scores: Any, region_sizes: Any, normal: Any, limits: Any) -> list[float]:
    """Area under the per-region overlap curve up to limits of the false-positive rate, divided by the limit.

    AUPRO@L = 1/L ∫_0^L PRO(f) df,  PRO(FPR(t)) = 1/K Σ_k |{p ∈ C_k : s_p > t}| / |C_k|

    FPR is counted over the normal pixels; between distinct scores the curve is linear, and it is cut at L exactly.

    Parameters: region_scores (A,), the anomalous pixels region by region; region_sizes (K,), Σ = A; normal (N,), the
    normal pixels; limits in (0, 1].
    Returns one float in [0, 1] for each limit. Raises ValueError for NaN, limits out of range, an empty side and
    sizes that do not add up.
    Source: Bergmann et al., The MVTec Anomaly Detection Dataset, IJCV 2021.

    >>> aupro([0.9, 0.2], [1, 1], [0.1, 0.5], [1.0])
    [0.75]
    """
    limits = as_fractions(limits, "integration_limits")
    scores, sizes, normal = checked_pixels(region_scores, region_sizes, normal)
    ordered, order = sorted_with(scores, indices(scores))
    steps = STEPS.of(runs(*sort_sides(Side(ordered), normal)))
    return areas_up_to(steps, steps.of_pixels(order), sizes, normal.total, limits)


def checked_pixels(region_scores: Any, region_sizes: Any, normal: Any) -> tuple[Array, np.ndarray, Side]:
    """Check the scores of regions' pixels, the regions' sizes, and the scores of normal pixels, which are sorted."""
    scores, sizes = as_scores(region_scores, "region_scores"), to_numpy(as_labels(region_sizes, "region_sizes"))
    others = normal if isinstance(normal, Side) else as_side(on_device(as_scores(normal, "normal"), scores))
    check_both_classes(len(scores), others.total)
    if int(sizes.min(initial=1)) < 1 or int(sizes.sum()) != len(scores):
        raise ValueError(
            f"region_sizes: expected sizes of at least 1 that add up to {len(scores)} pixels, "
            f"got {len(sizes)} of at least {int(sizes.min(initial=1))} that add up to {int(sizes.sum())}"
        )
    return scores, sizes, others


def by_limit(name: str, limits: Sequence[float], areas: Iterable[Area]) -> dict[str, Area]:
    """Areas by their names in results, such as aupro@0.3.

    >>> by_limit("aupro", [0.3, 1.0], [0.5, 0.75])
    {'aupro@0.3': 0.5, 'aupro@1.0': 0.75}
    """
    return {f"{name}@{limit}": area for limit, area in zip(limits, areas)}


class Steps(NamedTuple):
    """Normal pixels at each distinct score of the anomalous pixels, the highest score first."""

    above: Array  # (T,) normal pixels with a higher score
    fp: Array  # (T,) normal pixels with the score or a higher one
    sizes: Array  # (T,) anomalous pixels with the score, Σ = A

    def of_pixels(self, order: Array) -> Array:
        """The step of each anomalous pixel, (A,) integers; `order` says how the pixels ascend."""
        xp = array_namespace(order)
        numbers = xp.arange(self.sizes.shape[0], dtype=order.dtype, device=device_of(order))
        steps = xp.empty_like(order)
        steps[xp.flip(order)] = xp.repeat(numbers, self.sizes)
        return steps


def _steps(counts: Counts) -> Steps:
    copies = (each + 0 for each in (counts.above, counts.fp, counts.sizes))  # a run's own arrays have room to spare
    return Steps(*copies)


def _joined_steps(parts: list[Steps], *_: int) -> Steps:
    return Steps(*map(array_namespace(parts[0].above).concat, zip(*parts)))


# Before scores were cut, the ramp of a pixel lay within its step: so the area is between those of steps at either end
STEPS = Quantity(_steps, _joined_steps, None, in_either_order(_steps))


def areas_up_to(
    steps: Steps, step_of_pixel: Array, region_sizes: np.ndarray, num_normal: int, limits: Sequence[float]
) -> list[float]:
    """AUPRO up to each limit from the step of each pixel, region by region.

    AUPRO@L = 1/(L·K) Σ_k 1/|C_k| Σ_{p ∈ C_k} ∫_0^L ramp_p(f) df

    where ramp_p rises from 0 at FPR above_p/N to 1 at fp_p/N, the normal pixels that score above p, and at least as
    much. With n = L·N normal pixels up to the limit, the integral of a pixel times N is n − (above + fp)/2 if its ramp
    ends before the limit, (n − above)²/(2·(fp − above)) if the limit cuts it, and 0 beyond.

    Parameters: steps; step_of_pixel (A,), of each anomalous pixel; region_sizes |C_k|, (K,); num_normal N; limits L in
    (0, 1], exact as fractions share/unit, so that n = reach/unit with the integer reach = share·N.
    Returns a float in [0, 1] for each limit.
    """
    xp = array_namespace(steps.fp)
    reaches, places = [], []
    for limit in limits:
        share, unit = limit.as_integer_ratio()
        reach = share * num_normal  # the limit in normal pixels, n = reach/unit
        end = int(xp.count_nonzero(steps.fp <= reach // unit))  # steps that end before the limit or at it
        cut = max(end, int(xp.count_nonzero(steps.above < -(-reach // unit))))  # and one more if it is cut
        reaches.append((reach, unit))
        places.append((end, cut))
    sums = _region_sums(step_of_pixel, steps.above + steps.fp, places, region_sizes)
    sizes, areas = region_sizes.tolist(), []
    for i, (reach, unit) in enumerate(reaches):
        end, cut = places[i]
        low, width = (int(steps.above[end]), int(steps.fp[end] - steps.above[end])) if cut > end else (0, 1)
        # of a region, with m = before and c = begun − before pixels whose ramps end before the limit or are cut by it:
        #   (m·n − twice/2 + c·(n − low)²/(2·width)) / (size·K·n),
        # all over one denominator in integers, so that each region's term is rounded once
        ramp = (reach - low * unit) ** 2
        over = 2 * unit * width * len(sizes) * reach
        terms = []
        for before, twice, begun, size in zip(*sums[3 * i : 3 * i + 3], sizes):
            whole = (2 * before * reach - twice * unit) * width * unit
            terms.append((whole + (begun - before) * ramp) / (over * size))
        areas.append(math.fsum(terms))
    return areas


def _region_sums(
    step_of_pixel: Array, both: Array, places: Sequence[tuple[int, int]], region_sizes: np.ndarray
) -> list[list[int]]:
    """Three sums for each limit and region.

    They are the number of pixels whose step ends before the limit, Σ (above + fp) of these pixels, and the number of
    pixels whose step begins before it.
    """
    ends = np.cumsum(region_sizes)
    loop = worth_compiling(region_sums, _WORK * step_of_pixel.shape[0], step_of_pixel, both)
    if loop is None:
        return _running_sums(step_of_pixel, both, places, ends)
    threads = threads_for(_WORK * len(step_of_pixel))
    sums = np.zeros((len(region_sizes), 3 * len(places)), np.int64)
    ends_and_cuts = np.asarray(places).T.copy()  # contiguous rows, for one compiled version

    def add_up(run: slice) -> None:  # no two threads write one place: each has regions of its own
        start, stop = (int(ends[i - 1]) if i else 0 for i in (run.start, run.stop))
        loop(step_of_pixel[start:stop], region_sizes[run], *ends_and_cuts, both, sums[run])

    in_threads([partial(add_up, run) for run in runs_of_work(region_sizes, threads)], threads)
    return sums.T.tolist()


def region_sums(steps: Any, sizes: Any, ends: Any, cuts: Any, both: Any, sums: Any) -> None:
    """Add up the sums of each region; its pixels follow the pixels of the region before."""
    start, furthest = 0, max(ends.max(), cuts.max())
    for region in range(sizes.size):
        stop = start + sizes[region]
        for i in range(start, stop):
            step = steps[i]
            if step < furthest:
                twice = both[step]
                for limit in range(ends.size):
                    before = step < ends[limit]
                    sums[region, 3 * limit] += before
                    sums[region, 3 * limit + 1] += before * twice
                    sums[region, 3 * limit + 2] += step < cuts[limit]
        start = stop


def _running_sums(
    step_of_pixel: Array, both: Array, places: Sequence[tuple[int, int]], ends: np.ndarray
) -> list[list[int]]:
    """As `_region_sums`, by sums over all pixels up to the end of each region."""
    xp = array_namespace(step_of_pixel)
    twice, last, running = both[step_of_pixel], on_device(ends - 1, step_of_pixel), []
    for end, cut in places:
        before = step_of_pixel < end
        for column in (before, before * twice, step_of_pixel < cut):
            running.append(xp.cumulative_sum(column, dtype=xp.int64)[last])
    return np.diff(to_numpy(xp.stack(running)), prepend=0).tolist()


def sampled_areas(
    region_scores: Array, region_sizes: np.ndarray, normal: Array, limits: Sequence[float], num_thresholds: int
) -> list[float]:
    """AUPRO from a sampled curve: thresholds at evenly spaced ranks of the normal pixels, which ascend. Approximate.

    The FPR at rank r (from 0) of N normal pixels is taken as 1 − (r + 1)/N, which is wrong if scores tie. A pixel is
    anomalous iff score > threshold; the curve is cut at the limit by interpolation.

    Parameters: as of `aupro`; num_thresholds ≥ 2. Returns a float for each limit.
    Source: PyADMetric's PRO, as in the evaluation of MVTec 3D-AD (Bergmann et al., VISAPP 2022).
    """
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
    area = trapezoid_area(y[inside], x[inside])
    if inside.all() or x[inside][-1] == limit:
        return area
    at = int(np.count_nonzero(inside))
    x0, x1, y0, y1 = x[at - 1], x[at], y[at - 1], y[at]
    y_limit = y0 + (y1 - y0) * (limit - x0) / (x1 - x0)
    return area + float((y_limit + y0) / 2 * (limit - x0))


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
