"""OpenAUC and its companions, from the open-set scores of unknown, rightly and wrongly classified known samples.

Wins of the unknown samples over the rightly classified known ones, and over the others, add up to those over all
known ones: so the three kinds are sorted separately, and no score is sorted twice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypedDict

import numpy as np

from ..core.arrays import Array
from ..core.bounds import in_either_order, with_error
from ..core.counts import Side, as_side, check_both_classes, runs, sort_sides, split
from ..core.curves import Quantity, bounded, twice_wins
from ..core.metric import Metric
from ..core.options import as_fraction
from ..core.rounding import was_cut
from .known_unknown import reduce_openauc
from .samples import OPEN_SET_ALIASES, OPEN_SET_TABLES, OpenSetState, as_open_set_state

if TYPE_CHECKING:
    from typing_extensions import Unpack


class OpenAUCOptions(TypedDict, total=False):
    """Options of `OpenAUC`; see `openauc_metrics` and `reduce_openauc`."""

    tpr: float
    significant_bits: int | None


def openauc_metrics(state: OpenSetState, *, tpr: float = 0.95) -> dict[str, float]:
    """OpenAUC, closed-set accuracy, AUROC of unknown against known, and their accuracy at a true-positive rate.

    Parameters: state of `reduce_openauc`; tpr in (0, 1], as of `accuracy_at_tpr`.
    Returns {"openauc", "closed_set_accuracy", "open_set_auroc", "open_set_accuracy@tpr95"}; of scores that were cut,
    all but the second with `<name>_error`, |value − value of the scores before| ≤ error.
    Raises ValueError if there are no unknown or no known samples.
    """
    unknown, correct, wrong = open_set_sides(state)
    num_known = correct.total + wrong.total
    check_both_classes(unknown.total, num_known)
    pairs = 2 * unknown.total * num_known
    if "significant_bits" in state:
        bits = int(state["significant_bits"])
        over = [_twice_wins_of_cut(unknown, side, bits) for side in (correct, wrong)]
        hits = _hits_of_cut(unknown, (correct, wrong), tpr, bits)
        return {
            **with_error("openauc", *(wins / pairs for wins in over[0])),
            "closed_set_accuracy": correct.total / num_known,
            **with_error("open_set_auroc", *(sum(wins) / pairs for wins in zip(*over))),
            **with_error(
                f"open_set_accuracy@{_tpr_name(tpr)}", *(count / (unknown.total + num_known) for count in hits)
            ),
        }
    over_correct, over_wrong = _twice_wins_over(unknown, correct), _twice_wins_over(unknown, wrong)
    return {
        "openauc": over_correct / pairs,
        "closed_set_accuracy": correct.total / num_known,
        "open_set_auroc": (over_correct + over_wrong) / pairs,
        f"open_set_accuracy@{_tpr_name(tpr)}": _accuracy_of_sides(unknown, (correct, wrong), tpr),
    }


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
    return _twice_wins_over(as_side(unknown), as_side(correct_known)) / (2 * unknown.shape[0] * num_known)


def _twice_wins_over(unknown: Side, known: Side) -> int:
    """Twice the pairs in which the unknown sample scores higher, plus the tied ones."""
    return sum(map(twice_wins, runs(*sort_sides(unknown, known)))) if known.total else 0


def _twice_wins_of_cut(unknown: Side, known: Side, bits: int) -> tuple[int, int, int]:
    """The same of scores that were cut to so many bits, and the least and the most that it was before.

    The P·N pairs of each bin count P·N now, and were between none and all twice.
    """
    if not known.total:
        return 0, 0, 0
    quantity = bounded({"": Quantity(twice_wins, lambda parts, *_: sum(parts), in_either_order(twice_wins))}, bits)[""]
    wins: tuple[int, int, int] = quantity.of(runs(*sort_sides(unknown, known)))
    return wins


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
    check_both_classes(unknown.shape[0], known.shape[0])
    return _accuracy_of_sides(as_side(unknown), (as_side(known),), tpr)


def _accuracy_of_sides(unknown: Side, known: Sequence[Side], tpr: float) -> float:
    threshold = unknown.at(unknown.total - _enough(tpr, unknown.total))
    hits = unknown.total - unknown.below_score(threshold) + sum(side.below_score(threshold) for side in known)
    return hits / (unknown.total + sum(side.total for side in known))


def _enough(tpr: float, num_unknown: int) -> int:
    """The fewest unknown samples that are enough, by the same division that gives the rate."""
    tpr = as_fraction(tpr, "tpr")
    at_least = math.ceil(tpr * num_unknown)
    return next(k for k in range(max(1, at_least - 1), num_unknown + 1) if k / num_unknown >= tpr)


def _hits_of_cut(unknown: Side, known: Sequence[Side], tpr: float, bits: int) -> tuple[int, int, int]:
    """Hits at the threshold, of scores that were cut to so many bits, and the least and the most that they were before.

    The threshold was in the bin that it is now: with the fewest unknown samples that are enough and all known samples
    of the bin accepted as unknown, or with all unknown samples of it and none of these.
    """
    enough = _enough(tpr, unknown.total)
    threshold = unknown.at(unknown.total - enough)
    above = math.nextafter(threshold, math.inf)
    accepted = unknown.total - unknown.below_score(threshold)
    below = sum(side.below_score(threshold) for side in known)
    hits = accepted + below
    if not bool(was_cut(np.asarray([threshold]), bits)[0]):
        return hits, hits, hits
    return hits, enough + below, accepted + sum(side.below_score(above) for side in known)


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
    as_state = staticmethod(as_open_set_state)
    summarise = staticmethod(openauc_metrics)
    tables = OPEN_SET_TABLES
    aliases = OPEN_SET_ALIASES

    def __init__(self, **options: Unpack[OpenAUCOptions]) -> None:
        super().__init__(**options)
