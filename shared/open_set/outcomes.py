"""Outcomes of samples, which say the predicted class and whether it is the true one, and the samples of each class."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..arrays.arrays import Array, array_namespace, is_numpy_array
from ..arrays.columns import are_ids_below, check_class_ids, check_not_negative
from ..arrays.compiled import worth_compiling
from ..arrays.threads import in_threads, parts_of, threads_for
from .sweep import blocks_of, count_ids

_COUNTED = 1 << 16  # classes of which each thread has counts of its own; of more, one thread counts all


def outcomes_of(ids: Array, correct: Array, most: int) -> Array:
    """Encode outcomes as twice the predicted class, below `most`, plus one if it is the true class."""
    if not is_numpy_array(ids) or 2 * most > 1 << 32:
        return 2 * ids + correct
    outcomes = ids.astype(_type_of(most))
    outcomes <<= 1
    outcomes |= correct
    return outcomes


def counted_outcomes(predicted: Array, classes: Array, num_classes: int, counts: Array | None) -> tuple[Array, Array]:
    """The outcome of each sample, and the number of known samples of each class.

    Parameters: predicted (N,), int64, and classes (N,); num_classes C; counts (N,), how many equal samples each entry
    stands for, by default one. Raises ValueError as `check_ids` does.
    """
    loop = worth_compiling(count_outcomes, predicted.shape[0], predicted, classes) if counts is None else None
    if loop is None or 2 * num_classes > 1 << 32:
        check_ids(predicted, classes, num_classes)
        return outcomes_of(predicted, predicted == classes, num_classes), _count_classes(classes, num_classes, counts)
    parts = parts_of(len(predicted), threads_for(len(predicted)) if num_classes <= _COUNTED else 1)
    outcomes = np.empty(len(predicted), _type_of(num_classes))
    totals = np.zeros((len(parts), 1 + num_classes), np.int64)  # each thread counts in a row of its own
    pieces = [partial(loop, predicted[part], classes[part], outcomes[part], row) for part, row in zip(parts, totals)]
    if not all(in_threads(pieces, len(parts))):
        check_ids(predicted, classes, num_classes)
    return outcomes, totals.sum(axis=0)[1:]


def check_ids(predicted: Array, classes: Array, num_classes: int) -> None:
    """Raise ValueError for predicted ids, int64, outside [0, C) and for true ones outside [−1, C)."""
    if not are_ids_below(predicted, num_classes):
        check_class_ids(predicted, "predicted", num_classes)
        check_not_negative(predicted, "predicted")
    check_class_ids(classes, "classes", num_classes)
    lowest = int(array_namespace(classes).min(classes)) if classes.shape[0] else -1
    if lowest < -1:
        raise ValueError(f"classes: expected class ids of at least 0, or -1 for unknown, got {lowest}")


def _type_of(most: int) -> Any:
    return np.uint16 if 2 * most <= 1 << 16 else np.uint32


def _count_classes(classes: Array, num_classes: int, counts: Array | None) -> Array:
    """The number of known samples of each class, counted block by block."""
    return sum(
        count_ids(classes[block] + 1, num_classes + 1, None if counts is None else counts[block])[1:]
        for block in blocks_of(classes)
    )


def count_outcomes(predicted: Any, classes: Any, outcomes: Any, totals: Any) -> bool:
    """Fill the outcomes of samples, and count those of each true class plus one; whether all ids are in range."""
    for i in range(len(predicted)):
        ours, theirs = predicted[i], classes[i]
        if not (0 <= ours < len(totals) - 1 and -1 <= theirs < len(totals) - 1):
            return False
        outcomes[i] = 2 * ours + (ours == theirs)
        totals[theirs + 1] += 1
    return True
