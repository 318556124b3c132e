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


def check_size(shape: Sequence[int]) -> None:
    """Raise ValueError for a file with no pixels, or with more than MAX_PIXELS or _MAX_SIDE."""
    if not 0 < math.prod(shape) <= MAX_PIXELS or max(shape) > _MAX_SIDE:
        raise ValueError(
            f"expected 1 to {MAX_PIXELS:,} pixels, at most {_MAX_SIDE:,} a side, got {size_text(shape) or 'a number'}"
        )
