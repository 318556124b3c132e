"""F1, precision and recall at a threshold that was chosen before: what scores at least the threshold is anomalous."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays.options import as_real
from ..ranking.counts import Side
from ..ranking.rounding import cut, was_cut


def as_thresholds(image_threshold: Any, pixel_threshold: Any) -> dict[str, Any]:
    """Check the thresholds of the levels, by level: each a float that is not NaN, or None."""
    given = {"image": image_threshold, "pixel": pixel_threshold}
    return {level: None if t is None else as_real(t, f"{level}_threshold") for level, t in given.items()}


def decision_rates(positives: Side, negatives: Side, threshold: float, prefix: str) -> dict[str, float]:
    """F1, precision and recall of the decision score ≥ threshold, named with a prefix.

    F1 = 2·TP / (TP + FP + P),  precision = TP / (TP + FP),  recall = TP / P;  0/0 is 0

    Parameters: the two sides, the positives not empty; threshold, no NaN.
    Returns floats in [0, 1]. At the threshold of `f1_max`, F1 is that of `f1_max`, to the bit.
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> decision_rates(Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6])), 0.5, "pixel_")
    {'pixel_f1': 0.5, 'pixel_precision': 0.5, 'pixel_recall': 0.5}
    """
    tp, fp = (_reaching(side, threshold) for side in (positives, negatives))
    return rates_of_decision(tp, fp, positives.total, prefix)


def rates_of_decision(tp: int, fp: int, num_positives: int, prefix: str) -> dict[str, float]:
    """As `decision_rates`, from the counts of what was called anomalous; 0 where there are no positives."""
    called = tp + fp
    counts = {
        "f1": (2 * tp, called + num_positives),
        "precision": (tp, called),
        "recall": (tp, num_positives),
    }
    return {f"{prefix}{name}": count / total if total else 0.0 for name, (count, total) in counts.items()}


def bounded_decision_rates(
    positives: Side, negatives: Side, threshold: float, bits: int, prefix: str
) -> dict[str, tuple[float, ...]]:
    """As `decision_rates`, of scores that were cut to so many bits: each rate, and the two ends of what it was before.

    Only scores that were cut as the threshold is may have been on its other side. All three rates rise with TP and fall
    with FP.
    """
    at = cut_threshold(threshold, bits)
    unsure = bool(was_cut(np.asarray([at]), bits)[0])
    sides = (positives, negatives)
    most = [_reaching(side, at) for side in sides]
    least = [_reaching(side, math.nextafter(at, math.inf)) for side in sides] if unsure else most
    decisions = (most, (least[0], most[1]), (most[0], least[1]))
    rates = [rates_of_decision(tp, fp, positives.total, prefix) for tp, fp in decisions]
    return {name: tuple(each[name] for each in rates) for name in rates[0]}


def cut_threshold(threshold: float, bits: int) -> float:
    """A threshold that is cut as scores are: what scored at least the threshold reaches it."""
    return float(cut(np.asarray([threshold], dtype=np.float64), bits)[0])


def _reaching(side: Side, threshold: float) -> int:
    with np.errstate(over="ignore"):  # a threshold beyond float32 is inf there
        return side.total - side.below_score(threshold)
