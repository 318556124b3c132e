"""F1, precision and recall at a threshold chosen in advance: a score above it is called anomalous."""

from __future__ import annotations

import math
from collections.abc import Sized
from typing import Any

import numpy as np

from ..arrays.options import as_real
from ..metric.results import Rate, Results
from ..ranking.bounds import error_of
from ..ranking.counts import Side
from ..ranking.named_points import samples_above
from ..ranking.rounding import cut, was_cut


def as_threshold(threshold: Any, name: str) -> float:
    """Check a threshold. Raises ValueError for a list or NaN, TypeError for anything but a number."""
    is_scalar = isinstance(threshold, (str, bytes)) or getattr(threshold, "ndim", 1) == 0
    if isinstance(threshold, Sized) and not is_scalar:
        raise ValueError(f"{name}: expected one threshold, got a list or array")
    return as_real(threshold, name)


def decision_rates(positives: Side, negatives: Side, threshold: float | None, prefix: str) -> Results:
    """F1, precision and recall of the decision score > threshold, named with a prefix; nothing without a threshold.

    F1 = 2·TP / (TP + FP + P),  precision = TP / (TP + FP),  recall = TP / P;  0/0 is 0

    Parameters: the two sides, the positives not empty; threshold, no NaN.
    Returns rates in [0, 1], with errors where scores were cut. At the threshold of the best F1, F1 is the best.
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> sides = Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6]))
    >>> {key: rate.value for key, rate in decision_rates(*sides, 0.5, "pixel_").items()}
    {'pixel_f1': 0.5, 'pixel_precision': 0.5, 'pixel_recall': 0.5}
    """
    if threshold is None:
        return {}
    at = cut_threshold(threshold, positives.bits)
    least = samples_above(positives, at), samples_above(negatives, at)
    rates = rates_of_decision(*least, positives.total, prefix)
    if positives.bits is None:
        return rates
    # scores that were cut to the threshold's own value may have been above it, if the threshold was cut as well
    unsure = bool(was_cut(np.asarray([at]), positives.bits)[0])
    below = math.nextafter(at, -math.inf)
    most = (samples_above(positives, below), samples_above(negatives, below)) if unsure else least
    # all three rates rise with TP and fall with FP
    ends = [rates_of_decision(tp, fp, positives.total, prefix) for tp, fp in ((least[0], most[1]), (most[0], least[1]))]
    return {
        key: rate._replace(error=error_of(rate.value, (rate.value, *(end[key].value for end in ends))))
        for key, rate in rates.items()
    }


def rates_of_decision(tp: int, fp: int, num_positives: int, prefix: str) -> Results:
    """As `decision_rates`, from the counts of samples called anomalous; 0 without positives."""
    called = tp + fp
    counts = {
        "f1": (2 * tp, called + num_positives),
        "precision": (tp, called),
        "recall": (tp, num_positives),
    }
    return {
        f"{prefix}{name}": Rate(count / total if total else 0.0, higher=True) for name, (count, total) in counts.items()
    }


def cut_threshold(threshold: float, bits: int | None) -> float:
    """Cut a threshold to `bits` bits, as scores are; a score above it after the cut was above it before."""
    return threshold if bits is None else float(cut(np.asarray([threshold], dtype=np.float64), bits)[0])
