"""OpenAUC and its companions, from the open-set scores of unknown, rightly and wrongly classified known samples.

Wins of the unknown samples over the rightly classified known ones, and over the others, add up to those over all
known ones: so the three kinds are sorted separately, and no score is sorted twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays.arrays import Array, array_namespace
from ..arrays.options import as_bool
from ..metric.metric import IntervalOptions, Metric
from ..metric.units import Units
from ..ranking.bounds import results_with_errors
from ..ranking.counts import Side, as_side, check_both_classes, split
from ..ranking.rows import members_of, rows_of_sides
from ..ranking.shares import percent
from .at_tpr import threshold_at_tpr
from .cut_scores import ends_of_cut
from .known_unknown import SIDES_OF_XCURVE, as_openauc_state, reduce_openauc
from .per_sample import open_set_samples
from .rates import checked_rates, rates_of_sides, twice_wins_over
from .samples import OPEN_SET_ALIASES, OPEN_SET_TABLES, OpenSetState

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OpenAUCOptions(IntervalOptions, total=False):
    """Options of `OpenAUC`; see `openauc_metrics` and `reduce_openauc`."""

    tpr: float
    significant_bits: int | None
    fpr_list: float | Sequence[float] | None
    risk_metrics: str | Sequence[str]
    per_sample: bool


def openauc_metrics(
    state: OpenSetState,
    *,
    tpr: float = 0.95,
    fpr_list: Any = None,
    risk_metrics: Any = (),
    per_sample: bool = False,
) -> dict[str, Any]:
    """OpenAUC, closed-set accuracy, AUROC of unknown against known, and their accuracy at a true-positive rate.

    Parameters: state of `reduce_openauc`; tpr in (0, 1], as of `accuracy_at_tpr`; fpr_list, a number or numbers in
    [0, 1], to add the correct-classification rate at each, as of `ccr_at_fpr`; risk_metrics, a name or names of
    `risk_coverage`, to add them, unknown samples being errors too; per_sample, to add the threshold of
    `accuracy_at_tpr` and a table of what became of each sample there (see `open_set_samples`).
    Returns {"openauc", "closed_set_accuracy", "open_set_auroc", "open_set_accuracy@tpr95"}, and "ccr@fpr0.1" and so on;
    of scores that were cut, all but the second with `<name>_error`, |value − value of the scores before| ≤ error, and
    no coverage@risk.
    Raises ValueError if there are no unknown or no known samples, for a rate out of range, and per_sample of samples
    that have been counted or whose scores were cut.
    """
    asked = checked_rates(tpr, fpr_list, risk_metrics)
    wanted = as_bool(per_sample, "per_sample")
    sides = open_set_sides(state)
    results = rates_of_sides(*sides, asked)
    if wanted:
        threshold = threshold_at_tpr(sides[0], asked.tpr)
        samples = open_set_samples(state, threshold, reached=True)
        return {**results, f"open_set_accuracy@tpr{percent(asked.tpr)}_threshold": threshold, "per_sample": samples}
    if "significant_bits" not in state:
        return results
    return results_with_errors(results, ends_of_cut(*sides, int(state["significant_bits"]), asked))


def split_open_set(state: OpenSetState) -> tuple[Array, Array, Array]:
    """Open-set scores of the unknown samples, of the known samples that are classified correctly, and of the others.

    Parameters: state of `reduce_openauc`. Returns three arrays, each in ascending order.
    """
    unknown, correct, wrong = (side.repeated() for side in open_set_sides(state))
    return unknown, correct, wrong


def open_set_sides(state: OpenSetState) -> tuple[Side, Side, Side]:
    """As `split_open_set`, of a state whose entries may stand for several samples."""
    is_unknown, is_right = state["classes"] < 0, state["predicted"] == state["classes"]

    def parts(column: Array) -> tuple[Array, ...]:
        unknown, known = split(column, is_unknown)
        return unknown, *split(known, right)

    _, right = split(is_right, is_unknown)
    counts = state.get("counts")
    columns = zip(parts(state["scores"]), (None, None, None) if counts is None else parts(counts))
    unknown, correct, wrong = (as_side(scores, column, owned=True) for scores, column in columns)
    return unknown, correct, wrong


def openauc(unknown: Array, correct_known: Array, num_known: int) -> float:
    """OpenAUC: the chance that a known sample is classified correctly and ranked below an unknown one.

    OpenAUC = 1/(N_k·N_u) Σ_i Σ_j [h(x_i) = y_i] · ([r(x_j) > r(x_i)] + ½ [r(x_j) = r(x_i)])

    It equals closed-set accuracy times the AUROC of the unknown samples against the correctly classified known.

    Parameters: unknown (N_u,), open-set scores of the unknown samples; correct_known, those of the correctly
    classified known samples; num_known is N_k, the number of all known samples.
    Returns a float in [0, 1]; 0.0 if no known sample is correct. Raises ValueError without unknown or known samples.
    Source: Wang et al., OpenAUC: Towards AUC-Oriented Open-Set Recognition, NeurIPS 2022.

    >>> import numpy as np
    >>> openauc(np.asarray([0.9, 0.4]), np.asarray([0.4, 0.1]), num_known=4)
    0.4375
    """
    check_both_classes(unknown.shape[0], num_known)
    if not correct_known.shape[0]:
        return 0.0
    return twice_wins_over(as_side(unknown), as_side(correct_known)) / (2 * unknown.shape[0] * num_known)


def openauc_units(state: OpenSetState, *, tpr: float, fpr_list: Any, risk_metrics: Any, **_: Any) -> Units:
    """The unknown samples and the known ones, for resampling."""
    asked = checked_rates(tpr, fpr_list, risk_metrics)
    unknown, correct, wrong = rows_of_sides(*open_set_sides(state))
    num_correct = len(correct.counts)

    def results(counts: Sequence[np.ndarray]) -> dict[str, float]:
        known = counts[1]
        sides = unknown.side(counts[0]), correct.side(known[:num_correct]), wrong.side(known[num_correct:])
        return rates_of_sides(*sides, asked)

    def members() -> tuple[np.ndarray, np.ndarray]:
        known, right = state["classes"] >= 0, state["predicted"] == state["classes"]
        kind = array_namespace(known).where(known & ~right, 2, array_namespace(known).astype(known, int))
        place, kinds = members_of(kind, state["scores"], (unknown, correct, wrong))
        return place + num_correct * (kinds == 2), np.minimum(kinds, 1)

    return Units((unknown.counts, np.concatenate([correct.counts, wrong.counts])), results, members)


class OpenAUC(Metric):
    """OpenAUC and its companions: see `reduce_openauc` and `openauc_metrics`.

    >>> OpenAUC(tpr=0.9).compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'openauc': 1.0, 'closed_set_accuracy': 1.0, 'open_set_auroc': 1.0, 'open_set_accuracy@tpr90': 1.0}
    """

    name = "openauc"
    reduce = staticmethod(reduce_openauc)
    as_state = staticmethod(as_openauc_state)
    summarise = staticmethod(openauc_metrics)
    units = staticmethod(openauc_units)
    tables = OPEN_SET_TABLES
    aliases = OPEN_SET_ALIASES
    of_sides = SIDES_OF_XCURVE

    def __init__(self, **options: Unpack[OpenAUCOptions]) -> None:
        super().__init__(**options)
