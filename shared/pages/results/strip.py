"""The images with the most errors as a strip of small pictures; a click shows one."""

from __future__ import annotations

import base64
import html
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from ..page import Computed, Page

MAX_SMALL = 24  # pictures
SIDE = 106  # pixels of a picture, its longer side
_HEAT = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))  # Viridis


def image_names(computed: Computed, count: int) -> list[str]:
    """The images as a person knows them: by number, from 1, and by the names of their files."""
    names = [*computed.names][:count]
    return [f"{i + 1} · {names[i]}" if i < len(names) else f"image {i + 1}" for i in range(count)]


def strip_html(page: Page, computed: Computed, names: Sequence[str]) -> str:
    """The strip of a page with images; nothing for others, and where no image has an error."""
    small = page.thumbnails(computed, min(len(names), MAX_SMALL)) if page.thumbnails and len(names) > 1 else []
    if not small:
        return ""
    buttons = []
    for image, said, picture in small:
        name, words = html.escape(names[image]), html.escape(said)
        source = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        inner = f'<img src="{source}" alt=""><b>{name}</b><small>{words}</small>'
        buttons.append(
            f'<button type="button" class="see" data-do="image" data-image="{image}" title="{name}: {words}">'
            f"{inner}</button>"
        )
    head = f'<p class="hint">The {len(small)} images with the most errors, the worst first; press one to see it.</p>'
    return f'<div data-name="{page.name}">{head}<div class="strip">{"".join(buttons)}</div></div>'


def map_picture(score_map: np.ndarray, mask: np.ndarray, low: float, high: float) -> bytes:
    """A map in the colours of Viridis from low to high, the outline of its mask in white, as .png."""
    step = max(1, -(-max(score_map.shape) // SIDE))
    shares = np.clip((score_map[::step, ::step] - low) / ((high - low) or 1), 0, 1) * (len(_HEAT) - 1)
    channels = [np.interp(shares, range(len(_HEAT)), channel) for channel in zip(*_HEAT)]
    pixels = np.stack(channels, axis=-1).round().astype(np.uint8)
    inside = np.pad(mask[::step, ::step] > 0, 1)
    core = inside[1:-1, 1:-1]
    whole = core & inside[2:, 1:-1] & inside[:-2, 1:-1] & inside[1:-1, 2:] & inside[1:-1, :-2]
    if max(score_map.shape) > SIDE // 4:  # of a smaller one it would be most of the picture
        pixels[core & ~whole] = 255
    image = Image.fromarray(pixels)
    scale = SIDE // max(pixels.shape[:2])
    if scale > 1:
        image = image.resize((scale * image.width, scale * image.height), Image.Resampling.NEAREST)
    return as_png(image)


def box_picture(boxes: Sequence[tuple[Sequence[float], str]], width: float, height: float) -> bytes:
    """Boxes, xyxy and colour of each, on a plain ground of some width and height, as .png."""
    scale = SIDE / (max(width, height) or 1)
    image = Image.new("RGB", (max(1, round(scale * width)), max(1, round(scale * height))), "#e4e4e7")
    draw = ImageDraw.Draw(image)
    for corners, color in boxes:
        left, top, right, bottom = (float(np.clip(scale * side, -1, SIDE + 1)) for side in corners)
        if left <= right and top <= bottom:
            draw.rectangle((left, top, right, bottom), outline=color, width=2)
    return as_png(image)


def as_png(image: Any) -> bytes:
    """A picture as the content of a .png file."""
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()
