"""ood_bench: every metric of an out-of-distribution detector, by name, from one sort of its scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from ..core.metric import Metric
from .bench import DEFAULT_METRICS, bench_metrics
from .sides import OOD_TABLES, Label, OODState, as_ood_state, ood_sides, reduce_ood

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OODBenchOptions(TypedDict, total=False):
    """Options of `OODBench`; see `ood_bench_results`."""

    metrics: str | Callable[..., Any] | Sequence[str | Callable[..., Any]]
    in_value: int | Literal["rest"]
    out_value: int | Literal["rest"]
    ignore_value: int | None
    significant_bits: int | None
    threshold: float | None
    thresholds: bool
    step: int | None


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
) -> dict[str, float]:
    """Metrics by name of the OOD against the in-distribution scores: see `bench_metrics`.

    Parameters: state of `reduce_ood`; in_value, out_value and ignore_value, as of that; the others as of
    `bench_metrics`, whose significant_bits are those of the state. Returns and raises as that does, and ValueError for
    a label that is none of these values.
    """
    sides = ood_sides(state, in_value, out_value, ignore_value)
    bits = state.get("significant_bits")
    return bench_metrics(
        *sides,
        metrics,
        threshold=threshold,
        thresholds=thresholds,
        step=step,
        significant_bits=None if bits is None else int(bits),
    )


class OODBench(Metric):
    """Metrics of an out-of-distribution detector: see `reduce_ood` and `bench_metrics`.

    >>> OODBench().compute(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    {'auroc': 0.75, 'fpr95tpr': 0.5}
    """

    name = "ood_bench"
    reduce = staticmethod(reduce_ood)
    as_state = staticmethod(as_ood_state)
    summarise = staticmethod(ood_bench_results)
    tables = OOD_TABLES
    aliases = {"scores": "predictions", "labels": "references"}

    def __init__(self, **options: Unpack[OODBenchOptions]) -> None:
        super().__init__(**options)
