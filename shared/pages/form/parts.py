"""The left half of a page: inputs, options, and the button. The right half is `outputs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import gradio as gr

from ..browser.layout import data_frame
from ..columns.columns import KINDS
from ..columns.guesses import guess
from ..columns.inputs import offered
from ..page import Page, argument_help, one_line
from ..reading.readers import READERS
from ..reading.uploads import read_table
from ..serving.limits import STATED
from .controls import control
from .form import titles


class Inputs(NamedTuple):
    """The components that a person fills in, and what is said beside them."""

    example: Any
    tables: list[Any]
    files: list[Any]
    pasted: list[Any]
    read: Any
    flip: Any
    leave: Any
    leave_out: Any
    panel: Any
    columns: list[Any]
    read_as: Any
    controls: list[Any]
    told: Any
    button: Any
    link: Any


def input_parts(page: Page, defaults: Mapping[str, Any], inputs_description: str) -> Inputs:
    """Data, the button, which stays in sight, and below it what columns are made of and the options."""
    help_of = argument_help(inputs_description)
    offered_titles = titles(page)
    first = page.samples[0].options if page.samples else page.examples[0].options
    example = gr.Dropdown(
        offered_titles,
        value=offered_titles[0],
        label="Example",
        filterable=False,
        elem_id=f"{page.name}-example",
    )
    files, pasted = _sources(page)
    read = gr.HTML("", visible=False, apply_default_css=False, elem_id=f"{page.name}-read")
    tables = _tables(page)
    flip = gr.Button("Turn the sign of these scores", size="sm", visible=False, elem_id=f"{page.name}-flip")
    leave = gr.Button("Leave out these rows", size="sm", visible=False, elem_id=f"{page.name}-leave")
    leave_out = gr.Checkbox(visible=False)
    with gr.Column(elem_classes="go", min_width=0):
        button = gr.Button("Compute", variant="primary", elem_id=f"{page.name}-compute")
    told = gr.HTML("", visible=False, apply_default_css=False, elem_id=f"{page.name}-told")
    with gr.Column(elem_classes="choices", min_width=0):
        with gr.Accordion("Columns", open=False, elem_id=f"{page.name}-columns") as panel:
            *columns, read_as = _mapping(page, help_of)
        with gr.Accordion("Options", open=True):
            controls = [
                control(
                    option,
                    first.get(option.name, defaults[option.name]),
                    defaults[option.name],
                    help_of[option.name],
                    f"{page.name}-option-{option.name}",
                )
                for option in page.options
            ]
        link = gr.Button("Copy link", size="sm", elem_id=f"{page.name}-link")
        gr.HTML(
            '<p class="hint">The link holds this page, the example and the options. Data do not travel with it.</p>'
        )
    return Inputs(
        example,
        tables,
        files,
        pasted,
        read,
        flip,
        leave,
        leave_out,
        panel,
        columns,
        read_as,
        controls,
        told,
        button,
        link,
    )


_DETECTORS = "The detector of each row, where there are several; each gives one row of results."


def _sources(page: Page) -> tuple[list[Any], list[Any]]:
    """For each source a place for files, and one for cells of a spreadsheet."""
    files, pasted = [], []
    for i, source in enumerate(page.sources):
        kinds = [*source.readers, *([".zip"] if source.readers else []), *READERS]
        label = f"Your own {source.label.lower()}: {', '.join(dict.fromkeys(kinds))}"
        place = f"{page.name}-file{i}"
        files.append(gr.File(label=label, file_count="multiple", file_types=kinds, height=92, elem_id=place))
    with gr.Accordion("Or paste cells of a spreadsheet", open=False, elem_id=f"{page.name}-paste"):
        for i, source in enumerate(page.sources):
            hint = "cells with or without names above, or text with commas, semicolons or tabs"
            place = f"{page.name}-pasted{i}"
            pasted.append(gr.Textbox(label=source.label, placeholder=hint, lines=3, max_lines=3, elem_id=place))
        gr.HTML(f'<p class="hint">{STATED}</p>', apply_default_css=False)
    return files, pasted


def _tables(page: Page) -> list[Any]:
    """An editable table for each source, out of sight while other data are chosen."""
    tables = []
    for i, source in enumerate(page.sources):
        table = data_frame(page.examples[0].tables[i])
        place, shown = f"{page.name}-table{i}", not page.samples
        tables.append(
            gr.Dataframe(table, label=source.label, interactive=True, max_height=320, elem_id=place, visible=shown)
        )
    return tables


def _mapping(page: Page, help_of: Mapping[str, str]) -> list[Any]:
    """For each column of the metric, what it is made of; and whether predictions hold scores or class ids."""
    parts: list[Any] = []
    data = [read_table(data_frame(table)) for table in page.examples[0].tables]
    offers, guesses = offered(page, data), guess(page, data)
    for column in page.columns:
        text = one_line(help_of.get(column.part_of or column.name, _DETECTORS))
        text += " The column image first, then the others in their order." if column.kind == "images" else ""
        parts.append(
            gr.Dropdown(
                offers[column.name],
                value=guesses[column.name],
                multiselect=True,
                allow_custom_value=True,
                label=f"{column.name} from" + ("" if column.required and not column.part_of else " (optional)"),
                info=text,
                elem_id=f"{page.name}-from-{column.name}",
            )
        )
    either = any(column.kind in ("matrix", "classes") for column in page.columns)
    text = "Whole numbers in the table are class ids unless you say otherwise."
    return [*parts, gr.Radio(list(KINDS), value=KINDS[0], label="predictions hold", info=text, visible=either)]
