"""Measures of a benchmark by name: of exceedance counts, at a threshold, scikit-learn's, and oodeel's sampled ones.

A name is parsed into a `Measure`, a function of the two `Sides`. Those of exceedance counts come from one pass.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy, trapezoid_area
from ..arrays.checks import did_you_mean, plain_value
from ..extras import extra
from ..ranking.counts import Side
from ..ranking.curves import AUPR, AVERAGE_PRECISION, DETECTION_ACCURACY_REACHED, EER
from ..ranking.operating_points import RATES, best_point, parse_area, parse_point, rate_above
from ..ranking.quantities import AUROC, Quantity
from ..ranking.risk import AUARC, AUGRC, AURC, E_AURC, PRR

DEFAULT_METRICS = ("auroc", "fpr95tpr")
POSITIVES = ("out", "in")
_OTHER_CLASS = str.maketrans("pn", "np")  # within the name of a rate
_SAMPLED = ("auroc", "detect_acc")
SKLEARN_SCORES = {  # by name, whether the value is a share, in [0, 1]
    "average_precision_score": True,
    "brier_score_loss": False,
    "d2_brier_score": False,
    "d2_log_loss_score": False,
    "hinge_loss": False,
    "log_loss": False,
    "roc_auc_score": True,
}
_RANKS = ("average_precision_score", "roc_auc_score")  # to which any scores in the same order are the same
SKLEARN_LABELS = {  # the same, of decisions
    "accuracy_score": True,
    "balanced_accuracy_score": True,
    "cohen_kappa_score": False,
    "f1_score": True,
    "hamming_loss": True,
    "jaccard_score": True,
    "matthews_corrcoef": False,
    "precision_score": True,
    "recall_score": True,
    "zero_one_loss": True,
}
SKLEARN_PARTIAL = ("fbeta_score",)  # by name it lacks an argument

_Arrays = tuple[np.ndarray, ...]


class Sides:
    """The two sides of a benchmark in one type, the OOD samples first, and what several measures share.

    Parameters: threshold, for measures of the decisions score > threshold; step, for those of every `step`-th score.
    """

    def __init__(
        self, positives: Side, negatives: Side, threshold: float | None = None, step: int | None = None
    ) -> None:
        self.positives, self.negatives, self.threshold, self.step = positives, negatives, threshold, step
        self.values: dict[str, Any] = {}  # of quantities

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores in an order independent of the order of the samples."""
        # in float64, since scikit-learn computes in the precision of its input
        sides = [to_numpy(side.repeated()).astype(np.float64) for side in (self.negatives, self.positives)]
        labels = np.repeat(np.asarray([0, 1]), [len(side) for side in sides])
        return labels, np.concatenate(sides)

    @cached_property
    def sampled(self) -> _Arrays:
        """The rates of `sampled_curve`."""
        positives, negatives = (to_numpy(side.repeated()) for side in (self.positives, self.negatives))
        return sampled_curve(positives, negatives, self.step or 1)[1]

    def threshold_of(self, name: str) -> float:
        """The threshold of a measure of decisions. Raises ValueError if there is none."""
        if self.threshold is None:
            raise ValueError(f"threshold: expected a number, since {name!r} judges scores > threshold; got None")
        return self.threshold


class Measure(NamedTuple):
    """How a metric of a benchmark is computed."""

    of: Callable[[Sides], Any]  # its value, from the sides
    higher: bool | None  # whether higher is better
    share: bool = True  # whether its value is a share, in [0, 1]
    of_decisions: bool = False  # whether it is of the decisions score > threshold
    quantity: Quantity | None = None  # what is computed beforehand, in one pass with other quantities, as sides.values
    of_inside: bool = False  # whether the positives of a quantity are the in-distribution samples, by negated scores


def _of_counts(name: str, quantity: Quantity, *, of_inside: bool = False, share: bool = True) -> Measure:
    return Measure(lambda sides: sides.values[name], quantity.higher, share, quantity=quantity, of_inside=of_inside)


def _at_threshold(name: str) -> Measure:
    def rate(sides: Sides) -> float:
        return rate_above(name, sides.positives, sides.negatives, sides.threshold_of(name))

    return Measure(rate, name in ("tpr", "tnr"), of_decisions=True)


