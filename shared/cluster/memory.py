"""Check that workers have enough memory for a row group; otherwise Dask pauses or kills them.

Measured with numba installed (Python 3.11, pyarrow 26, distributed 2026.8): a worker has 160 MiB after the imports, and
130 more if loops are compiled (ranks of classes, detection). Each thread takes up to 100 for its batch, whatever the
size of the row group, and at most 0.85 of the unpacked size of the row group's columns for states of samples.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from .row_groups import BATCH_BYTES, RowGroup

MIB = 1 << 20
PROCESS = 300 * MIB  # once for a worker
THREAD = 100 * MIB
STATES = 1.25  # times the part beyond a batch: the states of one task, and unsent states of the one before
PAUSE = 0.8  # share of its memory at which a worker takes no more tasks


def check_workers(client: Any, groups: Sequence[RowGroup]) -> None:
    """Raise ValueError if a worker of a cluster has less memory than its threads need for any row group."""

    def limits(dask_scheduler: Any) -> dict[str, tuple[int, int]]:
        return {address: (worker.memory_limit, worker.nthreads) for address, worker in dask_scheduler.workers.items()}

    workers = client.run_on_scheduler(limits)  # scheduler_info() lists no workers where its refresh comes between
    for group in groups[:1]:
        for address, (limit, num_threads) in workers.items():
            check_memory(group, limit, num_threads, address, grows=False)


def check_this_worker(group: RowGroup, *, grows: bool) -> None:
    """Raise ValueError if this process is a worker with too little memory; `grows` says whether states grow."""
    distributed = sys.modules.get("distributed")
    try:
        worker = distributed and distributed.get_worker()
    except ValueError:  # not a worker
        return
    if worker:
        check_memory(group, worker.memory_manager.memory_limit, worker.state.nthreads, worker.address, grows=grows)


def check_memory(group: RowGroup, limit: int | None, num_threads: int, address: str, *, grows: bool) -> None:
    """Raise ValueError if a limit is too low for threads that read row groups like this; 0 and None mean no limit.

    States that grow take memory for each sample; states with counted rows take almost none.
    """
    kept = max(0, group.num_bytes - BATCH_BYTES) if grows else 0
    needed = (PROCESS + num_threads * (THREAD + STATES * kept)) / PAUSE
    if limit and limit < needed:
        smaller = (
            f"write smaller row groups (unpacked, this one takes {group.num_bytes / MIB:.0f} MiB), " if kept else ""
        )
        raise ValueError(
            f"{group}: expected workers of {num_threads} threads to have {needed / MIB:.0f} MiB of memory, got"
            f" {limit / MIB:.0f} MiB at {address}: {smaller}give workers more memory, or fewer threads"
        )
