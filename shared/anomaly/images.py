"""Anomaly scores of images from their maps: the maximum, the mean, or the mean of the highest pixels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays.arrays import (
    Array,
    State,
    array_namespace,
    as_array,
    is_numpy_array,
    is_torch_array,
    on_device,
    to_numpy,
    widen,
    without_arrow,
)
from ..arrays.checks import as_int, check_lengths
from ..arrays.threads import in_threads, parts_of, threads_for
from ..metric.groups import ALL, group_name, rows_of_groups
from ..metric.prepared import MissingClassError
from ..metric.results import Rate, Results
from ..ranking.counts import as_side, sort_sides
from ..ranking.curves import AUROC, AVERAGE_PRECISION, F1_MAX
from ..ranking.quantities import quantities
from .decisions import Judge

REDUCTIONS = ("max", "mean")
_LOW_BITS = 2.0**27  # a mantissa of 53 bits in two parts, so that sums of 2^26 of either are exact in float64
_SUMMED = 1 << 26
_UNIT_BITS = 1073 + 53  # of the smallest float64, as a mantissa below 1 with 53 bits


def check_reduction(image_reduction: Any) -> np.ndarray:
    """Check that an image reduction is "max", "mean" or a positive int; return it as a zero-dimensional array of text.

    >>> check_reduction(20)
    array('20', dtype='<U2')
    """
    if not isinstance(image_reduction, str):
        return np.asarray(str(as_int(image_reduction, "image_reduction", 1)))
    if image_reduction not in REDUCTIONS:
        raise ValueError(f"image_reduction: expected 'max', 'mean' or an int, got {image_reduction!r}")
    return np.asarray(str(image_reduction))


def checked_reduction(state: Mapping[str, Any], image_reduction: Any) -> np.ndarray:
    """The image_reduction of a state from elsewhere, as an entry. Raises ValueError if it differs from the option."""
    expected, entry = check_reduction(image_reduction), state["image_reduction"]
    if np.ndim(entry) or str(entry) != str(expected):
        raise ValueError(f"state: expected image_reduction={expected}, as here, got {str(entry)[:80]}")
    return expected


def reduced_maps(maps: Any, image_reduction: str | int) -> Array:
    """The score of each map: its maximum, its mean ("mean"), or the mean of its k highest pixels (k).

    Parameters: maps (N, H, W) or a list of (H_i, W_i), real and without NaN.
    Returns (N,) on the device of the maps. Raises ValueError for a map without pixels, k beyond its pixels, and a mean
    of +inf and -inf.
    """
    if not isinstance(maps, list) and image_reduction == "max" and math.prod(maps.shape):
        return maxima(widen(maps))
    scores = np.asarray([_reduced(widen(score_map), image_reduction) for score_map in maps], dtype=np.float64)
    return on_device(scores, maps[0]) if len(scores) else scores


def maxima(maps: Array) -> Array:
    """The highest score of each map of a stack (N, H, W) with pixels, (N,); NaN for a map with a NaN."""
    if not is_numpy_array(maps):
        return array_namespace(maps).max(maps, axis=(1, 2))
    threads = min(threads_for(maps.size), len(maps))
    parts = parts_of(len(maps), threads)
    return np.concatenate(in_threads([partial(np.max, maps[part], axis=(1, 2)) for part in parts], threads))


def _reduced(score_map: Array, image_reduction: str | int) -> float:
    xp = array_namespace(score_map)
    if math.prod(score_map.shape) == 0:
        raise ValueError(f"predictions: expected maps with pixels, got shape {tuple(score_map.shape)}")
    if image_reduction == "max":
        return float(xp.max(score_map))
    pixels = xp.reshape(score_map, (-1,))
    if image_reduction != "mean":
        k = as_int(image_reduction, "image_reduction", 1, pixels.shape[0])
        pixels = xp.sort(pixels)[-k:]
    infinite = {float(value) for value in (xp.min(pixels), xp.max(pixels)) if bool(xp.isinf(value))}
    if len(infinite) > 1:
        raise ValueError(
            f"predictions: expected maps with a mean (image_reduction={image_reduction!r}), got +inf and -inf"
        )
    return infinite.pop() if infinite else exact_mean(pixels)


def exact_mean(values: Array) -> float:
    """The mean of finite values, rounded once: identical in any order and on any device, without overflow.

    >>> exact_mean(np.asarray([0.1] * 77)), exact_mean(np.asarray([1e308, 1.5e308]))
    (0.1, 1.25e+308)
    """
    count = values.shape[0]
    total = sum(_units(values[start : start + _SUMMED]) for start in range(0, count, _SUMMED))
    return total / (count << _UNIT_BITS)


def _units(values: Array) -> int:
    """The sum of values in units of the smallest float64: mantissas are integers, summed separately for each
    exponent.
    """
    xp = array_namespace(values)
    mantissas, exponents = xp.frexp(xp.astype(values, xp.float64))
    lowest = int(xp.min(exponents))
    units = mantissas * 2.0**53
    upper = xp.floor(units / _LOW_BITS)
    uppers, lowers = (
        to_numpy(xp.bincount(exponents - lowest, weights=part)).tolist() for part in (upper, units - upper * _LOW_BITS)
    )
    total = sum((int(high) * int(_LOW_BITS) + int(low)) << i for i, (high, low) in enumerate(zip(uppers, lowers)))
    return total << (lowest + _UNIT_BITS - 53)


# Samples of several images, such as views of a product: anomalous if any image is, with the highest image score.


_BEST_F1 = F1_MAX._replace(value=lambda *parts: F1_MAX.value(*parts)[0])
_QUANTITIES = {"sample_auroc": AUROC, "sample_ap": AVERAGE_PRECISION, "sample_f1_max": _BEST_F1}


def as_sample_ids(samples: Any, maps: Any) -> np.ndarray:
    """Check a column of ids, strings or integers, and return them as strings, (N,).

    Raises ValueError for another length and for a missing id (None, "" or NaN), TypeError for other types.
    """
    samples = without_arrow(samples)
    if is_torch_array(samples):
        samples = to_numpy(as_array(samples, "samples"))
    if isinstance(samples, (str, bytes, Mapping)) or not isinstance(samples, Iterable):
        raise TypeError(f"samples: expected a column of strings or integers, got {type(samples).__name__}")
    items = samples.tolist() if hasattr(samples, "tolist") else list(samples)
    check_lengths(predictions=maps, samples=items)
    ids = []
    for i, item in enumerate(items):
        try:
            ids.append(group_name(item))
        except TypeError:
            raise TypeError(f"samples[{i}]: expected a string or an integer, got {item!r:.100}") from None
        if ids[-1] == ALL:
            raise ValueError(f"samples[{i}]: expected the id of a sample, got {item!r}")
    return np.asarray(ids, dtype=str)


def checked_ids(state: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The sample ids of a state from elsewhere, if it has any."""
    if "samples" not in state:
        return {}
    ids = np.asarray(state["samples"])
    if ids.ndim != 1 or (len(ids) and (ids.dtype.kind != "U" or not ids.astype(bool).all())):
        raise ValueError("state: expected samples to be a column of ids, strings that are not empty")
    return {"samples": ids.astype(str)}


