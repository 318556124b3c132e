"""Compiled loops, and threads that share large work.

Each compiled loop replaces a few NumPy calls by one pass with an identical result; without numba, or for small inputs,
the callers use NumPy. Importing numba and loading the compiled code from its cache takes about half a second once in a
process (and compiling takes a second or two once on a machine), so work on fewer than half a million scores never
imports it.

Measured on 2 shared cores of an AMD EPYC with AVX-512 (NumPy 2.4, numba 0.68; `make bench` measures them anew):
ranks of 50,000 × 1,000 float32 scores 8 ms compiled, as long as a bare read of the matrix, and 60–90 ms in NumPy.

Compiled loops and np.sort release the interpreter, so threads run them side by side. Each piece of work writes to
places of its own, and results come in the order of the pieces: so they are identical for any number of threads, and
nothing is locked.

Only the main thread of a process that was not forked spreads its work. Workers of Dask, of a DataLoader or of a
process pool, and threads of a server, stay on one core each, since there are usually as many of them as cores.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from .arrays import Array

WORTHWHILE = 1 << 19  # scores in all before which NumPy is used


@cache
def compiled(function: Callable[..., Any]) -> Callable[..., Any] | None:
    """Return a loop compiled by numba, or None if numba is not installed."""
    try:
        import numba
    except ImportError:
        return None
    try:
        return numba.njit(cache=True, nogil=True, error_model="numpy")(function)  # no check of each divisor
    except RuntimeError:  # no folder to cache in
        return numba.njit(nogil=True, error_model="numpy")(function)


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
    return compiled(function)


# by this history a call may take either side, with the same bits. By the size of the call alone, 1,000 batches of
# 100 × 1,000 scores would stay in NumPy, which takes three times as long
_work: dict[Callable[..., Any], int] = {}


VARIABLE = "OPENWORLD_METRICS_NUM_THREADS"
GRAIN = 1 << 17  # scores that are worth a thread, which takes 0.1 ms to begin

Item = TypeVar("Item")
Result = TypeVar("Result")
_PROCESS = os.getpid()  # which a fork is not
_UNLIMITED = 1 << 20  # cores


def threads_for(work: int) -> int:
    """The number of threads for `work` scores, or for other work of about that cost."""
    most = work // GRAIN
    return 1 if most < 2 else min(most, num_threads())


def num_threads() -> int:
    """The number of threads over which this thread may spread its work.

    The cores that the process may use, by its affinity and its cgroup, and at most OPENWORLD_METRICS_NUM_THREADS; 1 in
    forked processes, worker processes, and threads other than the main one. Raises ValueError unless that variable is
    an integer of at least 1.
    """
    if os.getpid() != _PROCESS or threading.current_thread() is not threading.main_thread():
        return 1
    if multiprocessing.parent_process() is not None:
        return 1
    most = os.environ.get(VARIABLE, "")
    if not most:
        return num_cores()
    if not most.isdecimal() or int(most) < 1:
        raise ValueError(f"{VARIABLE}: expected an integer of at least 1, got {most!r}")
    return min(int(most), num_cores())


def num_cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, min(len(os.sched_getaffinity(0)), _cores_of_cgroup()))
    return os.cpu_count() or 1


def in_threads(pieces: Sequence[Callable[[], Result]], threads: int) -> list[Result]:
    """Run pieces of work in threads and return their results, in the order of the pieces.

    All pieces have ended when this returns or raises. If several raise, the first error in order is raised, and pieces
    that have not begun are skipped. Work within a piece stays on its thread.
    """
    if threads < 2 or len(pieces) < 2:
        return [piece() for piece in pieces]
    with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
        return [*pool.map(lambda piece: piece(), pieces)]


def each_in_threads(
    function: Callable[[Item], Result], items: Sequence[Item], work: Sequence[int], threads: int
) -> list[Result]:
    """The results of a function of each item, computed in threads; `work` says about how much each item takes."""

    def of_run(run: slice) -> list[Result]:
        return [function(item) for item in items[run]]

    return [*chain(*in_threads([partial(of_run, run) for run in runs_of_work(work, threads)], threads))]


def parts_of(length: int, number: int) -> list[slice]:
    """Cut a range into `number` parts of nearly equal length."""
    ends = [length * i // number for i in range(number + 1)]
    return [slice(*ends[i : i + 2]) for i in range(number)]


def runs_of_work(work: Sequence[int] | np.ndarray, number: int) -> list[slice]:
    """Cut a range whose entries take different work into `number` runs of about the same work.

    >>> runs_of_work([1, 1, 4, 1, 1], 2)
    [slice(0, 3, None), slice(3, 5, None)]
    """
    done = np.cumsum(work)
    shares = [int(done[-1]) * i // number for i in range(1, number)] if len(done) else []
    ends = [0, *(np.searchsorted(done, shares) + 1).tolist(), len(done)]
    return [slice(*ends[i : i + 2]) for i in range(len(ends) - 1)]


@cache
def _cores_of_cgroup() -> int:
    """Whole cores of processor time that Linux grants the group of this process, at least 1."""
    least = _UNLIMITED
    try:
        group = Path("/proc/self/cgroup").read_text().splitlines()[-1].rpartition(":")[2]
    except (OSError, IndexError):
        return least
    for part in (Path(group), *Path(group).parents):
        try:
            quota, period = Path("/sys/fs/cgroup", *part.parts[1:], "cpu.max").read_text().split()
            least = min(least, int(quota) // int(period))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return max(1, least)