_OWN = {
    "auroc": _of_counts("auroc", AUROC),
    "aupr_out": _of_counts("aupr_out", AVERAGE_PRECISION),
    "aupr_out_trapezoid": _of_counts("aupr_out_trapezoid", AUPR),
    "detect_acc": _of_counts("detect_acc", DETECTION_ACCURACY_REACHED),
    "aupr_in": _of_counts("aupr_in", AVERAGE_PRECISION, of_inside=True),
    "aupr_in_trapezoid": _of_counts("aupr_in_trapezoid", AUPR, of_inside=True),
    "eer": _of_counts("eer", EER),
    "aurc": _of_counts("aurc", AURC),
    "e_aurc": _of_counts("e_aurc", E_AURC),
    "auarc": _of_counts("auarc", AUARC),
    "augrc": _of_counts("augrc", AUGRC),
    "prr": _of_counts("prr", PRR, share=False),
    **{name: _at_threshold(name) for name in RATES},
}


class Measures(NamedTuple):
    """Metrics of a benchmark, parsed."""

    measures: dict[str, Measure]  # by name
    of_out: dict[str, Quantity]  # with of_inside: their quantities, with OOD or in-distribution samples as positives
    of_inside: dict[str, Quantity]
    functions: dict[str, Callable[..., Any]]  # of scikit-learn without a name here: no rates, so without an interval

    def need_threshold(self) -> bool:
        """Whether a metric is of the decisions score > threshold."""
        decisions = any(measure.of_decisions for measure in self.measures.values())
        return decisions or not all(map(takes_scores, self.functions))


def metric_list(metrics: Any) -> tuple[Any, ...]:
    """Names and functions as a tuple, even if there is only one."""
    metrics = plain_value(metrics)
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = (metrics,)
    names = []
    for metric in metrics:
        if not isinstance(metric, str) and not callable(metric):
            raise TypeError(f"metrics: expected names or functions, got {metric!r:.60}")
        names.append(str(metric) if isinstance(metric, str) else metric)
    return tuple(names)


@lru_cache(1 << 8)
def parsed(metrics: tuple[Any, ...], sampled: bool, positive: str) -> Measures:
    """Parse names and functions, each once; `sampled` says whether curves and points are taken from every few scores.

    Rates are of the OOD samples as positives, or of the in-distribution ones: see `OODBench`.

    Raises ValueError for an unknown name, two metrics of one name, and none.
    """
    wanted = Measures({}, {}, {}, {})
    for metric in dict.fromkeys(metrics):
        # func of a functools.partial
        name = metric if isinstance(metric, str) else str(getattr(getattr(metric, "func", metric), "__name__", metric))
        if name in wanted.measures or name in wanted.functions:
            raise ValueError(f"metrics: expected each name once, since they name the results; got {name!r} twice")
        if _is_function(metric, name):
            wanted.functions[name] = metric
            continue
        measure = wanted.measures[name] = _parsed(metric, name, sampled, positive)
        if measure.quantity is not None:
            (wanted.of_inside if measure.of_inside else wanted.of_out)[name] = measure.quantity
    if not wanted.measures and not wanted.functions:
        raise ValueError("metrics: expected at least one name, got none")
    return wanted


def _parsed(metric: Any, name: str, sampled: bool, positive: str) -> Measure:
    by_name = isinstance(metric, str)
    if name in (*SKLEARN_SCORES, *SKLEARN_LABELS) or (not by_name and name in SKLEARN_PARTIAL):
        return _sklearn_measure(metric, name)
    if by_name:
        said = name if positive == "out" else _of_other_class(name)
        point = parse_point(said)
        if sampled and (point or name in _SAMPLED):
            return _sampled_measure(said)
        if point:
            return _of_counts(name, best_point(*point))
        if said in _OWN:
            return _OWN[said]
        area = parse_area(said)
        if area:
            return _of_counts(name, area[0], of_inside=area[1])
    examples = ("pauroc@fpr10", "pauroc@fpr10_mcclish", "pauroc@tpr80")
    meant = "auroc" if name == "auc" else name  # which is spelt more like aurc
    hint = did_you_mean(meant, (*_OWN, *DEFAULT_METRICS, *examples, *SKLEARN_SCORES, *SKLEARN_LABELS))
    raise ValueError(
        f"metrics: unknown metric {name!r}; known are {', '.join(_OWN)}, "
        f"<rate><number in (0, 100]><rate> such as 'fpr95tpr' with rates {', '.join(RATES)}, "
        f"pauroc@<rate><number in (0, 100]> such as {', '.join(map(repr, examples))}, sklearn.metrics' "
        f"{', '.join(SKLEARN_SCORES | SKLEARN_LABELS)}, any function of sklearn.metrics, and functools.partial of one"
        f"{hint}"
    )


