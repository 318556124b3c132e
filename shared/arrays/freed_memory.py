"""Memory of freed arrays, which a process keeps for its next ones."""

from __future__ import annotations

from functools import cache

import numpy as np

_LARGEST = (1 << 25) - (1 << 16)  # bytes, just below the most that glibc keeps


@cache
def keep_freed_memory() -> None:
    """Let glibc keep the memory of freed arrays of less than 32 MiB, once large work begins.

    glibc gives the memory of an array back to the kernel if it has never freed a larger one, and the next array costs
    a page fault for every 4 KiB: 4,000 to 10,000 in a compute, 10 to 40 of its 90 to 350 ms. It takes larger arrays as
    usual once it has freed one (M_MMAP_THRESHOLD in mallopt(3)). So one is made and freed here, none of whose pages is
    touched. Where the thresholds are set by the environment, and for other allocators, this changes nothing.
    """
    np.empty(_LARGEST, np.uint8)
