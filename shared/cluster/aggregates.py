"""Metrics as aggregates of Ray Data and CombineFns of Beam: rows are reduced where they are, then states are merged.

Engines may repeat tasks and merge in any order; the result is still identical to that of one process, since each engine
takes the result of a task once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..extras import extra
from ..loading import metric_class
from ..metric.metric import Metric
from ..metric.states import pack, unpack
from ..reading.reasons import named
from .batches import columns_of, counted_state, reduce_batches


def ray_aggregate(name: str, columns: Mapping[str, str] | None = None, **options: Any) -> Any:
    """A metric as an aggregate of Ray Data, for `Dataset.aggregate` and `Dataset.groupby(key).aggregate`.

    Parameters: as for `reduce_batches`. A group of `groupby` must fit into the memory of one worker, as always in Ray.
    Returns a `ray.data.aggregate.AggregateFn`, which gives the results of `compute` under the metric's name.
    Raises ImportError without Ray; an error of the metric is wrapped in Ray's own.
    """
    with extra("ray"):
        from ray.data.aggregate import AggregateFn

    # raises for wrong options here, not on a worker; those that come as iterators are lists now
    options = metric_class(name)(**options).loaded_options

    def reduced(state: bytes, block: Any) -> bytes:
        return _merged(name, options, [state, pack(reduce_batches(name, [block], columns, **options))])

    return AggregateFn(
        init=lambda key: b"",
        accumulate_block=reduced,
        merge=lambda one, other: _merged(name, options, [one, other]),
        finalize=lambda state: _metric(name, options, [state]).compute(),
        name=name,
    )


def beam_combine(name: str, columns: Mapping[str, str] | None = None, **options: Any) -> Any:
    """A metric as a CombineFn of Beam, for `CombineGlobally` and `CombinePerKey`.

    Parameters: as for `reduce_batches`. Elements are batches: Arrow tables, from `beam.io.ReadFromParquetBatched`, or
    lists of dicts, from `beam.BatchElements`.
    Returns a `beam.CombineFn` with metrics as accumulators; it gives the results of `compute`.
    Raises ImportError without Beam; an error of the metric is wrapped in Beam's own.
    """
    with extra("beam"):
        import apache_beam as beam

    options = metric_class(name)(**options).loaded_options

    class Combine(beam.CombineFn):
        """A metric over batches."""

        def create_accumulator(self) -> Metric:
            """Create a metric without batches."""
            return _metric(name, options, [])

        def add_input(self, metric: Metric, batch: Any) -> Metric:
            """Add a batch."""
            with named("a batch"):
                metric.add_batch(**columns_of(batch, columns, metric))
            return metric

        def merge_accumulators(self, metrics: Iterable[Metric]) -> Metric:
            """Merge the metrics of several batches."""
            merged = _metric(name, options, [])
            for metric in metrics:
                for state in metric.states():
                    merged.merge(state)
            return merged

        def compact(self, metric: Metric) -> Metric:
            """Count equal rows before the metric is sent."""
            metric.states()
            return metric

        def extract_output(self, metric: Metric) -> dict[str, Any]:
            """Compute the results."""
            return metric.compute()

    return Combine()


def _metric(name: str, options: Mapping[str, Any], states: Iterable[bytes]) -> Metric:
    metric = metric_class(name)(**options)
    for state in states:
        if state:
            metric.merge(unpack(state))
    return metric


def _merged(name: str, options: Mapping[str, Any], states: Iterable[bytes]) -> bytes:
    present = [state for state in states if state]
    return present[0] if len(present) == 1 else pack(counted_state(_metric(name, options, present)))
