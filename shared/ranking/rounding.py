"""Scores with fewer values, in the same order: cut to some significant bits, or rounded up to thresholds.

Both keep order, x ≤ y ⇒ f(x) ≤ f(y), and leave rounded scores unchanged. So a score has the same value in all batches,
and states can be joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, on_device, widen
from ..arrays.options import as_int
from ..arrays.states import integer_scalar

MIN_BITS, MAX_BITS = 4, 52


def check_bits(significant_bits: Any) -> int | None:
    """Check the option of that name: None, or an int in [4, 52]."""
    return None if significant_bits is None else as_int(significant_bits, "significant_bits", MIN_BITS, MAX_BITS)


def cut(scores: Array, bits: int) -> Array:
    """Cut scores to the leading bits of their significand; one more bit says whether any dropped bit was 1.

    So a score that fits in `bits`, or is ±inf, is unchanged; all scores between two neighbouring scores that fit become
    the middle between them.

    Parameters: scores, float32 or float64, or a narrower type that is widened; bits in [4, 52], the leading one
    included. Returns an array of that shape. Scores of both types are cut to the same values.

    >>> cut(np.asarray([1.0, 1.875, 1.9, -1.99, np.inf]), 4).tolist()
    [1.0, 1.875, 1.9375, -1.9375, inf]
    """
    scores = widen(scores)
    xp = array_namespace(scores)
    single = scores.dtype == xp.float32
    integers, stored = (xp.int32, 23) if single else (xp.int64, 52)
    dropped = stored + 1 - bits
    if dropped <= 0:
        return scores
    patterns = scores.view(integers)
    low = (1 << dropped) - 1
    sticky = (((patterns & low) + low) & (low + 1)) >> 1
    rounded = ((patterns & ~low) | sticky).view(scores.dtype)
    if single:
        magnitudes = patterns & 0x7FFFFFFF
        small = (magnitudes > 0) & (magnitudes < 1 << stored)  # subnormal: float64 has more bits for these
        if bool(xp.any(small)):
            rounded[small] = xp.astype(cut(xp.astype(scores[small], xp.float64), bits), xp.float32)
    return rounded


def was_cut(scores: Array, bits: int) -> Array:
    """Flag the scores of `cut` that stand for a range of scores, rather than for themselves.

    >>> was_cut(cut(np.asarray([1.875, 1.9, np.inf]), 4), 4).tolist()
    [False, True, False]
    """
    xp = array_namespace(scores)
    return (xp.astype(scores, xp.float64).view(xp.int64) & ((1 << (53 - bits)) - 1)) != 0


def rounded_up(scores: Array, thresholds: np.ndarray) -> Array:
    """The lowest of the thresholds that each score does not exceed, in float64; +inf above them all.

    Parameters: scores (N,), thresholds (T,) in ascending order. At every threshold, score ≤ threshold as before.

    >>> rounded_up(np.asarray([0.1, 0.2, 0.7]), np.asarray([0.2, 0.5])).tolist()
    [0.2, 0.2, inf]
    """
    xp = array_namespace(scores)
    levels = on_device(np.append(thresholds, np.inf), scores)
    return levels[xp.searchsorted(levels[:-1], xp.astype(scores, xp.float64), side="left")]


def checked_bits(state: Mapping[str, Any], significant_bits: int | None) -> dict[str, np.ndarray]:
    """The significant_bits of a state from elsewhere, as an entry. Raises ValueError if they differ from the option."""
    if ("significant_bits" in state) != (significant_bits is not None):
        came = "one without" if significant_bits is not None else "one with"
        raise ValueError(f"state: expected significant_bits={significant_bits}, as here, got {came} them")
    if significant_bits is None:
        return {}
    bits = integer_scalar(state, "significant_bits", MIN_BITS, MAX_BITS)
    if int(bits) != significant_bits:
        raise ValueError(f"state: expected significant_bits={significant_bits}, as here, got {int(bits)}")
    return {"significant_bits": bits}
