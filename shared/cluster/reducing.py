"""The task of a worker: reduce a row group to states, if there is enough memory; otherwise Dask pauses or kills it.

Measured with numba installed (Python 3.11, pyarrow 26, distributed 2026.8): a worker has 160 MiB after the imports, and
130 more if loops are compiled (ranks of classes, detection). Each thread takes up to 100 for its batch, whatever the
size of the row group, and at most 0.85 of the unpacked size of the row group's columns for states of samples.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ..loading import metric_class
from ..metric.metric import Metric
from ..reading.reasons import named, rows_from
from .row_groups import BATCH_BYTES, RowGroup, read_row_group

Partial = tuple[str, list[dict[str, Any]]]  # a row group, and its states
MIB = 1 << 20
PROCESS = 300 * MIB  # once for a worker
THREAD = 100 * MIB
STATES = 1.25  # times the part beyond a batch: the states of one task, and unsent states of the one before
PAUSE = 0.8  # share of its memory at which a worker takes no more tasks


def reduce_row_group(name: str, options: Mapping[str, Any], columns: Mapping[str, str], group: RowGroup) -> Partial:
    """Reduce a row group batch by batch; errors name the file and the row group.

    States of batches are not joined, which would double their memory: the caller can merge several.
    """
    metric = metric_class(name)(**options)
    with named(group):
        for first, batch in read_row_group(group, columns):
            with rows_from(first):
                metric.add_batch(**batch)
            if first == 0:
                _check_this_worker(group, grows=any(not _is_counted(metric, state) for state in metric.states()))
        return str(group), metric.states()


def _is_counted(metric: Metric, state: Mapping[str, Any]) -> bool:
    """Whether rows of a state are counted; names of a group's counts begin with its number."""
    return bool(metric.countable_tables.keys() & {name.rpartition("/")[2] for name in state})


def _check_this_worker(group: RowGroup, *, grows: bool) -> None:
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
    growth = max(0, group.num_bytes - BATCH_BYTES) if grows else 0
    needed = (PROCESS + num_threads * (THREAD + STATES * growth)) / PAUSE
    if limit and limit < needed:
        smaller = f"write smaller row groups (this one takes {group.num_bytes / MIB:.0f} MiB), " if growth else ""
        raise ValueError(
            f"expected workers of {num_threads} threads to have {needed / MIB:.0f} MiB of memory, got"
            f" {limit / MIB:.0f} MiB at {address}: {smaller}give workers more memory, or fewer threads"
        )
