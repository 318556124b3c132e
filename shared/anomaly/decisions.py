"""F1, precision and recall at a threshold that was chosen before: what scores at least the threshold is anomalous."""

from __future__ import annotations

import math

import numpy as np

from ..metric.results import Rate, Results
from ..ranking.bounds import error_of
from ..ranking.counts import Side
from ..ranking.rounding import cut, was_cut


def decision_rates(positives: Side, negatives: Side, threshold: float | None, prefix: str) -> Results:
    """F1, precision and recall of the decision score ≥ threshold, named with a prefix; nothing without a threshold.

    F1 = 2·TP / (TP + FP + P),  precision = TP / (TP + FP),  recall = TP / P;  0/0 is 0

    Parameters: the two sides, the positives not empty; threshold, no NaN.
    Returns rates in [0, 1], with errors where scores were cut. At the threshold of `f1_max`, F1 is that of `f1_max`.
    Source: van Rijsbergen, Information Retrieval, 1979.

    >>> sides = Side(np.asarray([0.4, 0.9])), Side(np.asarray([0.1, 0.6]))
    >>> {key: rate.value for key, rate in decision_rates(*sides, 0.5, "pixel_").items()}
    {'pixel_f1': 0.5, 'pixel_precision': 0.5, 'pixel_recall': 0.5}
    """
    if threshold is None:
        return {}
    at = cut_threshold(threshold, positives.bits)
    most = _reaching(positives, at), _reaching(negatives, at)
    rates = rates_of_decision(*most, positives.total, prefix)
    if positives.bits is None:
        return rates
    # only scores that were cut as the threshold is may have been on its other side
    unsure = bool(was_cut(np.asarray([at]), positives.bits)[0])
    over = math.nextafter(at, math.inf)
    least = (_reaching(positives, over), _reaching(negatives, over)) if unsure else most
    # all three rates rise with TP and fall with FP
    ends = [rates_of_decision(tp, fp, positives.total, prefix) for tp, fp in ((least[0], most[1]), (most[0], least[1]))]
    return {
        key: rate._replace(error=error_of(rate.value, (rate.value, *(end[key].value for end in ends))))
        for key, rate in rates.items()
    }


def rates_of_decision(tp: int, fp: int, num_positives: int, prefix: str) -> Results:
    """As `decision_rates`, from the counts of what was called anomalous; 0 where there are no positives."""
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
    """A threshold that is cut as scores are, to so many bits: what scored at least the threshold reaches it."""
    return threshold if bits is None else float(cut(np.asarray([threshold], dtype=np.float64), bits)[0])


def _reaching(side: Side, threshold: float) -> int:
    with np.errstate(over="ignore"):  # a threshold beyond float32 is inf there
        return side.total - side.below_score(threshold)
