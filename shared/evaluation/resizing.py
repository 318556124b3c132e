"""Resize maps, as torch.nn.functional.interpolate does."""

from __future__ import annotations

import numpy as np

WAYS = ("nearest", "bilinear")


def resized_map(score_map: np.ndarray, shape: tuple[int, int], way: str) -> np.ndarray:
    """Resize a map: the pixel at ⌊i·H/H'⌋ ("nearest"), or interpolated between pixel centres at i + ½ ("bilinear").

    Parameters: score_map (H, W); shape (H', W'); way, "nearest" or "bilinear" (align_corners=False, no antialiasing).
    Returns float64 for integers and float64, else float32, rounded once; with "nearest", the type of the map.

    >>> resized_map(np.asarray([[0.0, 1.0]]), (1, 4), "bilinear").tolist()
    [[0.0, 0.25, 0.75, 1.0]]
    >>> resized_map(np.asarray([[0.0, 1.0]]), (1, 4), "nearest").tolist()
    [[0.0, 0.0, 1.0, 1.0]]
    """
    if score_map.shape == shape:
        return score_map
    if way == "nearest":
        rows, columns = (np.arange(new) * old // new for new, old in zip(shape, score_map.shape))
        return score_map[np.ix_(rows, columns)]
    values = score_map.astype(np.float64)
    for axis, new in enumerate(shape):
        low, high, share = _neighbours(values.shape[axis], new)
        first, second = (np.take(values, at, axis=axis) for at in (low, high))
        share = share[:, None] if axis == 0 else share
        # the difference of two infinite neighbours is NaN
        with np.errstate(invalid="ignore"):
            values = np.where((first == second) | (share == 0), first, first * (1 - share) + second * share)
    small = score_map.dtype.kind == "f" and score_map.dtype.itemsize < values.dtype.itemsize
    return values.astype(np.float32) if small else values


def _neighbours(old: int, new: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The two old pixels beside each new pixel, and the weight of the second."""
    place = np.clip((np.arange(new) + 0.5) * (old / new) - 0.5, 0, old - 1)
    low = place.astype(np.int64)
    return low, np.minimum(low + 1, old - 1), place - low
