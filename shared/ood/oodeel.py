"""OOD rates as oodeel computes them: counts at one threshold, and rates at every few scores instead of every score."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, to_numpy
from ..arrays.options import as_int, as_real
from ..ranking.counts import check_both_classes
from ..ranking.named_points import parse_point
from ..ranking.operating_points import RATES
from .measures import Measure, Sides
from .sides import LabelValues, ood_sides, ood_state

_Arrays = tuple[np.ndarray, ...]


def ftpn(scores: Any, labels: Any, threshold: float) -> tuple[int, int, int, int]:
    """Count false positives, true positives, false negatives and true negatives at one threshold.

    Parameters: scores (N,), higher is more OOD; labels (N,), 1 OOD, 0 not; a sample is called OOD when its
    score ≥ threshold, as in oodeel: everything else in this package compares score > threshold.
    Returns (FP, TP, FN, TN). Raises ValueError for NaN, lengths that differ and labels that are neither 0 nor 1.
    Source: oodeel, eval/metrics.py, which returns the same four counts.

    >>> ftpn([0.1, 0.8, 0.6], [0, 1, 0], 0.5)
    (1, 1, 0, 1)
    """
    positives, negatives = _split(scores, labels)
    threshold = as_real(threshold, "threshold")
    xp = array_namespace(positives)
    # in float64: a float32 score must not round the threshold to its own precision
    tp, fp = (int(xp.count_nonzero(xp.astype(side, xp.float64) >= threshold)) for side in (positives, negatives))
    return fp, tp, positives.shape[0] - tp, negatives.shape[0] - fp


def get_curve(scores: Any, labels: Any, step: int = 4, return_raw: bool = False) -> tuple[Any, ...]:
    """Rates at every `step`-th score in ascending order, as oodeel samples them.

    Thresholds are s_(1), s_(1+step), … of the sorted scores s_(0) ≤ s_(1) ≤ …; a sample is called OOD when its
    score ≥ threshold, as of `ftpn`.
    The rates also have the two ends of the curve; the accuracy does not.

    Parameters: scores (N,), higher is more OOD; labels (N,), 1 OOD, 0 not; step ≥ 1.
    Returns NumPy arrays (fpr, tpr, fnr, tnr, accuracy); with `return_raw`, the pair of the counts
    (FP, TP, FN, TN) and these arrays. Raises ValueError as `ftpn` does, and for a class without samples.
    Source: oodeel, eval/metrics.py; this takes O(N log N), not O(N²).

    >>> fpr, tpr, fnr, tnr, accuracy = get_curve([0.1, 0.8, 0.6, 0.9], [0, 1, 0, 1], step=1)
    >>> fpr.tolist(), tpr.tolist()
    ([1.0, 0.5, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.5, 0.0])
    """
    positives, negatives = _split(scores, labels)
    check_both_classes(positives.shape[0], negatives.shape[0])
    raw, rates = sampled_curve(to_numpy(positives), to_numpy(negatives), as_int(step, "step", 1))
    return (raw, rates) if return_raw else rates


def _split(scores: Any, labels: Any) -> tuple[Array, Array]:
    state = ood_state(scores, labels, in_value=0, out_value=1, ignore_value=None, significant_bits=None)
    out, inside = (side.repeated() for side in ood_sides(state, LabelValues(inside=0, out=1, ignored=None)))
    return out, inside


def sampled_curve(positives: np.ndarray, negatives: np.ndarray, step: int) -> tuple[_Arrays, _Arrays]:
    """The counts and the rates of `get_curve`, from the two sides in ascending order."""
    thresholds = np.sort(np.concatenate([positives, negatives]))[1::step]
    num_positives, num_negatives = len(positives), len(negatives)
    tp = num_positives - np.searchsorted(positives, thresholds, side="left")
    fp = num_negatives - np.searchsorted(negatives, thresholds, side="left")
    fn, tn = num_positives - tp, num_negatives - fp
    fpr, tpr = (np.concatenate([[1.0], x, [0.0]]) for x in (fp / num_negatives, tp / num_positives))
    tnr, fnr = (np.concatenate([[0.0], x, [1.0]]) for x in (tn / num_negatives, fn / num_positives))
    accuracy = (tn + tp) / (num_positives + num_negatives)
    return (fp, tp, fn, tn), (fpr, tpr, fnr, tnr, accuracy)


def curve_of_sides(step: int) -> Callable[[Sides], _Arrays]:
    """Return a function that computes the rates of `get_curve` once for each two sides."""

    def rates(sides: Sides) -> _Arrays:
        positives, negatives = (to_numpy(side.repeated()) for side in sides.ascending)
        return sampled_curve(positives, negatives, step)[1]

    return cache(rates)


def sampled_measure(name: str, curve: Callable[[Sides], _Arrays]) -> Measure:
    """Oodeel's reading of its sampled curve: trapezoids, and the first point past a bound."""
    if name == "auroc":
        return Measure(lambda sides: -float(np.trapezoid(1.0 - curve(sides)[0], curve(sides)[1])), True)
    if name == "detect_acc":
        return Measure(lambda sides: float(np.max(curve(sides)[4])), True)
    point = parse_point(name)
    assert point is not None  # the caller has parsed it
    rate, bounded, bound = point
    if bound == 1:  # no sampled rate is beyond it
        raise ValueError(f"metrics: expected a bound below 100 with a step, as oodeel's names have it, got {name!r}")

    def measure(sides: Sides) -> float:
        curves = dict(zip(RATES, curve(sides)))
        limits = curves[bounded]
        past = limits < float(bound) if bounded in ("fpr", "tpr") else limits > float(bound)
        return float(curves[rate][np.argmax(past)])

    return Measure(measure, rate in ("tpr", "tnr"))
