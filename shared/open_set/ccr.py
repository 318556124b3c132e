"""The correct-classification rate at a false-positive rate: a point of the OSCR curve."""

from __future__ import annotations

from typing import Any

from ..arrays.options import as_int, as_share, by_keyword
from ..ranking.counts import Side, check_both_classes, two_sides
from ..ranking.shares import most_within


@by_keyword
def ccr_at_fpr(*, unknown: Any, correct_known: Any, num_known: int, fpr: float) -> float:
    """Highest correct-classification rate among thresholds that accept at most a share of the unknown samples.

    max_τ |{known i : h(x_i) = y_i, r(x_i) ≤ τ}| / N_k  over the τ with |{unknown j : r(x_j) ≤ τ}| / N_u ≤ fpr

    It is a point of `oscr_curve`. A known sample that ties with a rejected unknown one is rejected too. For an fpr
    below 1/N_u it is the rate at which no unknown sample is accepted.

    Parameters: unknown, correct_known and num_known, as of `openauc`; fpr in [0, 1], read as a decimal.
    Returns a float in [0, 1]; at an fpr of 1 the closed-set accuracy. Raises ValueError as `openauc` does, and for an
    fpr out of range.
    Source: Dhamija, Günther and Boult, Reducing Network Agnostophobia, NeurIPS 2018.

    >>> ccr_at_fpr(unknown=[0.3, 0.5, 0.8], correct_known=[0.1, 0.4, 0.7], num_known=4, fpr=0.5)
    0.5
    """
    fpr = as_share(fpr, "fpr")
    return ccr_of_sides(*unknown_and_correct(unknown, correct_known, num_known), fpr)


def unknown_and_correct(unknown: Any, correct_known: Any, num_known: Any) -> tuple[Side, Side, int]:
    """Check the scores of the unknown and of the correctly classified known samples, and how many are known."""
    unknown, correct = two_sides(unknown=unknown, correct_known=correct_known)
    num_known = as_int(num_known, "num_known", correct.total)
    check_both_classes(unknown.total, num_known)
    return unknown, correct, num_known


def ccr_of_sides(unknown: Side, correct: Side, num_known: int, fpr: float) -> float:
    """As `ccr_at_fpr`, for sides in which a row may stand for several samples."""
    accepted = most_within(fpr, unknown.total)
    if accepted == unknown.total:
        return correct.total / num_known
    return (correct.below_score(unknown.at(accepted)) if correct.total else 0) / num_known
