"""Anomaly scores of images from their maps: the maximum, the mean, or the mean of the highest pixels."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, is_numpy_array, on_device, to_numpy, widen
from ..arrays.options import as_int
from ..arrays.threads import in_threads, parts_of, threads_for

REDUCTIONS = ("max", "mean")
_HALF = 2.0**27  # a mantissa of 53 bits in two parts, so that sums of 2^26 of either are exact in float64
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
    upper = xp.floor(units / _HALF)
    uppers, lowers = (
        to_numpy(xp.bincount(exponents - lowest, weights=part)).tolist() for part in (upper, units - upper * _HALF)
    )
    total = sum((int(high) * int(_HALF) + int(low)) << i for i, (high, low) in enumerate(zip(uppers, lowers)))
    return total << (lowest + _UNIT_BITS - 53)
