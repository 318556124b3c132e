"""OpenAUC and its companions, of the three kinds of samples: unknown, rightly and wrongly classified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..arrays.options import as_fraction, as_shares
from ..ranking.counts import Side, check_both_classes, runs, sort_sides
from ..ranking.curves import twice_wins
from ..ranking.quantities import Quantity
from ..ranking.shares import percent
from .at_tpr import accuracy_of_sides
from .ccr import ccr_of_sides
from .risk import risk_of_sides, risk_quantities
from .risk_areas import both_sides


class Asked(NamedTuple):
    """The rates that are asked for, checked: that of the operating point, those of OSCR, and those of risk by name."""

    tpr: float
    fprs: Sequence[float]
    risks: Mapping[str, Quantity]


def checked_rates(tpr: float, fpr_list: Any, risk_metrics: Any) -> Asked:
    """The options of `openauc_metrics`, checked."""
    fprs = [] if fpr_list is None else as_shares(fpr_list, "fpr_list")
    return Asked(as_fraction(tpr, "tpr"), fprs, risk_quantities(risk_metrics, "risk_metrics"))


def rates_of_sides(unknown: Side, correct: Side, wrong: Side, asked: Asked) -> dict[str, float]:
    """As `openauc_metrics`, of the three kinds of samples."""
    num_known = correct.total + wrong.total
    check_both_classes(unknown.total, num_known)
    over_correct, over_wrong = twice_wins_over(unknown, correct), twice_wins_over(unknown, wrong)
    pairs = 2 * unknown.total * num_known
    return {
        "openauc": over_correct / pairs,
        "closed_set_accuracy": correct.total / num_known,
        "open_set_auroc": (over_correct + over_wrong) / pairs,
        f"open_set_accuracy@tpr{percent(asked.tpr)}": accuracy_of_sides(unknown, (correct, wrong), asked.tpr),
        **{f"ccr@fpr{percent(fpr)}": ccr_of_sides(unknown, correct, num_known, fpr) for fpr in asked.fprs},
        **(risk_of_sides(both_sides(unknown, wrong), correct, asked.risks) if asked.risks else {}),
    }


def twice_wins_over(unknown: Side, known: Side) -> int:
    """Twice the pairs in which the unknown sample scores higher, plus the tied ones."""
    return sum(map(twice_wins, runs(*sort_sides(unknown, known)))) if known.total else 0
