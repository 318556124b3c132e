"""autkc: the area under the top-k curve."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..core.metric import IntervalOptions, Metric
from ..core.options import as_int_list
from ..core.units import Units
from .topk import (
    TOPK_ALIASES,
    TOPK_TABLES,
    TopkState,
    as_topk_state,
    autkc,
    known_ranks,
    reduce_topk_scores,
    topk_units,
)

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AUTKCOptions(IntervalOptions, total=False):
    """Options of `AUTKC`; see `autkc_results`."""

    k_list: int | Sequence[int]
    ties: str
    percent: bool
    ignore_unknown: bool


def autkc_results(
    state: TopkState,
    *,
    k_list: int | Sequence[int] = (1,),
    ties: str = "strict",
    percent: bool = False,
    ignore_unknown: bool = False,
) -> dict[str, float]:
    """AUTKC at each K.

    Parameters: state of `reduce_topk_scores`; k_list, in [1, C]; ties and percent as of `autkc`; ignore_unknown,
    whether samples with a negative reference are left out.
    Returns {"autkc@1": …}. Raises ValueError for a K out of range, and if there is no known sample.
    """
    ranks = known_ranks(state, ignore_unknown=ignore_unknown)
    ks = as_int_list(k_list, "k_list", 1, int(state["predictions_width"]))
    shared: dict[str, Any] = dict(ties=ties, percent=percent, counts=ranks.counts)
    return {f"autkc@{k}": autkc(ranks.above, ranks.tied, k, **shared) for k in ks}


def autkc_units(state: TopkState, **options: Any) -> Units:
    """The known samples, for resampling."""
    return topk_units(state, partial(autkc_results, **options))


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
