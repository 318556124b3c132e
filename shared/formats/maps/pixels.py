"""Bounds on the size of maps, masks and photographs, and sizes in words."""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_PIXELS = 89_478_485  # of a map or a mask, as of Pillow: a header that says more is not followed
_MAX_SIDE = (1 << 16) - 1  # of JPEG; a line takes memory however short it is


def size_text(shape: Sequence[int]) -> str:
    """The size of a map in words, rows × columns.

    >>> size_text((480, 640))
    '480 × 640'
    """
    return " × ".join(map(str, shape))


def check_size(shape: Sequence[int], *, is_array: bool = False) -> None:
    """Raise ValueError for a file with no pixels, or with more than MAX_PIXELS or _MAX_SIDE.

    Of an array of NumPy, one row may be longer: a cloud of points is one.
    """
    pixels = math.prod(shape)
    too_long = max(shape, default=0) > _MAX_SIDE and not (is_array and pixels == max(shape))
    if not 0 < pixels <= MAX_PIXELS or too_long:
        raise ValueError(
            f"expected 1 to {MAX_PIXELS:,} pixels, at most {_MAX_SIDE:,} a side, got {size_text(shape) or 'a number'}"
        )
