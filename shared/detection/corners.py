"""Corners of boxes with what rounding took off them, and the exact IoU of two boxes.

Corners of boxes given by their size are rounded. What rounding took off each is kept beside it (see `reduce_boxes`), so
that an IoU is a fraction of the numbers that were given.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np


class Corners(NamedTuple):
    """Corners of boxes: x1, y1, x2, y2 rounded, what rounding took off each, and pixels to add to the far ones."""

    rounded: np.ndarray
    remainders: np.ndarray
    border: int

    def exact(self, row: Any) -> list[Fraction]:
        """The corners of a box."""
        pairs = zip(self.rounded[row].tolist(), self.remainders[row].tolist(), (0, 0, self.border, self.border))
        return [Fraction(corner) + Fraction(rest) + border for corner, rest, border in pairs]

    def doubt(self) -> np.ndarray:
        """How far the sides of each box may be off in float64, in parts of them; no IoU is off by more than 4 times."""
        if not self.border and not self.remainders.any():
            return np.broadcast_to(0.0, len(self.rounded))
        doubt = np.zeros(len(self.rounded))
        for near, far in ((0, 2), (1, 3)):
            off = np.abs(self.remainders[:, near]) + np.abs(self.remainders[:, far])
            if self.border:
                off += np.abs(self.rounded[:, far]) * 2.0**-52
            side = self.rounded[:, far] - self.rounded[:, near] + self.border
            with np.errstate(divide="ignore"):
                doubt += np.divide(off, side, out=np.zeros_like(off), where=off > 0)
        return doubt


def exact_ious(
    ours: Corners, theirs: Corners, rows: np.ndarray, columns: np.ndarray
) -> tuple[list[Fraction], np.ndarray]:
    """The IoU of each pair of boxes: those that differ in either box, and the place of each pair among them.

    Of equal boxes, of which there may be many, one pair is enough.
    """
    keys = _numbered(ours, rows) * (len(columns) + 1) + _numbered(theirs, columns)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return [
        _exact_iou(ours.exact(row), theirs.exact(column)) for row, column in zip(rows[first], columns[first])
    ], place


def _numbered(corners: Corners, rows: np.ndarray) -> np.ndarray:
    """A number for the box of each row, from 0: the same for equal boxes."""
    some, place = np.unique(rows, return_inverse=True)
    boxes = np.concatenate([corners.rounded[some], corners.remainders[some]], axis=1)
    return np.unique(boxes, axis=0, return_inverse=True)[1].reshape(-1)[place.reshape(-1)].astype(np.int64)


def _exact_iou(box: list[Fraction], other: list[Fraction]) -> Fraction:
    """|A ∩ B| / |A ∪ B|; 0 where both have no area."""
    shared = [max(min(box[i + 2], other[i + 2]) - max(box[i], other[i]), Fraction()) for i in (0, 1)]
    areas = [(x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in (box, other)]
    intersection = shared[0] * shared[1]
    union = areas[0] + areas[1] - intersection
    return intersection / union if union else Fraction()
