"""What happens when the button is pressed, and when another image or detector is to be seen."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

import gradio as gr

from ..form.events import box
from ..form.form import Form, form_of, paths_of, sample_call, with_sample
from ..runner import Done, Runner, Shown, explain
from ..serving.kept import KEPT
from ..serving.launch import QUIET
from ..serving.limits import MAX_IMAGES
from .outputs import Outputs
from .results import message


class Answers:
    """The events that show results, each from the values of `inputs`; the button fills `outputs`."""

    def __init__(self, runner: Runner, folder: Path, data: Sequence[Any], out: Outputs, told: Any) -> None:
        self.runner, self.folder, self.out, self.told = runner, folder, out, told
        self.kept, self.runs = KEPT, count(1)
        self.inputs = [*data, out.detector, out.image, out.photograph, out.token]
        self.shown = [out.numbers, out.threshold, out.image, out.strip, out.worst, out.tables_tab, *out.tables]
        self.shown += [out.full, out.call, out.cite, out.report, *out.plots]
        self.outputs = [told, out.results, out.hint, out.detector, out.token, *self.shown]

    def connect(self) -> None:
        """Connect what chooses an image or a detector; the button is left to the page."""
        self.out.detector.input(self.see, self.inputs, [self.told, self.out.token, *self.shown], **QUIET)
        if self.runner.page.images:
            for event in (self.out.image.input, self.out.photograph.change):
                event(self.look, self.inputs, [self.told, self.out.token, self.out.plots[0]], **QUIET)

    def press(self, *values: Any) -> list[Any]:
        """Compute, and show it all."""
        try:
            form, _, token = self._form(values)
            done = self._run(form)
            found = self.runner.display(done, "", form.image, form.photographs)
        except Exception as error:  # whatever it is, the person is told where they look, and inputs stay
            return [box(message(explain(error))), *[gr.skip()] * (len(self.outputs) - 1)]
        names = [*done.found]
        detector = gr.update(choices=names, value=names[0], visible=len(names) > 1)
        visible = [gr.update(visible=True), gr.update(visible=False)]
        return [box(""), *visible, detector, self.kept.put(done, token), *self._texts(found, form)]

    def see(self, *values: Any) -> list[Any]:
        """Show another detector in full."""
        try:
            form, detector, token = self._form(values)
            done, token = self._done(form, token)
            found = self.runner.display(done, detector, form.image, form.photographs)
        except Exception as error:  # as in press
            return [box(message(explain(error))), *[gr.skip()] * (1 + len(self.shown))]
        return [box(""), token, *self._texts(found, form)]

    def look(self, *values: Any) -> list[Any]:
        """Show another image, or another photograph behind it: the first picture alone."""
        try:
            form, detector, token = self._form(values)
            done, token = self._done(form, token)
            return [box(""), token, self.runner.picture(done, detector, form.image, form.photographs)]
        except Exception as error:  # as in press
            return [box(message(explain(error))), gr.skip(), gr.skip()]

    def _form(self, values: Sequence[Any]) -> tuple[Form, str, str]:
        """What is filled in, with the files of an example; the detector, and the token of what is kept."""
        *data, detector, image, photographs, token = values
        form = form_of(self.runner.page, data)._replace(image=image, photographs=paths_of(photographs))
        return with_sample(self.runner.page, self.folder, form), str(detector or ""), str(token or "")

    def _run(self, form: Form) -> Done:
        return self.runner.run(*form[1:7])  # from the tables to what is left out

    def _done(self, form: Form, token: str) -> tuple[Done, str]:
        """What was computed, as long as it is kept; otherwise it is computed again."""
        done = self.kept.get(token)
        if done is None:
            done = self._run(form)
            token = self.kept.put(done)
        return done, token

    def _texts(self, found: Shown, form: Form) -> list[Any]:
        """Updates of `shown`."""
        images = found.num_images
        more = f" (of the first {images})" if images == MAX_IMAGES else ""
        slider = gr.update(maximum=max(2, images), visible=images > 1, label=f"Image shown{more}")
        tables = [gr.update(visible=bool(found.tables)), *(found.tables or [""] * len(self.out.tables))]
        call = sample_call(self.runner.page, form.example, found.call)
        # the browser draws nothing anew that is the same, and a press that shows nothing looks like none
        numbers = f'<div class="new" data-run="{next(self.runs)}">{found.numbers}</div>'
        parts = [numbers, found.threshold, slider, found.strip, found.worst, *tables]
        return [*parts, found.json, call, found.cite, found.report, *found.figures]
