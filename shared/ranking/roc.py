"""The ROC curve and the precision-recall curve, as tables of vertices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays.options import by_keyword
from .counts import checked_sides
from .vertices import MAX_POINTS, Vertices, curve_vertices, table


@by_keyword
def roc_curve(*, positives: Any, negatives: Any, max_points: int | None = MAX_POINTS) -> dict[str, list[float]]:
    """The ROC curve: both rates at every threshold; a sample is detected iff score > threshold.

    TPR(t) = |{i : p_i > t}| / P,  FPR(t) = |{j : n_j > t}| / N

    It starts at the highest score, where nothing is detected, and ends at −inf, where everything is, including scores
    of −inf. Ties are slanted lines, so the trapezoids under all vertices add up to the AUROC.

    Parameters: positives (P,) and negatives (N,), real scores, higher is more positive, no NaN, at least one of each;
    max_points, at least 4, or None for every vertex. With more vertices than that, a vertex is dropped if the drawn
    line passes less than 1/(max_points // 4) from it.
    Returns {"threshold", "fpr", "tpr"}, lists of one length.
    Raises ValueError for NaN and an empty side. Source: Fawcett, An Introduction to ROC Analysis, 2006.

    >>> roc_curve(positives=[0.9, 0.4], negatives=[0.4, 0.1])
    {'threshold': [0.9, 0.4, 0.1, -inf], 'fpr': [0.0, 0.0, 0.5, 1.0], 'tpr': [0.0, 0.5, 1.0, 1.0]}
    """
    sides = checked_sides(positives=positives, negatives=negatives)
    num_positives, num_negatives = (side.total for side in sides)
    vertices = curve_vertices(*sides, rising(num_positives, num_negatives), max_points)
    return table(threshold=vertices.thresholds, fpr=vertices.fp / num_negatives, tpr=vertices.tp / num_positives)


def rising(num_positives: int, num_negatives: int) -> Any:
    """Positions of the vertices of a curve of two rates, for thinning: (FPR + TPR)/2 and TPR."""

    def place(vertices: Vertices) -> tuple[np.ndarray, np.ndarray]:
        tpr = vertices.tp / num_positives
        return (tpr + vertices.fp / max(1, num_negatives)) / 2, tpr

    return place


@by_keyword
def precision_recall_curve(
    *, positives: Any, negatives: Any, max_points: int | None = MAX_POINTS
) -> dict[str, list[float]]:
    """The precision-recall curve at every threshold; a sample is detected iff score > threshold.

    R(t) = TP(t)/P,  P(t) = TP(t)/(TP(t) + FP(t));  if nothing is detected, the precision is 1

    If precision falls at a fixed recall, the negatives' scores in between are left out. The trapezoids under all
    vertices add up to `aupr`, the steps to the average precision.

    Parameters and errors: as of `roc_curve`. The drawn line passes a dropped vertex at its own precision, at most
    1/(max_points // 4) of recall away.
    Returns {"threshold", "recall", "precision"}, lists of one length. Source: Davis and Goadrich, ICML 2006.

    >>> precision_recall_curve(positives=[0.9, 0.4], negatives=[0.4, 0.1])["precision"]
    [1.0, 1.0, 0.6666666666666666, 0.5]
    """
    sides = checked_sides(positives=positives, negatives=negatives)
    num_positives = sides[0].total

    def place(vertices: Vertices) -> tuple[np.ndarray, np.ndarray]:
        detected = vertices.tp + vertices.fp
        precision = np.where(detected, vertices.tp, 1) / np.maximum(detected, 1)
        return vertices.tp / num_positives, precision

    vertices = curve_vertices(*sides, place, max_points)
    recall, precision = place(vertices)
    return table(threshold=vertices.thresholds, recall=recall, precision=precision)
