"""Sorting of scores: alone, by kind, or each with a payload, by NumPy or by a compiled radix sort, in several threads.

The radix sort deals scores into buckets by their highest digit, each kind of score into its own: buckets ascend, and
each fits a cache, where it is sorted by its three highest bytes, lowest first, and then by insertion. Scores are dealt
from their array into one new array, which is all the memory that a sort takes. Source: Herf, Radix Tricks, 2001.

No two threads write to one place. Each thread deals a part of the scores. Counting them first gives each part its own
places in each bucket, behind those of earlier parts. Then each bucket is sorted by one thread. So the order is
identical for any number of threads, and the sort is stable.

Where NumPy's sort is as fast, scores are parted at their median, and the parts are sorted in threads.
"""

from __future__ import annotations

import math
import platform
from functools import cache, partial
from importlib import import_module
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, array_namespace, device_of, widen
from .threads import compiled, in_threads, parts_of, threads_for, worth_compiling

_BINS = 14  # bits of the highest digit, at most
_IN_BIN = 32  # scores in a bin on average, at least
_BUCKET = 1 << 13  # scores
_BUCKETS = 1 << 10  # at most; for more scores, buckets are larger
_THREE_BYTES = (1 << 24) - 1
_NOTHING = np.zeros(0, np.uint8)
_SPLIT = 1 << 17  # values whose indices are held at a time
SMALL = 1 << 16  # scores below which a radix sort saves no more than a millisecond


def sort_in_place(scores: np.ndarray) -> None:
    """Sort contiguous float32 or float64 scores in ascending order, NaN at an end; an error half-way loses some."""
    if radix_wins(scores):
        radix_sorted(scores, in_place=True)
        return
    threads = threads_for(len(scores))
    if threads < 2:
        scores.sort()
    else:
        in_threads([part.sort for part in _ascending_parts(scores, threads)], threads)


def sorted_copy(scores: np.ndarray) -> np.ndarray:
    """Float32 or float64 scores in ascending order, as a new array, NaN at an end."""
    if radix_wins(scores):
        return radix_sorted(scores).scores
    ordered = np.array(scores)
    sort_in_place(ordered)
    return ordered


