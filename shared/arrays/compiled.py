"""Compile loops by numba, if it is installed and the work is large enough.

Each replaces a few NumPy calls by one pass with an identical result; without numba, or for small inputs, the callers
use NumPy. Importing numba and loading the compiled code from its cache takes about half a second once in a process
(and compiling takes a second or two once on a machine), so work on fewer than half a million scores never imports it.

Measured on 2 shared cores of an AMD EPYC with AVX-512 (NumPy 2.4, numba 0.68; `make bench` measures them anew):
ranks of 50,000 × 1,000 float32 scores 8 ms compiled, as long as a bare read of the matrix, and 60–90 ms in NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from .arrays import Array
from .freed_memory import keep_freed_memory

WORTHWHILE = 1 << 19  # scores in all before which NumPy is used


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a loop compiled by numba, or None if numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder to cache in
        return numba.njit(nogil=True)(function)


def worth_compiling(function: Callable[..., Any], work: int, *arrays: Array) -> Callable[..., Any] | None:
    """Return the compiled loop for NumPy arrays, or None if NumPy should do the work.

    `work` is counted in scores, and added up over the calls of a process: many small batches are worth it too.
    """
    for array in arrays:
        if not isinstance(array, np.ndarray):
            return None
    _work[function] = _work.get(function, 0) + work
    if _work[function] < WORTHWHILE:
        return None
    keep_freed_memory()
    return compiled(function)


# by this history a call may take either side, with the same bits. By the size of the call alone, 1,000 batches of
# 100 × 1,000 scores would stay in NumPy, which takes three times as long
_work: dict[Callable[..., Any], int] = {}
