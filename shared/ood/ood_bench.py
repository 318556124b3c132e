"""ood_bench: every metric of an out-of-distribution detector, by name, from one sort of its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..arrays.arrays import array_namespace
from ..arrays.options import as_bool
from ..metric.metric import IntervalOptions, Metric
from ..metric.units import Units
from ..ranking.rows import members_of, rows_of_sides
from .bench import DEFAULT_METRICS, bench_metrics, names_and_functions
from .per_sample import ood_samples
from .sides import Label, OODState, as_ood_state, check_label_values, is_ood, ood_sides, reduce_ood

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OODBenchOptions(IntervalOptions, total=False):
    """Options of `OODBench`; see `ood_bench_results`."""

    metrics: str | Callable[..., Any] | Sequence[str | Callable[..., Any]]
    in_value: int | Literal["rest"]
    out_value: int | Literal["rest"]
    ignore_value: int | None
    significant_bits: int | None
    threshold: float | None
    thresholds: bool
    step: int | None
    per_sample: bool


def ood_bench_results(
    state: OODState,
    *,
    metrics: Any = DEFAULT_METRICS,
    in_value: Label = 0,
    out_value: Label = 1,
    ignore_value: int | None = None,
    threshold: float | None = None,
    thresholds: bool = False,
    step: int | None = None,
    per_sample: bool = False,
) -> dict[str, Any]:
    """Metrics by name of the OOD against the in-distribution scores: see `bench_metrics`.

    Parameters: state of `reduce_ood`; in_value, out_value and ignore_value, as of that; the others as of
    `bench_metrics`, whose significant_bits are those of the state; per_sample, to add a table of what became of each
    sample (see `ood_samples`). Returns and raises as that does, and ValueError for a label that is none of these
    values, and per_sample of samples that have been counted or whose scores were cut, or of a step without a threshold.
    """
    wanted = as_bool(per_sample, "per_sample")
    if wanted and step is not None and threshold is None:
        raise ValueError("per_sample: expected a threshold with a step, since sampled points are not reached; got none")
    sides = ood_sides(state, in_value, out_value, ignore_value)
    bits = state.get("significant_bits")
    results = bench_metrics(
        *sides,
        metrics,
        threshold=threshold,
        thresholds=thresholds,
        step=step,
        significant_bits=None if bits is None else int(bits),
    )
    if not wanted:
        return results
    values = check_label_values(in_value, out_value, ignore_value)
    return {**results, **ood_samples(state, values, sides, names_and_functions(metrics), threshold)}


def ood_units(
    state: OODState,
    *,
    metrics: Any,
    in_value: Label,
    out_value: Label,
    ignore_value: int | None,
    threshold: float | None,
    step: int | None,
    **_: Any,
) -> Units:
    """The OOD and the in-distribution samples, for resampling."""
    rows = rows_of_sides(*ood_sides(state, in_value, out_value, ignore_value))

    def results(counts: Sequence[np.ndarray]) -> dict[str, float]:
        positives, negatives = (each.side(numbers) for each, numbers in zip(rows, counts))
        return bench_metrics(positives, negatives, metrics, threshold=threshold, step=step)

    def members() -> tuple[np.ndarray, np.ndarray]:
        is_out, kept = is_ood(state["labels"], check_label_values(in_value, out_value, ignore_value))
        strata = array_namespace(is_out).astype(~is_out, int)
        if kept is not None:
            strata = array_namespace(is_out).where(kept, strata, -1)
        return members_of(strata, state["scores"], rows)

    return Units((rows[0].counts, rows[1].counts), results, members)


class OODBench(Metric):
    """Metrics of an out-of-distribution detector: see `reduce_ood` and `bench_metrics`.

    >>> OODBench().compute(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    {'auroc': 0.75, 'fpr95tpr': 0.5}
    """

    name = "ood_bench"
    reduce = staticmethod(reduce_ood)
    as_state = staticmethod(as_ood_state)
    summarise = staticmethod(ood_bench_results)
    units = staticmethod(ood_units)
    tables = {"counts": ("scores", "labels")}
    aliases = {"scores": "predictions", "labels": "references"}

    def __init__(self, **options: Unpack[OODBenchOptions]) -> None:
        super().__init__(**options)
