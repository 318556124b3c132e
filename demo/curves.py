"""The curves under which the metrics report areas, as points to draw, from the kernel's counts.

Each is piecewise linear: between two distinct scores the counts of both sides move together, so the trapezoid area
under the points is the reported number.
"""

from __future__ import annotations

import numpy as np

from demo.anomaly import Anomalies
from demo.digits import Digits
from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.anomaly_suite import level_counts
from openworld_metrics.ranking.counts import Counts, exceedance_counts

Curve = tuple[np.ndarray, np.ndarray]


def open_set_counts(digits: Digits) -> Counts:
    """Counts of the unknown digits (positive) against the known ones."""
    unknown = digits.is_unknown == 1
    return exceedance_counts(positives=digits.open_scores[unknown], negatives=digits.open_scores[~unknown])


def roc(counts: Counts) -> Curve:
    """False-positive and true-positive rates, from (0, 0) to (1, 1)."""
    return _curve(counts, counts.tp / counts.num_positives)


def correct_classification(digits: Digits) -> Curve:
    """The rate of known digits that are accepted and classified correctly, over the rate of unknown ones accepted.

    The area under it is OpenAUC; it ends at the closed-set accuracy.
    """
    unknown = digits.is_unknown == 1
    correct = digits.logits.argmax(axis=1) == digits.references
    # lower scores are more known
    counts = exceedance_counts(positives=-digits.open_scores[correct], negatives=-digits.open_scores[unknown])
    return _curve(counts, counts.tp / np.count_nonzero(~unknown))


def region_overlap(anomalies: Anomalies) -> Curve:
    """The PRO curve: mean overlap of the regions over the false-positive rate of the normal pixels."""
    state = AnomalySuite().reduce(anomalies.maps, anomalies.masks)
    counts = level_counts(state, "pixel")
    sizes = state["region_sizes"]
    share = np.repeat(1 / (len(sizes) * sizes), sizes)  # the mean overlap that one pixel adds
    group = np.searchsorted(-counts.thresholds, -state["anomalous"])
    return _curve(counts, np.cumsum(np.bincount(group, weights=share)))


def _curve(counts: Counts, heights: np.ndarray) -> Curve:
    """Points of a curve that rises to `heights` as the negatives go from `above` to `fp` at each threshold."""
    before = np.concatenate([[0.0], heights[:-1]])
    x = np.column_stack([counts.above, counts.fp]).ravel() / counts.num_negatives
    y = np.column_stack([before, heights]).ravel()
    return np.concatenate([[0.0], x, [1.0]]), np.concatenate([[0.0], y, heights[-1:]])


def cut(curve: Curve, limit: float) -> Curve:
    """The part of a curve up to x = limit, with an interpolated end."""
    x, y = curve
    inside = x <= limit
    return np.append(x[inside], limit), np.append(y[inside], np.interp(limit, x, y))


def area(curve: Curve) -> float:
    """The trapezoid area under a curve."""
    x, y = curve
    return float(np.trapezoid(y, x))
