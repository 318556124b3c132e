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

from ..arrays.arrays import Array, array_namespace, is_numpy_array, on_device, to_numpy
from ..arrays.columns import as_labels, as_scores
from ..arrays.compiled import worth_compiling
from ..arrays.options import as_fractions
from ..arrays.sorting import indices, sorted_with
from ..arrays.threads import in_threads, runs_of_work, threads_for
from ..ranking.bounds import in_either_order
from ..ranking.counts import Counts, Side, as_side, check_both_classes, runs, sort_sides
from ..ranking.quantities import Quantity

Area = TypeVar("Area")
_PIXELS = 1 << 15  # whose sums are taken at a time, which fit a cache
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
    """Normal pixels at each distinct score of the anomalous pixels, the highest score first.

    above: (T,) normal pixels with a higher score
    fp: (T,) normal pixels with the score or a higher one
    sizes: (T,) anomalous pixels with the score, Σ = A
    """

    above: Array
    fp: Array
    sizes: Array

    def of_pixels(self, order: Array) -> Array:
        """The step of each anomalous pixel, (A,) integers; `order` says how the pixels ascend."""
        xp = array_namespace(order)
        numbers = xp.arange(self.sizes.shape[0], dtype=order.dtype, device=order.device)
        steps = xp.empty_like(order)
        steps[xp.flip(order)] = xp.repeat(numbers, self.sizes)
        return steps


def _steps(counts: Counts) -> Steps:
    return Steps(counts.above, counts.fp, counts.sizes)


def _joined(parts: list[Steps], *_: int) -> Steps:
    xp = array_namespace(parts[0].above)
    return Steps(*(xp.concat(columns) for columns in zip(*parts)))


# Before scores were cut, the ramp of a pixel lay within its step: so the area is between those of steps at either end
STEPS = Quantity(_steps, _joined, None, in_either_order(_steps))


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
    fractions = [limit.as_integer_ratio() for limit in limits]
    reaches = [(share * num_normal, unit) for share, unit in fractions]  # limits in normal pixels, times unit
    places = [_before_and_at(steps, *reach) for reach in reaches]
    sums = _region_sums(step_of_pixel, steps.above + steps.fp, places, region_sizes)
    areas = []
    for (reach, unit), (end, cut), (count, twice, begun) in zip(reaches, places, zip(*[iter(sums)] * 3)):
        low, width = (int(steps.above[end]), int(steps.fp[end] - steps.above[end])) if cut > end else (0, 1)
        # of a region: count·n − twice/2, and (begun − count)·(n − low)²/(2·width) of the pixels that are cut; all over
        # one denominator, so that each region's term is rounded once
        ramp = (reach - low * unit) ** 2
        over = 2 * unit * width * len(region_sizes) * reach
        regions = zip(count, twice, begun, region_sizes.tolist())
        areas.append(
            math.fsum(
                ((2 * n * reach - s * unit) * width * unit + (b - n) * ramp) / (over * size)
                for n, s, b, size in regions
            )
        )
    return areas


def _before_and_at(steps: Steps, reach: int, unit: int) -> tuple[int, int]:
    """The number of steps that end before a limit or at it, and that number plus one if it cuts the next step."""
    xp = array_namespace(steps.fp)
    end = int(xp.count_nonzero(steps.fp <= reach // unit))
    return end, max(end, int(xp.count_nonzero(steps.above < -(-reach // unit))))


def _region_sums(
    step_of_pixel: Array, both: Array, places: Sequence[tuple[int, int]], region_sizes: np.ndarray
) -> list[list[int]]:
    """Three sums for each limit and region.

    They are the number of pixels whose step ends before the limit, Σ (above + fp) of these pixels, and the number of
    pixels whose step begins before it.
    """
    loop = worth_compiling(region_sums, _WORK * step_of_pixel.shape[0], step_of_pixel, both)
    if loop is None:
        return _region_sums_by_block(step_of_pixel, both, places, region_sizes)
    threads = threads_for(_WORK * len(step_of_pixel))
    sums, ends = np.zeros((len(region_sizes), 3 * len(places)), np.int64), np.cumsum(region_sizes)
    ends_and_cuts = np.asarray(places).T.copy()  # contiguous rows, for one compiled version

    def add_up(run: slice) -> None:  # no two threads write one place: each has regions of its own
        start, stop = (int(ends[i - 1]) if i else 0 for i in (run.start, run.stop))
        loop(step_of_pixel[start:stop], region_sizes[run], *ends_and_cuts, both, sums[run])

    in_threads([partial(add_up, run) for run in runs_of_work(region_sizes, threads)], threads)
    return sums.T.tolist()


def region_sums(steps: Any, sizes: Any, ends: Any, cuts: Any, both: Any, sums: Any) -> None:
    """Add up the sums of each region, whose pixels follow those of the one before."""
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


def _region_sums_by_block(
    step_of_pixel: Array, both: Array, places: Sequence[tuple[int, int]], region_sizes: np.ndarray
) -> list[list[int]]:
    """As `_region_sums`, some pixels at a time."""
    xp, total = array_namespace(step_of_pixel), step_of_pixel.shape[0]
    block = _PIXELS if is_numpy_array(step_of_pixel) else max(1, total)
    ends = np.cumsum(region_sizes)
    parts = [[np.zeros(0, np.int64)] for _ in range(3 * len(places))]
    before = [0] * len(parts)
    for start in range(0, total, block):
        pixels = step_of_pixel[start : start + block]
        twice = both[pixels]
        columns = [column for end, cut in places for column in (pixels < end, (pixels < end) * twice, pixels < cut)]
        last = ends[slice(*np.searchsorted(ends, [start + 1, start + block + 1]))] - start - 1
        for i, column in enumerate(columns):
            sums = xp.cumulative_sum(column, dtype=xp.int64)
            parts[i].append(to_numpy(sums[on_device(last, sums)]) + before[i])
            before[i] += int(sums[-1])
    return [np.diff(np.concatenate(part), prepend=0).tolist() for part in parts]
