"""autkc: the area under the top-k curve."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arrays.options import as_int_list
from ..metric.metric import IntervalOptions, Metric
from ..metric.units import Units
from .averages import topk_results
from .topk import TOPK_ALIASES, TOPK_TABLES, TopkState, as_topk_state, reduce_topk_scores, topk_units
from .topk_rates import known_ranks

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AUTKCOptions(IntervalOptions, total=False):
    """Options of `AUTKC`; see `autkc_results`."""

    k_list: int | Sequence[int]
    ties: str
    average: str
    per_class: bool
    percent: bool
    ignore_unknown: bool


def autkc_results(
    state: TopkState,
    *,
    k_list: int | Sequence[int] = (1,),
    ties: str = "strict",
    average: str = "micro",
    per_class: bool = False,
    percent: bool = False,
    ignore_unknown: bool = False,
) -> dict[str, Any]:
    """AUTKC at each K.

    Parameters: state of `reduce_topk_scores`; k_list, in [1, C]; ties, average, per_class and percent as of
    `topk_results`; ignore_unknown, whether samples with a negative reference are left out.
    Returns {"autkc@1": …}, then "per_class". Raises ValueError for a K out of range, and if there is no known sample.
    """
    ranks = known_ranks(state, ignore_unknown=ignore_unknown)
    ks = as_int_list(k_list, "k_list", 1, int(state["predictions_width"]))
    spans = {f"autkc@{k}": range(1, k + 1) for k in ks}
    return topk_results(ranks, spans, ties=ties, average=average, per_class=per_class, percent=percent)


def autkc_units(state: TopkState, **options: Any) -> Units:
    """The known samples, for resampling."""
    return topk_units(state, autkc_results, options)


class AUTKC(Metric):
    """The area under the top-k curve: see `reduce_topk_scores` and `autkc_results`.

    >>> AUTKC(k_list=(1, 2)).compute(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    {'autkc@1': 0.5, 'autkc@2': 0.75}
    """

    name = "autkc"
    reduce = staticmethod(reduce_topk_scores)
    as_state = staticmethod(as_topk_state)
    summarise = staticmethod(autkc_results)
    units = staticmethod(autkc_units)
    tables = TOPK_TABLES
    aliases = TOPK_ALIASES

    def __init__(self, **options: Unpack[AUTKCOptions]) -> None:
        super().__init__(**options)
