"""accuracyk: how often the true class is among the k best guesses."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.metric import IntervalOptions, Metric
from ..core.options import as_choice, as_int_list
from ..core.units import Units
from .topk import (
    TIES,
    TOPK_ALIASES,
    TOPK_TABLES,
    TopkState,
    accuracy,
    as_topk_state,
    known_ranks,
    reduce_topk,
    topk_accuracy,
    topk_units,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AccuracyKOptions(IntervalOptions, total=False):
    """Options of `AccuracyK`; see `accuracyk_results`."""

    k_list: int | Sequence[int] | None
    ties: str
    percent: bool
    ignore_unknown: bool


def accuracyk_results(
    state: TopkState,
    *,
    k_list: int | Sequence[int] | None = None,
    ties: str = "strict",
    percent: bool = False,
    ignore_unknown: bool = False,
) -> dict[str, float]:
    """Accuracy, or accuracy at each k.

    Parameters: state of `reduce_topk`; k_list, in [1, C]; ties and percent as of `topk_accuracy`; ignore_unknown,
    whether samples with a negative reference are left out.
    Returns {"accuracy": …} without k_list, else {"accuracy@1": …}. Raises ValueError for a k out of range, and if there
    is no known sample.
    """
    as_choice(ties, "ties", TIES)
    ranks = known_ranks(state, ignore_unknown=ignore_unknown)
    if k_list is None:
        return {"accuracy": accuracy(ranks.correct, percent=percent, counts=ranks.counts)}
    ks = as_int_list(k_list, "k_list", 1, int(state["predictions_width"]))
    shared: dict[str, Any] = dict(ties=ties, percent=percent, counts=ranks.counts)
    return {f"accuracy@{k}": topk_accuracy(ranks.above, ranks.tied, k, **shared) for k in ks}


def accuracyk_units(state: TopkState, **options: Any) -> Units:
    """The known samples, for resampling."""
    return topk_units(state, partial(accuracyk_results, **options))


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
