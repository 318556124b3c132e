"""The rules of open-set detection: what decides which box takes which object, and what it counts as."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays.arrays import MAX_EXACT
from ..arrays.options import as_bool, as_choice, as_fraction, as_int, as_int_list, as_real

MATCHINGS = ("iou", "confidence")


@dataclass(frozen=True)
class Rules:
    """Checked rules of open-set detection.

    known_classes: ids of the known classes, required; objects of all others are unknown
    unknown_class_id: the class by which a prediction says "unknown", which is not among them
    iou_threshold: in (0, 1]; boxes match at IoU ≥ threshold
    conf_threshold: predictions with a lower confidence are left out
    matching: which box takes an object first, see `match_boxes`
    count_background: whether "unknown" predictions without an object are FP_unknown
    unknown_below: predictions of known classes with a lower confidence count as unknown; None, none does
    plus_one: whether widths and heights are x2 − x1 + 1, as the VOC devkit counts both border pixels

    Raises TypeError without known_classes and for other types, ValueError for values out of range.

    >>> Rules([0, 1]).iou_threshold
    0.5
    """

    known_classes: Sequence[int] | None
    unknown_class_id: int = -1
    iou_threshold: float = 0.5
    conf_threshold: float = 0.0
    matching: str = "iou"
    count_background: bool = False
    plus_one: bool = False
    unknown_below: float | None = None

    def __post_init__(self) -> None:
        """Check each, and keep it as a plain Python value."""
        unknown_id = as_int(self.unknown_class_id, "unknown_class_id", -MAX_EXACT, MAX_EXACT)
        if self.known_classes is None:
            raise TypeError("known_classes: expected a list of the known class ids, got None; the option is required")
        known = as_int_list(self.known_classes, "known_classes", -MAX_EXACT, MAX_EXACT)
        if unknown_id in known:
            raise ValueError(f"known_classes: expected them without unknown_class_id, got {unknown_id} in {known}")
        checked = {
            "known_classes": known,
            "unknown_class_id": unknown_id,
            "conf_threshold": as_real(self.conf_threshold, "conf_threshold"),
            "plus_one": as_bool(self.plus_one, "plus_one"),
            "iou_threshold": as_fraction(self.iou_threshold, "iou_threshold"),
            "matching": as_choice(self.matching, "matching", MATCHINGS),
            "count_background": as_bool(self.count_background, "count_background"),
            "unknown_below": None if self.unknown_below is None else as_real(self.unknown_below, "unknown_below"),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # as dataclasses does in a frozen one

    @property
    def known(self) -> list[int]:
        """Ids of the known classes, which are never None once they are checked."""
        return list(self.known_classes or ())
