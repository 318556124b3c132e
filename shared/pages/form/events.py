"""What happens to a page's inputs: an example is chosen, files come, cells are pasted, columns are chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gradio as gr
import pandas as pd

from ..browser.layout import data_frame
from ..columns.columns import KINDS
from ..page import Page
from ..reading.pasted import read_pasted
from ..reading.sources import checked_sources
from ..results.results import message
from ..runner import Runner, explain
from ..serving.ending import bounded
from .address import from_query, query_of
from .controls import shown
from .form import OWN, TABLE, Form, as_names, form_of, sample_of, titles, with_sample
from .looking import Seen, look


class Forms:
    """The events of a page's inputs, each from the values of its inputs to updates of them."""

    def __init__(self, runner: Runner, folder: Path) -> None:
        self.runner, self.page, self.folder = runner, runner.page, folder

    def load(self, title: str, held: Mapping[str, Any] | None = None) -> list[Any]:
        """Show an example, with its options, and what a link says of them."""
        page = self.page
        if title == OWN:  # is chosen already
            return [gr.skip()] * (1 + 2 * len(page.sources) + 7 + len(page.columns) + len(page.options))
        title = title if title in titles(page) else titles(page)[0]
        sample = sample_of(page, title)
        table = next((example for example in page.examples if f"{TABLE}{example.title}" == title), page.examples[0])
        options = sample.options if sample else table.options
        values = [options.get(option.name, self.runner.defaults[option.name]) for option in page.options]
        controls = [(held or {}).get(option.name, shown(option, value)) for option, value in zip(page.options, values)]
        frames = [*map(data_frame, table.tables)]
        form = Form(title, frames, [None] * len(page.sources), [[]] * len(page.columns), KINDS[0], controls)
        seen = self._look(form)
        tables = [gr.update(value=frame, visible=sample is None) for frame in frames]
        note = f"<p>{sample.note}</p>" if sample and sample.note else ""
        emptied = [None] * len(page.sources)
        choice = gr.update(choices=titles(page), value=title)
        return [choice, *tables, *emptied, KINDS[0], None, *self._shown(seen, controls, note, derive=False)]

    def open(self, opened: bool, request: gr.Request) -> list[Any]:
        """Show what the address says when the page is opened; raises if it was before, so that no more follows."""
        if opened:
            raise gr.Error("opened before", visible=False, print_exception=False)
        query = dict(request.query_params) if request else {}
        if query.pop("tab", self.page.name) != self.page.name:
            query = {}
        return [True, *self.load(query.get("example", ""), from_query(self.page, query))]

    def upload(self, *values: Any) -> list[Any]:
        """Look at files. The options of an example are not theirs: they return to the metric's defaults."""
        form = form_of(self.page, values)._replace(leave_out=False)
        if not form.uploaded:
            return self.load("")
        return self._own(form, tables=[gr.update(visible=False)] * len(self.page.sources))

    def own_table(self, *values: Any) -> list[Any]:
        """Look at cells that were pasted."""
        form = form_of(self.page, values)._replace(files=[None] * len(self.page.sources), leave_out=False)
        return self._own(form, tables=[gr.update(visible=True)] * len(self.page.sources))

    def _own(self, form: Form, tables: list[Any]) -> list[Any]:
        page = self.page
        controls = list(form.controls)
        if form.example != OWN:
            controls = [shown(option, self.runner.defaults[option.name]) for option in page.options]
        form = form._replace(example=OWN, controls=controls)
        files = [gr.skip() if form.uploaded else None] * len(page.sources)
        choice = gr.update(choices=[*titles(page), OWN], value=OWN)
        return [choice, *tables, *files, gr.skip(), gr.skip(), *self._shown(self._look(form), controls)]

    def again(self, *values: Any) -> list[Any]:
        """Look again, after other columns were chosen or a cell was changed; options stay."""
        form = form_of(self.page, values)
        return [box(""), *self._shown(self._look(form), [gr.skip()] * len(self.page.options), derive=False)]

    def leave(self, *values: Any) -> list[Any]:
        """Look again without the rows that cannot be read, or with them where they are left out."""
        form = form_of(self.page, values)
        return self.again(*values[:-1], not form.leave_out)

    def turn(self, *values: Any) -> list[Any]:
        """The columns, with those scores turned that rank the wrong way round."""
        form = form_of(self.page, values)
        seen = self._look(form)
        if isinstance(seen, str) or not seen.flipped:
            return [gr.skip()] * len(self.page.columns)
        kinds = [column.kind == "score" and not column.part_of for column in self.page.columns]
        first = kinds.index(True)
        return [gr.update(value=seen.flipped) if i == first else gr.skip() for i in range(len(kinds))]

    def paste(self, text: str) -> list[Any]:
        """Cells of a spreadsheet as the page's table; raises what is wrong with them as a message beside them."""
        if not text.strip():
            raise gr.Error("nothing was pasted", visible=False, print_exception=False)
        try:
            frame: pd.DataFrame = read_pasted(text)
        except Exception as error:
            return [gr.skip(), box(message(explain(error)))]
        return [gr.update(value=frame, visible=True), gr.skip()]

    def query(self, *values: Any) -> str:
        """The part of the address that says page, example and options."""
        return query_of(self.page, self.runner.defaults, form_of(self.page, values))

    def _look(self, form: Form) -> Seen | str:
        """What there is to see of the data, or what is wrong with them."""
        form = with_sample(self.page, self.folder, form)
        chosen = {column.name: as_names(names) for column, names in zip(self.page.columns, form.made_of)}
        try:
            sources = bounded(checked_sources, self.page, form.tables, form.files)
            return bounded(look, self.page, sources, chosen, form.read_as, any(form.files), form.leave_out)
        except Exception as error:  # whatever it is, the person is told where they look
            return explain(error)

    def _shown(self, seen: Seen | str, controls: Sequence[Any], note: str = "", derive: bool = True) -> list[Any]:
        """Updates of what is read, the panel of columns, the button that turns signs, the columns and the controls."""
        page: Page = self.page
        if isinstance(seen, str):
            return [
                box(note + message(seen)),
                gr.skip(),
                gr.update(visible=False),
                gr.update(visible=False),
                False,
                *[gr.skip()] * len(page.columns),
                *controls,
            ]
        columns = [gr.update(choices=seen.offers[c.name], value=seen.made_of[c.name]) for c in page.columns]
        derived = seen.options if derive else {}
        held = [
            shown(option, derived[option.name]) if option.name in derived else value
            for option, value in zip(page.options, controls)
        ]
        panel = gr.update(open=True) if seen.missing else gr.skip()
        flip, leave = gr.update(visible=bool(seen.flipped)), leave_button(seen)
        return [box(note + seen.html), panel, flip, leave, seen.leave_out, *columns, *held]


def leave_button(seen: Seen) -> Any:
    """An update of the button that leaves out rows that cannot be read, or takes them in again."""
    rows = "this row" if seen.unread == 1 else f"these {seen.unread:,} rows"
    return gr.update(value=f"{'Do not leave' if seen.leave_out else 'Leave'} out {rows}", visible=seen.unread > 0)


def box(text: str) -> Any:
    """An update of a place for HTML, which is out of sight without any."""
    return gr.update(value=text, visible=bool(text))