def sorted_by_kind(scores: np.ndarray, kinds: np.ndarray, number: int) -> list[np.ndarray]:
    """The scores of each kind in ascending order, as float32 or float64, NaN at an end.

    Parameters: scores (N,); kinds (N,) uint8 or booleans, below `number`. Returns that many arrays.
    """
    scores, kinds = widen(scores), np.ascontiguousarray(kinds).view(np.uint8)
    if radix_wins(scores):
        ordered, ends, _ = radix_sorted(scores, kinds, number)
        return [ordered[start:stop] for start, stop in pairwise(ends)]
    threads, loop = threads_for(len(scores)), worth_compiling(deal_kinds, len(scores), scores)
    sides = [chosen(scores, kinds == kind) for kind in range(number)] if loop is None else []
    if loop is not None:
        parts = parts_of(len(scores), threads)
        halves = [slice(*each) for p in parts for each in pairwise((p.start, (p.start + p.stop) // 2, p.stop))]
        counts = [partial(_counts_of_kinds, kinds[half], number) for half in halves]
        bins = np.asarray(in_threads(counts, threads))
        ends = np.append(0, np.cumsum(bins.sum(axis=0)))
        places = (ends[:-1] + np.cumsum(bins, axis=0) - bins).astype(np.uint64)
        dealt = np.empty_like(scores)
        deals = [partial(loop, scores[p], kinds[p], places[2 * i : 2 * i + 2], dealt) for i, p in enumerate(parts)]
        in_threads(deals, threads)
        sides = [dealt[start:stop] for start, stop in pairwise(ends)]
    # a side with much more than a thread's share is sorted in parts
    pieces = [_ascending_parts(side, math.ceil(threads * len(side) / max(1, len(scores)) - 0.3)) for side in sides]
    in_threads([piece.sort for piece in chain(*pieces)], threads)
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


def sorted_with(scores: Array, payload: Array) -> tuple[Array, Array]:
    """Scores in ascending order, as float32 or float64, each with its payload: flags, or integers of at least 0.

    Payloads of equal scores come in any order, and in their own type or as unsigned integers.
    """
    scores = widen(scores)
    largest = int(payload.max(initial=0)) if isinstance(scores, np.ndarray) else 1 << 32
    if largest < 1 << 32 and _compiles(scores):
        few_bits = np.uint16 if largest < 1 << 16 else np.uint32  # the types that the loops are compiled for
        ordered = radix_sorted(scores, payload=payload.astype(few_bits, copy=False))
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


def _compiles(scores: np.ndarray, least: int = SMALL) -> bool:
    return scores.size >= least and worth_compiling(deal, scores.size, scores) is not None


def radix_wins(scores: np.ndarray) -> bool:
    """Whether the compiled sort is faster than np.sort: where it is worth compiling, on a processor that NumPy slows.

    10 million float32 take np.sort 0.41 s on an AMD EPYC with AVX-512, and 0.07 s on the same one with AVX2 (NumPy
    2.4): its loops for AVX-512 store compressed registers, which AMD's processors do in microcode. The compiled sort
    takes 0.09 s on one core there.
    """
    return _is_slow_for_numpy() and _compiles(scores)


@cache
def _is_slow_for_numpy() -> bool:
    """Whether np.sort has AVX-512 on an AMD processor, or neither AVX-512, AVX2 nor ASIMD."""
    umath: Any = import_module(f"numpy.{'_core' if hasattr(np, '_core') else 'core'}._multiarray_umath")  # core: 1.26
    features = getattr(umath, "__cpu_features__", {})  # that NumPy uses; without them the compiled sort is the safe one
    if features.get("AVX512_SKX"):
        return "AuthenticAMD" in _processor()
    return not (features.get("AVX2") or features.get("ASIMD"))


def _processor() -> str:
    """A text with the maker of the processor."""
    try:
        return Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return platform.processor()


def first_of_each(values: Array) -> Array:
    """Flag the first of each run of equal values, (N,)."""
    xp = array_namespace(values)
    first = xp.ones_like(values, dtype=xp.bool)
    first[1:] = values[1:] != values[:-1]
    return first


def indices(scores: Array) -> Array:
    """The index of each score, as a payload."""
    number = scores.shape[0]
    if isinstance(scores, np.ndarray) and number <= 1 << 32:
        return np.arange(number, dtype=np.uint32)
    return array_namespace(scores).arange(number, device=device_of(scores))


class Sorted(NamedTuple):
    """Scores kind by kind, in ascending order within each kind.

    scores: (N,) in their type
    ends: (K + 1,) where each kind begins, and N
    payload: (N,) the payload of each score, in its type; empty without a payload
    """

    scores: np.ndarray
    ends: np.ndarray
    payload: np.ndarray


def radix_sorted(
    scores: np.ndarray,
    kinds: np.ndarray = _NOTHING,
    num_kinds: int = 1,
    payload: np.ndarray = _NOTHING,
    *,
    in_place: bool = False,
) -> Sorted:
    """Sort scores kind by kind, NaN to either end.

    Parameters: scores (N,) of float32 or float64; kinds (N,) uint8 or uint16 below num_kinds, by default all of one;
    payload (N,) of unsigned integers, by default none; in_place, whether the sorted scores replace the unsorted ones,
    which must be contiguous, and some of which an error half-way loses.
    """
    size = 8 * scores.itemsize
    unsigned = np.dtype(f"uint{size}").type
    sign_bit, all_bits = 1 << (size - 1), (1 << size) - 1
    # keys are integers in the order of the floats: all bits of a negative one are flipped, and the sign bit of others
    bits = tuple(map(unsigned, (8, 255, size - 1, sign_bit, all_bits)))
    keys = np.ascontiguousarray(scores).view(unsigned)
    threads = threads_for(len(keys))
    dealers = min(threads, threads_for(len(keys) // 4))  # dealing is a third of the work
    parts = parts_of(len(keys), dealers)
    lowest, highest = int(keys.min(initial=all_bits)), int(keys.max(initial=0))  # bits of floats
    positive = int(keys.view(f"int{size}").max(initial=-1))
    low = highest ^ all_bits if highest & sign_bit else lowest ^ sign_bit
    high = lowest ^ all_bits if positive < 0 else positive ^ sign_bit
    num_bits = max(1, min(_BINS, (len(keys) // (_IN_BIN * num_kinds)).bit_length()))
    digit = unsigned(low), unsigned(max(0, (high - low).bit_length() - num_bits))

    loops: Any = map(compiled, (count_digits, deal, sort_buckets))  # the caller has checked that numba is there
    count, move, finish = loops
    bins = np.zeros((dealers, num_kinds, 1 << num_bits), np.int64)
    in_threads([partial(count, keys[part], kinds[part], digit, bits, each) for part, each in zip(parts, bins)], dealers)
    bucket_of = _buckets(bins.sum(axis=0))
    number = int(bucket_of[-1, -1]) + 1
    by_part = np.stack([np.bincount(bucket_of.reshape(-1), each.reshape(-1), number) for each in bins]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(by_part.sum(axis=0))])
    places = starts[:-1] + np.cumsum(by_part, axis=0) - by_part

    target, carried = np.empty_like(keys), np.empty_like(payload)
    into = target, carried
    in_threads(
        [
            partial(move, keys[part], kinds[part], payload[part], digit, bits, bucket_of, each, *into)
            for part, each in zip(parts, places)
        ],
        dealers,
    )
    shares = np.searchsorted(starts, [part.start for part in parts_of(len(keys), 8 * threads if threads > 1 else 1)])
    edges = np.unique(np.append(shares, number)).tolist()
    ordered = keys if in_place else target
    in_threads([partial(finish, *into, bits, ordered, starts[i : j + 1]) for i, j in pairwise(edges)], threads)
    return Sorted(ordered.view(scores.dtype), np.append(0, np.cumsum(bins.sum(axis=(0, 2)))), carried)


def _buckets(counts: np.ndarray) -> np.ndarray:
    """The bucket of each kind and digit, (K, D), from their numbers of scores: ascending, and of nearly equal size."""
    total = int(counts.sum())
    before = np.cumsum(counts).reshape(counts.shape) - counts
    number = min(_BUCKETS, total // _BUCKET + 1)
    return before * number // max(1, total) + np.arange(len(counts))[:, None]


def count_digits(keys: Any, kinds: Any, digit: Any, bits: Any, bins: Any) -> None:
    """Count the highest digits of keys by kind: the bits above a shift, from the lowest key on."""
    (low, shift), (_, _, top, sign_bit, all_bits) = digit, bits
    for i in range(keys.size):
        key = keys[i]
        key ^= all_bits * (key >> top) | sign_bit  # as a condition it would be mispredicted half the time
        bins[kinds[i] if kinds.size else 0, (key - low) >> shift] += 1


def deal(
    keys: Any, kinds: Any, payload: Any, digit: Any, bits: Any, bucket_of: Any, places: Any, target: Any, carried: Any
) -> None:
    """Move each float, and its payload, to the next place of its bucket."""
    (low, shift), (_, _, top, sign_bit, all_bits) = digit, bits
    for i in range(keys.size):
        key = keys[i]
        bucket = bucket_of[kinds[i] if kinds.size else 0, ((key ^ (all_bits * (key >> top) | sign_bit)) - low) >> shift]
        place = places[bucket]
        target[place] = key
        if payload.size:
            carried[place] = payload[i]
        places[bucket] = place + 1


def sort_buckets(keys: Any, payload: Any, bits: Any, ordered: Any, starts: Any) -> None:
    """Sort the floats of each bucket, from `keys` into `ordered`, by the one-byte digits in which their keys differ.

    The three highest of these digits order nearly all keys of most buckets. The others are then inserted where they
    belong; if this takes more moves than there are keys, the bucket is sorted by all digits.
    """
    byte, mask, top, sign_bit, all_bits = bits
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
            digits, remaining = 0, differing >> lowest
            while remaining:
                remaining >>= byte
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
                    load = carried[i] if payload.size else key  # any value, since numba needs one type
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


def _counts_of_kinds(kinds: np.ndarray, number: int) -> list[int]:
    return [int(np.count_nonzero(kinds == kind)) for kind in range(number)]


def deal_kinds(scores: Any, kinds: Any, places: Any, dealt: Any) -> None:
    """Move each score to the next place of its kind, without a branch that could be mispredicted.

    Both halves are dealt side by side, each to its own (2, K) unsigned places: while a place of one waits until the
    last score of its kind is written, the other goes on.
    """
    one, half = np.uint64(1), scores.size // 2
    for i in range(half, scores.size):
        place = places[1, kinds[i]]
        dealt[place] = scores[i]
        places[1, kinds[i]] = place + one
        if i - half < half:
            place = places[0, kinds[i - half]]
            dealt[place] = scores[i - half]
            places[0, kinds[i - half]] = place + one


def _ascending_parts(scores: np.ndarray, number: int) -> list[np.ndarray]:
    """Parts of about the same length, each below the next."""
    if number < 2 or len(scores) < 2:
        return [scores]
    middle = len(scores) // 2
    scores.partition(middle)
    return [*_ascending_parts(scores[:middle], number // 2), *_ascending_parts(scores[middle:], number - number // 2)]


def split(values: Array, mask: Array) -> tuple[Array, Array]:
    """Return values[mask] and values[~mask]; see `chosen`."""
    return chosen(values, mask), chosen(values, ~mask)


def chosen(values: Array, mask: Array) -> Array:
    """Return values[mask], as a new array, without an index for each value at once."""
    if not isinstance(values, np.ndarray):
        return values[mask]
    chosen, end = np.empty(np.count_nonzero(mask), values.dtype), 0
    for start in range(0, len(values), _SPLIT):
        part = np.compress(mask[start : start + _SPLIT], values[start : start + _SPLIT])  # faster than by an index
        chosen[end : end + len(part)] = part
        end += len(part)
    return chosen