def check_one_group(states: Mapping[str, Sequence[State]]) -> None:
    """Raise ValueError for a sample with images in two groups."""
    groups: dict[str, str] = {}
    for group, parts in states.items():
        for sample in sorted({name for part in parts if "samples" in part for name in part["samples"].tolist()}):
            other = groups.setdefault(sample, group)
            if other != group:
                names = " and in ".join(map(_words, (other, group)))
                raise ValueError(
                    f"samples: expected all images of a sample in one group, got those of {sample!r} in {names}"
                )


def check_groups_of_rows(samples: np.ndarray, groups: Any) -> None:
    """Raise ValueError, with the rows of a batch, for a sample with images in two of its groups."""
    group_of_row = {row: group for group, rows in rows_of_groups(groups).items() for row in rows.tolist()}
    first: dict[str, int] = {}
    for row, sample in enumerate(samples.tolist()):
        before = first.setdefault(sample, row)
        group, other = group_of_row[row], group_of_row[before]
        if group != other:
            raise ValueError(
                f"samples[{row}]: expected all images of a sample in one group, got {sample!r} in {_words(group)}, and "
                f"in {_words(other)} at samples[{before}]"
            )


def _words(group: str) -> str:
    return f"group {group!r}" if group != ALL else "no group"


class SampleRates(Judge):
    """Rates of samples: their score is the highest of their images', and they are anomalous if any image is.

    Raises ValueError unless there are anomalous and normal samples.
    """

    def __init__(self, state: Mapping[str, Any]) -> None:
        _, self.first, sample = np.unique(state["samples"], return_index=True, return_inverse=True)
        scores, labels = to_numpy(state["image_scores"]), to_numpy(state["image_labels"])
        self.scores, self.labels = np.full(len(self.first), -np.inf, scores.dtype), np.zeros(len(self.first), bool)
        np.maximum.at(self.scores, sample, scores)
        np.logical_or.at(self.labels, sample, labels)
        if self.labels.all() or not self.labels.any():
            anomalous = int(self.labels.sum())
            raise MissingClassError(
                f"references: expected anomalous and normal samples, got {anomalous} anomalous and "
                f"{len(self.labels) - anomalous} normal; leave the column samples out to go without"
            )

    def rates(self, images: np.ndarray | None = None) -> Results:
        """Results where each image, and with it its sample, occurs `images` times."""
        counts = np.ones(len(self.first), np.int64) if images is None else images[self.first]
        kinds = ((counts > 0) & self.labels, (counts > 0) & ~self.labels)
        sides = sort_sides(*(as_side(self.scores[kind], counts[kind]) for kind in kinds))
        values = quantities(*sides, _QUANTITIES)
        return {name: Rate(value, higher=True) for name, value in values.items()}
