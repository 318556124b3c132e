"""OpenAUC and its companions, from the open-set scores of unknown, rightly and wrongly classified known samples.

Wins of the unknown samples over the rightly classified known ones, and over the others, add up to those over all
known ones: so the three kinds are sorted separately, and no score is sorted twice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypedDict

from ..core.arrays import Array, array_namespace, concatenate
from ..core.counts import ascending, check_both_classes, runs, sort_sides, split
from ..core.curves import twice_wins
from ..core.metric import Metric
from ..core.options import as_fraction
from .samples import OPEN_SET_ALIASES, OpenSetState, reduce_openauc

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OpenAUCOptions(TypedDict, total=False):
    """Options of `OpenAUC`; see `openauc_metrics`."""

    tpr: float


def openauc_metrics(state: OpenSetState, *, tpr: float = 0.95) -> dict[str, float]:
    """OpenAUC, closed-set accuracy, AUROC of unknown against known, and their accuracy at a true-positive rate.

    Parameters: state of `reduce_openauc`; tpr in (0, 1], as of `accuracy_at_tpr`.
    Returns {"openauc", "closed_set_accuracy", "open_set_auroc", "open_set_accuracy@tpr95"}.
    Raises ValueError if there are no unknown or no known samples.
    """
    unknown, correct, wrong = split_open_set(state)
    num_unknown, num_known = unknown.shape[0], correct.shape[0] + wrong.shape[0]
    check_both_classes(num_unknown, num_known)
    over_correct, over_wrong = _twice_wins_over(unknown, correct), _twice_wins_over(unknown, wrong)
    pairs = 2 * num_unknown * num_known
    return {
        "openauc": over_correct / pairs,
        "closed_set_accuracy": correct.shape[0] / num_known,
        "open_set_auroc": (over_correct + over_wrong) / pairs,
        f"open_set_accuracy@{_tpr_name(tpr)}": accuracy_at_tpr(unknown, concatenate([correct, wrong]), tpr),
    }


def split_open_set(state: OpenSetState) -> tuple[Array, Array, Array]:
    """Return the open-set scores of the unknown samples, of the known samples that are classified correctly, and of
    those that are not; each in ascending order.
    """
    unknown, known = split(state["scores"], state["classes"] < 0)
    _, right = split(state["predicted"] == state["classes"], state["classes"] < 0)
    correct, wrong = split(known, right)
    return ascending(unknown, owned=True), ascending(correct, owned=True), ascending(wrong, owned=True)


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
    return _twice_wins_over(*sort_sides(unknown, correct_known)) / (2 * unknown.shape[0] * num_known)


def _twice_wins_over(unknown: Array, known: Array) -> int:
    """Twice the pairs in which the unknown sample scores higher, plus the tied ones; both in ascending order."""
    return sum(map(twice_wins, runs(unknown, known))) if known.shape[0] else 0


def accuracy_at_tpr(unknown: Array, known: Array, tpr: float = 0.95) -> float:
    """Accuracy of unknown against known at the highest threshold whose true-positive rate is at least `tpr`.

    (TP + N − FP) / (P + N) at t* = max {t : TP(t)/P ≥ tpr}, unknown iff score ≥ t*

    Parameters: unknown (P,) and known (N,) open-set scores, higher is more unknown; tpr in (0, 1].
    Returns a float in [0, 1]. Raises ValueError for a tpr out of range, or if a side is empty.
    Source: Vaze et al., Open-Set Recognition: A Good Closed-Set Classifier is All You Need, ICLR 2022.

    >>> import numpy as np
    >>> accuracy_at_tpr(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1]))
    0.75
    """
    tpr = as_fraction(tpr, "tpr")
    num_unknown, num_known = unknown.shape[0], known.shape[0]
    check_both_classes(num_unknown, num_known)
    # the fewest unknown samples that are enough, by the same division that gives the rate
    at_least = math.ceil(tpr * num_unknown)
    enough = next(k for k in range(max(1, at_least - 1), num_unknown + 1) if k / num_unknown >= tpr)
    threshold = ascending(unknown)[num_unknown - enough]
    xp = array_namespace(unknown, known)
    hits = int(xp.count_nonzero(unknown >= threshold)) + int(xp.count_nonzero(known < threshold))
    return hits / (num_unknown + num_known)


def _tpr_name(tpr: float) -> str:
    """Name of an operating point in result keys.

    >>> _tpr_name(0.95), _tpr_name(0.975)
    ('tpr95', 'tpr97.5')
    """
    return f"tpr{100 * as_fraction(tpr, 'tpr'):.12g}"


class OpenAUC(Metric):
    """OpenAUC and its companions: see `reduce_openauc` and `openauc_metrics`.

    >>> OpenAUC(tpr=0.9).compute(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    {'openauc': 1.0, 'closed_set_accuracy': 1.0, 'open_set_auroc': 1.0, 'open_set_accuracy@tpr90': 1.0}
    """

    name = "openauc"
    reduce = staticmethod(reduce_openauc)
    summarise = staticmethod(openauc_metrics)
    aliases = OPEN_SET_ALIASES

    def __init__(self, **options: Unpack[OpenAUCOptions]) -> None:
        super().__init__(**options)
