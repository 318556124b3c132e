"""Sorting of scores where they lie: np.sort, or a compiled radix sort where that is faster on this machine.

np.sort orders 10 million float32 scores in 32 ms on one processor and in 450 ms on another (NumPy 2.4 on an AMD EPYC
with AVX-512), where the radix sort takes 100 ms; so which of the two sorts is timed once, on a small part of the work.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np

from ._arrays import Array, array_namespace, is_numpy_array, widen
from ._compiled import compiled, worth_compiling

SMALL = 1 << 16  # scores below which the tables of a radix sort cost more than they save


def sort_in_place(scores: np.ndarray) -> None:
    """Sort float32 or float64 scores in ascending order, NaN at an end; −0.0 may become 0.0, which it equals."""
    large = scores.size >= SMALL and worth_compiling(radix_sort, scores.size, scores) is not None
    if not large or not _radix_wins(scores.dtype.name):
        scores.sort()
    else:
        _radix_sort(scores)


def sorted_with(scores: Array, payload: Array) -> tuple[Array, Array]:
    """Scores in ascending order, as float32 or float64, each with its payload: integers of at least 0."""
    scores = widen(scores)
    if not is_numpy_array(scores) or scores.dtype != np.float32 or int(payload.max(initial=0)) >= 2**32:
        order = array_namespace(scores).argsort(scores)
        return scores[order], payload[order]
    # One sort, where an argsort takes several times as long: a float64 whose upper half is a score's bits is ordered as
    # the score, whatever its lower half. It is never NaN, since the bits of ±inf as a float32 are a number's there.
    keys = np.ascontiguousarray(scores).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= payload.view(np.uint64)
    sort_in_place(keys.view(np.float64))
    low = keys.astype(np.uint32).astype(np.int64)
    keys >>= np.uint64(32)
    return keys.astype(np.uint32).view(np.float32), low


def places(scores: Array) -> Array:
    """The index of each score, as a payload."""
    return array_namespace(scores).arange(scores.shape[0], device=scores.device)


def radix_sort(keys: Any, spare: Any, constants: Any) -> None:
    """Sort the bit patterns of floats by value: three passes over 11 bits each, with `spare` to move them.

    The passes go over all of a float32, and over the upper half of a float64, whose runs of equal halves are then
    sorted apart. NaN goes to either end, and −0.0 becomes 0.0. `constants` are those of `_constants`.
    """
    shift_low, shift_middle, shift_high, digit, sign, ones = constants
    size = keys.size
    low, middle, high = np.zeros(2048, np.int64), np.zeros(2048, np.int64), np.zeros(2048, np.int64)
    for i in range(size):
        key = keys[i]
        if key == sign:
            key = sign ^ sign
        key ^= ones if key & sign else sign  # ascending as unsigned integers
        keys[i] = key
        low[(key >> shift_low) & digit] += 1
        middle[(key >> shift_middle) & digit] += 1
        high[key >> shift_high] += 1
    at_low, at_middle, at_high = 0, 0, 0
    for d in range(2048):
        low[d], at_low = at_low, at_low + low[d]
        middle[d], at_middle = at_middle, at_middle + middle[d]
        high[d], at_high = at_high, at_high + high[d]
    for i in range(size):
        key = keys[i]
        spare[low[(key >> shift_low) & digit]] = key
        low[(key >> shift_low) & digit] += 1
    for i in range(size):
        key = spare[i]
        keys[middle[(key >> shift_middle) & digit]] = key
        middle[(key >> shift_middle) & digit] += 1
    for i in range(size):
        key = keys[i]
        spare[high[key >> shift_high]] = key
        high[key >> shift_high] += 1
    start = 0 if shift_low else size
    while start < size:
        stop = start + 1
        while stop < size and spare[stop] >> shift_low == spare[start] >> shift_low:
            stop += 1
        if stop - start > 32:
            spare[start:stop].sort()
        else:
            for i in range(start + 1, stop):
                key, j = spare[i], i - 1
                while j >= start and spare[j] > key:
                    spare[j + 1] = spare[j]
                    j -= 1
                spare[j + 1] = key
        start = stop
    for i in range(size):
        key = spare[i]
        keys[i] = key ^ (sign if key & sign else ones)


@cache
def _constants(bits: int) -> tuple[Any, ...]:
    """Shifts of the three digits, a digit of ones, the sign bit, and all bits, as unsigned integers of so many bits."""
    values = (bits - 32, bits - 21, bits - 10, 2047, 1 << (bits - 1), (1 << bits) - 1)
    return tuple(map(np.dtype(f"uint{bits}").type, values))


def _radix_sort(scores: np.ndarray) -> None:
    sort = compiled(radix_sort)
    assert sort is not None  # the caller has asked
    bits = 8 * scores.itemsize
    keys = scores.view(f"uint{bits}")
    sort(keys, np.empty_like(keys), _constants(bits))


@cache
def _radix_wins(dtype: str) -> bool:
    """Whether the compiled sort beats np.sort on this machine: one timing of each, after a warm-up."""
    sample = np.random.default_rng(0).random(1 << 18).astype(dtype)
    _radix_sort(sample.copy())
    times = []
    for sort in (_radix_sort, np.ndarray.sort):
        scores = sample.copy()
        start = time.perf_counter()
        sort(scores)
        times.append(time.perf_counter() - start)
    return times[0] < times[1]
