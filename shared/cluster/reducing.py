"""The task of a worker: reduce a row group to states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..loading import metric_class
from ..metric.metric import Metric
from ..reading.reasons import named, rows_from
from .memory import check_this_worker
from .row_groups import RowGroup, read_row_group

Partial = tuple[str, list[dict[str, Any]]]  # a row group, and its states


def reduce_row_group(name: str, options: Mapping[str, Any], columns: Mapping[str, str], group: RowGroup) -> Partial:
    """Reduce a row group batch by batch; errors name the file and the row group.

    States of batches are not joined, which would double their memory: the caller can merge several.
    """
    metric = metric_class(name)(**options)
    with named(group):
        batches = read_row_group(group, columns)
        for _, batch in batches:
            metric.add_batch(**batch)
            break
    check_this_worker(group, grows=any(not _is_counted(metric, state) for state in metric.states()))
    with named(group):
        for first, batch in batches:
            with rows_from(first):
                metric.add_batch(**batch)
        return str(group), metric.states()


def _is_counted(metric: Metric, state: Mapping[str, Any]) -> bool:
    """Whether rows of a state are counted; names of a group's counts begin with its number."""
    return bool(metric.countable_tables.keys() & {name.rpartition("/")[2] for name in state})
