"""Corners of boxes with their rounding errors, and the exact IoU of two boxes.

Boxes with a size in the input have rounded corners. The rounding error of each is kept beside it (see `reduce_boxes`),
so that an IoU is a fraction of the numbers of the input.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from ..arrays.compiled import worth_compiling

_MEASURED = 1 << 13  # boxes measured at a time, so that all arrays fit the cache
_TINY = 2.0**-900  # parts of areas below it may underflow


class Corners(NamedTuple):
    """Corners of boxes.

    rounded: (n, 4) x1, y1, x2, y2
    remainders: (n, 4) the rounding error of each
    border: pixels to add to the far corners, 0 or 1
    """

    rounded: np.ndarray
    remainders: np.ndarray
    border: int

    def parts(self, row: Any) -> list[float]:
        """Four corners of a box, the remainder to add to each of them, and the border."""
        return [*self.rounded[row].tolist(), *self.remainders[row].tolist(), float(self.border)]

    def doubt(self) -> np.ndarray:
        """Bounds on the relative error of the sides of each box in float64; that of an IoU is at most 4 times as large.

        It is infinite for a box whose area is too small for float64. Returns an array (n,), or a zero of shape () if
        no box is in doubt.
        """
        exact = not self.border and (repeats_zeros(self.remainders) or not self.remainders.any())
        if exact and self._sides_reach(_TINY**0.5):  # the usual case
            return np.zeros(())
        sides = [self.rounded[:, far] - self.rounded[:, far - 2] + self.border for far in (2, 3)]
        with np.errstate(over="ignore"):
            tiny = (sides[0] > 0) & (sides[1] > 0) & (sides[0] * sides[1] < _TINY)
        doubt = np.where(tiny, np.inf, 0.0)
        if exact:
            return doubt
        for far, side in zip((2, 3), sides):
            off = np.abs(self.remainders[:, far - 2]) + np.abs(self.remainders[:, far])
            if self.border:
                off += np.abs(self.rounded[:, far]) * 2.0**-52
            with np.errstate(divide="ignore"):
                doubt += np.divide(off, side, out=np.zeros_like(off), where=off > 0)
        return doubt

    def _sides_reach(self, least: float) -> bool:
        """Whether each side, without its border, is at least `least` long."""
        loop = worth_compiling(sides_reach, self.rounded.size, self.rounded)
        if loop is not None:
            return bool(loop(self.rounded, least))
        parts = (self.rounded[start : start + _MEASURED].T for start in range(0, len(self.rounded), _MEASURED))
        return all(bool((part[far] - part[far - 2] >= least).all()) for part in parts for far in (2, 3))


def repeats_zeros(remainders: np.ndarray) -> bool:
    """Whether remainders are a view that repeats zeros, as of corners in the input (see `box_state`)."""
    return len(remainders) > 1 and remainders.strides[0] == 0


def sides_reach(corners: Any, least: float) -> bool:
    """Whether each side of boxes xyxy is at least `least` long."""
    every = True
    for i in range(len(corners)):
        every &= (corners[i, 2] - corners[i, 0] >= least) & (corners[i, 3] - corners[i, 1] >= least)
    return every


def exact_ious(
    ours: Corners, theirs: Corners, rows: np.ndarray, columns: np.ndarray
) -> tuple[list[Fraction], np.ndarray]:
    """Compute the IoU of each pair of boxes: the IoUs of distinct pairs, and the place of each pair among them."""
    keys = _numbered(ours, rows) * (len(columns) + 1) + _numbered(theirs, columns)
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    exact = [_exact_iou(ours.parts(row), theirs.parts(column)) for row, column in zip(rows[first], columns[first])]
    return exact, place


def _numbered(corners: Corners, rows: np.ndarray) -> np.ndarray:
    """A number for the box of each row, from 0: the same for equal boxes."""
    some, place = np.unique(rows, return_inverse=True)
    boxes = np.concatenate([corners.rounded[some], corners.remainders[some]], axis=1)
    return np.unique(boxes, axis=0, return_inverse=True)[1].reshape(-1)[place.reshape(-1)].astype(np.int64)


def _exact_iou(box: list[float], other: list[float]) -> Fraction:
    """|A ∩ B| / |A ∪ B|; 0 where both have no area."""
    ratios = [part.as_integer_ratio() for part in (*box, *other)]
    unit = max(denominator for _, denominator in ratios)  # all of them are powers of two
    parts = [numerator * (unit // denominator) for numerator, denominator in ratios]
    a, b = _corners(parts[:9]), _corners(parts[9:])
    sides = [max(min(a[i + 2], b[i + 2]) - max(a[i], b[i]), 0) for i in (0, 1)]
    intersection = sides[0] * sides[1]
    union = sum((x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in (a, b)) - intersection
    return Fraction(intersection, union) if union else Fraction()


def _corners(parts: Sequence[int]) -> list[int]:
    return [parts[i] + parts[i + 4] + (parts[8] if i > 1 else 0) for i in range(4)]
