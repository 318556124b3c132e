"""A metric over a Parquet data set of scores, on as many machines as a Dask cluster has.

Each row group is reduced by `metric.add_batch` and `metric.states` where it is read: scores of matrices never travel,
and the result has the bits of one process. The states go straight to the caller, who merges them as they come.

Dask rather than Ray Data: it runs any function over any Python objects, where Ray Data aggregates them in one place or
shuffles; and it is pure Python, from a laptop to Slurm, Kubernetes or an existing cluster. With a `distributed.Client`
in place, that cluster computes; without, processes of this machine.

    from distributed import Client
    client = Client("tcp://scheduler:8786")
    compute_parquet("openauc", "s3://bucket/scores/", columns={"predictions": "logits", "references": "label"})
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

from ..formats.reasons import named
from ..loading import metric_class
from .memory import check_workers
from .reducing import reduce_row_group
from .row_groups import list_row_groups
from .tasks import Cluster, engine


def compute_parquet(
    name: str,
    source: str | Path | list[str],
    columns: Mapping[str, str] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Compute a metric over a Parquet data set, with Dask.

    Parameters: name, one of `openworld_metrics.METRICS`; source, a file, a folder, a list of files, or an address that
    Arrow knows, such as s3://…; columns, from the metric's columns to those of the data set, by default of the same
    names; among them `groups`, which may have missing values; options of the metric.

    States count equal rows, and their size is bounded however many samples there are,

    - for accuracyk and autkc, and for the open-set F-scores with `t_list`: their rows are small integers,
    - for scores in types of 16 bits, which the data set must have as such, and with `significant_bits`. Of anomalous
      pixels anomaly_suite still keeps each, for their regions; and open-set F-scores are bounded by their classes too.

    All other states keep a few numbers for each sample; those of openset_detection keep all boxes.

    A worker needs 500 MiB of memory with one thread, and 125 MiB for each further one. Where states are not of bounded
    size, each thread needs 1.6 times more of what the largest row group takes beyond 16 MiB, of its columns unpacked
    with 8 bytes for each number; and the caller needs memory for the states of all samples.

    Returns what the metric's `compute` returns. Raises what it raises, with the file and the number of the row group,
    from 0; ValueError too where a file is damaged or lacks a column, and where a worker lacks memory.
    """
    tasks = engine()
    metric = metric_class(name)(**options)
    columns, groups = list_row_groups(source, columns, metric)
    if isinstance(tasks, Cluster):
        check_workers(tasks.client, groups)
    parts = tasks.map(partial(reduce_row_group, name, options, columns), groups)
    with closing(tasks.results(parts)) as partials:
        for place, states in partials:
            with named(place):
                for state in states:
                    metric.merge(state)
    return dict(metric.compute())
