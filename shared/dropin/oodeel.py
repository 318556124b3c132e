"""oodeel's metrics: `from oodeel.eval.metrics import …` becomes `from openworld_metrics.dropin.oodeel import …`."""

from __future__ import annotations

from typing import Any

from ..arrays.arrays import to_numpy
from ..arrays.checks import as_int, as_real
from ..ood.measures import DEFAULT_METRICS, sampled_curve
from ..ood.ood_bench import Label, OODBench
from .labelled_scores import both_sides, labelled_sides


def bench_metrics(
    scores: Any,
    labels: Any = None,
    in_value: Label = OODBench.in_value,
    out_value: Label = OODBench.out_value,
    metrics: Any = DEFAULT_METRICS,
    threshold: float | None = None,
    step: int | None = 4,
) -> dict[str, Any]:
    """Metrics of an OOD detector by name, from every `step`-th score as in oodeel, or from all with step=None.

    Parameters: scores (N,), higher is more OOD, with labels (N,) of in_value and out_value; or the tuple
    (in-distribution scores, OOD scores), without regard to the labels; metrics, names and functions of scikit-learn:
    one that needs scores gets the scores; threshold, for rates and metrics of decisions; step, for auroc, detect_acc
    and points such as fpr95tpr: oodeel's point is the first past the bound, and the exact one is at it.
    Returns {name: value}. Raises ValueError and TypeError as `OODBench` does: also for an unknown metric, and for one
    without the threshold that it needs, which oodeel skips.

    >>> scores, labels = [0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1]
    >>> bench_metrics(scores, labels, step=None)
    {'auroc': 0.75, 'fpr95tpr': 0.5}
    """
    bench = OODBench(metrics=metrics, threshold=threshold, step=step)
    if isinstance(scores, tuple):
        return bench.compute(predictions=scores)
    return bench.with_options({"in_value": in_value, "out_value": out_value}).compute(
        predictions=scores, references=labels
    )


def ftpn(scores: Any, labels: Any, threshold: float) -> tuple[int, int, int, int]:
    """Count false positives, true positives, false negatives and true negatives at one threshold.

    Parameters: scores (N,), higher is more OOD; labels (N,), 1 OOD, 0 not; a sample is called OOD when its
    score ≥ threshold, as in oodeel: everything else in this package compares score > threshold.
    Returns (FP, TP, FN, TN). Raises ValueError for NaN, lengths that differ and labels that are neither 0 nor 1.

    >>> ftpn([0.1, 0.8, 0.6], [0, 1, 0], 0.5)
    (1, 1, 0, 1)
    """
    out, inside = labelled_sides(scores=scores, labels=labels)
    fn, tn = (side.below_score(as_real(threshold, "threshold")) for side in (out, inside))
    return inside.total - tn, out.total - fn, fn, tn


def get_curve(scores: Any, labels: Any, step: int = 4, return_raw: bool = False) -> tuple[Any, ...]:
    """Rates at every `step`-th score in ascending order, as oodeel samples them.

    Thresholds are s_(1), s_(1+step), … of the sorted scores s_(0) ≤ s_(1) ≤ …; a sample is called OOD when its
    score ≥ threshold, as of `ftpn`.
    The rates also have the two ends of the curve; the accuracy does not.

    Parameters: scores (N,), higher is more OOD; labels (N,), 1 OOD, 0 not; step ≥ 1.
    Returns NumPy arrays (fpr, tpr, fnr, tnr, accuracy); with `return_raw`, the pair of the counts
    (FP, TP, FN, TN) and these arrays. Raises ValueError as `ftpn` does, and for a class without samples.

    >>> fpr, tpr, fnr, tnr, accuracy = get_curve([0.1, 0.8, 0.6, 0.9], [0, 1, 0, 1], step=1)
    >>> fpr.tolist(), tpr.tolist()
    ([1.0, 0.5, 0.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.5, 0.0])
    """
    out, inside = both_sides(scores=scores, labels=labels)
    raw, rates = sampled_curve(to_numpy(out.repeated()), to_numpy(inside.repeated()), as_int(step, "step", 1))
    return (raw, rates) if return_raw else rates
