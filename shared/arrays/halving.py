"""Sort in place by NumPy in several threads, without extra memory.

[low | high][low | high]  two threads part a half of the scores each, at about the median of all
[low | low ][high | high] two blocks of equal length change places, piece by piece
[ascending ][ascending  ] both are sorted, each by half of the threads
Since each half is parted by a rank from a sample, some scores near the middle may be on the wrong side, and these are
sorted once more.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from .threads import in_threads, parts_of

_SAMPLE = 1 << 16  # scores of each half, by which ranks are known to about 0.2 %
_MOVED = 1 << 15  # scores at a time, which fit a cache


def sort_halves(scores: np.ndarray, threads: int) -> None:
    """Sort two or more scores in ascending order, in place, NaN at the end, in two or more threads."""
    cut = _part_near_median(scores)
    halves = scores[:cut], scores[cut:]
    numbers = threads // 2, threads - threads // 2
    parts = in_threads([partial(_ascending_parts, *pair) for pair in zip(halves, numbers)], 2)
    in_threads([part.sort for half in parts for part in half], threads)
    if cut and cut < len(scores):
        first = int(np.searchsorted(scores[:cut], scores[cut], side="right"))
        last = cut + int(np.searchsorted(scores[cut:], scores[cut - 1], side="left"))
        scores[first:last].sort()


def _part_near_median(scores: np.ndarray) -> int:
    """Move the lower half of the scores before the higher half, roughly, and return where it ends."""
    middle = len(scores) // 2
    halves = scores[:middle], scores[middle:]
    samples = [np.sort(half[:: len(half) // _SAMPLE + 1]) for half in halves]
    both = np.sort(np.concatenate(samples))
    median = both[len(both) // 2]
    first, second = (len(half) * _near_middle(sample, median) // len(sample) for half, sample in zip(halves, samples))
    in_threads([partial(_split_at_rank, *pair) for pair in zip(halves, (first, second))], 2)
    moved = min(middle - first, second)
    higher, lower = scores[first : first + moved], scores[middle + second - moved : middle + second]
    in_threads([partial(_exchange, higher[part], lower[part]) for part in parts_of(moved, 2)], 2)
    return first + second


def _near_middle(ascending: np.ndarray, score: np.floating) -> int:
    """The place of a score, nearest to the middle if there are several equal ones."""
    first, last = (int(np.searchsorted(ascending, score, side)) for side in ("left", "right"))
    return max(first, min(len(ascending) // 2, last))


def _split_at_rank(scores: np.ndarray, rank: int) -> None:
    """Move the `rank` lowest scores to the front."""
    if 0 < rank < len(scores):
        scores.partition(rank)


def _ascending_parts(scores: np.ndarray, number: int) -> list[np.ndarray]:
    """Parts of about the same length, each below the next."""
    if number < 2:
        return [scores]
    middle = len(scores) // 2
    _split_at_rank(scores, middle)
    return [*_ascending_parts(scores[:middle], number // 2), *_ascending_parts(scores[middle:], number - number // 2)]


def _exchange(first: np.ndarray, second: np.ndarray) -> None:
    """Exchange the contents of two arrays."""
    for start in range(0, len(first), _MOVED):
        piece = slice(start, start + _MOVED)
        held = first[piece].copy()
        first[piece] = second[piece]
        second[piece] = held
