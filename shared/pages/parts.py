"""The two halves of a page: inputs with the button on the left, results on the right (below, on a narrow screen)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

import gradio as gr

from .columns import KINDS
from .controls import control
from .guesses import guess
from .inputs import offered
from .layout import data_frame
from .limits import MAX_POINTS, STATED
from .page import Page, argument_help, one_line
from .uploads import READERS, read_table


class Inputs(NamedTuple):
    """The components that a person fills in, and what is said beside them."""

    example: Any
    tables: list[Any]
    files: list[Any]
    read: Any
    columns: list[Any]
    read_as: Any
    controls: list[Any]
    told: Any
    button: Any


class Outputs(NamedTuple):
    """The components that show results."""

    hint: Any
    results: Any
    numbers: Any
    threshold: Any
    image: Any
    photograph: Any
    plots: list[Any]
    call: Any
    full: Any
    download: Any


def input_parts(page: Page, defaults: Mapping[str, Any], inputs_description: str) -> Inputs:
    """Example, tables and files, what columns are made of, options, and the button, which stays in sight."""
    help_of = argument_help(inputs_description)
    first = page.examples[0]
    titles = [example.title for example in page.examples]
    example = gr.Dropdown(titles, value=titles[0], label="Example", filterable=False, elem_id=f"{page.name}-example")
    tables, files = _sources(page)
    read = gr.HTML("", visible=False, apply_default_css=False, elem_id=f"{page.name}-read")
    with gr.Accordion("Columns", open=False, elem_id=f"{page.name}-columns"):
        *columns, read_as = _mapping(page, help_of)
    with gr.Accordion("Options", open=True):
        controls = [
            control(
                option,
                first.options.get(option.name, defaults[option.name]),
                defaults[option.name],
                help_of[option.name],
                f"{page.name}-option-{option.name}",
            )
            for option in page.options
        ]
    with gr.Column(elem_classes="go", min_width=0):
        told = gr.HTML("", visible=False, apply_default_css=False, elem_id=f"{page.name}-told")
        button = gr.Button("Compute", variant="primary", elem_id=f"{page.name}-compute")
    return Inputs(example, tables, files, read, columns, read_as, controls, told, button)


def _sources(page: Page) -> tuple[list[Any], list[Any]]:
    """An editable table and a place for files, for each source."""
    tables, files = [], []
    for i, source in enumerate(page.sources):
        table = data_frame(page.examples[0].tables[i])
        place = f"{page.name}-table{i}"
        tables.append(gr.Dataframe(table, label=source.label, interactive=True, max_height=320, elem_id=place))
        kinds = [*source.readers, *READERS]
        label = f"{source.label} from files instead: {', '.join(kinds)}"
        place = f"{page.name}-file{i}"
        files.append(gr.File(label=label, file_count="multiple", file_types=kinds, height=92, elem_id=place))
    gr.HTML(f'<p class="hint">{STATED}</p>', apply_default_css=False)
    return tables, files


def _mapping(page: Page, help_of: Mapping[str, str]) -> list[Any]:
    """For each column of the metric, what it is made of; and whether predictions hold scores or class ids."""
    parts: list[Any] = []
    data = [read_table(data_frame(table)) for table in page.examples[0].tables]
    offers, guesses = offered(page, data), guess(page, data)
    for column in page.columns:
        text = one_line(help_of[column.part_of or column.name])
        text += " The column image first, then the others in their order." if column.kind == "images" else ""
        parts.append(
            gr.Dropdown(
                offers[column.name],
                value=guesses[column.name],
                multiselect=True,
                allow_custom_value=True,
                label=f"{column.name} from",
                info=text,
                elem_id=f"{page.name}-from-{column.name}",
            )
        )
    either = any(column.kind in ("matrix", "classes") for column in page.columns)
    text = "Whole numbers in the table are class ids unless you say otherwise."
    return [*parts, gr.Radio(list(KINDS), value=KINDS[0], label="predictions hold", info=text, visible=either)]


def result_parts(page: Page) -> Outputs:
    """The numbers, the pictures, and the result as Python and as JSON; hidden until there are any."""
    hint = gr.HTML('<p class="hint">Press Compute: the numbers and pictures appear here.</p>', apply_default_css=False)
    with gr.Column(visible=False, elem_id=f"{page.name}-results") as results:
        numbers = gr.HTML("", apply_default_css=False, elem_id=f"{page.name}-numbers")
        threshold = gr.HTML("", apply_default_css=False, elem_id=f"{page.name}-threshold")
        image = gr.Slider(1, 2, value=1, step=1, label="Image shown", elem_id=f"{page.name}-image", visible=page.images)
        plots = [_picture(page.name, i, title) for i, title in enumerate(page.pictures)]
        with gr.Accordion("A photograph behind the image shown (PNG)", open=False, visible=page.images):
            photograph = gr.File(label="Photograph", file_types=[".png"], height=92)
        with gr.Tabs():
            with gr.Tab("Python"):
                call = gr.Code(language="python", interactive=False, label="The same result", buttons=["copy"])
            with gr.Tab("JSON"):
                full = gr.Code(language="json", interactive=False, label="In full", buttons=["copy"])
                download = gr.Button("Download JSON", size="sm", elem_id=f"{page.name}-download")
        drawn = f"Curves are drawn with at most {MAX_POINTS:,} points."
        gr.HTML(f'<p class="hint">{drawn}</p>', apply_default_css=False)
    return Outputs(hint, results, numbers, threshold, image, photograph, plots, call, full, download)


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
