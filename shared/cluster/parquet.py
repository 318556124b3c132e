"""Compute a metric over a Parquet data set of scores, on all machines of a Dask cluster.

Each row group is reduced by `metric.add_batch` and `metric.states` where it is read: matrices of scores are never sent,
and the result is identical to that of one process. States go straight to the caller, who merges them as they arrive.

Dask was chosen over Ray Data because it runs any function on any Python objects, whereas Ray Data aggregates them in
one place or shuffles; and it is pure Python, from a laptop to Slurm, Kubernetes or an existing cluster. The cluster of
the current `distributed.Client` computes; without a client, processes of this machine do, and this one alone where
there is little to read (`FEW_BYTES`), since others take seconds to start.

    from distributed import Client
    client = Client("tcp://scheduler:8786")
    compute_parquet("openauc", "s3://bucket/scores/", columns={"predictions": "logits", "references": "label"})
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..extras import extra
from ..loading import metric_class
from ..reading.reasons import named

if TYPE_CHECKING:
    from .reducing import Partial
    from .row_groups import RowGroup

FEW_BYTES = 1 << 26  # unpacked; one process reads them in a second, in which others would not have started
Reduce = Callable[[Any], "Partial"]  # of a row group


def compute_parquet(
    name: str,
    source: str | Path | Sequence[str | Path],
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compute a metric over a Parquet data set, with Dask.

    Parameters: name, one of `openworld_metrics.METRICS`; source, a file, a folder, an address that Arrow knows, such as
    s3://…, or a list of these; columns, a mapping from the metric's columns to the data set's, by default of equal
    names; among them `groups`, which may have missing values; options of the metric.

    States count equal rows, and their size is bounded however many samples there are,

    - for accuracyk and autkc, and for the open-set F-scores with `t_list`: their rows are small integers,
    - for scores that the data set stores in 16 bits, and with `significant_bits`. anomaly_suite still keeps each
      anomalous pixel, for its regions; and the size for open-set F-scores also depends on the number of classes.

    All other states keep a few numbers for each sample; those of openset_detection keep all boxes.

    A worker needs 500 MiB of memory with one thread, and 125 MiB for each further thread. If the size of states is not
    bounded, each thread also needs 1.6 times the size beyond 16 MiB of the largest row group, with its columns unpacked
    to 8 bytes for each number; and the caller needs memory for the states of all samples.

    Returns the results of the metric's `compute`. Raises its errors, with the file and the number of the row group,
    counted from 0; also ValueError if a file is damaged or lacks a column, or a worker lacks memory.
    """
    with extra("distributed"):
        for library in ("dask", "pyarrow.parquet"):
            import_module(library)
    from .reducing import reduce_row_group
    from .row_groups import list_row_groups

    metric = metric_class(name)(**options)
    # of loaded_options, in which those that came as iterators are lists
    columns, groups = list_row_groups(source, columns, metric)
    with closing(_reduced(partial(reduce_row_group, name, metric.loaded_options, columns), groups)) as partials:
        for place, states in partials:
            with named(place):
                for state in states:
                    metric.merge(state)
    return dict(metric.compute())


def _reduced(reduce: Reduce, groups: Sequence[RowGroup]) -> Generator[Partial]:
    """The states of row groups, in order: by a cluster, by processes, or by this one, as `dask.config` may say."""
    import dask
    import dask.multiprocessing

    scheduler = dask.base.get_scheduler()
    client = getattr(scheduler, "__self__", None)  # the scheduler of a cluster is a method of its client
    if hasattr(client, "scheduler_info"):
        yield from _reduced_by_cluster(client, reduce, groups)
        return
    is_little = sum(group.num_bytes for group in groups) <= FEW_BYTES
    tasks = [dask.delayed(reduce, pure=False)(group) for group in groups]
    scheme = scheduler or (dask.local.get_sync if is_little else dask.multiprocessing.get)
    partials = list(dask.compute(*tasks, scheduler=scheme))[::-1]
    while partials:  # each is free once it is merged
        yield partials.pop()


def _reduced_by_cluster(client: Any, reduce: Reduce, groups: Sequence[RowGroup]) -> Generator[Partial]:
    """The states of row groups, in order; each leaves its worker when it is ready.

    Raises the error of a task; ValueError, with its row group, for a task that kept killing its workers.
    """
    from distributed import KilledWorker, as_completed

    tasks: list[Any] = client.map(reduce, groups, pure=False)
    ready: dict[Any, Partial] = {}
    waiting = [task.key for task in tasks][::-1]
    try:
        for batch in as_completed(tasks).batches():
            ready |= zip([task.key for task in batch], client.gather(batch))
            for task in batch:
                task.release()
            while waiting and waiting[-1] in ready:
                yield ready.pop(waiting.pop())
    except KilledWorker as error:
        places = {task.key: group for task, group in zip(tasks, groups)}
        with named(places.get(error.task, error.task)):
            raise
    finally:
        for task in tasks:
            task.release()
