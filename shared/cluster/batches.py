"""Reduce an engine's batches to one state, with columns taken by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ..loading import metric_class
from ..metric.clusters import CLUSTERS
from ..metric.groups import GROUPS
from ..metric.metric import Metric
from ..metric.states import COUNTS
from ..reading.reasons import named

OF_NAMES = (GROUPS, CLUSTERS)  # columns whose integers may be larger than float64 holds


def reduce_batches(
    name: str, batches: Iterable[Any], columns: Mapping[str, str] | None = None, **options: Any
) -> dict[str, np.ndarray]:
    """Reduce batches, one after the other, to one state of a metric, for `Metric.merge` or `pack`.

    Parameters: name, one of `openworld_metrics.METRICS`; batches, an iterable of Arrow record batches or tables, pandas
    or Polars data frames, dicts of columns, or lists of rows as dicts; columns, a mapping from the metric's columns to
    the batches' columns, by default of equal names; options of the metric.
    Returns the state, as `Metric.state()` does; without rows it is empty. Equal rows are counted if values are few.
    Raises TypeError for a single batch, and for a batch of another type, ValueError for a batch that lacks a column,
    and the metric's errors, these with the number of the batch, counted from 0.

    >>> from openworld_metrics import OODBench
    >>> batches = [{"score": [0.1, 0.6], "label": [0, 0]}, {"score": [0.4, 0.9], "label": [1, 1]}]
    >>> metric = OODBench(metrics="auroc")
    >>> metric.merge(reduce_batches("ood_bench", batches, {"predictions": "score", "references": "label"}))
    >>> metric.compute()
    {'auroc': 0.75}
    """
    metric = metric_class(name)(**options)
    if isinstance(batches, Mapping) or hasattr(batches, "columns"):
        raise TypeError(f"batches: expected an iterable of them, got a single {type(batches).__name__}: [x]")
    for i, batch in enumerate(batches):
        with named(f"batch {i}"):
            metric.add_batch(**columns_of(batch, columns, metric))
    return counted_state(metric)


def counted_state(metric: Metric) -> dict[str, np.ndarray]:
    """The state of a metric, with equal rows counted if values are few, which makes it small to send."""
    metric.states()
    return metric.state()


def chosen_columns(columns: Mapping[str, str] | None, there: Collection[Any], metric: Metric) -> dict[str, str]:
    """The metric's columns and their names in the data: as the caller says, or else of equal names.

    Parameters: columns, a mapping from the metric's columns to the data's, None or empty for equal names; there, the
    names in the data. Raises TypeError for anything but a mapping.
    """
    if columns is not None and not isinstance(columns, Mapping):
        kind = type(columns).__name__
        raise TypeError(f"columns: expected a mapping from the metric's columns to the data's, got {kind}")
    if columns:
        return dict(columns)
    # counts are read for every metric: one that takes none then refuses them, and does not count each row once
    return {name: name for name in dict.fromkeys((*metric.columns, COUNTS)) if name in metric.required or name in there}


def columns_of(batch: Any, columns: Mapping[str, str] | None, metric: Metric) -> dict[str, Any]:
    """The columns of a batch by their names in the metric, as arrays or as the batch holds them."""
    there = _names(batch)
    columns = chosen_columns(columns, there, metric)
    missing = [name for name in columns.values() if name not in there]
    if missing and not (isinstance(batch, Sequence) and not batch):
        raise ValueError(f"expected a column {missing[0]}, got {', '.join(map(str, there)) or 'none'}")
    return {column: _column(batch, name, ids=column in OF_NAMES) for column, name in columns.items()}


def _names(batch: Any) -> Sequence[Any]:
    if isinstance(batch, (list, tuple)) and all(isinstance(row, Mapping) for row in batch):
        return list(dict.fromkeys(name for row in batch for name in row))
    if _is_arrow(batch):
        return [*batch.schema.names]
    if isinstance(batch, Mapping):
        return [*batch]
    if hasattr(batch, "columns") and hasattr(batch, "__getitem__"):
        return [*batch.columns]
    kinds = "an Arrow batch, a data frame, a dict of columns or a list of rows as dicts"
    raise TypeError(f"expected {kinds}, got {type(batch).__name__}")


def _column(batch: Any, name: str, *, ids: bool) -> Any:
    if isinstance(batch, (list, tuple)):
        lacking = next((i for i, row in enumerate(batch) if name not in row), None)
        if lacking is not None:
            raise ValueError(f"expected a column {name} in every row, got none in row {lacking}")
        return [row[name] for row in batch]
    if not _is_arrow(batch):
        return batch[name]
    from ..reading.tables.arrow import column_of  # which imports pyarrow: other batches do without

    return column_of(batch, name, ids=ids)


def _is_arrow(batch: Any) -> bool:
    return type(batch).__module__.partition(".")[0] == "pyarrow" and hasattr(batch, "schema")
