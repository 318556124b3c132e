"""Which sort is faster on this machine: the compiled one, or np.sort.

np.sort orders 10 million float32 scores in 32 ms on one processor and in 450 ms on another (NumPy 2.4 on an AMD EPYC
with AVX-512), where the radix sort takes 80 ms. So both are timed once per type, on random scores, and the faster one
is used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import numpy as np

from .radix import radix_sorted

LARGE = 1 << 22  # scores that no cache holds


def radix_wins(scores: np.ndarray) -> bool:
    """Whether the compiled sort beats np.sort for so many scores of their type on this machine.

    Both are timed once on 2^18 scores. What one wins by less than twice there it may lose where a cache no longer holds
    the scores; so from 2^22 on, both are then timed on as many.
    """
    ratio = _speed_up(scores.dtype.name, 1 << 18)
    if scores.size >= LARGE and 0.5 < ratio < 2:
        ratio = _speed_up(scores.dtype.name, LARGE)
    return ratio > 1


@cache
def _speed_up(dtype: str, size: int) -> float:
    """The time of np.sort over that of the compiled sort, each the best of three on one core after a warm-up."""
    sample = np.random.default_rng(0).random(size, np.dtype(dtype))
    ours = partial(radix_sorted, threads=1)
    ours(sample[:1000])
    times: dict[Callable[..., Any], list[float]] = {ours: [], np.sort: []}
    for _ in range(3):
        for sort, taken in times.items():
            start = time.perf_counter()
            sort(sample)
            taken.append(time.perf_counter() - start)
    return min(times[np.sort]) / min(times[ours])
