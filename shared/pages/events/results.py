"""Handlers for the events that show results: the button, and the choice of another image or detector."""

from __future__ import annotations

from itertools import count

import gradio as gr

from ..form.address import place_in
from ..form.form import Form, with_sample
from ..intervals import are_automatic, can_be_added, with_intervals
from ..results.comparison import TEXT_FORMS
from ..results.computation import Computation
from ..results.message import message
from ..results.samples import listed_html
from ..results.slider import opened_at
from ..results.view import View
from ..runner import Runner, explain
from ..serving.ending import bounded
from ..serving.kept import KEPT
from ..serving.limits import MAX_IMAGES, IntervalsError
from .inputs import Changes, box

PICTURE = ("message", "token", "stamp", "plots")
LISTED = ("message", "token", "stamp", "listed")
SHOWN = (
    *("message", "token", "stamp", "compared", "numbers", "more", "threshold", "listed", "image", "strip", "worst"),
    *("texts_tab", "texts", "in_percent", "json", "call", "cite", "report", "plots"),
)
PRESS = (*SHOWN, "results", "hint", "detector", "add", "without", "place")
SURER = ("compared", "numbers", "more", "texts_tab", "texts", "in_percent", "json", "call", "cite", "report", "add")


class Answers:
    """Event handlers that show results, each from the form to changes of the components of `outputs.Outputs`."""

    def __init__(self, runner: Runner) -> None:
        self.runner, self.folder = runner, runner.folder
        self.kept, self.presses = KEPT, count(1)

    def press(self, form: Form) -> Changes:
        """Compute, and show all results."""
        form = with_sample(self.runner.page, self.folder, form)
        try:
            done = bounded(self.runner.run, form)
            place = place_in(form.place)
            view = bounded(self.runner.view, done, form._replace(detector=place.detector, image=place.image))
        except Exception as error:  # whatever it is, the user sees it above the results, and inputs stay
            return {**_error(error), "without": gr.update(visible=isinstance(error, IntervalsError))}
        names, changes = [*done.detectors], self._changes(view)
        chosen = place.detector if place.detector in names else names[0]
        changes["threshold"] = opened_at(view.threshold, place.at)
        if self._automatic(done):
            changes["compared"] += _ON_THEIR_WAY
        return {
            **changes,
            "results": gr.update(visible=True),
            "hint": gr.update(visible=False),
            "without": gr.update(visible=False),
            "place": "",
            "detector": gr.update(choices=names, value=chosen if len(names) > 1 else None, visible=len(names) > 1),
            "token": self.kept.put(done, form.token or ""),
            "stamp": form.stamp,
            "add": gr.update(visible=can_be_added(self.runner.page, done) and not self._automatic(done)),
        }

    def _automatic(self, done: Computation) -> bool:
        return can_be_added(self.runner.page, done) and are_automatic(self.runner.page, done)

    def surer(self, form: Form) -> Changes:
        """Add intervals and comparisons to the last computation, if they are cheap enough to be automatic."""
        done = self.kept.get(str(form.token or ""))
        return self.add(form) if done is not None and self._automatic(done) else {}

    def add(self, form: Form) -> Changes:
        """Add intervals and comparisons to the last computation; nothing if a newer one has replaced it meanwhile."""
        form = with_sample(self.runner.page, self.folder, form)
        try:
            done, token = self._done(form)
            sure = bounded(with_intervals, self.runner.page, done)
            if not self.kept.exchange(token, done, sure):
                return {}
            view = bounded(self.runner.view, sure, form)
        except Exception as error:  # the numbers stay
            note = message(f"There are no intervals: {explain(error)}", "note")
            # what is refused once is refused again
            refused = {"add": gr.update(visible=False)} if isinstance(error, IntervalsError) else {}
            return {"compared": note + self._compared(form), **refused}
        changes = {name: change for name, change in self._changes(view).items() if name in SURER}
        return {**changes, "add": gr.update(visible=False)}

    def _compared(self, form: Form) -> str:
        """The table of what was computed last, side by side."""
        done = self.kept.get(str(form.token or ""))
        return "" if done is None else self.runner.view(done, form).compared

    def see(self, form: Form) -> Changes:
        """Show all results of another detector."""
        form = with_sample(self.runner.page, self.folder, form)
        try:
            done, token = self._done(form)
            view = bounded(self.runner.view, done, form)
        except Exception as error:  # as in press
            return _error(error)
        return {**_kept_by(form, token), **self._changes(view)}

    def look(self, form: Form) -> Changes:
        """Show another image, or another photograph behind it; only the first figure changes."""
        form = with_sample(self.runner.page, self.folder, form)
        try:
            done, token = self._done(form)
            picture = bounded(self.runner.picture, done, form)
        except Exception as error:  # as in press
            return _error(error)
        return {"message": box(""), **_kept_by(form, token), "plots": {0: picture}}

    def list(self, form: Form) -> Changes:
        """List the samples behind a bar or a cell."""
        form = with_sample(self.runner.page, self.folder, form)
        try:
            done, token = self._done(form)
            listed = bounded(self.runner.viewer.listed, done, form.detector or "", str(form.selection or ""))
        except Exception as error:  # as in press
            return _error(error)
        return {"message": box(""), **_kept_by(form, token), "listed": listed_html(self.runner.page.name, listed)}

    def _done(self, form: Form) -> tuple[Computation, str]:
        """The last computation and its token; it is repeated if it is no longer kept."""
        token = str(form.token or "")
        done = self.kept.get(token)
        if done is None:
            done = bounded(self.runner.run, form)
            token = self.kept.put(done)
        return done, token

    def _changes(self, view: View) -> Changes:
        """Changes of the components that show results."""
        images = view.num_images
        more = f" (of the first {images})" if images == MAX_IMAGES else ""
        return {
            "message": box(""),
            # the browser does not redraw equal HTML, and a press without a visible effect would look lost
            "compared": view.compared,
            "numbers": f'<div class="new" data-run="{next(self.presses)}">{view.numbers}</div>',
            "more": view.more,
            "threshold": view.threshold,
            "listed": "",
            "image": gr.update(
                value=view.image + 1, maximum=max(2, images), visible=images > 1, label=f"Image shown{more}"
            ),
            "strip": view.strip,
            "worst": view.worst,
            "texts_tab": gr.update(visible=bool(view.tables)),
            "texts": view.tables or [""] * len(TEXT_FORMS),
            "in_percent": view.in_percent,
            "json": view.json,
            "call": view.call,
            "cite": view.cite,
            "report": view.report,
            "plots": view.figures,
        }


_ON_THEIR_WAY = '<p class="hint" role="status">95 % intervals are on their way.</p>'


def _kept_by(form: Form, token: str) -> Changes:
    """The token of a computation; with the form's stamp if it was repeated, since it then used the form's values."""
    return {"token": token} if token == form.token else {"token": token, "stamp": form.stamp}


def _error(error: Exception) -> Changes:
    return {"message": box(message(explain(error)))}
