"""The metric KevinSpaghetti/accuracyk: `accuracyk = evaluate.load("KevinSpaghetti/accuracyk")` becomes
`from openworld_metrics.dropin import accuracyk`.
"""

from __future__ import annotations

from typing import Any

from ..arrays.arrays import as_array
from ..arrays.checks import as_labels
from ..classification.topk import AccuracyK


def compute(*, predictions: Any, references: Any) -> dict[str, Any]:
    """The share of samples with the true class among the K best guesses.

    Parameters: predictions (N, K) class ids; references (N,) class ids.
    Returns {"accuracy": float}. Raises ValueError for scores, lengths that differ, and swapped columns.

    >>> compute(predictions=[[0, 7, 1, 3, 5], [0, 2, 9, 8, 4], [8, 4, 0, 1, 3]], references=[3, 4, 0])
    {'accuracy': 1.0}
    """
    ids = as_array(predictions, "predictions")
    if ids.ndim == 2:  # floats too are ids here, where AccuracyK takes them for scores
        ids = as_labels(ids, "predictions", 2)
    return AccuracyK().compute(predictions=ids, references=references)
