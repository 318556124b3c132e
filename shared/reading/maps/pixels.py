"""Limits on the size of maps, masks and photographs, and sizes as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

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


# Read the values of a mask that is a picture, where Pillow's own reading would mislead: palettes, inks, alpha.


def mask_values(image: Any) -> np.ndarray:
    """The values of a mask that Pillow has opened, (H, W), or (H, W, channels) in colour, without transparency.

    Of a palette whose first colour is black, they are the indices; of another one, the greys of its colours. Raises
    ValueError for a palette that has neither, for several channels of 16 bits, of which Pillow reads 8, and for a mask
    that is in the transparency alone.
    """
    if image.format == "PNG" and image.mode != "I;16" and any(";16" in str(tile[3]) for tile in image.tile):
        raise ValueError("expected 8 bits a channel, or one channel of 16, got several of 16")
    if image.mode == "P":
        return of_palette(np.asarray(image), np.asarray(image.getpalette("RGB"), np.uint8).reshape(-1, 3))
    return _opaque(image) if image.mode in ("LA", "La", "PA", "RGBA", "RGBa") else np.asarray(_in_light(image))


def of_palette(indices: np.ndarray, colors: np.ndarray) -> np.ndarray:
    """The indices of a mask with a palette, (K, 3) colours, if the first is black or all are one; else their greys."""
    if not colors[:1].any():
        return indices
    used = colors[np.flatnonzero(np.bincount(indices.ravel()))]
    if (used == used[:1]).all():
        return indices
    if (used != used[:, :1]).any():
        raise ValueError(f"expected a palette of greys, or one that begins with black, got {colors[0].tolist()} first")
    return np.asarray(colors[:, 0][indices])


def _in_light(image: Any) -> Any:
    """The picture in light: in inks, black is the highest."""
    return image.convert("RGB") if image.mode == "CMYK" else image


def _opaque(image: Any) -> np.ndarray:
    """The values of a picture with transparency, without it."""
    of_colour = image.mode.startswith("RGB") or image.mode == "PA"
    both = np.asarray(image.convert("RGBA" if of_colour else "LA"))
    values, alpha = both[..., :-1], both[..., -1]
    if (values == values[:1, :1]).all() and (alpha != alpha[:1, :1]).any():
        raise ValueError("expected a mask in its colours, got one colour and a mask in the transparency")
    return values if of_colour else values[..., 0]
