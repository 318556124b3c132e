"""The left half of a page: inputs, options, and the button. The right half is `outputs`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import gradio as gr

from .columns import KINDS
from .controls import control
from .guesses import guess
from .inputs import offered
from .layout import data_frame
from .limits import STATED
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
