"""Sorting of scores: alone, by kind, or each with a payload. Large sorts are compiled, and done by several threads."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from .arrays import Array, array_namespace, is_numpy_array, widen
from .compiled import worth_compiling
from .halving import sort_halves
from .radix import deal, radix_sorted
from .sort_choice import radix_wins
from .splitting import split
from .threads import in_threads, threads_for

SMALL = 1 << 16  # scores below which a radix sort saves no more than a millisecond


def sort_in_place(scores: np.ndarray) -> None:
    """Sort contiguous float32 or float64 scores in ascending order, NaN at an end; an error half-way loses some."""
    if _compiles(scores) and radix_wins(scores):
        radix_sorted(scores, in_place=True)
        return
    threads = threads_for(len(scores))
    if threads > 1:
        sort_halves(scores, threads)
    else:
        scores.sort()


def sorted_copy(scores: np.ndarray) -> np.ndarray:
    """Float32 or float64 scores in ascending order, as a new array, NaN at an end."""
    if _is_dealt(scores):
        return radix_sorted(scores, by_numpy=not radix_wins(scores)).scores
    return np.sort(scores)


def sorted_by_kind(scores: np.ndarray, kinds: np.ndarray, number: int) -> list[np.ndarray]:
    """The scores of each kind in ascending order, as float32 or float64, NaN at an end.

    Parameters: scores (N,); kinds (N,) uint8 or booleans, below `number`. Returns that many arrays.
    """
    scores = widen(scores)
    if _is_dealt(scores):
        kinds = np.ascontiguousarray(kinds).view(np.uint8)
        ordered, ends, _ = radix_sorted(scores, kinds, number, by_numpy=not radix_wins(scores))
        return [ordered[start:stop] for start, stop in pairwise(ends)]
    sides = []
    for kind in range(number - 1):
        here = kinds == kind
        side, scores = split(scores, here)
        sides.append(side)
        if kind < number - 2:
            kinds = split(kinds, here)[1]
    sides.append(scores)
    in_threads([side.sort for side in sides], threads_for(sum(map(len, sides))))
    return sides


def sorted_by_kind_with(
    scores: np.ndarray, kinds: np.ndarray, number: int, payload: np.ndarray
) -> list[tuple[np.ndarray, np.ndarray]]:
    """The scores of each kind in ascending order, each with its payload.

    Parameters: scores (N,) of float32 or float64; kinds (N,) integers below `number`; payload (N,) unsigned
    integers. Payloads of equal scores of a kind come in any order.
    """
    if kinds.itemsize <= 2 and _compiles(scores, SMALL // 4):  # NumPy would sort twice, and indices
        unsigned = np.ascontiguousarray(kinds).view(f"uint{8 * kinds.itemsize}")
        ordered, ends, carried = radix_sorted(scores, unsigned, number, payload)
    else:
        order = np.argsort(scores)
        order = order[np.argsort(kinds[order], kind="stable")]
        ordered, carried = scores[order], payload[order]
        ends = np.searchsorted(kinds[order], np.arange(number + 1))
    return [(ordered[start:stop], carried[start:stop]) for start, stop in pairwise(ends)]


def _is_dealt(scores: np.ndarray) -> bool:
    """Whether scores are dealt into buckets, which np.sort alone beats on one core where it is fast."""
    return _compiles(scores) and (threads_for(len(scores)) > 1 or radix_wins(scores))


def sorted_with(scores: Array, payload: Array) -> tuple[Array, Array]:
    """Scores in ascending order, as float32 or float64, each with its payload: flags, or integers of at least 0.

    Payloads of equal scores come in any order, and in their own type or as unsigned integers.
    """
    scores = widen(scores)
    largest = int(payload.max(initial=0)) if is_numpy_array(scores) else 1 << 32
    if largest < 1 << 32 and _compiles(scores):
        ordered = radix_sorted(scores, payload=_in_few_bits(payload, largest))
        return ordered.scores, ordered.payload
    if largest >= 1 << 32 or scores.dtype != np.float32:
        order = array_namespace(scores).argsort(scores, stable=False)
        return scores[order], payload[order]
    # One sort, where an argsort takes several times as long: a float64 whose upper half is a score's bits is ordered as
    # the score, whatever its lower half. It is never NaN, since the bits of ±inf as a float32 are a number's there.
    keys = np.ascontiguousarray(scores).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    np.bitwise_or(keys, payload, out=keys, dtype=np.uint64, casting="unsafe")
    keys.view(np.float64).sort()
    low = keys.astype(np.uint32)
    keys >>= np.uint64(32)
    return keys.astype(np.uint32).view(np.float32), low


def _in_few_bits(payload: np.ndarray, largest: int) -> np.ndarray:
    """Convert integers to the smaller of the two types that the loops are compiled for."""
    return payload.astype(np.uint16 if largest < 1 << 16 else np.uint32, copy=False)


def _compiles(scores: np.ndarray, least: int = SMALL) -> bool:
    return scores.size >= least and worth_compiling(deal, scores.size, scores) is not None


def indices(scores: Array) -> Array:
    """The index of each score, as a payload."""
    number = scores.shape[0]
    if is_numpy_array(scores) and number <= 1 << 32:
        return np.arange(number, dtype=np.uint32)
    return array_namespace(scores).arange(number, device=scores.device)
