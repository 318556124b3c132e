"""How the pages look: theme, style sheet, tables and the card."""

from __future__ import annotations

from pathlib import Path

import gradio as gr
import pandas as pd

from ..page import Table
from .script import SCRIPT

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
    block_background_fill_dark="*neutral_900",  # on which the colours of the pictures have a contrast of 3
    slider_color="*primary_600",
)
HEAD = f'<meta name="viewport" content="width=device-width, initial-scale=1"><script>{SCRIPT}</script>'
CSS = """
.gradio-container { max-width: 1280px !important; overflow: clip !important; }
.heading h1 { margin-bottom: 0; }
.hint { color: var(--body-text-color-subdued); font-size: var(--text-sm); margin: 0; }
.go { position: sticky; bottom: 0; z-index: 40; padding: 8px 0; background: var(--body-background-fill); }
html { scroll-padding: 12px 0 80px; }
[data-testid="upload-icon"] { display: none !important; }
[data-testid="upload-text"] { flex-direction: row !important; gap: 0.5em; padding-top: 2.2em !important; }
[data-testid="upload-text"] { font-size: var(--text-sm) !important; min-height: 0 !important; }
[id$="-example"] input { text-overflow: ellipsis; padding-right: 1.2em !important; }
.message { padding: 0.6em 0.8em; border-radius: 6px; border: 1px solid; overflow-wrap: anywhere; }
.message.error { border-color: #ef4444; background: color-mix(in srgb, #ef4444 14%, var(--body-background-fill)); }
.message.note { border-color: var(--border-color-primary); }
.message.note { background: color-mix(in srgb, #3b82f6 10%, var(--body-background-fill)); }
table.results { width: 100%; margin: 0 0 0.6em; border-collapse: collapse; scroll-margin-top: 12px; }
table.results.large { font-size: var(--text-xl); }
table.results caption { text-align: left; color: var(--body-text-color-subdued); padding: 0.5em 0.5em 0.1em; }
table.results th { text-align: left; font-weight: 500; overflow-wrap: anywhere; }
table.results th small { display: block; font-weight: 400; font-size: var(--text-sm); }
table.results th small { color: var(--body-text-color-subdued); overflow-wrap: normal; }
table.results td { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
table.results tr { border-bottom: 1px solid var(--border-color-primary); }
table.results th, table.results td { padding: 0.35em 0.5em; }
table.results thead th { white-space: nowrap; text-align: right; overflow-wrap: normal; }
table.results thead th:first-child, table.samples td:first-child { text-align: left; }
table.results .best { font-weight: 700; }
table.results.compared td:first-child, table.results.compared th:first-child { text-align: left; }
@keyframes appear { from { opacity: 0.2; } }
.new { animation: appear 0.4s; }
.way { font-style: normal; color: var(--body-text-color-subdued); display: inline-block; min-width: 0.9em; }
.wide { overflow-x: auto; margin: 0.3em 0; }
.wide table { width: auto; min-width: 100%; }
.wide table.results th { overflow-wrap: normal; white-space: nowrap; }
.switch { display: flex; flex-wrap: wrap; gap: 6px; margin: 0.3em 0 0.6em; }
.switch button, .take button, .report button, button.see {
  border: 1px solid var(--border-color-primary); border-radius: 6px; padding: 0.2em 0.7em; cursor: pointer;
  font-size: var(--text-sm); color: var(--body-text-color); background: var(--block-background-fill); }
.switch button[aria-pressed=true] { border-color: var(--body-text-color); box-shadow: inset 0 0 0 1px; }
.switch button:hover, .take button:hover, .report button:hover, button.see:hover { border-color: currentcolor; }
.threshold .wide table.results thead th { white-space: normal; }
.threshold label { display: flex; justify-content: space-between; font-weight: 500; }
.threshold output { font-variant-numeric: tabular-nums; }
.threshold input[type=range] { width: 100%; height: 24px; accent-color: var(--body-text-color); margin: 4px 0; }
.block input[type=range]::-webkit-slider-thumb { background-color: #0072b2 !important; }
.block input[type=range]::-moz-range-thumb { background-color: #0072b2 !important; }
.rates { display: flex; flex-wrap: wrap; gap: 0.4em 1.4em; margin: 0.4em 0; }
.rates dt { color: var(--body-text-color-subdued); font-size: var(--text-sm); }
.rates dd { margin: 0; font-variant-numeric: tabular-nums; font-size: var(--text-lg); }
.take { display: flex; gap: 6px; justify-content: flex-end; margin-top: -8px; }
.strip { display: flex; gap: 8px; overflow-x: auto; padding: 4px 0; }
button.see[aria-pressed=true] { border-color: var(--body-text-color); box-shadow: inset 0 0 0 1px; }
.strip button.see { flex: 0 0 auto; width: 116px; padding: 4px; text-align: left; }
.strip img { display: block; width: 106px; height: 106px; object-fit: contain; }
.strip b, .strip small { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.js-plotly-plot text { fill: var(--body-text-color) !important; }
.js-plotly-plot .annotation text, .js-plotly-plot .hoverlayer text { fill: white !important; }
.js-plotly-plot .hoverlayer path { fill: #27272a !important; stroke: #a1a1aa !important; }
.js-plotly-plot .modebar { display: none !important; }
button[role=tab].selected { color: var(--body-text-color) !important; }
.cm-content span { color: var(--body-text-color) !important; }
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
