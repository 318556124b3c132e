"""Handlers for the events of a page's inputs: examples, uploads, pasted cells and choices of columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import gradio as gr
import pandas as pd

from ...reading.maps.maps import MapSizeError
from ...reading.reading import LeftOutError
from ...reading.rows.kinds import RESIZED, Maps
from ...reading.rows.metrics import LAYOUTS
from ..data import Data, read
from ..form.address import from_query, options_of_title, place_of, query_of, query_of_place
from ..form.controls import options_of, shown
from ..form.form import OWN, PASTED, TABLE, Form, data_frame, looked_at, sample_of, titles, with_sample
from ..form.looking import Look, look
from ..form.pasted import read_pasted
from ..page import CONFIDENCE
from ..results.message import message
from ..runner import Runner, explain
from ..serving.ending import bounded

Changes = dict[str, Any]  # updates of the components of `parts.Inputs` and `Form` by name
_LOOK = ("read", "panel", "flip", "leave", "resize", "leave_out", "made_of", "looked", "options")
AGAIN = ("message", *_LOOK)
LOOKED = ("read", "looked")
PROPOSAL = ("read", "proposed")
LOAD = ("place", "example", "held", "tables", "read_as", "photographs", *_LOOK)


class _Failure(NamedTuple):
    """Why data cannot be used: what was read of them, the message, and what would resolve it.

    resizable: whether to resize the maps would
    number: the number of things that could be left out
    """

    reading: Data | None
    text: str
    resizable: bool = False
    number: int = 0


class Events:
    """Event handlers of a page's inputs, each from the form to changes of the form and of the notes beside it."""

    def __init__(self, runner: Runner) -> None:
        self.runner, self.page, self.folder = runner, runner.page, runner.folder

    def load(self, title: str, held: Mapping[str, Any] | None = None) -> Changes:
        """Show an example with its options; those in `held`, which come from a link, take precedence."""
        page = self.page
        if title in (OWN, PASTED):  # the user's own data are shown already
            return {}
        title = title if title in titles(page) else titles(page)[0]
        sample = sample_of(page, title)
        example = next((one for one in page.examples if f"{TABLE}{one.title}" == title), page.examples[0])
        usual = {**self.runner.defaults, **options_of_title(page, title)}
        options = {option.name: shown(option, usual[option.name]) for option in page.options} | dict(held or {})
        frames = [*map(data_frame, example.tables)]
        form = Form(title, frames, [None] * len(page.sources), options=options)
        note = sample.origin.html if sample else ""
        return {
            "example": gr.update(choices=titles(page), value=title),
            "held": title,
            "tables": [gr.update(value=frame, visible=sample is None) for frame in frames],
            "read_as": form.read_as,
            "photographs": gr.update(value=None),
            **self._changes(form, self._look(form, form.options), options, note),
        }

    def choose(self, form: Form) -> Changes:
        """Show the chosen example."""
        return self.load(form.example)

    def open(self, query: Mapping[str, str]) -> Changes:
        """Show the example and options in the address when the page is opened."""
        changes = self.load(query.get("example", ""), from_query(self.page, query))
        return {**changes, "place": query_of_place(place_of(query))}

    def upload(self, form: Form) -> Changes:
        """Preview uploaded files; the options of an example return to the metric's defaults."""
        if not form.uploaded:
            return self.load("")
        return {"tables": self._tables(visible=False), **self._own(form)}

    def own_table(self, form: Form) -> Changes:
        """Preview pasted cells."""
        return {"tables": self._tables(visible=True), **self._own(form._replace(files=[]), PASTED)}

    def settle(self, form: Form) -> Changes:
        """Show the data that the form now holds, since responses may arrive in another order than their events."""
        if form.uploaded and form.example != OWN:
            return self.upload(form)
        if form.example == OWN and not form.uploaded:
            return self.load("")
        return {} if form.is_looked_at else self._changes(form, self._look(form, form.options))

    def _tables(self, visible: bool) -> list[Any]:
        return [gr.update(visible=visible) for _ in self.page.sources]

    def _own(self, form: Form, title: str = OWN) -> Changes:
        """Preview the user's own data, with all rows at first."""
        options = dict(form.options)
        if form.example != title:
            options = {option.name: shown(option, self.runner.defaults[option.name]) for option in self.page.options}
        preview = self._look(form.guessed_anew()._replace(example=title, leave_out=False))
        if isinstance(preview, Look):
            options |= self._derived(preview)
        return {
            "example": gr.update(choices=[*titles(self.page), title], value=title),
            "held": title,
            **self._changes(form, preview, options),
        }

    def again(self, form: Form) -> Changes:
        """Refresh the preview after a change of columns; options stay."""
        return {"message": box(""), **self._changes(form, self._look(form, form.options))}

    def reason(self, form: Form) -> Changes:
        """Refresh the preview after a change of options that follow from the data: the reason may hold no more."""
        sample = sample_of(self.page, form.example)
        note = sample.origin.html if sample and not form.uploaded else ""
        changes = self._changes(form, self._look(form, form.options), note=note)
        return {name: changes[name] for name in LOOKED}

    def edit(self, form: Form) -> Changes:
        """Refresh the preview after a change of cells, which may be those of another table."""
        preview = self._look(form.guessed_anew() if form.has_other_headers else form, form.options)
        return {"message": box(""), **self._changes(form, preview)}

    def leave(self, form: Form) -> Changes:
        """Leave out the rows that cannot be read or, if they are left out, take them in again."""
        return self.again(form._replace(leave_out=not form.leave_out))

    def turn(self, form: Form) -> Changes:
        """Propose to flip the sign of scores that rank the wrong way round."""
        preview, column = self._look(form), LAYOUTS[self.page.name].scores()
        if column is None or isinstance(preview, _Failure) or not preview.flipped:
            return {"proposed": ""}
        return {"proposed": proposal(form, column.name, preview.flipped)}

    def fit(self, form: Form) -> Changes:
        """Propose to resize maps to their masks."""
        column = next((column for column in self.page.columns if isinstance(column, Maps)), None)
        try:
            reading = bounded(read, self.page, form.tables, form.files, form.chosen, form.read_as, form.leave_out)
            made_of = reading.made_of
        except MapSizeError:
            made_of = self.page.choices
        except Exception as error:  # as in _look
            return {"read": box(message(explain(error))), "proposed": ""}
        if column is None:
            return {"proposed": ""}
        names = [RESIZED + name.removeprefix(RESIZED) for name in made_of[column.name][:1]]
        return {"proposed": proposal(form, column.name, names)}

    def without(self, form: Form) -> Changes:
        """Compute without intervals: the option returns to none."""
        return {"options": {CONFIDENCE.name: gr.update(value="")}}

    def paste(self, text: str) -> Changes:
        """Make cells pasted from a spreadsheet the page's table, or show their error."""
        if not text.strip():
            raise gr.Error("nothing was pasted", visible=False, print_exception=False)
        try:
            frame: pd.DataFrame = read_pasted(text)
        except Exception as error:
            return {"read": box(message(explain(error)))}
        return {"table": gr.update(value=frame, visible=True)}

    def query(self, form: Form) -> str:
        """The query of the address: example and options."""
        return query_of(self.page, self.runner.defaults, form)

    def _look(self, form: Form, options: Mapping[str, Any] | None = None) -> Look | _Failure:
        """A preview of the data, or their error; with the form's options, as these are held beside it."""
        held = None if options is None else options_of(self.page.options, options, self.runner.defaults)
        form, reading = with_sample(self.page, self.folder, form), None
        try:
            reading = bounded(read, self.page, form.tables, form.files, form.chosen, form.read_as, form.leave_out)
            return bounded(look, reading, form.uploaded, held)
        except Exception as error:  # whatever it is, the user sees it beside the inputs
            number = error.number if isinstance(error, LeftOutError) else 0
            return _Failure(reading, explain(error), isinstance(error, MapSizeError), number)

    def _derived(self, preview: Look) -> dict[str, Any]:
        """The controls' values of options that follow from the data."""
        return {
            option.name: shown(option, preview.options[option.name])
            for option in self.page.options
            if option.name in preview.options
        }

    def _changes(
        self, form: Form, preview: Look | _Failure, options: Mapping[str, Any] | None = None, note: str = ""
    ) -> Changes:
        """Changes of the preview, of the buttons that correct the data, and of the columns and options."""
        reading = preview.reading
        changes: Changes = {"options": dict(options or {}), "looked": ""}
        if reading is not None:
            changes |= {"looked": looked_at(form, reading.made_of), "made_of": _fields(form, reading)}
        if isinstance(preview, _Failure):
            buttons = {"flip": gr.update(visible=False), "resize": gr.update(visible=preview.resizable)}
            buttons["leave"] = leave_button(preview.number, leaves_out=False, what="file")
            return {**changes, "read": box(note + message(preview.text)), **buttons, "leave_out": False}
        if preview.reading.missing:
            changes["panel"] = gr.update(open=True)
        return {
            **changes,
            "read": box(note + preview.html),
            "flip": gr.update(visible=bool(preview.flipped)),
            "resize": gr.update(visible=False),
            "leave": leave_button(
                preview.reading.num_unread, preview.reading.leaves_out, "file" if preview.reading.held else "row"
            ),
            "leave_out": preview.reading.leaves_out,
        }


def _fields(form: Form, reading: Data) -> dict[str, Any]:
    """Updates of the columns' fields; one that the data leave as it is may be in the user's hands meanwhile."""
    other = {name: names for name, names in reading.made_of.items() if names != form.chosen.get(name)}
    return {
        name: gr.update(choices=offers, **({"value": other[name]} if name in other else {}))
        for name, offers in reading.offers.items()
    }


def proposal(form: Form, column: str, names: Sequence[str]) -> str:
    """Other arrays for a column, as JSON: the place of its field, what that holds, and what it may hold instead."""
    return json.dumps([[*form.made_of].index(column), form.chosen[column], [*names]])


def leave_button(number: int, leaves_out: bool, what: str = "row") -> Any:
    """An update of the button that leaves out unreadable rows, or unpaired files, or takes them in again."""
    things = f"1 {what}" if number == 1 else f"{number:,} {what}s"
    return gr.update(value=f"{'Do not leave' if leaves_out else 'Leave'} out {things}", visible=number > 0)


def box(text: str) -> Any:
    """An update of a component with HTML, hidden if the text is empty."""
    return gr.update(value=text, visible=bool(text))
