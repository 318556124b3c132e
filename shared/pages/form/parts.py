"""Build the left half of a page: inputs, options and the button. The right half is `results.outputs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from ...reading.rows.inputs import table_of_frame
from ...reading.rows.kinds import READ_AS, Images
from ...reading.rows.metrics import LAYOUTS, guessed, offered
from ...reading.tables.files import SUFFIXES
from ..page import Page, argument_help, one_line
from ..serving.limits import STATED
from .address import options_of_title
from .controls import control
from .form import Form, data_frame, looked_at, titles


class Inputs:
    """The components of data and columns, the button, which stays in sight, and the options.

    form: the components that hold values
    pasted: text boxes for cells of a spreadsheet, one for each source
    held: the title of the data that the page holds; that of the example may have been chosen since
    read, message: the preview, and errors
    flip, leave, resize: buttons that flip signs, leave rows out, and resize maps to masks
    without: a button beside the error of intervals that take too long
    panel: the accordion of columns
    """

    def __init__(self, page: Page, defaults: Mapping[str, Any], inputs_description: str) -> None:
        """Make the components, in the current `gr.Blocks`."""
        name, help_of = page.name, argument_help(inputs_description)
        examples = titles(page)
        place = f"{name}-example"
        example = gr.Dropdown(examples, value=examples[0], label="Example", filterable=False, elem_id=place)
        self.held = gr.Textbox(examples[0], visible=False)
        files, self.pasted = _sources(page)
        self.read = gr.HTML("", visible=False, apply_default_css=False, elem_id=f"{name}-read")
        tables = _tables(page)
        self.flip = gr.Button("Flip the sign of these scores", size="sm", visible=False, elem_id=f"{name}-flip")
        self.leave = gr.Button("Leave out these rows", size="sm", visible=False, elem_id=f"{name}-leave")
        words = "Resize maps to masks (bilinear)"
        self.resize = gr.Button(words, size="sm", visible=False, elem_id=f"{name}-resize")
        leave_out = gr.Checkbox(visible=False)
        with gr.Column(elem_classes="go", min_width=0):
            self.button = gr.Button("Compute", variant="primary", elem_id=f"{name}-compute")
        self.message = gr.HTML("", visible=False, apply_default_css=False, elem_id=f"{name}-told")
        words = "Compute without intervals"
        self.without = gr.Button(words, size="sm", visible=False, elem_id=f"{name}-without")
        with gr.Column(elem_classes="choices", min_width=0):
            with gr.Accordion("Columns", open=False, elem_id=f"{name}-columns") as self.panel:
                made_of, read_as = _columns(page, help_of), _read_as(page)
            with gr.Accordion("Options", open=True):
                options = _options(page, defaults, help_of)
            self.link = gr.Button("Copy link", size="sm", elem_id=f"{name}-link")
            kept = "example, options, detector, image and threshold"
            hint = f"The link opens this page with the same {kept}. Your data stay here."
            gr.HTML(f'<p class="hint">{hint}</p>')
        first = Form(tables=[*map(data_frame, page.examples[0].tables)])
        looked = gr.Textbox(looked_at(first, {name: field.value for name, field in made_of.items()}), visible=False)
        self.form = Form(example, tables, files, made_of, read_as, options, leave_out, looked)


def _options(page: Page, defaults: Mapping[str, Any], help_of: Mapping[str, str]) -> dict[str, Any]:
    """Make the control of each option, with its value in the first example."""
    first = options_of_title(page, titles(page)[0])
    return {
        option.name: control(
            option,
            first.get(option.name, defaults[option.name]),
            defaults[option.name],
            help_of[option.name],
            f"{page.name}-option-{option.name}",
        )
        for option in page.options
    }


_DETECTORS = "The detector of each row, if there are several; each detector gets one row of results."


def _sources(page: Page) -> tuple[list[Any], list[Any]]:
    """Make a file input and a text box for cells of a spreadsheet, for each source."""
    files, pasted = [], []
    for i, source in enumerate(page.sources):
        kinds = [*source.kinds, ".zip", *(suffix for suffix in SUFFIXES if suffix != ".pt")]
        label = f"Your own {source.label.lower()}: {', '.join(dict.fromkeys(kinds))}"
        place, height = f"{page.name}-file{i}", 60 + 16 * -(-len(label) // 42)  # below all lines of the label
        files.append(gr.File(label=label, file_count="multiple", file_types=kinds, height=height, elem_id=place))
    with gr.Accordion("Or paste cells of a spreadsheet", open=False, elem_id=f"{page.name}-paste"):
        for i, source in enumerate(page.sources):
            hint = "cells with or without names above, or text with commas, semicolons or tabs"
            place = f"{page.name}-pasted{i}"
            pasted.append(gr.Textbox(label=source.label, placeholder=hint, lines=3, max_lines=3, elem_id=place))
        gr.HTML(f'<p class="hint">{STATED}</p>', apply_default_css=False)
    return files, pasted


def _tables(page: Page) -> list[Any]:
    """Make an editable table for each source, hidden while other data are chosen."""
    tables = []
    for i, source in enumerate(page.sources):
        table = data_frame(page.examples[0].tables[i])
        place = f"{page.name}-table{i}"
        tables.append(
            gr.Dataframe(
                table, label=source.label, interactive=True, max_height=320, elem_id=place, visible=not page.samples
            )
        )
    return tables


def _columns(page: Page, help_of: Mapping[str, str]) -> dict[str, Any]:
    """Make the dropdown of arrays for each column of the metric."""
    layout = LAYOUTS[page.name]
    data = [table_of_frame(data_frame(table)) for table in page.examples[0].tables]
    offers, guesses = offered(layout, data), guessed(layout, data)
    parts = {}
    for column in page.columns:
        text = one_line(help_of.get(column.part_of or column.name, _DETECTORS))
        text += " The column image first, then the others in their order." if isinstance(column, Images) else ""
        parts[column.name] = gr.Dropdown(
            offers[column.name],
            value=guesses[column.name],
            multiselect=True,
            allow_custom_value=True,
            label=f"{column.name} from" + ("" if column.required and not column.part_of else " (optional)"),
            info=text,
            elem_id=f"{page.name}-from-{column.name}",
        )
    return parts


def _read_as(page: Page) -> Any:
    """Make the choice whether whole numbers are scores or class ids."""
    either = any(column.is_read_as for column in page.columns)
    text = "Whole numbers in the table are class ids unless you say otherwise."
    return gr.Radio(list(READ_AS), value=READ_AS[0], label="Whole numbers are", info=text, visible=either)
