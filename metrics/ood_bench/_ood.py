"""Out-of-distribution benchmarks: metrics by name, oodeel's sampled curve, and scikit-learn's metrics.

The names are parsed once into functions of one shared pair of counts, so that every exact metric of a call costs a
pass over counts and the scores are sorted once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any

import numpy as np
from array_api_compat import array_namespace

from ._arrays import (
    Array,
    State,
    as_array,
    as_int,
    as_labels,
    as_real,
    as_scores,
    check_lengths,
    check_orientation,
    is_floating,
    to_numpy,
)
from ._curves import (
    RATES,
    Counts,
    auroc,
    average_precision,
    check_both_classes,
    counts_of_sorted,
    detection_accuracy,
    operating_point,
    sort_sides,
)

_POINT = re.compile(rf"({'|'.join(RATES)})([1-9]\d?)({'|'.join(RATES)})")
_Arrays = tuple[np.ndarray, ...]
_EXACT = ("auroc", "aupr_out", "aupr_in", "detect_acc")
_SKLEARN_SCORES = (
    "average_precision_score",
    "brier_score_loss",
    "d2_brier_score",
    "d2_log_loss_score",
    "hinge_loss",
    "log_loss",
    "roc_auc_score",
)
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


def reduce_ood(predictions: Any, references: Any = None, *, in_value: int = 0, out_value: int = 1) -> State:
    """Check a batch of scores with labels, or a pair (in-distribution scores, OOD scores) without them.

    Returns `scores` (N,) and `labels` (N,) of `in_value` and `out_value`.
    Raises ValueError for NaN, lengths and shapes that do not fit, and labels that are neither value.
    """
    in_value, out_value = check_label_values(in_value, out_value)
    if references is None:
        if not isinstance(predictions, tuple) or len(predictions) != 2:
            raise TypeError(
                "references: expected a label for each score, or predictions as a tuple "
                "(in-distribution scores, OOD scores); got neither"
            )
        sides = [as_scores(side, f"predictions[{i}]") for i, side in enumerate(predictions)]
        xp = array_namespace(*sides)
        labels = [xp.full(len(side), value, dtype=xp.int64) for side, value in zip(sides, (in_value, out_value))]
        return {"scores": xp.concat(sides), "labels": _compact(xp.concat(labels))}
    predictions, references = as_array(predictions, "predictions"), as_array(references, "references")
    check_orientation(predictions, references)
    if is_floating(references) and not is_floating(predictions) and bool((references != references.round()).any()):
        raise ValueError("predictions and references are swapped: references hold fractions and predictions integers")
    scores, labels = as_scores(predictions, "predictions"), as_labels(references, "references")
    check_lengths(predictions=scores, references=labels)
    _is_out(labels, in_value, out_value)
    return {"scores": scores, "labels": _compact(labels)}


def _compact(labels: Array) -> Array:
    """Labels as int8 where they fit, an eighth of the memory."""
    xp = array_namespace(labels)
    fits = not labels.shape[0] or (int(xp.min(labels)) >= -128 and int(xp.max(labels)) <= 127)
    return xp.astype(labels, xp.int8) if fits else labels


def check_label_values(in_value: Any, out_value: Any) -> tuple[int, int]:
    """Check the labels of in-distribution and OOD samples: two different integers."""
    limits = -(2**63), 2**63 - 1
    in_value, out_value = as_int(in_value, "in_value", *limits), as_int(out_value, "out_value", *limits)
    if in_value == out_value:
        raise ValueError(f"in_value, out_value: expected two different labels, got {in_value} for both")
    return in_value, out_value


def split_ood(scores: Array, labels: Array, *, in_value: int = 0, out_value: int = 1) -> tuple[Array, Array]:
    """Return the scores of the OOD samples and those of the in-distribution samples.

    Raises ValueError for a label that is neither value.
    """
    in_value, out_value = check_label_values(in_value, out_value)
    is_out = _is_out(labels, in_value, out_value)
    xp = array_namespace(scores)
    # indices are faster to gather by than a mask
    return scores[xp.nonzero(is_out)[0]], scores[xp.nonzero(~is_out)[0]]


def _is_out(labels: Array, in_value: int, out_value: int) -> Array:
    is_out = labels == out_value
    other = ~is_out & (labels != in_value)
    if bool(array_namespace(labels).any(other)):
        raise ValueError(
            f"references: expected {in_value} (in_value) or {out_value} (out_value), got {int(labels[other][0])}"
        )
    return is_out


class _Sides:
    """The two sides of a benchmark, and what several metrics need of them, computed once."""

    def __init__(self, positives: Array, negatives: Array, step: int | None) -> None:
        self.positives, self.negatives, self.step = positives, negatives, step

    @cached_property
    def ascending(self) -> tuple[Array, Array]:
        return sort_sides(self.positives, self.negatives)

    @cached_property
    def counts(self) -> Counts:
        return counts_of_sorted(*self.ascending)

    @cached_property
    def flipped_counts(self) -> Counts:
        positives, negatives = (-array_namespace(side).flip(side) for side in self.ascending)
        return counts_of_sorted(negatives, positives)

    @cached_property
    def curve(self) -> _Arrays:
        return _sampled_curve(to_numpy(self.positives), to_numpy(self.negatives), self.step or 1)[1]

    @cached_property
    def ordered(self) -> tuple[np.ndarray, np.ndarray]:
        """Labels and scores in an order that does not depend on how the samples came."""
        # in float64, since scikit-learn computes in the precision that it is given
        sides = [np.sort(to_numpy(side)).astype(np.float64) for side in (self.negatives, self.positives)]
        labels = np.repeat(np.asarray([0, 1]), [len(side) for side in sides])
        return labels, np.concatenate(sides)


def bench_metrics(
    positives: Array,
    negatives: Array,
    metrics: Any = ("auroc", "fpr95tpr"),
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
    if isinstance(metrics, str) or not isinstance(metrics, Iterable):
        metrics = (metrics,)
    metrics = [str(metric) if isinstance(metric, str) else metric for metric in metrics]
    threshold = None if threshold is None else as_real(threshold, "threshold")
    step = None if step is None else as_int(step, "step", 1)
    measures = {}
    for metric in dict.fromkeys(metrics):
        name, measure = _parse(metric, threshold, step)
        if name in measures:
            raise ValueError(f"metrics: expected each name once, since they name the results; got {name!r} twice")
        measures[name] = measure
    if not measures:
        raise ValueError("metrics: expected at least one name, got none")
    check_both_classes(positives.shape[0], negatives.shape[0])
    sides = _Sides(positives, negatives, step)
    return {name: float(measure(sides)) for name, measure in measures.items()}


def _parse(metric: Any, threshold: float | None, step: int | None) -> tuple[str, Callable[[_Sides], float]]:
    """Return the name of a metric and the function that computes it."""
    if not isinstance(metric, str):
        name = str(getattr(getattr(metric, "func", metric), "__name__", metric))  # func of a functools.partial
        if name in (*_SKLEARN_SCORES, *_SKLEARN_LABELS, *_SKLEARN_PARTIAL):
            return name, _sklearn_measure(metric, name, threshold)
    else:
        name = metric
        if name in _AREAS:
            return name, _AREAS[name]
        if name in ("auroc", "detect_acc") or _POINT.fullmatch(name):
            return name, _exact_measure(name) if step is None else _sampled_measure(name)
        if name in (*_SKLEARN_SCORES, *_SKLEARN_LABELS):
            return name, _sklearn_measure(metric, name, threshold)
    raise ValueError(
        f"metrics: unknown metric {name!r}; known are {', '.join(_EXACT)}, <rate><1 to 99><rate> such as 'fpr95tpr' "
        f"with rates {', '.join(RATES)}, sklearn.metrics' {', '.join(_SKLEARN_SCORES + _SKLEARN_LABELS)}, and "
        f"functools.partial of {', '.join(_SKLEARN_PARTIAL)}"
    )


# the last two are scikit-learn's names for the same numbers
_AREAS: dict[str, Callable[[_Sides], float]] = {
    "aupr_out": lambda sides: average_precision(sides.counts),
    "aupr_in": lambda sides: average_precision(sides.flipped_counts),
    "roc_auc_score": lambda sides: auroc(sides.counts),
    "average_precision_score": lambda sides: average_precision(sides.counts),
}


def _exact_measure(name: str) -> Callable[[_Sides], float]:
    if name == "auroc":
        return lambda sides: auroc(sides.counts)
    if name == "detect_acc":
        return lambda sides: detection_accuracy(sides.counts)
    rate, percent, bounded = _point(name)
    return lambda sides: operating_point(sides.counts, rate, bounded, percent / 100)


def _point(name: str) -> tuple[str, int, str]:
    match = _POINT.fullmatch(name)
    assert match is not None  # the caller has matched it
    return match[1], int(match[2]), match[3]


def _sklearn_measure(metric: Any, name: str, threshold: float | None) -> Callable[[_Sides], float]:
    import sklearn.metrics

    function = getattr(sklearn.metrics, name, None) if isinstance(metric, str) else metric
    if function is None:
        raise ValueError(f"metrics: scikit-learn {sklearn.__version__} has no {name!r}; it came in a later version")
    if name in _SKLEARN_SCORES:
        return lambda sides: function(*_finite(*sides.ordered, name))
    if threshold is None:
        raise ValueError(f"threshold: expected a number, since {name!r} judges scores > threshold; got None")

    def measure(sides: _Sides) -> float:
        labels, scores = sides.ordered
        return function(labels, (scores.astype(np.float64) > threshold).astype(np.int64))

    return measure


def _finite(labels: np.ndarray, scores: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(scores).all():
        raise ValueError(f"predictions: expected finite scores for scikit-learn's {name!r}, got infinite ones")
    return labels, scores


def _sampled_measure(name: str) -> Callable[[_Sides], float]:
    """Oodeel's reading of its sampled curve: trapezoids, and the first point past a bound."""
    if name == "auroc":
        return lambda sides: -float(np.trapezoid(1.0 - sides.curve[0], sides.curve[1]))
    if name == "detect_acc":
        return lambda sides: float(np.max(sides.curve[4]))
    rate, percent, bounded = _point(name)

    def measure(sides: _Sides) -> float:
        curves = dict(zip(("fpr", "tpr", "fnr", "tnr"), sides.curve))
        bound, limits = percent / 100, curves[bounded]
        past = limits < bound if bounded in ("fpr", "tpr") else limits > bound
        return float(curves[rate][np.argmax(past)])

    return measure


