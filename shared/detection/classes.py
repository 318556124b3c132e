"""The classes of an evaluation, and the place of a box's class among them, which is its row in tables by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..arrays.compiled import worth_compiling

_FEW = 1 << 10  # ids


def evaluated_classes(known: Sequence[int], unknown_id: int, labels: np.ndarray) -> list[int]:
    """The known classes and those of some predictions, in ascending order; the last is "unknown".

    >>> evaluated_classes([3, 1], 7, np.asarray([7.0, 5.0, 1.0]))
    [1, 3, 5, 7]
    >>> evaluated_classes([3, 1], 0, np.asarray([2.0]))
    [1, 2, 3, 0]
    """
    return [*sorted({*known, *distinct_integers(labels)} - {unknown_id}), unknown_id]


def distinct_integers(numbers: np.ndarray) -> list[int]:
    """The distinct ones among integers in float64, in ascending order.

    >>> distinct_integers(np.asarray([5.0, -1.0, 5.0]))
    [-1, 5]
    """
    lowest, highest = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, -1)
    if highest - lowest >= max(len(numbers), _FEW):
        return np.unique(numbers.astype(np.int64)).tolist()
    occurs = np.zeros(highest - lowest + 1, dtype=bool)  # a tenth of the time of a sort
    loop = worth_compiling(flag_numbers, len(numbers), numbers)
    if loop is None:
        occurs[numbers.astype(np.int64) - lowest] = True
    else:
        loop(numbers, lowest, occurs)
    return (np.flatnonzero(occurs) + lowest).tolist()


def flag_numbers(numbers: Any, lowest: int, occurs: Any) -> None:
    """Set the flag of each number, from the lowest on."""
    for number in numbers:
        occurs[int(number) - lowest] = True


def rows_of(labels: np.ndarray, classes: Sequence[int]) -> np.ndarray:
    """The row of each label in a table by class, as int16 or int64."""
    dtype = np.int16 if len(classes) < 1 << 15 else np.int64  # NumPy sorts int16 by its digits
    lowest, number = min(classes), max(classes) - min(classes) + 1
    if number <= max(len(labels), _FEW):  # ten times as fast as a search
        rows = np.zeros(number, dtype)
        rows[np.asarray(classes) - lowest] = np.arange(len(classes))
        loop = worth_compiling(write_rows, len(labels), labels)
        if loop is None:
            return rows[labels.astype(np.int64) - lowest]
        of_labels = np.empty(len(labels), dtype)
        loop(labels, lowest, rows, of_labels)
        return of_labels
    *others, unknown_id = classes
    rows = np.searchsorted(np.asarray(others, dtype=np.float64), labels)
    return np.where(labels == unknown_id, len(others), rows).astype(dtype)


def write_rows(labels: Any, lowest: int, rows: Any, of_labels: Any) -> None:
    """Write the row of each label, from the rows of all labels from the lowest on."""
    for i in range(labels.size):
        of_labels[i] = rows[int(labels[i]) - lowest]
