"""Outcomes of samples of an out-of-distribution benchmark, at one threshold."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.options import as_real
from ..ranking.counts import Side
from ..ranking.per_sample import check_samples, sample_table
from .bench import bench_metrics, has_threshold
from .sides import LabelValues, OODState, is_ood

POINT = "fpr95tpr"  # where decisions are taken without a threshold and without an operating point


def ood_samples(
    state: OODState, values: LabelValues, sides: tuple[Side, Side], metrics: Iterable[Any], threshold: float | None
) -> dict[str, Any]:
    """The outcome of each sample, which is called unknown iff score > threshold: see `sample_table`.

    Parameters: state of `reduce_ood`; values of its labels; sides of the state; metrics, names and functions;
    threshold, by default of the first operating point or detect_acc among the metrics, or else of fpr95tpr.
    Returns {"per_sample": …}, without the samples that are left out, after "<name>_threshold" of such a point.
    Raises ValueError unless the rows of the state are single samples, and for a point that only scores of −inf reach.
    """
    check_samples(state)
    named: dict[str, float] = {}
    if threshold is None:
        name = next((str(metric) for metric in metrics if has_threshold(metric)), POINT)
        positives, negatives = sides
        rates = bench_metrics(positives=positives, negatives=negatives, metrics=name, thresholds=True)
        threshold = rates[f"{name}_threshold"]
        named = {f"{name}_threshold": threshold}
    is_out, kept = is_ood(state["labels"], values)
    scores = to_numpy(state["scores"]).astype(np.float64)  # a float32 score must not round the threshold to its own
    unknown = to_numpy(is_out)
    places = np.arange(len(unknown)) if kept is None else np.flatnonzero(to_numpy(kept))
    scores, unknown = scores[places], unknown[places]
    return {
        **named,
        "per_sample": sample_table(scores, unknown, scores > as_real(threshold, "threshold"), None, places),
    }
