"""Which sort is faster on this machine: the compiled one, or np.sort.

np.sort orders 10 million float32 scores in 32 ms on one processor and in 450 ms on another (NumPy 2.4 on an AMD EPYC
with AVX-512), where the radix sort takes 80 ms. So both are timed once per type, on random scores, and the faster one
is used. What was measured is kept in a file beside numba's cache of the loops, by processor and versions; a file that
cannot be read or written changes nothing but the time of a process's first large sort. Without it, both are timed anew.
"""

from __future__ import annotations

import json
import math
import os
import platform
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .compiled import compiled
from .radix import deal, radix_sorted

LARGE = 1 << 22  # scores that no cache holds


def radix_wins(scores: np.ndarray) -> bool:
    """Whether the compiled sort beats np.sort on this machine, for this number and type of scores.

    Both are timed once on 2^18 scores. If one wins by less than a factor of 2, it may lose once the scores exceed a
    cache; so for 2^22 scores or more, both are then timed on 2^22.
    """
    ratio = _speed_up(scores.dtype.name, 1 << 18)
    if scores.size >= LARGE and 0.5 < ratio < 2:
        ratio = _speed_up(scores.dtype.name, LARGE)
    return ratio > 1


@cache
def _speed_up(dtype: str, size: int) -> float:
    """The time of np.sort over that of the compiled sort, measured on this machine earlier, or now."""
    file = _file_of_ratios()
    key = f"{dtype} {size} {_machine_of_ratios()}"
    known = _kept_ratios(file)
    if key not in known:
        known = {**known, key: _measured(dtype, size)}
        _keep_ratios(file, known)
    return known[key]


def _file_of_ratios() -> Path | None:
    """A file beside numba's cache of the loops; None where there is no such folder."""
    cache_of_loop = getattr(getattr(compiled(deal), "_cache", None), "_cache_path", None)
    return None if cache_of_loop is None else Path(cache_of_loop, "openworld_metrics_sorts.json")


@cache
def _machine_of_ratios() -> str:
    """The conditions of a measurement: the processor, and the versions of NumPy and numba."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        names = [line.partition(":")[2] for line in lines if line.startswith(("model name", "cpu family", "model\t"))]
        processor = " ".join(dict.fromkeys(name.strip() for name in names))
    except OSError:
        processor = platform.processor()
    return f"{processor}; NumPy {np.__version__}; numba {version('numba')}"


def _kept_ratios(file: Path | None) -> dict[str, float]:
    """The measurements of a file; none of one that is missing or damaged."""
    try:
        known = json.loads(file.read_text()) if file is not None else {}
        return {str(key): float(ratio) for key, ratio in known.items() if 0 < float(ratio) < math.inf}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _keep_ratios(file: Path | None, known: Mapping[str, float]) -> None:
    """Write measurements, so that another process sees the whole file or none of it."""
    if file is None:
        return
    part = file.with_suffix(f".{os.getpid()}")
    with suppress(OSError):
        part.write_text(json.dumps(known))
        part.replace(file)


def _measured(dtype: str, size: int) -> float:
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
