"""The open-set F-score over its threshold."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import array_namespace, to_numpy
from ..arrays.columns import check_class_ids, check_not_negative
from ..arrays.options import as_choice, as_int
from ..ranking.vertices import MAX_POINTS, table, thinned
from .open_f import best_macro_f, best_micro_f, checked_samples

_AT_A_TIME = 1 << 20  # thresholds, whose F-scores come as Python floats


class _Points(NamedTuple):
    thresholds: np.ndarray
    accepted: np.ndarray
    f: np.ndarray


def open_f_curve(
    predicted: Any,
    classes: Any,
    scores: Any,
    num_classes: int | None = None,
    *,
    average: str = "macro",
    max_points: int | None = MAX_POINTS,
) -> dict[str, list[float]]:
    """The open-set F-score at every distinct score; a sample is accepted as known iff score ≤ threshold.

    F(t) as of `macro_open_f` or `micro_open_f`; at the threshold that they return it equals their value.

    Parameters: predicted (N,) class ids; classes (N,) true class ids, negative for unknown; scores (N,), higher is more
    unknown; num_classes is C, by default one more than the largest id; average, "macro" or "micro"; max_points, at
    least 4, or None for every threshold. The drawn line passes a dropped point at its own height, at most
    1/(max_points // 4) of the samples away.
    Returns {"threshold", "accepted", "open_f"}, lists of one length; accepted is the share of all samples.
    Raises ValueError for NaN, lengths that differ, no samples, and ids out of range.
    Source: as of `macro_open_f`.

    >>> open_f_curve([0, 1, 1], [0, 1, -1], [0.1, 0.2, 0.9], average="micro")["open_f"]
    [0.6666666666666666, 1.0, 0.8]
    """
    average = as_choice(average, "average", ("macro", "micro"))
    limit = None if max_points is None else as_int(max_points, "max_points", 4)
    ids, true, values, _ = checked_samples(predicted, classes, scores)
    check_not_negative(ids, "predicted")
    xp = array_namespace(ids, true)
    true = xp.where(true < 0, -1, true)
    largest = max(int(xp.max(ids)), int(xp.max(true)))
    total = 1 + largest if num_classes is None else as_int(num_classes, "num_classes", 1)
    for name, column in (("predicted", ids), ("classes", true)):
        check_class_ids(column, name, total)
    ordered = np.sort(to_numpy(values))
    last = np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))  # of each group of equal scores
    thresholds = ordered[last].astype(np.float64) + 0.0  # 0.0 for −0.0
    parts = []
    for start in range(0, len(thresholds), _AT_A_TIME):
        part = thresholds[start : start + _AT_A_TIME]
        macro = average == "macro"
        best = best_macro_f(ids, true, values, total, part) if macro else best_micro_f(ids, true, values, part)
        parts.append(np.asarray(best[2], np.float64))
    points = _Points(thresholds, (last + 1) / len(ordered), np.concatenate(parts))
    if limit is not None and len(last) > limit:
        points = thinned(points, lambda some: (some.accepted, some.f), limit)
    return table(threshold=points.thresholds, accepted=points.accepted, open_f=points.f)
