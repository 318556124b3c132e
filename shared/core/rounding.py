"""Scores with fewer values, in the same order: cut to some significant bits, or rounded up to thresholds.

Both keep order, x ≤ y ⇒ f(x) ≤ f(y), and leave alone what has been rounded before: so a score has the same value in any
batch, and states of batches can be joined.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .arrays import Array, array_namespace, is_floating, on_device, widen
from .options import as_int
from .states import integer_scalar

MIN_BITS, MAX_BITS = 4, 52


def check_bits(significant_bits: Any) -> int | None:
    """Check the option of that name: None, or an int in [4, 52]."""
    return None if significant_bits is None else as_int(significant_bits, "significant_bits", MIN_BITS, MAX_BITS)


def cut(scores: Array, bits: int) -> Array:
    """Scores with so many bits of their significand; the rest are cut off, towards zero.

    Parameters: scores, float32 or float64, or a narrower type that is widened; bits in [4, 52], the leading one
    included. Returns an array of that shape; what has no more bits, and ±inf, stays as it is.

    >>> cut(np.asarray([1.0, 1.9, -1.9, 1e-300, np.inf]), 4).tolist()
    [1.0, 1.875, -1.875, 9.572e-301, inf]
    """
    scores = widen(scores)
    xp = array_namespace(scores)
    integers, stored = (xp.int32, 23) if scores.dtype == xp.float32 else (xp.int64, 52)
    dropped = stored + 1 - bits
    if dropped <= 0:
        return scores
    return (scores.view(integers) & -(1 << dropped)).view(scores.dtype)


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
    """The entry of that name of a state from elsewhere. Raises ValueError unless it is as the option says."""
    if ("significant_bits" in state) != (significant_bits is not None):
        came = "one without" if significant_bits is not None else "one with"
        raise ValueError(f"state: expected significant_bits={significant_bits}, as here, got {came} them")
    if significant_bits is None:
        return {}
    bits = integer_scalar(state, "significant_bits", MIN_BITS, MAX_BITS)
    if int(bits) != significant_bits:
        raise ValueError(f"state: expected significant_bits={significant_bits}, as here, got {int(bits)}")
    return {"significant_bits": bits}


def is_cut(scores: np.ndarray, bits: int) -> bool:
    """Whether scores have no more significant bits than that."""
    return not is_floating(scores) or bool((cut(scores, bits) == widen(scores)).all())
