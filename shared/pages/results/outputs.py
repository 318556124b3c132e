"""The right half of a page (below, on a narrow screen): numbers, pictures, and what can be taken away."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import gradio as gr

from ..page import Page
from ..serving.limits import MAX_POINTS
from .comparison import TEXT_FORMS


class Outputs(NamedTuple):
    """The components that show results."""

    hint: Any
    results: Any
    detector: Any
    numbers: Any
    threshold: Any
    image: Any
    strip: Any
    photograph: Any
    plots: list[Any]
    worst: Any
    call: Any
    tables_tab: Any
    tables: list[Any]
    full: Any
    cite: Any
    report: Any
    download: Any
    token: Any


def result_parts(page: Page) -> Outputs:
    """The numbers, the pictures, and the result as Python, tables and JSON; hidden until there are any."""
    name = page.name
    hint = gr.HTML('<p class="hint">Press Compute: the numbers and pictures appear here.</p>', apply_default_css=False)
    token = gr.Textbox(visible=False)
    with gr.Column(visible=False, elem_id=f"{name}-results") as results:
        detector = gr.Radio([], label="Shown in full below", visible=False, elem_id=f"{name}-detector")
        numbers = gr.HTML("", apply_default_css=False, elem_id=f"{name}-numbers")
        threshold = gr.HTML("", apply_default_css=False, elem_id=f"{name}-threshold")
        image = gr.Slider(1, 2, value=1, step=1, label="Image shown", elem_id=f"{name}-image", visible=page.images)
        strip = gr.HTML("", apply_default_css=False, elem_id=f"{name}-strip", visible=page.images)
        plots = [_picture(name, i, title) for i, title in enumerate(page.pictures)]
        with gr.Accordion("Photographs behind the images, by name (PNG, JPEG, .zip)", open=False, visible=page.images):
            kinds = [".png", ".jpg", ".jpeg", ".zip"]
            photograph = gr.File(label="Photographs", file_types=kinds, file_count="multiple", height=92)
        worst = gr.HTML("", apply_default_css=False, elem_id=f"{name}-worst")
        with gr.Tabs():
            with gr.Tab("Python"):
                call = _code("python", "The same result")
            with gr.Tab("Tables", visible=False, elem_id=f"{name}-tables") as tables_tab:
                tables = [_code(None, words) for words in TEXT_FORMS.values()]
            with gr.Tab("JSON"):
                full = _code("json", "In full")
                download = gr.Button("Download JSON", size="sm", elem_id=f"{name}-download")
            with gr.Tab("Cite"):
                cite = _code(None, "A sentence for the paper, and BibTeX")
        report = gr.HTML("", apply_default_css=False, elem_id=f"{name}-report")
        drawn = f"Curves are drawn with at most {MAX_POINTS:,} points."
        gr.HTML(f'<p class="hint">{drawn}</p>', apply_default_css=False)
    return Outputs(
        hint,
        results,
        detector,
        numbers,
        threshold,
        image,
        strip,
        photograph,
        plots,
        worst,
        call,
        tables_tab,
        tables,
        full,
        cite,
        report,
        download,
        token,
    )


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
