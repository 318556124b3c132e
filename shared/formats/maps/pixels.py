"""Limits on the size of maps, masks and photographs, and sizes as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

MAX_PIXELS = 89_478_485  # of a map or a mask, as in Pillow; files with larger headers are refused
_MAX_SIDE = (1 << 16) - 1  # as in JPEG; each line takes memory, however short it is


def size_text(shape: Sequence[int]) -> str:
    """The size of a map as text, rows × columns.

    >>> size_text((480, 640))
    '480 × 640'
    """
    return " × ".join(map(str, shape))


def check_size(shape: Sequence[int], *, is_array: bool = False) -> None:
    """Raise ValueError for a file with no pixels, or with more than MAX_PIXELS or _MAX_SIDE.

    A NumPy array may have one longer row, such as a cloud of points.
    """
    pixels = math.prod(shape)
    too_long = max(shape, default=0) > _MAX_SIDE and not (is_array and pixels == max(shape))
    if not 0 < pixels <= MAX_PIXELS or too_long:
        raise ValueError(
            f"expected 1 to {MAX_PIXELS:,} pixels, at most {_MAX_SIDE:,} a side, got {size_text(shape) or 'a number'}"
        )
