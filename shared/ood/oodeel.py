"""OOD rates as oodeel computes them, at every few scores instead of every score."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from ..arrays.arrays import to_numpy
from ..ranking.operating_points import RATES, parse_point
from .sides import Measure, Sides

_Arrays = tuple[np.ndarray, ...]


def sampled_curve(positives: np.ndarray, negatives: np.ndarray, step: int) -> tuple[_Arrays, _Arrays]:
    """Counts and rates at every `step`-th score, from the two sides in ascending order.

    Thresholds are s_(1), s_(1+step), … of the sorted scores s_(0) ≤ s_(1) ≤ …; a sample is called OOD when its
    score ≥ threshold, as in oodeel: everything else in this package compares score > threshold.
    Returns (FP, TP, FN, TN), and (fpr, tpr, fnr, tnr, accuracy); the rates also have the two ends of the curve.
    Source: oodeel, eval/metrics.py; this takes O(N log N), not O(N²).
    """
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
    """Return a function that computes the rates of `sampled_curve` once for each two sides."""

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
