"""accuracyk: how often the true class is among the k best guesses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arrays.options import as_int_list
from ..metric.metric import IntervalOptions, Metric
from ..metric.units import Units
from .averages import topk_results
from .topk import TOPK_ALIASES, TOPK_TABLES, TopkState, as_topk_state, reduce_topk, topk_units
from .topk_rates import known_ranks

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AccuracyKOptions(IntervalOptions, total=False):
    """Options of `AccuracyK`; see `accuracyk_results`."""

    k_list: int | Sequence[int] | None
    ties: str
    average: str
    per_class: bool
    percent: bool
    ignore_unknown: bool


def accuracyk_results(
    state: TopkState,
    *,
    k_list: int | Sequence[int] | None = None,
    ties: str = "strict",
    average: str = "micro",
    per_class: bool = False,
    percent: bool = False,
    ignore_unknown: bool = False,
) -> dict[str, Any]:
    """Accuracy, or accuracy at each k.

    Parameters: state of `reduce_topk`; k_list, in [1, C]; ties, average, per_class and percent as of `topk_results`;
    ignore_unknown, whether samples with a negative reference are left out.
    Returns {"accuracy": …} without k_list, else {"accuracy@1": …}; then "per_class". Raises ValueError for a k out of
    range, and if there is no known sample.
    """
    ranks = known_ranks(state, ignore_unknown=ignore_unknown)
    ks: dict[str, range | None] = {"accuracy": None}
    if k_list is not None:
        found = as_int_list(k_list, "k_list", 1, int(state["predictions_width"]))
        ks = {f"accuracy@{k}": range(k, k + 1) for k in found}
    return topk_results(ranks, ks, ties=ties, average=average, per_class=per_class, percent=percent)


def accuracyk_units(state: TopkState, **options: Any) -> Units:
    """The known samples, for resampling."""
    return topk_units(state, accuracyk_results, options)


class AccuracyK(Metric):
    """How often the true class is among the k best guesses: see `reduce_topk` and `accuracyk_results`.

    >>> AccuracyK(k_list=(1, 2)).compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    {'accuracy@1': 0.5, 'accuracy@2': 1.0}
    """

    name = "accuracyk"
    reduce = staticmethod(reduce_topk)
    as_state = staticmethod(as_topk_state)
    summarise = staticmethod(accuracyk_results)
    units = staticmethod(accuracyk_units)
    tables = TOPK_TABLES
    aliases = TOPK_ALIASES

    def __init__(self, **options: Unpack[AccuracyKOptions]) -> None:
        super().__init__(**options)
