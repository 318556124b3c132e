"""The images with the most errors as a strip of thumbnails; a click shows the image."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

from ..figures.computed import Computed
from ..page import Page

MAX_SMALL = 24  # the most thumbnails


def image_names(computed: Computed, count: int) -> list[str]:
    """Labels of the images: their numbers, from 1, and file names."""
    names = [*computed.names][:count]
    return [f"{i + 1} · {names[i]}" if i < len(names) else f"image {i + 1}" for i in range(count)]


def strip_html(page: Page, computed: Computed, names: Sequence[str]) -> str:
    """The strip of a page with images; "" for other pages, and if no image has an error."""
    small = page.thumbnails(computed, min(len(names), MAX_SMALL)) if page.thumbnails and len(names) > 1 else []
    if not small:
        return ""
    buttons = []
    for image, caption, picture in small:
        name, words = html.escape(names[image]), html.escape(caption)
        source = f"data:image/png;base64,{base64.b64encode(picture).decode()}"
        inner = f'<img src="{source}" alt=""><b>{name}</b><small>{words}</small>'
        buttons.append(
            f'<button type="button" class="see" data-do="image" data-image="{image}" title="{name}: {words}">'
            f"{inner}</button>"
        )
    head = f'<p class="hint">Most errors first: {len(small)} of {len(names)} images.</p>'
    return f'<div data-name="{page.name}">{head}<div class="strip">{"".join(buttons)}</div></div>'
