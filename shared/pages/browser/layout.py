"""The theme, style sheets and scripts of the pages, as Gradio takes them."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import gradio as gr

# system fonts: nothing is fetched from elsewhere
THEME = gr.themes.Default(
    primary_hue="blue", font=["system-ui", "sans-serif"], font_mono=["ui-monospace", "monospace"]
).set(
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
    block_info_text_color="*neutral_600",
    block_info_text_color_dark="*neutral_300",
    block_label_text_color="*neutral_700",
    block_label_text_color_dark="*neutral_200",
    checkbox_border_color="*neutral_400",
    checkbox_border_color_dark="*neutral_400",
    block_background_fill_dark="*neutral_900",  # the colours of the figures have a contrast of at least 3 on it
    slider_color="*neutral_700",
    slider_color_dark="*neutral_200",
    # colour belongs to data: buttons and tabs are neutral
    button_primary_background_fill="*neutral_900",
    button_primary_background_fill_hover="*neutral_700",
    button_primary_text_color="white",
    button_primary_background_fill_dark="*neutral_100",
    button_primary_background_fill_hover_dark="*neutral_300",
    button_primary_text_color_dark="*neutral_900",
)
SCRIPTS, STYLES = ("streams.js", "events.js", "copying.js", "page.js"), ("page.css", "inputs.css")
ABOVE = ("nav.css",)  # of what stands above a page, where gradio's argument `css` does not reach


def _text(names: Sequence[str]) -> str:
    return "".join(files(__package__).joinpath(name).read_text(encoding="utf-8") for name in names)


VIEWPORT = '<meta name="viewport" content="width=device-width, initial-scale=1">'
HEAD = f"{VIEWPORT}<script>{_text(SCRIPTS)}</script><style>{_text(ABOVE)}</style>"
CSS = _text(STYLES)


def in_browser(event: str, name: str, *numbers: int) -> str:
    """JavaScript that calls an event of events.js with a metric's name, the numbers, and the components' values."""
    first = ", ".join([repr(name), *map(str, numbers)])
    return f"(...values) => openworldMetrics.{event}({first}, ...values)"
