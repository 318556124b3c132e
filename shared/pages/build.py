"""Build the page of a metric from its description (`page.Page`); every app.py is `launch(build(PAGE, folder))`.

    table or files ─ reading ─→ named arrays ─ assembly ─→ the metric's arguments ┐
    controls ─ form.controls ─→ the metric's options ─────────────────────────────┤ runner, serving.costs
                             ┌─ compute() ─→ results: table, JSON (results) ←─────┤
                             └─ state() ─→ kernel functions ─→ figures (Page.draw) ←┘

The numbers come from the metric that evaluate loads from the same folder. Each press of the button reads the inputs
again; the last computation is kept for a while (`kept`), to show another of its images or detectors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from .events.wiring import Wiring
from .form.parts import Inputs
from .page import Page
from .results.numbers import heading_html
from .results.outputs import Outputs
from .runner import Runner, explain
from .serving.ending import bounded
from .serving.launch import blocks

LOCAL = "**Your files stay on this machine.** It serves these pages to itself, and nothing is uploaded elsewhere."


def build(page: Page, folder: Path, *, local: bool = False) -> gr.Blocks:
    """Make the page of a metric; its script, kernel files and card are in `folder`.

    local: whether the page is served on the user's own machine; the page then says so
    """
    with blocks(page.name) as demo:
        if local:
            gr.Markdown(LOCAL, elem_classes="local")
        fill(page, folder, demo)
    return demo


def fill(page: Page, folder: Path, demo: gr.Blocks, endpoint: str = "compute") -> None:
    """Add a metric's page and its endpoint to `demo`, or to the page of `demo` that is being made."""
    runner = Runner(page, folder)
    gr.HTML(heading_html(page.name, page.question), apply_default_css=False, padding=False)
    with gr.Row(equal_height=False, elem_classes="halves"):
        with gr.Column(min_width=320, elem_classes="inputs-column"):
            inputs = Inputs(page, runner.defaults, runner.texts.inputs)
        with gr.Column(min_width=320, elem_classes="results-column"):
            outputs = Outputs(page)
    gr.Markdown(_card(folder, runner.texts.description), latex_delimiters=_LATEX, elem_classes="card")
    Wiring(runner, inputs, outputs).connect(demo)
    _add_api(runner, endpoint)


_LATEX = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]


def _card(folder: Path, description: str) -> str:
    """The card without its front matter, or the description if there is no card."""
    path = folder / "README.md"
    if not path.is_file():
        return description
    text = path.read_text(encoding="utf-8")
    return text.split("---\n", 2)[2] if text.startswith("---\n") else text


def _add_api(runner: Runner, endpoint: str) -> None:
    """Add the endpoint from columns and options by name to results. Errors carry the metric's own message."""

    def compute(columns: dict[str, Any], options: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return bounded(runner.results, columns, options or {})
        except Exception as error:
            raise gr.Error(explain(error), print_exception=False) from None

    gr.api(compute, api_name=endpoint, api_description=runner.texts.description.strip())
