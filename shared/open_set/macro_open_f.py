"""macro_open_f: known classes recognised and unknown samples rejected, each class counting the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arrays.options import as_bool
from ..metric.metric import IntervalOptions, Metric
from ..metric.units import Units
from .open_f import macro_open_f
from .per_sample import open_f_samples
from .resampling import open_set_units
from .samples import (
    OPEN_SET_ALIASES,
    OPEN_SET_TABLES,
    OpenSetState,
    as_open_set_state,
    count_classes,
    reduce_open_set,
)
from .thresholds import check_applied

if TYPE_CHECKING:
    from typing_extensions import Unpack


class MacroOpenFOptions(IntervalOptions, total=False):
    """Options of `MacroOpenF`; see `macro_open_f_results`."""

    t_list: float | Sequence[float] | None
    num_classes: int | None
    per_sample: bool


def macro_open_f_results(
    state: OpenSetState,
    *,
    t_list: float | Sequence[float] | None = None,
    num_classes: int | None = None,
    per_sample: bool = False,
) -> dict[str, Any]:
    """The best macro open-set F-score, its threshold and, for a t_list, the F-score at each of its thresholds.

    Parameters: state of `reduce_open_set`; t_list, thresholds to use instead of every distinct score; num_classes,
    the number of known classes where it is not that of the score columns; per_sample, to add a table of what became of
    each sample at the threshold (see `open_f_samples`).
    Returns {"macro_open_f": …, "macro_open_f_threshold": …, "macro_open_f_curve": […], "per_sample": …}, the last two
    with a t_list and per_sample only.
    Raises ValueError for an empty t_list, NaN in it, another one than batches were added with, class ids that reach
    num_classes, and per_sample of samples that have been counted or rounded.
    """
    wanted = as_bool(per_sample, "per_sample")
    check_applied(state, t_list)
    num_classes = count_classes(state, num_classes)
    counts = state.get("counts")
    best, threshold, curve = macro_open_f(
        state["predicted"], state["classes"], state["scores"], num_classes, t_list, counts=counts
    )
    results: dict[str, Any] = {"macro_open_f": best, "macro_open_f_threshold": threshold}
    if curve is not None:
        results["macro_open_f_curve"] = curve
    return {**results, "per_sample": open_f_samples(state, threshold)} if wanted else results


def macro_open_f_units(state: OpenSetState, **options: Any) -> Units:
    """The known and the unknown samples, for resampling; of the results, the best F-score."""
    options["per_sample"] = False  # resamples are counts of rows
    options["num_classes"] = count_classes(state, options.get("num_classes"))  # also where they lack the largest id

    def best(rows: OpenSetState) -> dict[str, float]:
        return {"macro_open_f": macro_open_f_results(rows, **options)["macro_open_f"]}

    return open_set_units(state, best)


class MacroOpenF(Metric):
    """The macro open-set F-score at the best threshold: see `reduce_open_set` and `macro_open_f_results`.

    >>> MacroOpenF().compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'macro_open_f': 1.0, 'macro_open_f_threshold': 0.2}
    """

    name = "macro_open_f"
    reduce = staticmethod(reduce_open_set)
    as_state = staticmethod(as_open_set_state)
    summarise = staticmethod(macro_open_f_results)
    units = staticmethod(macro_open_f_units)
    tables = OPEN_SET_TABLES
    aliases = OPEN_SET_ALIASES

    def __init__(self, **options: Unpack[MacroOpenFOptions]) -> None:
        super().__init__(**options)
