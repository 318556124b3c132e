"""Events of a page's inputs: an example is chosen, files come, cells are pasted, columns are chosen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr
import pandas as pd

from ..assembly.direction import column_of_scores
from ..assembly.reading import read
from ..assembly.sizes import MapSizeError
from ..columns.arrays import RESIZED, Maps
from ..form.address import from_query, options_of_title, query_of
from ..form.controls import shown
from ..form.form import OWN, PASTED, TABLE, Form, data_frame, sample_of, titles, with_sample
from ..form.looking import Look, look
from ..page import CONFIDENCE
from ..reading.pasted import read_pasted
from ..results.message import message
from ..runner import Runner, explain
from ..serving.ending import bounded

Changes = dict[str, Any]  # updates of the components of `parts.Inputs` and `Form` by name
_LOOK = ("read", "panel", "flip", "leave", "resize", "leave_out", "made_of", "options")
AGAIN = ("message", *_LOOK)
LOAD = ("example", "tables", "read_as", "photographs", *_LOOK)


class _OtherSizes(str):
    """An error that says maps and masks differ in size."""


class Events:
    """The events of a page's inputs, each from the form to changes of the form and of the notes beside it."""

    def __init__(self, runner: Runner) -> None:
        self.runner, self.page, self.folder = runner, runner.page, runner.folder

    def load(self, title: str, held: Mapping[str, Any] | None = None) -> Changes:
        """Show an example, with its options or, from a link, `held` values of them."""
        page = self.page
        if title in (OWN, PASTED):  # is chosen already
            return {}
        title = title if title in titles(page) else titles(page)[0]
        sample = sample_of(page, title)
        example = next((one for one in page.examples if f"{TABLE}{one.title}" == title), page.examples[0])
        usual = {**self.runner.defaults, **options_of_title(page, title)}
        options = {option.name: shown(option, usual[option.name]) for option in page.options} | dict(held or {})
        frames = [*map(data_frame, example.tables)]
        form = Form(title, frames, [None] * len(page.sources), options=options)
        note = f"<p>{sample.note}</p>" if sample and sample.note else ""
        return {
            "example": gr.update(choices=titles(page), value=title),
            "tables": [gr.update(value=frame, visible=sample is None) for frame in frames],
            "read_as": form.read_as,
            "photographs": gr.update(value=None),
            **self._changes(self._look(form), options, note),
        }

    def choose(self, form: Form) -> Changes:
        """Show the example that is chosen."""
        return self.load(form.example)

    def open(self, query: Mapping[str, str]) -> Changes:
        """Show what the address says when the page is opened."""
        query = {} if query.get("tab", self.page.name) != self.page.name else query
        return self.load(query.get("example", ""), from_query(self.page, query))

    def upload(self, form: Form) -> Changes:
        """Look at files. The options of an example are not theirs: they return to the metric's defaults."""
        if not form.uploaded:
            return self.load("")
        return {"tables": self._tables(visible=False), **self._own(form)}

    def own_table(self, form: Form) -> Changes:
        """Look at cells that were pasted."""
        return {"tables": self._tables(visible=True), **self._own(form._replace(files=[]), PASTED)}

    def settle(self, form: Form) -> Changes:
        """Show the data that are there: answers may come in another order than what they answer was done in."""
        if form.uploaded and form.example != OWN:
            return self.upload(form)
        return self.load("") if form.example == OWN and not form.uploaded else {}

    def _tables(self, visible: bool) -> list[Any]:
        return [gr.update(visible=visible) for _ in self.page.sources]

    def _own(self, form: Form, title: str = OWN) -> Changes:
        """A look at a person's own data, of which all rows count at first."""
        options = dict(form.options)
        if form.example != title:
            options = {option.name: shown(option, self.runner.defaults[option.name]) for option in self.page.options}
        seen = self._look(form._replace(example=title, leave_out=False))
        if isinstance(seen, Look):
            options |= self._derived(seen)
        return {"example": gr.update(choices=[*titles(self.page), title], value=title), **self._changes(seen, options)}

    def again(self, form: Form) -> Changes:
        """Look again, after other columns were chosen or a cell was changed; options stay."""
        return {"message": box(""), **self._changes(self._look(form))}

    def leave(self, form: Form) -> Changes:
        """Look again without the rows that cannot be read, or with them where they are left out."""
        return self.again(form._replace(leave_out=not form.leave_out))

    def turn(self, form: Form) -> Changes:
        """Turn the sign of scores that rank the wrong way round."""
        seen, column = self._look(form), column_of_scores(self.page)
        if column is None or isinstance(seen, str) or not seen.flipped:
            return {}
        return {"made_of": {column.name: gr.update(value=seen.flipped)}}

    def fit(self, form: Form) -> Changes:
        """Make maps as large as their masks."""
        column = next((column for column in self.page.columns if isinstance(column, Maps)), None)
        try:
            reading = bounded(read, self.page, form.tables, form.files, form.chosen, form.read_as, form.leave_out)
        except Exception as error:  # as in _look
            return {"read": box(message(explain(error)))}
        if column is None:
            return {}
        names = [RESIZED + name.removeprefix(RESIZED) for name in reading.made_of[column.name]]
        return {"made_of": {column.name: gr.update(choices=reading.offers[column.name], value=names)}}

    def without(self, form: Form) -> Changes:
        """Compute without intervals: the option returns to none."""
        return {"options": {CONFIDENCE.name: gr.update(value="")}}

    def paste(self, text: str) -> Changes:
        """Take cells of a spreadsheet as the page's table, or show a message with their error."""
        if not text.strip():
            raise gr.Error("nothing was pasted", visible=False, print_exception=False)
        try:
            frame: pd.DataFrame = read_pasted(text)
        except Exception as error:
            return {"read": box(message(explain(error)))}
        return {"table": gr.update(value=frame, visible=True)}

    def query(self, form: Form) -> str:
        """The part of the address that says page, example and options."""
        return query_of(self.page, self.runner.defaults, form)

    def _look(self, form: Form) -> Look | str:
        """A look at the data, or their error as text."""
        form = with_sample(self.page, self.folder, form)
        try:
            reading = bounded(read, self.page, form.tables, form.files, form.chosen, form.read_as, form.leave_out)
            return bounded(look, reading, form.uploaded)
        except MapSizeError as error:
            return _OtherSizes(explain(error))
        except Exception as error:  # whatever it is, the person is told where they look
            return explain(error)

    def _derived(self, seen: Look) -> dict[str, Any]:
        """The values of controls for options that follow from the data."""
        return {
            option.name: shown(option, seen.options[option.name])
            for option in self.page.options
            if option.name in seen.options
        }

    def _changes(self, seen: Look | str, options: Mapping[str, Any] | None = None, note: str = "") -> Changes:
        """Changes of the preview, of the buttons that mend the data, and of the columns and options."""
        changes: Changes = {"options": dict(options or {})}
        if isinstance(seen, str):
            hidden = gr.update(visible=False)
            resize = gr.update(visible=isinstance(seen, _OtherSizes))
            buttons = {"flip": hidden, "leave": hidden, "leave_out": False, "resize": resize}
            return {**changes, "read": box(note + message(seen)), **buttons}
        reading = seen.reading
        if reading.missing:
            changes["panel"] = gr.update(open=True)
        return {
            **changes,
            "read": box(note + seen.html),
            "flip": gr.update(visible=bool(seen.flipped)),
            "resize": gr.update(visible=False),
            "leave": leave_button(reading.num_unread, reading.leaves_out),
            "leave_out": reading.leaves_out,
            "made_of": {
                name: gr.update(choices=offers, value=reading.made_of[name]) for name, offers in reading.offers.items()
            },
        }


def leave_button(num_rows: int, leaves_out: bool) -> Any:
    """An update of the button that leaves out rows that cannot be read, or takes them in again."""
    rows = "this row" if num_rows == 1 else f"these {num_rows:,} rows"
    return gr.update(value=f"{'Do not leave' if leaves_out else 'Leave'} out {rows}", visible=num_rows > 0)


def box(text: str) -> Any:
    """An update of a place for HTML, which is out of sight without any."""
    return gr.update(value=text, visible=bool(text))