def ftpn(scores: Any, labels: Any, threshold: float) -> tuple[int, int, int, int]:
    """Count false positives, true positives, false negatives and true negatives at one threshold.

    Parameters: scores (N,), higher is more OOD; labels (N,), 1 OOD, 0 not; OOD is said of scores ≥ threshold.
    Returns (FP, TP, FN, TN). Raises ValueError for NaN, lengths that differ and labels that are neither 0 nor 1.
    Source: oodeel, eval/metrics.py, whose returns these are.

    >>> ftpn([0.1, 0.8, 0.6], [0, 1, 0], 0.5)
    (1, 1, 0, 1)
    """
    positives, negatives = split_ood(**reduce_ood(scores, labels))
    threshold = as_real(threshold, "threshold")
    xp = array_namespace(positives)
    # in float64: a float32 score must not round the threshold to its own precision
    tp, fp = (int(xp.count_nonzero(xp.astype(side, xp.float64) >= threshold)) for side in (positives, negatives))
    return fp, tp, positives.shape[0] - tp, negatives.shape[0] - fp


def get_curve(scores: Any, labels: Any, step: int = 4, return_raw: bool = False) -> tuple[Any, ...]:
    """Rates at every `step`-th score in ascending order, as oodeel samples them.

    Thresholds are s_(1), s_(1+step), … of the sorted scores s_(0) ≤ s_(1) ≤ …; OOD is said of scores ≥ threshold.
    The rates carry the two ends of the curve besides, the accuracy does not.

    Parameters: scores (N,), higher is more OOD; labels (N,), 1 OOD, 0 not; step ≥ 1.
    Returns NumPy arrays (fpr, tpr, fnr, tnr, accuracy), and with `return_raw` the pair of the counts
    (FP, TP, FN, TN) and those. Raises ValueError as `ftpn` does, and for a class without samples.
    Source: oodeel, eval/metrics.py; this takes O(N log N), not O(N²).

    >>> fpr, tpr, fnr, tnr, accuracy = get_curve([0.1, 0.8, 0.6, 0.9], [0, 1, 0, 1], step=1)
    >>> fpr.tolist(), tpr.tolist()
    ([1.0, 0.5, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.5, 0.0])
    """
    positives, negatives = split_ood(**reduce_ood(scores, labels))
    check_both_classes(positives.shape[0], negatives.shape[0])
    raw, rates = _sampled_curve(to_numpy(positives), to_numpy(negatives), as_int(step, "step", 1))
    return (raw, rates) if return_raw else rates


def _sampled_curve(positives: np.ndarray, negatives: np.ndarray, step: int) -> tuple[_Arrays, _Arrays]:
    thresholds = np.sort(np.concatenate([positives, negatives]))[1::step]
    num_positives, num_negatives = len(positives), len(negatives)
    tp = num_positives - np.searchsorted(np.sort(positives), thresholds, side="left")
    fp = num_negatives - np.searchsorted(np.sort(negatives), thresholds, side="left")
    fn, tn = num_positives - tp, num_negatives - fp
    fpr, tpr = (np.concatenate([[1.0], x, [0.0]]) for x in (fp / num_negatives, tp / num_positives))
    tnr, fnr = (np.concatenate([[0.0], x, [1.0]]) for x in (tn / num_negatives, fn / num_positives))
    accuracy = (tn + tp) / (num_positives + num_negatives)
    return (fp, tp, fn, tn), (fpr, tpr, fnr, tnr, accuracy)
