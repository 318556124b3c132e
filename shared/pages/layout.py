"""How the pages look: theme, style sheet, tables and the card."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import pandas as pd

from .page import Table

# fonts of the system: nothing is fetched from elsewhere
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
)
HEAD = '<meta name="viewport" content="width=device-width, initial-scale=1">'
CSS = """
.gradio-container { max-width: 1280px !important; overflow: clip !important; }
.heading h1 { margin-bottom: 0; }
.hint { color: var(--body-text-color-subdued); font-size: var(--text-sm); margin: 0; }
.go { position: sticky; bottom: 8px; z-index: 40; }
[data-testid="upload-icon"] { display: none !important; }
[data-testid="upload-text"] { flex-direction: row !important; gap: 0.5em; padding-top: 2.2em !important; }
[data-testid="upload-text"] { font-size: var(--text-sm) !important; min-height: 0 !important; }
[id$="-example"] input { text-overflow: ellipsis; padding-right: 1.2em !important; }
.message { padding: 0.6em 0.8em; border-radius: 6px; border: 1px solid; overflow-wrap: anywhere; }
.message.error { border-color: #ef4444; background: color-mix(in srgb, #ef4444 14%, var(--body-background-fill)); }
.message.note { border-color: var(--border-color-primary); }
.message.note { background: color-mix(in srgb, #3b82f6 10%, var(--body-background-fill)); }
.results-column table.results { width: 100%; margin: 0; border-collapse: collapse; font-size: var(--text-lg); }
table.results { scroll-margin-top: 12px; }
table.results th { text-align: left; font-weight: 500; overflow-wrap: anywhere; }
table.results td { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
table.results tr { border-bottom: 1px solid var(--border-color-primary); }
table.results th, table.results td { padding: 0.35em 0.5em; }
table.results span { cursor: help; }
.js-plotly-plot text { fill: var(--body-text-color) !important; }
.js-plotly-plot .hoverlayer text { fill: white !important; }
.card { margin-top: 2em; }
.card table { display: block; overflow-x: auto; border: none; }
.card th, .card td { min-width: 7em; word-break: normal !important; overflow-wrap: normal !important; }
.card .katex-display { overflow-x: auto; overflow-y: hidden; padding-bottom: 4px; }
.card pre { overflow-x: auto; }
"""


def data_frame(table: Table) -> pd.DataFrame:
    """A table of an example as a data frame."""
    return pd.DataFrame(dict(table))


def card_text(folder: Path, description: str) -> str:
    """The text of the card without its front matter; the description where there is no card."""
    path = folder / "README.md"
    if not path.is_file():
        return description
    text = path.read_text(encoding="utf-8")
    return text.split("---\n", 2)[2] if text.startswith("---\n") else text
