"""A metric over a Parquet data set of scores, on as many machines as a Dask cluster has.

Each row group is reduced by `metric.add_batch` and `metric.state` where it is read, and states meet by `metric.merge`
in a tree, so that no machine holds more than a few of them. Scores of matrices never travel, and the result has the
bits of one process. States of the counting metrics (accuracyk, autkc, the open-set F-scores with `t_list`, and
openset_detection without tables) are tallies of bounded size; the others, which rank every score, keep a few numbers
for each sample.

Dask rather than Ray Data: its bags reduce in a tree by one call, over any Python objects, where Ray Data aggregates
them in one place or shuffles; and it is pure Python, from a laptop to Slurm, Kubernetes or an existing cluster.
With a `distributed.Client` in place, that cluster computes; without, processes of this machine.

    from distributed import Client
    client = Client("tcp://scheduler:8786")
    compute_parquet("openauc", "s3://bucket/scores/", columns={"predictions": "logits", "references": "label"})
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.dataset as ds

from ..extras import extra
from ..formats.arrow import from_arrow
from ..loading import metric_class
from .tallies import add_tallies, can_tally, tally, tally_results

Partial = dict[str, Any]


def compute_parquet(
    name: str,
    source: str | Path | list[str],
    columns: Mapping[str, str] | None = None,
    *,
    split_every: int = 8,
    **options: Any,
) -> dict[str, Any]:
    """Compute a metric over a Parquet data set, with Dask.

    Parameters: name, one of `openworld_metrics.METRICS`; source, a file, a folder, a list of files, or an address that
    Arrow knows, such as s3://…; columns, from the metric's columns to those of the data set, by default those of
    the same names; split_every, how many states meet at once; options of the metric.
    Returns what the metric's `compute` returns. Raises what it raises, and ValueError where a column is missing.
    """
    with extra("distributed"):
        import dask.bag

    metric = metric_class(name)(**options)
    data = ds.dataset(source if isinstance(source, list) else str(source), format="parquet")
    columns = dict(columns or {column: column for column in metric.columns if column in data.schema.names})
    missing = [column for column in columns.values() if column not in data.schema.names]
    if missing:
        raise ValueError(f"{source}: expected a column {missing[0]}, got {', '.join(data.schema.names)}")
    shards = [part for fragment in data.get_fragments() for part in fragment.split_by_row_group()]
    merge = partial(merge_partials, name, options)
    if not shards:
        return results(name, options, merge([]))
    bag = dask.bag.from_sequence(shards, partition_size=1).map(partial(reduce_shard, name, options, columns))
    merged = bag.reduction(merge, merge, split_every=split_every).compute()
    return results(name, options, merged)


def reduce_shard(name: str, options: Mapping[str, Any], columns: Mapping[str, str], shard: Any) -> Partial:
    """Reduce a shard, a fragment of an Arrow data set, batch by batch."""
    metric = metric_class(name)(**options)
    partials = []
    for batch in shard.to_batches(columns=list(dict.fromkeys(columns.values()))):
        metric.add_batch(**{column: from_arrow(batch.column(there)) for column, there in columns.items()})
        if can_tally(name, options):
            partials.append(tally(metric, metric.state()))
            metric.reset()
    return add_tallies(name, partials) if can_tally(name, options) else metric.state()


def merge_partials(name: str, options: Mapping[str, Any], partials: Iterable[Partial]) -> Partial:
    """Merge what `reduce_shard` gave for several shards, or this function for several groups of them."""
    if can_tally(name, options):
        return add_tallies(name, list(partials))
    metric = metric_class(name)(**options)
    for state in partials:
        metric.merge(state)
    return dict(metric.state())


def results(name: str, options: Mapping[str, Any], merged: Partial) -> dict[str, Any]:
    """Results of the metric from what all shards were merged to."""
    metric = metric_class(name)(**options)
    if can_tally(name, options):
        return tally_results(metric, merged)
    metric.merge({key: np.asarray(array) for key, array in merged.items()})
    return dict(metric.compute())
