"""A compiled radix sort of floats: of several kinds of scores at once, each with a payload, and by several threads.

Scores are dealt into buckets by their highest digit, each kind of score into its own: buckets ascend, and each fits a
cache, where it is sorted by its three highest bytes, lowest first, and then by insertion. Scores are dealt from their
array into one new array, which is all the memory that a sort takes.

No two threads write to one place. Each thread deals a part of the scores. Counting them first gives each part its own
places in each bucket, behind those of earlier parts. Then each bucket is sorted by one thread. So the order is
identical for any number of threads, and the sort is stable. Source: Herf, Radix Tricks, 2001.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .compiled import compiled
from .threads import in_threads, parts_of, threads_for

_BINS = 14  # bits of the highest digit, at most
_IN_BIN = 32  # scores in a bin on average, at least
_BUCKET = 1 << 13  # scores
_BUCKET_OF_NUMPY = 1 << 16  # NumPy's calls take longer to begin
_BUCKETS = 1 << 10  # at most; for more scores, buckets are larger
_THREE_BYTES = (1 << 24) - 1
_NOTHING = np.zeros(0, np.uint8)


class Sorted(NamedTuple):
    """Scores kind by kind, in ascending order within each kind.

    scores: (N,) in their type
    ends: (K + 1,) where each kind begins, and N
    payload: (N,) the payload of each score, in its type; empty without a payload
    """

    scores: np.ndarray
    ends: np.ndarray
    payload: np.ndarray


class _Bits(NamedTuple):
    """Masks that turn the bits of floats into unsigned integers in the same order.

    All bits of a negative float are flipped, and only the sign bit of others.
    """

    top: Any
    sign_bit: Any
    all_bits: Any


def radix_sorted(
    scores: np.ndarray,
    kinds: np.ndarray = _NOTHING,
    num_kinds: int = 1,
    payload: np.ndarray = _NOTHING,
    *,
    threads: int | None = None,
    by_numpy: bool = False,
    in_place: bool = False,
) -> Sorted:
    """Sort scores kind by kind, NaN to either end.

    Parameters: scores (N,) of float32 or float64; kinds (N,) uint8 or uint16 below num_kinds, by default all of one;
    payload (N,) of unsigned integers, by default none; threads, by default as many as the scores are worth; by_numpy,
    whether np.sort sorts the buckets, which is so only without a payload, and not in place; in_place, whether the
    sorted scores replace the unsorted ones, which must be contiguous, and some of which an error half-way loses.
    """
    size = 8 * scores.itemsize
    unsigned = np.dtype(f"uint{size}").type
    bits = _Bits(unsigned(size - 1), unsigned(1 << (size - 1)), unsigned((1 << size) - 1))
    keys = np.ascontiguousarray(scores).view(unsigned)
    threads = threads_for(len(keys)) if threads is None else threads
    dealers = min(threads, threads_for(len(keys) // 4))  # dealing is a third of the work
    parts = parts_of(len(keys), dealers)
    ends = in_threads([partial(_loop(ends_of_keys), keys[part], *bits) for part in parts], dealers)
    low, high = min(int(end) for end, _ in ends), max(int(end) for _, end in ends)
    num_bits = max(1, min(_BINS, (len(keys) // (_IN_BIN * num_kinds)).bit_length()))
    digit = unsigned(low), unsigned(max(0, (high - low).bit_length() - num_bits))

    bins = np.zeros((dealers, num_kinds, 1 << num_bits), np.int64)
    count = _loop(count_digits)
    in_threads(
        [partial(count, keys[part], kinds[part], *digit, *bits, each) for part, each in zip(parts, bins)], dealers
    )
    bucket_of = _buckets(bins.sum(axis=0), _BUCKET_OF_NUMPY if by_numpy else _BUCKET)
    number = int(bucket_of[-1, -1]) + 1
    by_part = np.stack([np.bincount(bucket_of.reshape(-1), each.reshape(-1), number) for each in bins]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(by_part.sum(axis=0))])
    places = starts[:-1] + np.cumsum(by_part, axis=0) - by_part

    target, carried = np.empty_like(keys), np.empty_like(payload)
    into = target, carried
    move = _loop(deal)
    in_threads(
        [
            partial(move, keys[part], kinds[part], payload[part], *digit, *bits, bucket_of, each, *into)
            for part, each in zip(parts, places)
        ],
        dealers,
    )
    shares = np.searchsorted(starts, [part.start for part in parts_of(len(keys), 8 * threads if threads > 1 else 1)])
    edges = np.unique(np.append(shares, number)).tolist()
    if by_numpy:
        ordered, finish = target, partial(_sort_each, target.view(scores.dtype))
    else:
        ordered = keys if in_place else target
        finish = partial(_loop(sort_buckets), *into, unsigned(8), unsigned(255), *bits, ordered)
    in_threads([partial(finish, starts[i : j + 1]) for i, j in pairwise(edges)], threads)
    return Sorted(ordered.view(scores.dtype), np.append(0, np.cumsum(bins.sum(axis=(0, 2)))), carried)


def _sort_each(scores: np.ndarray, starts: np.ndarray) -> None:
    """Sort each bucket by NumPy."""
    for start, stop in pairwise(starts.tolist()):
        scores[start:stop].sort()


def _buckets(counts: np.ndarray, size: int) -> np.ndarray:
    """The bucket of each kind and digit, (K, D), from their numbers of scores: ascending, and of nearly equal size."""
    total = int(counts.sum())
    before = np.cumsum(counts).reshape(counts.shape) - counts
    number = min(_BUCKETS, total // size + 1)
    return before * number // max(1, total) + np.arange(len(counts))[:, None]


def ends_of_keys(keys: Any, top: Any, sign_bit: Any, all_bits: Any) -> Any:
    """The lowest and the highest key of some floats."""
    low, high = all_bits, all_bits ^ all_bits
    for i in range(keys.size):
        key = keys[i]
        key ^= all_bits * (key >> top) | sign_bit  # as a condition it would be mispredicted half the time
        low, high = min(low, key), max(high, key)
    return low, high


def count_digits(
    keys: Any, kinds: Any, low: Any, shift: Any, top: Any, sign_bit: Any, all_bits: Any, bins: Any
) -> None:
    """Count the highest digits of keys by kind; they begin at the key `low`."""
    for i in range(keys.size):
        key = keys[i]
        key ^= all_bits * (key >> top) | sign_bit
        bins[kinds[i] if kinds.size else 0, (key - low) >> shift] += 1


def deal(
    keys: Any,
    kinds: Any,
    payload: Any,
    low: Any,
    shift: Any,
    top: Any,
    sign_bit: Any,
    all_bits: Any,
    bucket_of: Any,
    places: Any,
    target: Any,
    carried: Any,
) -> None:
    """Move each float, and its payload, to the next place of its bucket."""
    for i in range(keys.size):
        key = keys[i]
        bucket = bucket_of[kinds[i] if kinds.size else 0, ((key ^ (all_bits * (key >> top) | sign_bit)) - low) >> shift]
        place = places[bucket]
        target[place] = key
        if payload.size:
            carried[place] = payload[i]
        places[bucket] = place + 1


def sort_buckets(
    keys: Any,
    payload: Any,
    byte: Any,
    mask: Any,
    top: Any,
    sign_bit: Any,
    all_bits: Any,
    ordered: Any,
    starts: Any,
) -> None:
    """Sort the floats of each bucket, from `keys` into `ordered`, by the one-byte digits in which their keys differ.

    The three highest of these digits order nearly all keys of most buckets. The others are then inserted where they
    belong; if this takes more moves than there are keys, the bucket is sorted by all digits.
    """
    spare = np.empty(np.diff(starts).max(), keys.dtype)
    moved = np.empty(spare.size if payload.size else 0, payload.dtype)
    counts = np.empty((keys.itemsize, 256), np.int64)
    zero = all_bits ^ all_bits
    for bucket in range(starts.size - 1):
        start, stop = starts[bucket], starts[bucket + 1]
        ours, theirs = keys[start:stop], spare[: stop - start]
        carried, others = payload[start:stop], moved[: stop - start]
        some, every = zero, all_bits
        for i in range(ours.size):
            key = ours[i]
            key ^= all_bits * (key >> top) | sign_bit
            ours[i] = key
            some |= key
            every &= key
        differing, lowest = some ^ every, zero
        while (differing >> lowest) > _THREE_BYTES:
            lowest += byte
        swapped = False
        while True:
            digits, left = 0, differing >> lowest
            while left:
                left >>= byte
                digits += 1
            counts[:digits] = 0
            for key in ours:
                key >>= lowest
                for digit in range(digits):
                    counts[digit, key & mask] += 1
                    key >>= byte
            shift = lowest
            for digit in range(digits):
                if (differing >> shift) & mask:
                    places = counts[digit]
                    before = 0
                    for i in range(256):
                        before, places[i] = before + places[i], before
                    for i in range(ours.size):
                        key = ours[i]
                        place = places[(key >> shift) & mask]
                        theirs[place] = key
                        if payload.size:
                            others[place] = carried[i]
                        places[(key >> shift) & mask] = place + 1
                    ours, theirs, carried, others = theirs, ours, others, carried
                    swapped = not swapped
                shift += byte
            if not lowest:
                break
            moves = ours.size  # that are left
            for i in range(1, ours.size):
                if ours[i - 1] > ours[i] and moves:
                    key, place = ours[i], i
                    load = (
                        carried[i] if payload.size else key
                    )  # any value of the keys' type, since numba needs one type
                    while place and ours[place - 1] > key and moves:
                        ours[place] = ours[place - 1]
                        if payload.size:
                            carried[place] = carried[place - 1]
                        place -= 1
                        moves -= 1
                    ours[place] = key
                    if payload.size:
                        carried[place] = load
            if moves:
                break
            lowest = zero
        for i in range(ours.size):
            key = ours[i]
            ordered[start + i] = key ^ (sign_bit if key & sign_bit else all_bits)
        if swapped:
            payload[start:stop] = carried


def _loop(function: Callable[..., Any]) -> Callable[..., Any]:
    loop = compiled(function)
    assert loop is not None  # the caller has checked
    return loop
