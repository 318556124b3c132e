"""Small pictures of images: maps and boxes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from PIL import Image, ImageDraw

SIDE = 106  # pixels along the longer side
_HEAT = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # Viridis


class Thumbnail(NamedTuple):
    """A small picture of an image: its index, from 0, a caption, and the bytes of a .png file."""

    image: int
    said: str
    picture: bytes


def map_picture(score_map: np.ndarray, mask: np.ndarray, low: float, high: float) -> bytes:
    """Draw a map in Viridis from low to high with the outline of its mask in white, as .png."""
    step = max(1, -(-max(score_map.shape) // SIDE))
    shares = np.clip((score_map[::step, ::step] - low) / ((high - low) or 1), 0, 1) * (len(_HEAT) - 1)
    channels = [np.interp(shares, range(len(_HEAT)), channel) for channel in zip(*_HEAT)]
    pixels = np.stack(channels, axis=-1).round().astype(np.uint8)
    inside = np.pad(mask[::step, ::step] > 0, 1)
    core = inside[1:-1, 1:-1]
    whole = core & inside[2:, 1:-1] & inside[:-2, 1:-1] & inside[1:-1, 2:] & inside[1:-1, :-2]
    if max(score_map.shape) > SIDE // 4:  # in a smaller map the outline would be most of the picture
        pixels[core & ~whole] = 255
    image = Image.fromarray(pixels)
    scale = SIDE // max(pixels.shape[:2])
    if scale > 1:
        image = image.resize((scale * image.width, scale * image.height), Image.Resampling.NEAREST)
    return as_png(image)


def box_picture(boxes: Sequence[tuple[Sequence[float], str]], width: float, height: float) -> bytes:
    """Draw boxes, (xyxy, colour) pairs, on a plain ground, as .png."""
    scale = SIDE / (max(width, height) or 1)
    image = Image.new("RGB", (max(1, round(scale * width)), max(1, round(scale * height))), "#e4e4e7")
    draw = ImageDraw.Draw(image)
    for corners, color in boxes:
        left, top, right, bottom = (float(np.clip(scale * side, -1, SIDE + 1)) for side in corners)
        if left <= right and top <= bottom:
            draw.rectangle((left, top, right, bottom), outline=color, width=2)
    return as_png(image)


def as_png(image: Any) -> bytes:
    """Encode a picture as the bytes of a .png file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
