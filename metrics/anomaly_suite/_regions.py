"""Anomaly maps: pixels by region, and the per-region overlap (PRO).

A batch of maps and masks becomes the scores of the normal pixels, those of the anomalous pixels grouped by region,
and the sizes of the regions. Regions are the 8-connected components of a mask; they are found in the part of each
mask that holds them, by SciPy on the CPU.

The PRO curve, over the false-positive rate, is the mean of the regions' ROC curves. Each pixel of a region adds a
step to it that rises between the normal pixels above its score and those at or above it. The area up to a limit is
then, for every region, a sum of integers over its pixels, so no curve has to be built or cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._arrays import (
    Array,
    State,
    array_namespace,
    as_choice,
    as_flags,
    as_fractions,
    as_int,
    as_numbers,
    as_scores,
    check_lengths,
    check_no_nan,
    concatenate,
    is_floating,
    is_numpy_array,
    is_torch_array,
    on_device,
    to_numpy,
    widen,
)
from ._counts import Counts, ascending, check_both_classes, exceedance_counts, runs, sort_sides, split
from ._curves import curve_metrics

REDUCTIONS = ("max", "mean")


def reduce_maps(
    predictions: Any,
    references: Any,
    image_scores: Any = None,
    image_labels: Any = None,
    *,
    image_reduction: str | int = "max",
) -> State:
    """Reduce a batch of anomaly maps and masks to the scores of their pixels, regions and images.

    Parameters: predictions (N, H, W) anomaly maps, higher is more anomalous, or a list of (H_i, W_i); references,
    masks of the same shapes, 0 or False for normal; image_scores and image_labels (N,), by default the map's
    maximum (or what `image_reduction` says: "mean", or an int k for the mean of the k highest) and whether the
    mask has an anomaly.

    Returns `image_scores` and `image_labels` (N,), `normal` and `anomalous` pixel scores, the latter region by
    region, and `region_sizes` in that order.
    Raises ValueError for NaN, shapes that differ, masks that are not binary, k beyond the pixels of a map.
    """
    check_reduction(image_reduction)
    maps, masks = _images(predictions, "predictions"), _images(references, "references")
    check_lengths(predictions=maps, references=masks)
    pairs = _checked_pairs(maps, masks)
    if image_scores is None:
        image_scores = _stack_scalars([_image_score(score_map, image_reduction) for score_map, _ in pairs])
    if image_labels is None:
        image_labels = np.asarray([bool(array_namespace(mask).any(mask)) for _, mask in pairs], dtype=bool)
    image_scores, image_labels = as_scores(image_scores, "image_scores"), as_flags(image_labels, "image_labels")
    check_lengths(predictions=pairs, image_scores=image_scores, image_labels=image_labels)
    return {"image_scores": image_scores, "image_labels": image_labels, **_pixels(pairs)}


def _pixels(pairs: Sequence[tuple[Array, Array]]) -> State:
    """Scores of all maps' pixels: the normal ones, the anomalous ones region by region, and the regions' sizes."""
    if not pairs:
        empty = np.zeros(0, dtype=np.float32)
        return {"normal": empty, "anomalous": empty, "region_sizes": np.zeros(0, dtype=np.int64)}
    xp = array_namespace(*(score_map for score_map, _ in pairs))
    num_normal = sum(math.prod(mask.shape) - int(array_namespace(mask).count_nonzero(mask)) for _, mask in pairs)
    dtype = xp.result_type(*(score_map for score_map, _ in pairs))
    # filled map by map: joining the parts in the end would hold all pixels twice
    normal, at = xp.empty((num_normal,), dtype=dtype, device=pairs[0][0].device), 0
    anomalous, sizes = [], []
    for score_map, mask in pairs:
        part, regions, region_sizes = split_regions(score_map, mask)
        normal[at : at + part.shape[0]] = part
        at += part.shape[0]
        anomalous.append(regions)
        sizes.append(region_sizes)
    return {
        "normal": normal,
        "anomalous": concatenate(anomalous),
        "region_sizes": np.concatenate(sizes).astype(np.int64),
    }


def check_reduction(image_reduction: Any) -> None:
    """Check that an image reduction is "max", "mean" or a positive int."""
    if not isinstance(image_reduction, str):
        as_int(image_reduction, "image_reduction", 1)
    elif image_reduction not in REDUCTIONS:
        raise ValueError(f"image_reduction: expected 'max', 'mean' or an int, got {image_reduction!r}")


def _images(x: Any, name: str) -> Sequence[Array]:
    """The images of a stack, or of any sequence in which their shapes may differ."""
    if (is_numpy_array(x) and x.dtype != object) or is_torch_array(x):
        stack = as_numbers(x, name)
        if stack.ndim != 3 and stack.shape != (0,):
            raise ValueError(f"{name}: expected (N, H, W) or a list of (H, W), got shape {tuple(stack.shape)}")
        return stack
    if isinstance(x, (str, bytes, Mapping)) or not isinstance(x, Iterable):
        raise TypeError(f"{name}: expected (N, H, W) or a list of (H, W), got {type(x).__name__}")
    return [as_numbers(row, f"{name}[{i}]") for i, row in enumerate(x)]


def _checked_pairs(maps: Any, masks: Any) -> list[tuple[Array, Array]]:
    """Maps in float32 or float64 without NaN, with masks of booleans of the same shapes."""
    if not isinstance(maps, list) and not isinstance(masks, list) and maps.shape == masks.shape:
        xp = array_namespace(masks)
        flags = masks if masks.dtype == xp.bool else masks == 1
        scores = widen(maps, "predictions")
        binary = flags is masks or bool(xp.all(flags | (masks == 0)))
        if binary and not bool(
            array_namespace(scores).any(scores != scores)
        ):  # else one of the images is not, and the message says which
            return list(zip(scores, flags))
    return [_checked_pair(score_map, mask, i) for i, (score_map, mask) in enumerate(zip(maps, masks))]


def _checked_pair(score_map: Array, mask: Array, i: int) -> tuple[Array, Array]:
    if score_map.ndim != 2 or tuple(score_map.shape) != tuple(mask.shape):
        raise ValueError(
            f"predictions[{i}], references[{i}]: expected a map (H, W) and a mask of the same shape, "
            f"got {tuple(score_map.shape)} and {tuple(mask.shape)}"
        )
    xp = array_namespace(mask)
    if mask.dtype != xp.bool:
        ones = mask == 1
        if bool(xp.any(~ones & (mask != 0))):
            other = mask[~ones & (mask != 0)][0].item()
            swapped = is_floating(mask) and not is_floating(score_map)
            raise ValueError(
                f"references[{i}]: expected a mask of 0 and 1 or booleans, got {other!r}; "
                + ("are predictions and references swapped?" if swapped else "binarise it, for example mask > 0")
            )
        mask = ones
    score_map = widen(score_map, f"predictions[{i}]")
    check_no_nan(score_map, f"predictions[{i}]")
    return score_map, mask


def _image_score(score_map: Array, image_reduction: str | int) -> Array:
    xp = array_namespace(score_map)
    if math.prod(score_map.shape) == 0:
        raise ValueError(f"predictions: expected maps with pixels, got shape {tuple(score_map.shape)}")
    if image_reduction == "max":
        return xp.max(score_map)
    # in float64 and in one order, so that equal values give equal means
    pixels = xp.astype(xp.reshape(score_map, (-1,)), xp.float64)
    if image_reduction != "mean":
        k = as_int(image_reduction, "image_reduction", 1, pixels.shape[0])
        pixels = xp.sort(pixels)[-k:]
    with np.errstate(over="ignore", invalid="ignore"):
        mean = xp.sum(pixels) / pixels.shape[0]
    if bool(xp.isnan(mean)):
        raise ValueError(
            f"predictions: expected maps with a mean (image_reduction={image_reduction!r}), got +inf and -inf"
        )
    return mean


def _stack_scalars(values: list[Array]) -> Array:
    if not values or isinstance(values[0], (np.ndarray, np.generic)):
        return np.asarray(values, dtype=np.result_type(*values) if values else np.float32)
    return array_namespace(values[0]).stack(values)


LEVELS = ("image", "pixel")


def check_levels(levels: Any) -> list[str]:
    """Check the levels to report: "image", "pixel", or a list of them."""
    if not isinstance(levels, Iterable):
        raise TypeError(f"levels: expected a list of {LEVELS}, got {levels!r}")
    chosen = [levels] if isinstance(levels, str) else list(levels)
    if not chosen:
        raise ValueError(f"levels: expected at least one of {LEVELS}, got none")
    return [as_choice(level, "levels", LEVELS) for level in chosen]


def level_counts(state: State, level: str) -> Counts:
    """Counts of the anomalous images against the normal ones, or of the anomalous pixels against the normal ones.

    Raises ValueError if there are no anomalous or no normal ones.
    """
    return exceedance_counts(*_level_sides(state, level))


def _level_sides(state: State, level: str) -> tuple[Array, Array]:
    if as_choice(level, "levels", LEVELS) == "pixel":
        positives, negatives = state["anomalous"], state["normal"]
    else:
        anomalous = on_device(state["image_labels"], state["image_scores"])
        positives, negatives = split(state["image_scores"], anomalous)
    if not positives.shape[0] or not negatives.shape[0]:
        raise ValueError(
            f"references: expected anomalous and normal {level}s, got {positives.shape[0]} anomalous and "
            f"{negatives.shape[0]} normal; leave {level!r} out of levels={LEVELS} to go without"
        )
    return positives, negatives


def anomaly_metrics(
    state: State, integration_limits: Any, levels: Any = LEVELS, *, num_thresholds: int | None = None
) -> dict[str, float]:
    """All metrics of the levels asked for: those of `curve_metrics`, and for pixels AUPRO up to each limit.

    Parameters: state of `reduce_maps`, whose normal pixels are sorted where they lie, to save a copy; the others as
    of `aupro` and `sampled_aupro`, which num_thresholds asks for.
    Returns {"image_auroc": …, "pixel_auroc": …, "aupro@0.3": …}. Raises ValueError if a level has one class only.
    """
    chosen = check_levels(levels)
    sides = {level: _level_sides(state, level) for level in chosen}
    limits = as_fractions(integration_limits, "integration_limits")
    if "pixel" in sides:
        state["normal"] = ascending(state["normal"], owned=True)
        sides["pixel"] = state["anomalous"], state["normal"]
    results: dict[str, float] = {}
    for level, (positives, negatives) in sides.items():
        results.update(curve_metrics(runs(*sort_sides(positives, negatives)), f"{level}_"))
    if "pixel" in sides:
        regions = state["anomalous"], state["region_sizes"], state["normal"], limits
        areas = aupro(*regions) if num_thresholds is None else sampled_aupro(*regions, num_thresholds)
        results.update({f"aupro@{limit}": area for limit, area in zip(limits, areas)})
    return results


def split_regions(score_map: Array, mask: Array) -> tuple[Array, Array, np.ndarray]:
    """Split one map's pixels into normal ones, and anomalous ones region by region with the regions' sizes.

    Parameters: score_map (H, W); mask (H, W) booleans. Regions are 8-connected.

    >>> scores, mask = np.asarray([[1, 2, 3], [4, 5, 6]]), np.asarray([[1, 0, 1], [0, 0, 1]], dtype=bool)
    >>> [part.tolist() for part in split_regions(scores, mask)]
    [[2, 4, 5], [1, 3, 6], [1, 2]]
    """
    xp = array_namespace(score_map, mask)
    pixels, flat = xp.reshape(score_map, (-1,)), xp.reshape(mask, (-1,))
    anomalous = to_numpy(xp.nonzero(flat)[0])
    if not len(anomalous):
        return pixels, pixels[:0], np.zeros(0, dtype=np.int64)
    regions = _components(to_numpy(mask), anomalous)
    order = np.argsort(regions, kind="stable")
    sizes = np.bincount(regions)[1:]
    return pixels[xp.nonzero(~flat)[0]], pixels[on_device(anomalous[order], score_map)], sizes


def _components(mask: np.ndarray, anomalous: np.ndarray) -> np.ndarray:
    """Number of the 8-connected component of each anomalous pixel (flat indices), from 1."""
    from scipy import ndimage  # its import takes longer than most metrics

    rows, columns = np.divmod(anomalous, mask.shape[1])
    top, left = rows[0], columns.min()
    part = mask[top : rows[-1] + 1, left : columns.max() + 1]
    labels, _ = ndimage.label(part, structure=np.ones((3, 3), dtype=bool))
    return labels[rows - top, columns - left]


def aupro(region_scores: Array, region_sizes: np.ndarray, normal: Array, limits: Any) -> list[float]:
    """Area under the per-region overlap curve up to limits of the false-positive rate, divided by the limit.

    AUPRO@L = 1/L ∫_0^L PRO(f) df,  PRO(FPR(t)) = 1/K Σ_k |{p ∈ C_k : s_p ≥ t}| / |C_k|

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
    above, fp = _counts_of_pixels(region_scores, normal)
    sizes = region_sizes.tolist()
    areas = []
    for limit in limits:
        reach = limit * normal.shape[0]  # the limit in normal pixels
        whole = fp <= reach  # the pixel's step ends before the limit
        cut = (above < reach) & ~whole  # the limit cuts it; one group of equal scores at most
        count, twice, partial = (_region_sums(x, region_sizes) for x in (whole, whole * (above + fp), cut))
        at = int(array_namespace(cut).argmax(cut * 1))
        low, high = int(above[at]), int(fp[at])
        ramp = (reach - low) ** 2 / (2 * (high - low)) if any(partial) else 0.0
        regions = zip(count, twice, partial, sizes)
        area = math.fsum((n * reach - s / 2 + m * ramp) / size for n, s, m, size in regions)
        areas.append(area / (len(sizes) * reach))
    return areas


def _counts_of_pixels(scores: Array, normal: Array) -> tuple[Array, Array]:
    """Normal pixels above, and at or above, the score of each anomalous pixel."""
    xp = array_namespace(scores)
    order = xp.argsort(scores, descending=True)
    above, fp = xp.empty_like(order), xp.empty_like(order)
    stop = 0
    for counts in runs(*sort_sides(xp.flip(scores[order]), normal)):
        start, stop = stop, int(counts.tp[-1])
        pixels = order[start:stop]
        above[pixels] = xp.repeat(counts.above, counts.sizes)
        fp[pixels] = xp.repeat(counts.fp, counts.sizes)
    return above, fp


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
    where they do. A pixel is anomalous when its score is > threshold; the curve is cut at the limit by
    interpolation.

    Parameters: as of `aupro`; num_thresholds ≥ 2.
    Source: PyADMetric's PRO, which is that of the MVTec 3D-AD evaluation (Bergmann et al., VISAPP 2022).
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
