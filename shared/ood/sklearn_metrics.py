"""Binary metrics of scikit-learn, by name or as functions, from the two sides of a benchmark."""

from __future__ import annotations

from typing import Any

import numpy as np

from .sides import Measure, Sides, required_threshold

SKLEARN_SCORES = (
    "average_precision_score",
    "brier_score_loss",
    "d2_brier_score",
    "d2_log_loss_score",
    "hinge_loss",
    "log_loss",
    "roc_auc_score",
)
_RANKS = ("average_precision_score", "roc_auc_score")  # to which any scores in the same order are the same
SKLEARN_LABELS = (
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
SKLEARN_PARTIAL = ("fbeta_score",)  # by name it lacks an argument
_NO_SHARES = (
    "brier_score_loss",
    "cohen_kappa_score",
    "d2_brier_score",
    "d2_log_loss_score",
    "hinge_loss",
    "log_loss",
    "matthews_corrcoef",
)


def sklearn_measure(metric: Any, name: str, threshold: float | None) -> Measure:
    """A metric of scikit-learn, of the scores or of the decisions at a threshold, which is then required."""
    try:
        import sklearn.metrics
    except ModuleNotFoundError as error:
        raise ImportError(
            f"metrics: {name!r} is scikit-learn's, which is not installed: pip install scikit-learn"
        ) from error

    function = getattr(sklearn.metrics, name, None) if isinstance(metric, str) else metric
    if function is None:
        raise ValueError(f"metrics: scikit-learn {sklearn.__version__} has no {name!r}; it came in a later version")
    # scikit-learn names what is to be minimised so
    facts: dict[str, bool] = {"higher": not name.endswith("_loss"), "share": name not in _NO_SHARES}
    if name in SKLEARN_SCORES:
        return Measure(lambda sides: _of_scores(function, name, sides), **facts)
    threshold = required_threshold(threshold, name)
    return Measure(lambda sides: _of_decisions(function, name, sides, threshold), **facts, of_decisions=True)


def is_function(metric: Any) -> bool:
    """Whether a metric is a function of sklearn.metrics, or a partial of one, that has no name here: see `called`."""
    function = getattr(metric, "func", metric)  # func of a functools.partial
    name = getattr(function, "__name__", "")
    named = name in (*SKLEARN_SCORES, *SKLEARN_LABELS, *SKLEARN_PARTIAL)
    return callable(function) and str(function.__module__).startswith("sklearn.metrics") and not named


def called(function: Any, name: str, sides: Sides, threshold: float | None) -> Any:
    """Call a function of sklearn.metrics with the labels, 1 for OOD, and the scores or decisions; return its result.

    Names that begin with roc or end in _curve get the scores, all others the decisions score > threshold.
    """
    if takes_scores(name):
        return _of_scores(function, name, sides)
    return _of_decisions(function, name, sides, required_threshold(threshold, name))


def takes_scores(name: str) -> bool:
    """Whether a function of sklearn.metrics is called with scores rather than decisions, by its name."""
    return name.startswith("roc") or name.endswith("_curve")


def _of_scores(function: Any, name: str, sides: Sides) -> Any:
    return _value(function, name, *_finite(*sides.ordered, name))


def _of_decisions(function: Any, name: str, sides: Sides, threshold: float) -> Any:
    labels, scores = sides.ordered
    return _value(function, name, labels, (scores > threshold).astype(np.int64))


def _value(function: Any, name: str, labels: np.ndarray, scores: np.ndarray) -> Any:
    """The value of a function, whose errors get its name."""
    try:
        return function(labels, scores)
    except ValueError as error:
        raise ValueError(f"metrics: scikit-learn's {name!r}: {error}") from error


def _finite(labels: np.ndarray, scores: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
    if not np.isfinite(scores).all():
        if name in _RANKS:
            return labels, np.unique(scores, return_inverse=True)[1]
        raise ValueError(f"predictions: expected finite scores for scikit-learn's {name!r}, got infinite ones")
    return labels, scores
