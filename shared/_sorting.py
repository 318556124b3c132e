"""Sorting of scores where they lie: np.sort, or a compiled radix sort where that is faster on this machine.

np.sort orders 10 million float32 scores in 32 ms on one processor and in 450 ms on another (NumPy 2.4 on an AMD EPYC
with AVX-512), where the radix sort takes 80 ms; so which of the two sorts is timed once, on a small part of the work.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ._arrays import Array, array_namespace, is_numpy_array, widen
from ._compiled import compiled, worth_compiling

SMALL = 1 << 16  # scores below which a radix sort saves no more than a millisecond


def sort_in_place(scores: np.ndarray) -> None:
    """Sort float32 or float64 scores in ascending order, NaN at an end."""
    large = scores.size >= SMALL and worth_compiling(order_and_count, scores.size, scores) is not None
    if not large or not _radix_wins(scores.dtype.name):
        scores.sort()
    else:
        radix_sort(scores)


def sorted_with(scores: Array, payload: Array) -> tuple[Array, Array]:
    """Scores in ascending order, as float32 or float64, each with its payload: flags, or integers of at least 0.

    Payloads of equal scores come in any order, and in their own type or as uint32.
    """
    scores = widen(scores)
    if not is_numpy_array(scores) or scores.dtype != np.float32 or int(payload.max(initial=0)) >= 2**32:
        order = array_namespace(scores).argsort(scores, stable=False)
        return scores[order], payload[order]
    # One sort, where an argsort takes several times as long: a float64 whose upper half is a score's bits is ordered as
    # the score, whatever its lower half. It is never NaN, since the bits of ±inf as a float32 are a number's there.
    keys = np.ascontiguousarray(scores).view(np.uint32).astype(np.uint64)
    keys <<= np.uint64(32)
    np.bitwise_or(keys, payload, out=keys, dtype=np.uint64, casting="unsafe")
    sort_in_place(keys.view(np.float64))
    low = keys.astype(np.uint32)
    keys >>= np.uint64(32)
    return keys.astype(np.uint32).view(np.float32), low


def places(scores: Array) -> Array:
    """The index of each score, as a payload."""
    return array_namespace(scores).arange(scores.shape[0], device=scores.device)


def order_and_count(keys: Any, shifts: Any, digit: Any, sign: Any, ones: Any) -> Any:
    """Make bit patterns of floats ascend as unsigned integers, and count their four digits of 8 bits, lowest first.

    shifts lead to the digits and to the sign bit; digit is a digit of ones, sign the sign bit, ones all bits.
    """
    counts = np.zeros((4, 256), np.int64)
    lowest, low, high, highest, top = shifts
    for i in range(keys.size):
        key = keys[i]
        key ^= ones * (key >> top) | sign  # as a condition it would be mispredicted half the time
        keys[i] = key
        counts[0, (key >> lowest) & digit] += 1
        counts[1, (key >> low) & digit] += 1
        counts[2, (key >> high) & digit] += 1
        counts[3, key >> highest] += 1
    return counts


def scatter(keys: Any, target: Any, shift: Any, digit: Any, places: Any) -> None:
    """Move each key to the next place of its digit, so that equal digits keep their order."""
    for i in range(keys.size):
        key = keys[i]
        d = (key >> shift) & digit
        target[places[d]] = key
        places[d] += 1


def sort_runs(keys: Any, shift: Any) -> None:
    """Sort each run of keys that are equal above `shift`; most are short."""
    start = 0
    while start < keys.size:
        stop = start + 1
        while stop < keys.size and keys[stop] >> shift == keys[start] >> shift:
            stop += 1
        if stop - start > 32:
            keys[start:stop].sort()
        else:
            for i in range(start + 1, stop):
                key, j = keys[i], i - 1
                while j >= start and keys[j] > key:
                    keys[j + 1] = keys[j]
                    j -= 1
                keys[j + 1] = key
        start = stop


def restore(keys: Any, sign: Any, ones: Any) -> None:
    """Undo what `order_and_count` did to the keys."""
    for i in range(keys.size):
        key = keys[i]
        keys[i] = key ^ (sign if key & sign else ones)


def radix_sort(scores: np.ndarray) -> None:
    """Sort float32 or float64 scores where they lie, NaN to either end: four passes over 8 bits each.

    The passes go over all of a float32, and over the upper half of a float64, whose runs of equal halves are then
    sorted apart. More bits in fewer passes have more places to write to than the nearest cache has lines.
    """
    count, move, finish, undo = (_loop(f) for f in (order_and_count, scatter, sort_runs, restore))
    bits = 8 * scores.itemsize
    unsigned = np.dtype(f"uint{bits}").type
    shifts = tuple(map(unsigned, (bits - 32, bits - 24, bits - 16, bits - 8, bits - 1)))
    digit, sign, ones = unsigned(255), unsigned(1 << (bits - 1)), unsigned((1 << bits) - 1)
    keys = scores.view(unsigned)
    spare = np.empty_like(keys)
    counts = count(keys, shifts, digit, sign, ones)
    for shift, places in zip(shifts, np.cumsum(counts, axis=1) - counts):
        move(keys, spare, shift, digit, places)
        keys, spare = spare, keys
    if bits == 64:
        finish(keys, shifts[0])
    undo(keys, sign, ones)


def _loop(function: Callable[..., Any]) -> Callable[..., Any]:
    loop = compiled(function)
    assert loop is not None  # the caller has asked
    return loop


@cache
def _radix_wins(dtype: str) -> bool:
    """Whether the compiled sort beats np.sort on this machine: one timing of each, after a warm-up."""
    sample = np.random.default_rng(0).random(1 << 18).astype(dtype)
    radix_sort(sample.copy())
    times = []
    for sort in (radix_sort, np.ndarray.sort):
        scores = sample.copy()
        start = time.perf_counter()
        sort(scores)
        times.append(time.perf_counter() - start)
    return times[0] < times[1]
