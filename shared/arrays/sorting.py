"""Sorting of scores where they lie, alone or each with a payload."""

from __future__ import annotations

import numpy as np

from .arrays import Array, array_namespace, is_numpy_array, widen
from .compiled import worth_compiling
from .radix import flip_and_count, radix_sort, radix_sort_with, radix_wins

SMALL = 1 << 16  # scores below which a radix sort saves no more than a millisecond


def sort_in_place(scores: np.ndarray, *, whole: bool = True) -> None:
    """Sort float32 or float64 scores in ascending order, NaN at an end.

    Without `whole`, float64 scores that are equal in their upper halves may come in any order.
    """
    if _compiles(scores) and radix_wins(scores):
        radix_sort(scores, whole=whole)
    else:
        scores.sort()


def sorted_with(scores: Array, payload: Array) -> tuple[Array, Array]:
    """Scores in ascending order, as float32 or float64, each with its payload: flags, or integers of at least 0.

    Payloads of equal scores come in any order, and in their own type or as uint32.
    """
    scores = widen(scores)
    packs = is_numpy_array(scores) and int(payload.max(initial=0)) < 2**32
    if packs and scores.dtype == np.float64 and _compiles(scores):
        return radix_sort_with(scores, payload)
    if not packs or scores.dtype != np.float32:
        order = array_namespace(scores).argsort(scores, stable=False)
        return scores[order], payload[order]
    # One sort, where an argsort takes several times as long: a float64 whose upper half is a score's bits is ordered as
    # the score, whatever its lower half. It is never NaN, since the bits of ±inf as a float32 are a number's there.
    keys = np.ascontiguousarray(scores).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    np.bitwise_or(keys, payload, out=keys, dtype=np.uint64, casting="unsafe")
    sort_in_place(keys.view(np.float64), whole=False)
    low = keys.astype(np.uint32)
    keys >>= np.uint64(32)
    return keys.astype(np.uint32).view(np.float32), low


def _compiles(scores: np.ndarray) -> bool:
    return scores.size >= SMALL and worth_compiling(flip_and_count, scores.size, scores) is not None


def indices(scores: Array) -> Array:
    """The index of each score, as a payload."""
    return array_namespace(scores).arange(scores.shape[0], device=scores.device)
