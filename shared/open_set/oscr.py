"""The OSCR curve: correct classification of the known samples against acceptance of the unknown ones."""

from __future__ import annotations

from typing import Any

from ..arrays.options import by_keyword
from ..ranking.roc import rising
from ..ranking.vertices import MAX_POINTS, curve_vertices, table
from .ccr import unknown_and_correct


@by_keyword
def oscr_curve(
    *, unknown: Any, correct_known: Any, num_known: int, max_points: int | None = MAX_POINTS
) -> dict[str, list[float]]:
    """The open-set classification rate curve; a sample is accepted as known iff score ≤ threshold.

    CCR(t) = |{known i : h(x_i) = y_i, r(x_i) ≤ t}| / N_k,  FPR(t) = |{unknown j : r(x_j) ≤ t}| / N_u

    It runs from (0, 0), at a threshold of −inf, to (1, closed-set accuracy), at the highest score. Ties between unknown
    and known samples are slanted lines, so the trapezoids under all vertices add up to OpenAUC.

    Parameters: unknown (N_u,), open-set scores of the unknown samples, higher is more unknown; correct_known, scores of
    the correctly classified known samples; num_known is N_k, the number of all known samples; max_points, as of
    `roc_curve`, with its bound on the distance.
    Returns {"threshold", "fpr", "ccr"}, lists of one length.
    Raises ValueError for NaN, no unknown or no known samples, or fewer known samples than correct ones.
    Source: Dhamija, Günther and Boult, Reducing Network Agnostophobia, NeurIPS 2018.

    >>> oscr_curve(unknown=[0.3, 0.5], correct_known=[0.1, 0.4], num_known=4)
    {'threshold': [-inf, 0.1, 0.3, 0.4, 0.5], 'fpr': [0.0, 0.0, 0.5, 0.5, 1.0], 'ccr': [0.0, 0.25, 0.25, 0.5, 0.5]}
    """
    rejected, correct, num_known = unknown_and_correct(unknown, correct_known, num_known)
    num_unknown, num_correct = rejected.total, correct.total
    vertices = curve_vertices(rejected, correct, rising(num_unknown, num_correct), max_points)
    # what is not detected as unknown is accepted
    accepted, right = (num_unknown - vertices.tp)[::-1], (num_correct - vertices.fp)[::-1]
    return table(threshold=vertices.thresholds[::-1], fpr=accepted / num_unknown, ccr=right / num_known)
