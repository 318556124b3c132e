"""Out-of-distribution benchmarks: metrics by name, those of scikit-learn among them.

A name is parsed into a `Quantity` of the exceedance counts, or into a function of the two sides. All quantities of a
call come from one sort of the scores and one pass over the counts.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from ..core.arrays import Array, to_numpy
from ..core.counts import Counts, Side, check_both_classes, runs, sort_sides
from ..core.curves import AUROC, AVERAGE_PRECISION, DETECTION_ACCURACY, RATES, Quantity, best_rate, quantities
from ..core.options import as_int, as_real, plain_value
from .oodeel import sampled_curve

DEFAULT_METRICS = ("auroc", "fpr95tpr")
_NAMES = ("auroc", "aupr_out", "aupr_in", "detect_acc")
_QUANTITIES = {
    "auroc": AUROC,
    "aupr_out": AVERAGE_PRECISION,
    "detect_acc": DETECTION_ACCURACY,
}
_POINT = re.compile(rf"({'|'.join(RATES)})([1-9]\d?)({'|'.join(RATES)})")
_SKLEARN_SCORES = (
    "average_precision_score",
    "brier_score_loss",
    "d2_brier_score",
    "d2_log_loss_score",
    "hinge_loss",
    "log_loss",
    "roc_auc_score",
)
_SKLEARN_RANKS = ("average_precision_score", "roc_auc_score")  # to which any scores in the same order are the same
_SKLEARN_LABELS = (
    "accuracy_score",
    "balanced_accuracy_score",
    "cohen_kappa_score",
    "f1_score",
    "hamming_loss",
    "jaccard_score",
    "matthews_corrcoef",
    "precision_score",
    "recall_score",
    "zero_one_loss",
)
_SKLEARN_PARTIAL = ("fbeta_score",)  # by name it lacks an argument


class Sides:
    """The two sides of a benchmark, and what several metrics need of them, computed once."""

    def __init__(self, positives: Array | Side, negatives: Array | Side, step: int | None) -> None:
        self.positives, self.negatives, self.step = positives, negatives, step

    @cached_property
    def ascending(self) -> tuple[Side, Side]:
        """Both sides in ascending order."""
        return sort_sides(self.positives, self.negatives)

    def runs(self) -> Iterator[Counts]:
        """Counts of the OOD samples as positives."""
        return runs(*self.ascending)

    def flipped_runs(self) -> Iterator[Counts]:
        """Counts of the in-distribution samples as positives, by negated scores."""
        positives, negatives = self.ascending
        return runs(negatives.flipped(), positives.flipped())

    @cached_property
    def curve(self) -> tuple[np.ndarray, ...]:
        """Oodeel's sampled rates."""
        positives, negatives = (to_numpy(side.repeated()) for side in self.ascending)
        return sampled_curve(positives, negatives, self.step or 1)[1]

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores in an order that does not depend on how the samples came."""
        # in float64, since scikit-learn computes in the precision that it is given
        sides = [to_numpy(side.repeated()).astype(np.float64) for side in reversed(self.ascending)]
        labels = np.repeat(np.asarray([0, 1]), [len(side) for side in sides])
        return labels, np.concatenate(sides)


Measure = Quantity | Callable[[Sides], float]


def bench_metrics(
    positives: Array | Side,
    negatives: Array | Side,
    metrics: Any = DEFAULT_METRICS,
    *,
    threshold: float | None = None,
    step: int | None = None,
) -> dict[str, float]:
    """Metrics of an OOD detector by name, from one sort of the scores.

    auroc         area under the ROC curve, ties counting half
    aupr_out      average precision with OOD as the positive class
    aupr_in       average precision with in-distribution as the positive class, of the negated scores
    detect_acc    highest accuracy over all thresholds
    fpr95tpr      the best FPR at TPR ≥ 0.95; likewise any of fpr, tpr, fnr, tnr on both sides of 1 to 99
    f1_score, …   a scalar binary metric of sklearn.metrics, by name or as the function: a score-based one gets the
                  scores, a label-based one gets scores > threshold

    Parameters: positives, the scores of the OOD samples, and negatives, those of the in-distribution samples, higher
    is more OOD; metrics, a name or a list of names and functions; threshold, for the label-based metrics; step, to
    take auroc, detect_acc and the operating points from every `step`-th score as oodeel does (approximate).

    Returns {name: float}. Raises ValueError for an unknown name, a missing threshold, or a class without samples.
    Source: oodeel's bench_metrics.

    >>> import numpy as np
    >>> bench_metrics(np.asarray([0.9, 0.4]), np.asarray([0.6, 0.1]), ["auroc", "fpr95tpr", "detect_acc"])
    {'auroc': 0.75, 'fpr95tpr': 0.5, 'detect_acc': 0.75}
    """
    metrics = plain_value(metrics)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = (metrics,)
    metrics = [str(metric) if isinstance(metric, str) else metric for metric in metrics]
    threshold = None if threshold is None else as_real(threshold, "threshold")
    step = None if step is None else as_int(step, "step", 1)
    measures: dict[str, Measure] = {}
    for metric in dict.fromkeys(metrics):
        name, measure = _parse(metric, threshold, step)
        if name in measures:
            raise ValueError(f"metrics: expected each name once, since they name the results; got {name!r} twice")
        measures[name] = measure
    if not measures:
        raise ValueError("metrics: expected at least one name, got none")
    sizes = (side.total if isinstance(side, Side) else side.shape[0] for side in (positives, negatives))
    check_both_classes(*sizes)
    sides = Sides(positives, negatives, step)
    exact = {name: measure for name, measure in measures.items() if isinstance(measure, Quantity)}
    values = quantities(sides.runs(), exact) if exact else {}
    values.update({name: measure(sides) for name, measure in measures.items() if not isinstance(measure, Quantity)})
    return {name: float(values[name]) for name in measures}


def parse_point(name: str) -> tuple[str, str, float] | None:
    """The rate, the bounded rate and its bound of an operating point by its name; None for another name.

    >>> parse_point("fpr95tpr"), parse_point("auroc")
    (('fpr', 'tpr', 0.95), None)
    """
    match = _POINT.fullmatch(name)
    return None if match is None else (match[1], match[3], int(match[2]) / 100)


def _parse(metric: Any, threshold: float | None, step: int | None) -> tuple[str, Measure]:
    """Return the name of a metric and what computes it."""
    if not isinstance(metric, str):
        name = str(getattr(getattr(metric, "func", metric), "__name__", metric))  # func of a functools.partial
        if name in (*_SKLEARN_SCORES, *_SKLEARN_LABELS, *_SKLEARN_PARTIAL):
            return name, _sklearn_measure(metric, name, threshold)
    else:
        name = metric
        if name == "aupr_in":
            return name, _aupr_in
        point = parse_point(name)
        if step is not None and (point or name in ("auroc", "detect_acc")):
            return name, _sampled_measure(name)
        if point:
            return name, best_rate(*point)
        if name in _QUANTITIES:
            return name, _QUANTITIES[name]
        if name in (*_SKLEARN_SCORES, *_SKLEARN_LABELS):
            return name, _sklearn_measure(metric, name, threshold)
    raise ValueError(
        f"metrics: unknown metric {name!r}; known are {', '.join(_NAMES)}, <rate><1 to 99><rate> such as 'fpr95tpr' "
        f"with rates {', '.join(RATES)}, sklearn.metrics' {', '.join(_SKLEARN_SCORES + _SKLEARN_LABELS)}, and "
        f"functools.partial of {', '.join(_SKLEARN_PARTIAL)}"
    )


def _aupr_in(sides: Sides) -> float:
    return float(AVERAGE_PRECISION.of(sides.flipped_runs()))


def _sklearn_measure(metric: Any, name: str, threshold: float | None) -> Measure:
    try:
        import sklearn.metrics
    except ModuleNotFoundError as error:
        raise ImportError(
            f"metrics: {name!r} is scikit-learn's, which is not installed: pip install scikit-learn"
        ) from error

    function = getattr(sklearn.metrics, name, None) if isinstance(metric, str) else metric
    if function is None:
        raise ValueError(f"metrics: scikit-learn {sklearn.__version__} has no {name!r}; it came in a later version")
    if name in _SKLEARN_SCORES:
        return lambda sides: function(*_finite(*sides.ordered, name))
    if threshold is None:
        raise ValueError(f"threshold: expected a number, since {name!r} judges scores > threshold; got None")

    def measure(sides: Sides) -> float:
        labels, scores = sides.ordered
        return function(labels, (scores > threshold).astype(np.int64))

    return measure


def _finite(labels: np.ndarray, scores: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(scores).all():
        if name in _SKLEARN_RANKS:
            return labels, np.unique(scores, return_inverse=True)[1]
        raise ValueError(f"predictions: expected finite scores for scikit-learn's {name!r}, got infinite ones")
    return labels, scores


def _sampled_measure(name: str) -> Measure:
    """Oodeel's reading of its sampled curve: trapezoids, and the first point past a bound."""
    if name == "auroc":
        return lambda sides: -float(np.trapezoid(1.0 - sides.curve[0], sides.curve[1]))
    if name == "detect_acc":
        return lambda sides: float(np.max(sides.curve[4]))
    point = parse_point(name)
    assert point is not None  # the caller has parsed it
    rate, bounded, bound = point

    def measure(sides: Sides) -> float:
        curves = dict(zip(RATES, sides.curve))
        limits = curves[bounded]
        past = limits < bound if bounded in ("fpr", "tpr") else limits > bound
        return float(curves[rate][np.argmax(past)])

    return measure
