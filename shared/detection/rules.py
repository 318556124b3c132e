"""The rules of open-set detection: they decide which box takes which object, and with which outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays.arrays import MAX_EXACT
from ..arrays.box_objects import UNKNOWN_CLASS_ID
from ..arrays.checks import as_bool, as_choice, as_fraction, as_int, as_int_list, as_real
from ..arrays.threads import worth_compiling

MATCHINGS = ("iou", "confidence")


def _as_class(value: Any, name: str) -> int:
    return as_int(value, name, -MAX_EXACT, MAX_EXACT)


def _as_classes(value: Any, name: str) -> list[int]:
    return as_int_list(value, name, -MAX_EXACT, MAX_EXACT)


def _as_matching(value: Any, name: str) -> str:
    return as_choice(value, name, MATCHINGS)


def _as_real_or_none(value: Any, name: str) -> float | None:
    return None if value is None else as_real(value, name)


RULE_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "unknown_class_id": _as_class,
    "known_classes": _as_classes,
    "conf_threshold": as_real,
    "plus_one": as_bool,
    "iou_threshold": as_fraction,
    "matching": _as_matching,
    "count_background": as_bool,
    "unknown_below": _as_real_or_none,
}


@dataclass(frozen=True)
class Rules:
    """Checked rules of open-set detection.

    known_classes: ids of the known classes, required; objects of all others are unknown
    unknown_class_id: the class by which a prediction says "unknown", which is not among them
    iou_threshold: in (0, 1]; boxes match at IoU ≥ threshold
    conf_threshold: predictions with a lower confidence are left out
    matching: which box takes an object first, see `match_boxes`
    count_background: whether "unknown" predictions without an object are FP_unknown
    unknown_below: predictions of known classes with a lower confidence count as unknown; with None, none does
    plus_one: whether widths and heights are x2 − x1 + 1, as the VOC devkit counts both border pixels

    Raises TypeError without known_classes and for other types, ValueError for values out of range.

    >>> Rules([0, 1]).iou_threshold
    0.5
    """

    known_classes: Sequence[int] | None
    unknown_class_id: int = UNKNOWN_CLASS_ID
    iou_threshold: float = 0.5
    conf_threshold: float = 0.0
    matching: str = "iou"
    count_background: bool = False
    plus_one: bool = False
    unknown_below: float | None = None

    def __post_init__(self) -> None:
        """Check each rule, and keep it as a plain Python value."""
        if self.known_classes is None:
            raise TypeError("known_classes: expected a list of the known class ids, got None; the option is required")
        checked = {name: check(getattr(self, name), name) for name, check in RULE_CHECKS.items()}
        unknown_id, known = checked["unknown_class_id"], checked["known_classes"]
        if unknown_id in known:
            raise ValueError(f"known_classes: expected them without unknown_class_id, got {unknown_id} in {known}")
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # as dataclasses does in a frozen one

    @property
    def known(self) -> list[int]:
        """Ids of the known classes, which are never None once they are checked."""
        return list(self.known_classes or ())


# The classes of an evaluation, and the place of a box's class among them, which is its row in tables by class.


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
