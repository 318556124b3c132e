"""Accuracy of unknown against known at a true-positive rate, and the lowest score that is then called unknown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..arrays.options import as_fraction, by_keyword
from ..ranking.counts import Side, checked_sides
from ..ranking.shares import least_reaching

DEFAULT_TPR = 0.95


@by_keyword
def accuracy_at_tpr(*, positives: Any, negatives: Any, tpr: float = DEFAULT_TPR) -> float:
    """Accuracy of unknown against known at the highest threshold with a true-positive rate of at least `tpr`.

    (TP + N − FP) / (P + N) at t* = max {t : TP(t)/P ≥ tpr} of the scores and −inf, unknown iff score > t*

    Parameters: positives (P,), open-set scores of the unknown samples, higher is more unknown, and negatives (N,), of
    the known ones; tpr in (0, 1].
    Returns a float in [0, 1]. Raises ValueError for a tpr out of range, NaN, or if a side is empty.
    Source: Vaze et al., Open-Set Recognition: A Good Closed-Set Classifier is All You Need, ICLR 2022.

    >>> accuracy_at_tpr(positives=[0.9, 0.4], negatives=[0.6, 0.1])
    0.75
    """
    tpr = as_fraction(tpr, "tpr")
    unknown, known = checked_sides(positives=positives, negatives=negatives)
    return accuracy_of_sides(unknown, [known], score_at_tpr(unknown, tpr))


def accuracy_of_sides(unknown: Side, known: Sequence[Side], score: float) -> float:
    """Accuracy of unknown against known, for several sides, if this score and higher ones are called unknown."""
    hits = unknown.total - unknown.below_score(score) + sum(side.below_score(score) for side in known)
    return hits / (unknown.total + sum(side.total for side in known))


def score_at_tpr(unknown: Side, tpr: float) -> float:
    """The highest score that at least a share of the unknown samples has or exceeds."""
    return unknown.at(unknown.total - least_reaching(tpr, unknown.total)) + 0.0  # 0.0 for −0.0
