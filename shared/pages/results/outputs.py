"""Build the right half of a page (the lower half on a narrow screen): numbers, figures and exports."""

from __future__ import annotations

import re
from typing import Any

import gradio as gr

from ..page import Page
from ..serving.limits import MAX_POINTS
from .comparison import PERCENT_FORMS, TEXT_FORMS

IN_FRACTIONS, IN_PERCENT = "in-fractions", "in-percent"  # of which the page shows one; see page.css


class Outputs:
    """The components of numbers, figures, and results as Python, tables and JSON; hidden until there are results.

    photographs: files to show behind images
    texts: the comparison as text, if there are several detectors or groups
    in_percent: those that follow the switch of the page, and the sentence to cite, in percent
    json: the numbers in full
    token: identifies the last computation on the server
    stamp: identifies in the browser the inputs of the last computation
    selection: the bar or the cell whose samples are listed, as JSON
    """

    def __init__(self, page: Page) -> None:
        """Make the components, in the current `gr.Blocks`."""
        name = page.name
        hint = '<p class="hint">Results appear here.</p>'
        self.hint = gr.HTML(hint, apply_default_css=False)
        self.token, self.place, self.stamp = (gr.Textbox(visible=False) for _ in range(3))
        self.selection = gr.Textbox(elem_id=f"{name}-asked", elem_classes="unseen")  # which page.js fills
        with gr.Column(visible=False, elem_id=f"{name}-results") as self.results:
            self.compared = _html(f"{name}-compared")
            words = "Add 95 % intervals and comparisons"
            self.add = gr.Button(words, size="sm", visible=False, elem_id=f"{name}-add")
            self.detector = gr.Radio(
                [], label="Details for", visible=False, container=False, elem_id=f"{name}-detector"
            )
            self.numbers = _html(f"{name}-numbers")
            place, label = f"{name}-image", "Image shown"
            with gr.Column(elem_classes="pictures", min_width=0):
                self.plots = self._pictures(page)
            self.image = gr.Slider(1, 2, value=1, step=1, label=label, elem_id=place, visible=page.images)
            behind = "Add photos with the names of the images (PNG, JPEG, .zip)"
            with gr.Accordion(behind, open=False, visible=page.images):
                kinds = [".png", ".jpg", ".jpeg", ".zip"]
                self.photographs = gr.File(label="Photographs", file_types=kinds, file_count="multiple", height=92)
            self.worst = _html(f"{name}-worst")
            self.more = _html(f"{name}-more")
            with gr.Tabs():
                with gr.Tab("Python"):
                    self.call = _code("python", "Code for these results")
                with gr.Tab("Tables", visible=False, elem_id=f"{name}-tables") as self.texts_tab:
                    self.texts, self.in_percent = [], []
                    for form, words in TEXT_FORMS.items():
                        self.texts.append(_code(None, words, IN_FRACTIONS if form in PERCENT_FORMS else None))
                        if form in PERCENT_FORMS:
                            self.in_percent.append(_code(None, words, IN_PERCENT))
                with gr.Tab("JSON"):
                    self.json = _code("json", "All digits")
                    self.download = gr.Button("Download JSON", size="sm", elem_id=f"{name}-download")
                with gr.Tab("Cite"):
                    words = "A sentence for the paper, and BibTeX"
                    self.cite = _code(None, words, IN_FRACTIONS)
                    self.in_percent.append(_code(None, words, IN_PERCENT))
            self.report = gr.HTML("", apply_default_css=False, elem_id=f"{name}-report")
            drawn = f"Curves of more than {MAX_POINTS:,} points are thinned; numbers use all."
            gr.HTML(f'<p class="hint">{drawn}</p>', apply_default_css=False)

    def _pictures(self, page: Page) -> list[Any]:
        """Make the figures, with the slider and the strip between their rows."""
        plots = []
        for i, title in enumerate(page.pictures):
            width = page.widths[i] if i < len(page.widths) else 2
            with gr.Column(elem_classes=["picture", f"of{width}"], min_width=0):
                plots.append(_picture(page.name, i, title))
            if i == min(page.slider_below, len(page.pictures) - 1):
                self.threshold = _html(f"{page.name}-threshold", "whole")
                self.listed = _html(f"{page.name}-listed", "whole")
            if i == min(page.strip_below, len(page.pictures) - 1):
                self.strip = _html(f"{page.name}-strip", "whole", visible=page.images)
        return plots


def _html(place: str, kind: str = "", visible: bool = True) -> Any:
    return gr.HTML(
        "", apply_default_css=False, padding=False, elem_id=place, elem_classes=kind or None, visible=visible
    )


def _code(language: Any, label: str, kind: str | None = None) -> Any:
    return gr.Code(language=language, interactive=False, label=label, buttons=["copy"], max_lines=20, elem_classes=kind)


def _picture(name: str, place: int, title: str) -> Any:
    """Make a figure, below its title and the buttons that save it."""
    words = re.sub(r"\bcurves?\b", "", title.lower())
    file = "_".join([name, *re.findall(r"[a-z0-9]+", words)])
    buttons = "".join(
        f'<button type="button" data-do="take" data-form="{form}" aria-label="Save {title} as {said}">{said}</button>'
        for form, said in (("svg", "SVG"), ("png", "PNG"), ("csv", "CSV"))
    )
    save = f'<details class="save"><summary aria-label="Save {title}">Save</summary><span>{buttons}</span></details>'
    data = f'data-plot="{name}-plot{place}" data-file="{file}" data-title="{title}"'
    gr.HTML(f'<div class="take" {data}><h2>{title}</h2>{save}</div>', apply_default_css=False, padding=False)
    return gr.Plot(show_label=False, container=False, elem_id=f"{name}-plot{place}")
