"""The right half of a page (below, on a narrow screen): numbers, pictures, and what can be taken away."""

from __future__ import annotations

import re
from typing import Any

import gradio as gr

from ..page import Page
from ..serving.limits import MAX_POINTS
from .comparison import TEXT_FORMS


class Outputs:
    """The numbers, the pictures, and the result as Python, tables and JSON; hidden until there are any.

    photographs: what lies behind images
    texts: the results side by side as text, where there are several detectors or groups
    json: the numbers in full
    token: by which what was computed is kept
    """

    def __init__(self, page: Page) -> None:
        """Make the components, in the current `gr.Blocks`."""
        name = page.name
        hint = '<p class="hint">Press Compute: the numbers and pictures appear here.</p>'
        self.hint = gr.HTML(hint, apply_default_css=False)
        self.token = gr.Textbox(visible=False)
        with gr.Column(visible=False, elem_id=f"{name}-results") as self.results:
            self.detector = gr.Radio([], label="Shown in full below", visible=False, elem_id=f"{name}-detector")
            self.numbers = gr.HTML("", apply_default_css=False, elem_id=f"{name}-numbers")
            self.threshold = gr.HTML("", apply_default_css=False, elem_id=f"{name}-threshold")
            place, label = f"{name}-image", "Image shown"
            self.image = gr.Slider(1, 2, value=1, step=1, label=label, elem_id=place, visible=page.images)
            self.strip = gr.HTML("", apply_default_css=False, elem_id=f"{name}-strip", visible=page.images)
            self.plots = [_picture(name, i, title) for i, title in enumerate(page.pictures)]
            behind = "Photographs behind the images, by name (PNG, JPEG, .zip)"
            with gr.Accordion(behind, open=False, visible=page.images):
                kinds = [".png", ".jpg", ".jpeg", ".zip"]
                self.photographs = gr.File(label="Photographs", file_types=kinds, file_count="multiple", height=92)
            self.worst = gr.HTML("", apply_default_css=False, elem_id=f"{name}-worst")
            with gr.Tabs():
                with gr.Tab("Python"):
                    self.call = _code("python", "The same result")
                with gr.Tab("Tables", visible=False, elem_id=f"{name}-tables") as self.texts_tab:
                    self.texts = [_code(None, words) for words in TEXT_FORMS.values()]
                with gr.Tab("JSON"):
                    self.json = _code("json", "In full")
                    self.download = gr.Button("Download JSON", size="sm", elem_id=f"{name}-download")
                with gr.Tab("Cite"):
                    self.cite = _code(None, "A sentence for the paper, and BibTeX")
            self.report = gr.HTML("", apply_default_css=False, elem_id=f"{name}-report")
            drawn = f"Curves are drawn with at most {MAX_POINTS:,} points."
            gr.HTML(f'<p class="hint">{drawn}</p>', apply_default_css=False)


def _code(language: Any, label: str) -> Any:
    return gr.Code(language=language, interactive=False, label=label, buttons=["copy"], max_lines=20)


def _picture(name: str, place: int, title: str) -> Any:
    """A picture, and below it the buttons to take it away by."""
    plot = gr.Plot(label=title, elem_id=f"{name}-plot{place}")
    words = re.sub(r"\bcurves?\b", "", title.lower())
    file = "_".join([name, *re.findall(r"[a-z0-9]+", words)])
    buttons = "".join(
        f'<button type="button" data-do="take" data-form="{form}" aria-label="{title} as {said}">{said}</button>'
        for form, said in (("svg", "SVG"), ("png", "PNG × 3"), ("csv", "CSV"))
    )
    data = f'data-plot="{name}-plot{place}" data-file="{file}" data-title="{title}"'
    gr.HTML(f'<div class="take" {data}>{buttons}</div>', apply_default_css=False)
    return plot