def _of_other_class(name: str) -> str:
    """The name of a rate, point or partial area by which the other class as positives has the same number.

    >>> _of_other_class("fpr95tpr"), _of_other_class("pauroc@fpr10"), _of_other_class("auroc")
    ('fnr95tnr', 'pauroc@fnr10', 'auroc')
    """
    return re.sub("|".join(RATES), lambda rate: rate[0].translate(_OTHER_CLASS), name)


def has_threshold(metric: Any) -> bool:
    """Whether a metric has a threshold, since it is the best value over all: an operating point, or detect_acc."""
    return isinstance(metric, str) and (metric == "detect_acc" or parse_point(metric) is not None)


def _is_function(metric: Any, name: str) -> bool:
    """Whether a metric is a function of sklearn.metrics, or a partial of one, that has no name here: see `called`."""
    function = getattr(metric, "func", metric)
    named = name in (*SKLEARN_SCORES, *SKLEARN_LABELS, *SKLEARN_PARTIAL)
    return callable(function) and str(function.__module__).startswith("sklearn.metrics") and not named


def _sklearn_measure(metric: Any, name: str) -> Measure:
    """A metric of scikit-learn, of the scores or of the decisions at a threshold, which is then required."""
    with extra("sklearn"):
        import sklearn.metrics

    function = getattr(sklearn.metrics, name, None) if isinstance(metric, str) else metric
    if function is None:
        raise ValueError(f"metrics: scikit-learn {sklearn.__version__} has no {name!r}; it came in a later version")
    of = _of_scores if name in SKLEARN_SCORES else _of_decisions
    return Measure(
        lambda sides: of(function, name, sides),
        higher=not name.endswith("_loss"),  # so scikit-learn names what is to be minimised
        share=(SKLEARN_SCORES | SKLEARN_LABELS).get(name, True),
        of_decisions=name not in SKLEARN_SCORES,
    )


def called(function: Any, name: str, sides: Sides) -> Any:
    """Call a function of sklearn.metrics with the labels, 1 for OOD, and the scores or decisions; return its result.

    Names that begin with roc or end in _curve get the scores, all others the decisions score > threshold.
    """
    return (_of_scores if takes_scores(name) else _of_decisions)(function, name, sides)


def takes_scores(name: str) -> bool:
    """Whether a function of sklearn.metrics is called with scores rather than decisions, by its name."""
    return name.startswith("roc") or name.endswith("_curve")


def _of_scores(function: Any, name: str, sides: Sides) -> Any:
    labels, scores = sides.ordered
    if not np.isfinite(scores).all():
        if name not in _RANKS:
            raise ValueError(f"predictions: expected finite scores for scikit-learn's {name!r}, got infinite ones")
        scores = np.unique(scores, return_inverse=True)[1]
    return _value(function, name, labels, scores)


def _of_decisions(function: Any, name: str, sides: Sides) -> Any:
    threshold = sides.threshold_of(name)
    labels, scores = sides.ordered
    return _value(function, name, labels, (scores > threshold).astype(np.int64))


def _value(function: Any, name: str, labels: np.ndarray, scores: np.ndarray) -> Any:
    """The value of a function, whose errors get its name."""
    try:
        return function(labels, scores)
    except ValueError as error:
        raise ValueError(f"metrics: scikit-learn's {name!r}: {error}") from error


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


def _sampled_measure(name: str) -> Measure:
    """Oodeel's reading of its sampled curve: trapezoids, and the first point past a bound."""
    if name == "auroc":
        return Measure(lambda sides: -trapezoid_area(1.0 - sides.sampled[0], sides.sampled[1]), True)
    point = parse_point(name)
    if point is None:  # detect_acc
        return Measure(lambda sides: float(np.max(sides.sampled[4])), True)
    rate, bounded, bound = point

    def measure(sides: Sides) -> float:
        if bound == 1:  # no sampled rate is beyond it
            raise ValueError(
                f"metrics: expected a bound below 100 with a step, as oodeel's names have it, got {name!r}"
            )
        curves = dict(zip(RATES, sides.sampled))
        limits = curves[bounded]
        past = limits < float(bound) if bounded in ("fpr", "tpr") else limits > float(bound)
        return float(curves[rate][np.argmax(past)])

    return Measure(measure, rate in ("tpr", "tnr"))
