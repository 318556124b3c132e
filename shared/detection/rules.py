"""The rules of open-set detection: they decide which box takes which object, and with which outcome."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..arrays.arrays import MAX_EXACT
from ..arrays.box_objects import UNKNOWN_CLASS_ID
from ..arrays.options import as_bool, as_choice, as_fraction, as_int, as_int_list, as_real

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
