"""Connect the events of a page: what triggers each, the components it reads and those it changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import gradio as gr

from ..browser.layout import in_browser
from ..form.fields import leaves, updates
from ..form.form import Form, from_browser
from ..form.parts import Inputs
from ..results.outputs import Outputs
from ..runner import Runner
from ..serving.launch import QUIET
from .inputs import AGAIN, LOAD, LOOKED, PROPOSAL, Events
from .results import LISTED, PICTURE, PRESS, SHOWN, SURER, Answers

LATEST = {**QUIET, "trigger_mode": "always_last"}  # the last event during a request is handled after it
EACH = {**QUIET, "trigger_mode": "multiple"}  # none is skipped during a request: the button waits for the end of each


class Wiring:
    """The components of a page by name, and the events that change them."""

    def __init__(self, runner: Runner, inputs: Inputs, outputs: Outputs) -> None:
        self.inputs, self.outputs, self.name = inputs, outputs, runner.page.name
        self.images, self.derived = runner.page.images, runner.page.derived
        self.form = inputs.form._replace(
            image=outputs.image,
            photographs=outputs.photographs,
            detector=outputs.detector,
            token=outputs.token,
            selection=outputs.selection,
            place=outputs.place,
            stamp=outputs.stamp,
        )
        computed_from = inputs.form._replace(
            image=(), photographs=(), detector=(), token=(), selection=(), place=(), stamp=(), looked=()
        )
        self.computed_from = leaves(computed_from)
        self.events, self.answers = Events(runner), Answers(runner)
        self.address, self.proposed = gr.Textbox(visible=False), gr.Textbox(visible=False)
        self.parts = {**vars(inputs), **vars(outputs), **self.form._asdict(), "proposed": self.proposed}

    def connect(self, demo: gr.Blocks) -> None:
        """Connect all events of a page of `demo`."""
        self._results()
        self._data()
        self._columns()
        self._links()
        self._opening(demo)

    def _results(self) -> None:
        """Connect the button, and the choice of a detector, an image or photographs."""
        waiting = {**QUIET, "show_progress": "full", "show_progress_on": self.outputs.numbers}
        self._shown_after(self._surer(self.inputs.button.click(**self._press(), **waiting)))
        self.outputs.add.click(**self._calls(self.answers.add, SURER), **waiting)
        seen = self.outputs.detector.input(**self._computes(self.answers.see, SHOWN), **QUIET)
        seen.then(**self._compares("compare"))
        listed = self.outputs.selection.change(**self._computes(self.answers.list, LISTED), **LATEST)
        listed.then(**self._script("listed")).then(**self._compares("compare"))
        if self.images:
            chosen = [self.outputs.image.input, self.outputs.photographs.change]
            looked = gr.on(chosen, **self._computes(self.answers.look, PICTURE), **LATEST)
            looked.then(**self._compares("compare"))

    def _data(self) -> None:
        """Connect examples, files and pasted cells; data are previewed before a computation, since options follow."""
        # gradio tells of an input when the field is left, too, and twice of a choice
        another = self.form.example.input(inputs=[self.form.example, self.inputs.held], **self._script("choose"))
        emptied = another.success(**self._empties())
        chosen = self._settled(emptied.success(**self._calls(self.events.choose, LOAD), **LATEST))
        self._shown_after(self._pressed(chosen))
        begin = {"js": in_browser("begin", self.name)}
        for file in self.form.files:
            changed = [file.upload, file.clear, file.delete]
            self._stale_after(self._settled(gr.on(changed, **self._calls(self.events.upload, LOAD), **begin, **LATEST)))
        for text, table in zip(self.inputs.pasted, self.form.tables):
            pasted = text.change(**self._pastes(text, table), **begin, **LATEST)
            pasted.failure(**self._script("proceed"))
            taken = pasted.success(**self._empties())
            looked = taken.success(**self._calls(self.events.own_table, LOAD), **EACH)
            self._stale_after(self._settled(looked))

    def _columns(self) -> None:
        """Connect cells, columns and options that users change, and the buttons that correct the data."""
        again = self._calls(self.events.again, AGAIN)
        fields = [*self.form.made_of.values()]
        chosen = [field.change for field in fields]  # gradio tells of no input where a field is emptied by a key
        cells = [table.input for table in self.form.tables]
        options = [event for part in self.form.options.values() for event in (part.input, part.change)]
        soon = gr.on(chosen, **self._script("soon"), trigger_mode="always_last")
        others = soon.success(inputs=[self.form.looked, *fields], **self._script("others"))
        looked = others.success(**again, **LATEST)
        looked.success(**self._calls(self.events.settle, LOAD), **EACH)  # `then` would run where `others` stops, too
        self.form.read_as.input(**again, **LATEST)
        fields_left = [
            event for name in self.derived for part in [self.form.options[name]] for event in (part.blur, part.submit)
        ]
        if fields_left:
            gr.on(fields_left, **self._calls(self.events.reason, LOOKED), **LATEST)
        gr.on(cells, **self._calls(self.events.edit, AGAIN), **LATEST)
        changed = [*chosen, *cells, self.form.read_as.input, *options]
        gr.on(changed, **self._compares("compare"), trigger_mode="always_last")
        self._adopted(self.inputs.flip.click(**self._calls(self.events.turn, PROPOSAL), **QUIET))
        fitted = self._adopted(self.inputs.resize.click(**self._calls(self.events.fit, PROPOSAL), **QUIET))
        self._shown_after(self._pressed(fitted.then(**again, **QUIET)))
        plain = self.inputs.without.click(**self._calls(self.events.without, ("options",)), **QUIET)
        self._shown_after(self._pressed(plain))
        left = self.inputs.leave.click(**self._calls(self.events.leave, AGAIN), **QUIET)
        self._shown_after(self._pressed(left))

    def _links(self) -> None:
        """Connect the link to the page, and the download of the numbers."""
        link = self.inputs.link.click(**self._query(), **QUIET)
        link.then(inputs=[self.address, self.inputs.link], outputs=[self.inputs.link], **self._script("copy"))
        self.outputs.download.click(inputs=[self.outputs.json], **self._script("download"))

    def _opening(self, demo: gr.Blocks) -> None:
        """When the page opens, show and compute the example and options of the address."""
        loaded = self._parts(LOAD)

        def load(request: gr.Request) -> list[Any]:
            return updates(loaded, self.events.open(dict(request.query_params) if request else {}))

        first = demo.load(load, None, leaves(loaded), **QUIET)
        settled = first.success(**self._calls(self.events.settle, LOAD), **QUIET)
        self._pressed(settled).then(**self._compares("compare"))

    def _calls(self, handler: Callable[[Form], Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
        """The arguments for gradio to call a handler with the form, and to change the named components."""
        parts = self._parts(names)
        return {
            "fn": lambda *values: updates(parts, handler(from_browser(self.form, values))),
            "inputs": leaves(self.form),
            "outputs": leaves(parts),
        }

    def _parts(self, names: Sequence[str]) -> dict[str, Any]:
        return {name: self.parts[name] for name in names}

    def _press(self) -> dict[str, Any]:
        return self._computes(self.answers.press, PRESS)

    def _computes(self, handler: Callable[[Form], Mapping[str, Any]], names: Sequence[str]) -> dict[str, Any]:
        """As `_calls`, with a stamp from the browser of the inputs of the computation."""
        counts = len(self.computed_from), len(leaves(self.form))
        return {**self._calls(handler, names), "js": in_browser("stamp", self.name, *counts)}

    def _compares(self, event: str) -> dict[str, Any]:
        """The arguments for an event of events.js that compares the present inputs with those of the results."""
        return {"inputs": [self.outputs.stamp, *self.computed_from], **self._script(event)}

    def _pastes(self, text: Any, table: Any) -> dict[str, Any]:
        """The arguments for gradio to turn pasted text into a table."""
        parts = {"table": table, "read": self.inputs.read}
        return {
            "fn": lambda pasted: updates(parts, self.events.paste(pasted)),
            "inputs": [text],
            "outputs": leaves(parts),
        }

    def _query(self) -> dict[str, Any]:
        """The arguments for gradio to update the address of the page."""
        return {
            "fn": lambda *values: self.events.query(from_browser(self.form, values)),
            "inputs": leaves(self.form),
            "outputs": [self.address],
            "js": in_browser("placed", self.name),
        }

    def _shown_after(self, event: Any) -> None:
        """After an event, scroll to the results, and update the address of the page."""
        event.then(**self._query(), **QUIET).then(
            inputs=[self.address, self.outputs.stamp, *self.computed_from], **self._script("show")
        )

    def _pressed(self, event: Any) -> Any:
        """After an event has succeeded, do as the button does."""
        return self._surer(event.success(**self._press(), **QUIET))

    def _surer(self, event: Any) -> Any:
        """After the numbers, add their intervals; the page does not wait for them."""
        event.then(**self._calls(self.answers.surer, SURER), **QUIET)
        return event

    def _empties(self) -> dict[str, Any]:
        """The arguments for the browser to empty the file inputs."""
        return {"inputs": [*self.form.files], "outputs": [*self.form.files], **self._script("empty")}

    def _settled(self, event: Any) -> Any:
        """After an event, show the data that the form holds by then."""
        return event.then(**self._calls(self.events.settle, LOAD), **EACH)

    def _adopted(self, event: Any) -> Any:
        """After an event, adopt what it proposes for a column, unless that has been changed since."""
        fields = [*self.form.made_of.values()]
        return event.success(inputs=[self.proposed, *fields], outputs=fields, **self._script("adopt"))

    def _stale_after(self, event: Any) -> None:
        event.then(**self._compares("settled"))

    def _script(self, event: str) -> dict[str, Any]:
        """The arguments for the browser alone to handle an event, in events.js."""
        return {"fn": None, "js": in_browser(event, self.name), "api_visibility": "private"}
