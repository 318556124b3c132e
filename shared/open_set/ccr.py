"""The correct-classification rate at a false-positive rate: a point of the OSCR curve."""

from __future__ import annotations

from ..arrays.arrays import Array
from ..arrays.options import as_share
from ..ranking.counts import Side, as_side, check_both_classes
from ..ranking.shares import most_within


def ccr_at_fpr(unknown: Array, correct_known: Array, num_known: int, fpr: float) -> float:
    """Highest correct-classification rate among thresholds that accept at most a share of the unknown samples.

    max_τ |{known i : h(x_i) = y_i, r(x_i) ≤ τ}| / N_k  over the τ with |{unknown j : r(x_j) ≤ τ}| / N_u ≤ fpr

    It is a point of `oscr_curve`. A known sample that ties with a rejected unknown one is rejected too. For an fpr
    below 1/N_u it is the rate at which no unknown sample is accepted.

    Parameters: unknown, correct_known and num_known, as of `openauc`; fpr in [0, 1], read as a decimal.
    Returns a float in [0, 1]; at an fpr of 1 the closed-set accuracy. Raises ValueError without unknown or known
    samples, or for an fpr out of range.
    Source: Dhamija, Günther and Boult, Reducing Network Agnostophobia, NeurIPS 2018.

    >>> import numpy as np
    >>> ccr_at_fpr(np.asarray([0.3, 0.5, 0.8]), np.asarray([0.1, 0.4, 0.7]), num_known=4, fpr=0.5)
    0.5
    """
    check_both_classes(unknown.shape[0], num_known)
    return ccr_of_sides(as_side(unknown), as_side(correct_known), num_known, as_share(fpr, "fpr"))


def ccr_of_sides(unknown: Side, correct: Side, num_known: int, fpr: float) -> float:
    """As `ccr_at_fpr`, for sides in which a row may stand for several samples."""
    accepted = most_within(fpr, unknown.total)
    if accepted == unknown.total:
        return correct.total / num_known
    return (correct.below_score(unknown.at(accepted)) if correct.total else 0) / num_known
