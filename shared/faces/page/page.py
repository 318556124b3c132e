"""The page of a metric: its components and their handlers.

    files ─ look ─→ what they hold, guesses ─ compute ─→ answers, kept in the session ─ view ─→ components

What may take long runs within `time_limit`; the example's answers come with the page itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, NamedTuple

import gradio as gr

from ...answers.answer import Answer
from ...answers.decisions import first_place, is_exact, with_more
from ...answers.saved import saved_answers
from ...answers.subject import subject_of
from ...loading import script
from ...metric.clusters import CLUSTERS
from ...metric.groups import GROUPS
from ...reading.columns.kinds import READ_AS
from ...reading.columns.metrics import MadeOf, layout_of
from ...reading.cures import choices_of, cures_of, spelled
from ...reading.read import reads_images
from ...reading.rows.inputs import split_place
from ...reading.tables.files import SUFFIXES
from ...texts import texts
from .. import html
from ..copies import FORMS
from . import cards, form, session, time_limit, view, worker
from .pairs import siblings
from .session import Held
from .vocabulary import label_of
from .worker import Look, PageError, Request, best_of

LOCAL = (
    '<p class="face"><b>Your files stay on this machine.</b> It serves these pages to itself, and nothing is uploaded '
    "elsewhere.</p>"
)
Updates = AsyncIterator[dict[Any, Any]]
Handler = Callable[..., Updates]
PHOTOS = (".png", ".jpg", ".jpeg", ".zip")
QUICK = 4.0  # seconds: a computation that took less is made anew by itself
QUIET: Mapping[str, Any] = {
    "api_visibility": "private",
    "preprocess": False,
    "show_progress": "hidden",
    "concurrency_limit": None,
}
LATEST: Mapping[str, Any] = {**QUIET, "trigger_mode": "always_last"}
# a request ends the one before it, rather than being dropped
NEWEST: Mapping[str, Any] = {**QUIET, "trigger_mode": "multiple"}


@cache
def examples(metric: str) -> dict[str, Answer]:
    """The answers of the example, which `make examples` saves."""
    return saved_answers(script(metric).parent / "examples" / "answers.json")


@cache
def look_of_example(metric: str) -> Look:
    """The content of the example's files."""
    return worker.look(Request(metric, held_example(metric).files))


def held_example(metric: str) -> Held:
    """The files of the example."""
    folder, example = script(metric).parent / "examples", subject_of(metric).example
    photographs = [str(folder / example.photographs)] if example.photographs else []
    return Held([{Path(name).stem: [str(folder / name)]} for name in example.files], (), photographs)


def gathered(handler: Handler) -> Handler:
    """A handler whose updates of properties each include the earlier ones; a newer request ends it.

    Gradio sends the difference of two updates, and its client writes it into the earlier one, which the page may not
    have drawn yet: a property that the later one does not name would be lost. Plain values are not written into.
    """

    @wraps(handler)
    async def handle(*values: Any) -> Updates:
        whole: dict[Any, dict[str, Any]] = {}
        with suppress(time_limit.SupersededError):
            async for changes in handler(*values):
                for part, change in changes.items():
                    if isinstance(change, dict):
                        whole[part] = {**whole.get(part, {}), **change}
                # copies, since Gradio takes the values out
                yield {**changes, **{part: dict(change) for part, change in whole.items()}}
        if not whole:
            yield gr.skip()

    return handle


def said_of(answers: Mapping[str, Answer]) -> str:
    """The line below the button, of the example."""
    level = best_of(answers).level
    return "The example." if level is None else f"The example, with {100 * level:g} % intervals."


class Visit(NamedTuple):
    """A press of a visitor: the session, its files, None for the example, and the values of the form by name.

    done: the request that the results are of, and the seconds that it took; None for the example
    """

    session: str
    source: Held | None
    done: tuple[Request, float] | None
    values: Mapping[str, Any]


class Page:
    """The components of a page by name in `parts`, and the handlers of their events."""

    def __init__(self, metric: str, local: bool = False) -> None:
        self.metric, self.metrics = metric, [*siblings(metric)]
        self.options = {name: one for each in reversed(self.metrics) for name, one in form.options_of(each).items()}
        self._first = dict(subject_of(metric).example.options)
        self.form = subject_of(metric).form
        self.inputs = self.form.inputs
        self._example = held_example(metric)
        self._example_look = look_of_example(metric)
        self.parts: dict[str, Any] = {}
        shown = view.view(best_of(examples(metric)))
        self._heading(local)
        with gr.Row(equal_height=False, elem_classes="halves"):
            with gr.Column(min_width=0, elem_classes="rail"):
                self._rail()
            with gr.Column(min_width=0, elem_classes="results"):
                self._results(shown)

    def connect(self, demo: gr.Blocks) -> None:
        """Connect all events of a page of `demo`."""
        p = self.parts
        fields = [p[f"option-{name}"] for name in self.options]
        columns = [p[f"of-{column.name}"] for column in layout_of(self.metric).columns]
        choices = [p[f"choose-{name}"] for name in self.form.choices]
        looked = [part.input for part in (*columns, p["read_as"], p["leave_out"], p["by_position"], *choices)]
        typed = [event for one in fields if isinstance(one, gr.Textbox) for event in (one.submit, one.blur)]
        chosen = [one.input for one in fields if not isinstance(one, gr.Textbox)]
        switch = [p["metric"].input] if "metric" in p else []
        self._on([p["take"].click], self._pasted)
        self._on([p["compute"].click], self._compute)
        self._on(looked, self._look)
        self._on([p["flip"].click], self._flipped)
        self._on([p["groups"].input], self._grouped)
        self._on([p["together"].input], self._drawn_together)
        self._on([*typed, *chosen, *switch], self._changed)
        self._on([p["wanted"].change], self._opened, "wanted")
        for place in range(len(self.inputs)):
            self._on([p[f"file{place}"].upload], partial(self._uploaded, place), f"file{place}")
        if "clusters" in p:
            self._on([p["clusters_from_name"].submit, p["clusters_from_name"].blur], self._clustered)
            self._on([p["clusters"].upload], self._tabled, "clusters")
        if "photographs" in p:
            self._on([p["photographs"].upload], self._photographed, "photographs")
        p["stop"].click(self._stopped, p["done"], [p["state"], p["stop"]], **QUIET)
        shown = [p["answers"], p["stamp"], p["model"], p["copied"]]
        plots = [f"plot{i}" for i in range(view.MAX_FIGURES)]
        moved = ["slider", "number", "preset", "decisions", "text"]
        cards = [f"{kind}{i}" for kind in ("title", "card") for i in range(view.MAX_FIGURES)]
        seen = ["model", "comparison", "headline", "images", "worst", "more", "notes", "threshold"]
        outputs = [p[name] for name in ("answers", *seen, *moved, *plots, *cards)]
        p["comparison"].select(gathered(self._chosen), [*shown, p["done"]], outputs, **QUIET)
        p["images"].select(self._pictured, shown, p["images"], **LATEST)
        p["number"].submit(
            self._typed,
            [p["number"], *shown, p["done"]],
            [p[each] for each in ("answers", *moved)],
            **LATEST,
        )
        for name, trigger in (("slider", "input"), ("preset", "input")):
            getattr(p[name], trigger)(self._moved_by(name), [p[name], *shown], [p[each] for each in moved], **LATEST)
        p["copied"].input(self._copied, [*shown, p["number"]], p["text"], **QUIET)
        for kind in ("report", "json", "csv"):
            written = p[f"take-{kind}"].click(self._taking(kind), [*shown, p["number"]], p["file"], **QUIET)
            written.success(None, None, None, js="() => openworld.download()", api_visibility="private")
        p["link"].click(self._link, fields, p["address"], **QUIET)
        p["again"].click(lambda: None, None, None, **NEWEST)  # pressed by page.js
        demo.load(self._wanted, p["held"], p["wanted"], js="() => [openworld.held()]", **QUIET)

    def _on(self, triggers: list[Any], handler: Handler, *first: str) -> None:
        """Connect events to a handler of several updates, of any component; it takes a `Visit`, and first values."""
        kinds = (
            "add",
            "paste",
            "of-",
            "groups",
            "together",
            "read_as",
            "leave_out",
            "by_position",
            "choose-",
            "metric",
            "option-",
        )
        names = [name for name in self.parts if name.startswith((*kinds, "copied", "clusters_from_name"))]

        @gathered
        async def handle(request: gr.Request, source: Any, done: Any, *values: Any) -> Updates:
            visit = Visit(request.session_hash or "", source, done, dict(zip(names, values)))
            is_newest: Callable[[], bool] | None = None
            async for changes in handler(visit, *values[len(names) :]):
                is_newest = is_newest or time_limit.begin(visit.session)  # a request without updates ends no other
                if not is_newest():
                    return
                yield changes

        inputs = [self.parts[name] for name in ("source", "done", *names, *first)]
        gr.on(triggers, handle, inputs, [*self.parts.values()], **NEWEST)

    def _heading(self, local: bool) -> None:
        if local:
            gr.HTML(LOCAL, apply_default_css=False)
        subject = subject_of(self.metric)
        space, about = os.environ.get("SPACE_ID"), texts(script(self.metric)).description
        card = (
            f"https://huggingface.co/spaces/{space}/blob/main/README.md" if space else f"{cards.FOLDER}/{self.metric}"
        )
        facts = {"name": self.metric, "question": subject.question, "about": about, "card": card}
        heading = html.rendered("heading", **facts)
        gr.HTML(heading, apply_default_css=False)

    def _rail(self) -> None:
        """Make the data, the columns, the options, and the button with the line of its state."""
        p = self.parts
        for name in ("answers", "source", "done", "wanted"):
            p[name] = gr.State(None)
        p["stamp"] = gr.Textbox("", visible=False)
        p["held"] = gr.Textbox("", visible=False)
        p["data"] = _html(view.data_card(*self._example_card()))
        with gr.Column(min_width=0, elem_classes="folds"):
            for place, label in enumerate(self.inputs):
                kinds = self._kinds(place)
                p[f"file{place}"] = gr.File(
                    label=f"Drop {'your file' if len(self.inputs) == 1 else label.lower()}",
                    file_count="multiple",
                    file_types=kinds,
                    height=76,
                    elem_id=f"file{place}",
                )
            if reads_images(self.metric):
                with gr.Accordion("Photos behind the images", open=False):
                    p["photographs"] = gr.File(
                        label="Photos", file_count="multiple", file_types=[*PHOTOS], height=76, elem_classes="photos"
                    )
                with gr.Accordion("Dependent images", open=False, elem_id="clusters"):
                    label, hint = "Clusters, by a pattern of names", r"such as (?P<video>video_\d+)"
                    p["clusters_from_name"] = gr.Textbox(label=label, placeholder=hint, max_lines=1, elem_id="pattern")
                    label = "Or a table of their names"
                    p["clusters"] = gr.File(label=label, height=76, elem_classes="photos", elem_id="table")
            p["add"] = gr.Checkbox(False, label="Add as another model", container=False, elem_id="add")
            with gr.Accordion("Or paste cells of a spreadsheet", open=False):
                for place, label in enumerate(self.inputs):
                    p[f"paste{place}"] = gr.Textbox(
                        label=label, placeholder="with names above, or without", lines=3, max_lines=3
                    )
                p["take"] = gr.Button("Use these cells", size="sm")
            p["error"] = _html("", visible=False)
            p["leave_out"] = gr.Checkbox(False, label=form.LEAVE_OUT, visible=False, container=False, elem_id="leave")
            label = form.BY_POSITION
            p["by_position"] = gr.Checkbox(False, label=label, visible=False, container=False, elem_id="by-position")
            p["flip"] = gr.Button("Flip the sign", size="sm", visible=False, elem_id="flip")
            p["groups"] = gr.Radio([], label="Groups by", visible=False, elem_id="groups")
            p["together"] = gr.Radio([], label=form.TOGETHER, visible=False, elem_id="together")
            with gr.Accordion("Columns", open=False, elem_id="columns") as p["panel"]:
                self._columns()
        with gr.Column(min_width=0, elem_classes="go"):
            p["compute"] = gr.Button("Compute", variant="primary", elem_id="compute")
            p["stop"] = gr.Button("Stop", size="sm", visible=False, elem_id="stop")
            p["again"] = gr.Button("Again", visible="hidden", elem_id="again")
            p["state"] = _html(view.state_line(said_of(examples(self.metric)))["value"])
        with gr.Column(min_width=0, elem_classes="folds"):
            if len(self.metrics) > 1:
                label = self.form.switch[0]
                choices = [(words, name) for name, words in siblings(self.metric).items()]
                p["metric"] = gr.Radio(choices, value=self.metric, label=label, elem_id="metric")
            names = [*self.options]
            open_ = self.form.open
            for name in open_:
                p[f"option-{name}"] = self.options[name].control(self._first.get(name, self.options[name].default))
            with gr.Accordion("More options", open=False, elem_id="options"):
                for name in names:
                    if name not in open_:
                        p[f"option-{name}"] = self.options[name].control(
                            self._first.get(name, self.options[name].default)
                        )
            p["link"] = gr.Button("Link to these options", size="sm", elem_id="link")
            p["address"] = _html("", visible=False)

    def _columns(self) -> None:
        p = self.parts
        for name, (label, _) in self.form.choices.items():
            p[f"choose-{name}"] = gr.Checkbox(False, label=label, container=False, elem_id=f"choose-{name}")
        either = False
        for column in layout_of(self.metric).columns:
            choices = self._example_look.offers.get(column.name, [])
            optional = "" if column.required and not column.part_of else " (optional)"
            label = label_of(self.metric, column)
            p[f"of-{column.name}"] = gr.Dropdown(
                choices,
                value=[*self._example_look.made_of.get(column.name, [])],
                multiselect=True,
                allow_custom_value=True,
                label=f"{label}{optional}",
                info=None if label.lower() == column.name.lower() else column.name,
                visible=bool(choices) or not reads_images(self.metric),
                elem_id=f"of-{column.name}",
            )
            either |= column.is_read_as
        p["read_as"] = gr.Dropdown([*READ_AS], value=READ_AS[0], label="Whole numbers are", visible=either)

    def _results(self, shown: Mapping[str, Any]) -> None:
        """Make the results, with the example's in them."""
        p = self.parts
        p["model"] = gr.Textbox(best_of(examples(self.metric)).model, visible=False)
        p["comparison"] = _html(js_on_load="openworld.choices(element, trigger)", **shown["comparison"])
        p["headline"] = _html(**shown["headline"])
        if reads_images(self.metric):
            self._images(shown)
        with gr.Row(equal_height=False, elem_classes="pictures"):
            for i in range(view.MAX_FIGURES):
                with gr.Column(min_width=320, elem_classes="card picture", **shown[f"card{i}"]) as p[f"card{i}"]:
                    p[f"title{i}"] = _html(**shown[f"title{i}"])
                    p[f"plot{i}"] = gr.Plot(container=False, show_label=False, elem_id=f"plot{i}", **shown[f"plot{i}"])
                    if i == 0:
                        self._threshold(shown)
                    if i == 1:
                        p["decisions"] = _html(**shown["decisions"])
        if not reads_images(self.metric):
            self._images(shown)
        p["worst"] = _html(**shown["worst"])
        with gr.Column(min_width=0, elem_classes="card"):
            gr.HTML('<div class="face"><h2 id="take-away">Take away</h2></div>', apply_default_css=False)
            with gr.Row(elem_classes="take"):
                for kind, label in (("report", "Report"), ("csv", "CSV"), ("json", "JSON")):
                    p[f"take-{kind}"] = gr.Button(label, size="sm", min_width=80, elem_id=f"take-{kind}")
            p["file"] = gr.DownloadButton("Download", visible="hidden", elem_id="download")
            p["copied"] = gr.Radio([*view.COPIED], value=view.COPIED[0], label="Copy", elem_id="copied")
            text = {"lines": 6, "max_lines": 14, "buttons": ["copy"], "interactive": False}
            p["text"] = gr.Textbox(label="To copy", elem_id="text", elem_classes="code", **text, **shown["text"])
        p["more"] = _html(**shown["more"])
        p["notes"] = _html(**shown["notes"])

    def _images(self, shown: Mapping[str, Any]) -> None:
        self.parts["images"] = _html(js_on_load="openworld.choices(element, trigger)", **shown["images"])

    def _threshold(self, shown: Mapping[str, Any]) -> None:
        p, blank = self.parts, {"minimum": 0, "maximum": 1, "value": 0}
        with gr.Column(min_width=0, elem_classes="threshold", visible=shown["threshold"]["visible"]) as p["threshold"]:
            props = shown.get("slider", blank)
            p["slider"] = gr.Slider(buttons=[], container=False, elem_id="slider", **props)
            with gr.Row(elem_classes="at"):
                p["number"] = gr.Textbox(max_lines=1, elem_id="threshold", min_width=90, **shown.get("number", {}))
                props = shown.get("preset", {"choices": []})
                p["preset"] = gr.Radio(label="Common thresholds", elem_id="preset", min_width=160, **props)

    def _kinds(self, place: int) -> list[str]:
        more = self.form.suffixes[place]
        return [*dict.fromkeys([*more, ".zip", *(suffix for suffix in SUFFIXES if suffix not in (".pt", ""))])]

    def _request(self, visit: Visit) -> Request:
        held = visit.values
        metric = held.get("metric", self.metric)
        columns = [column.name for column in layout_of(self.metric).columns]
        chosen = {name: value for name, (_, value) in self.form.choices.items() if held[f"choose-{name}"]}
        options = {name: held[f"option-{name}"] for name in self.options}
        uploads, pasted, photographs, clusters = visit.source or self._example
        pattern = (held.get("clusters_from_name") or "").strip()
        chosen |= ({"clusters_from_name": pattern} if pattern else {}) | ({"clusters": clusters} if clusters else {})
        return Request(
            metric,
            uploads,
            pasted,
            {name: [*(held[f"of-{name}"] or ())] for name in columns},
            held["read_as"] or READ_AS[0],
            bool(held["leave_out"]),
            bool(held["by_position"]),
            chosen,
            form.parsed(metric, options),
            photographs,
        )

    async def _uploaded(self, place: int, visit: Visit, dropped: Any) -> Updates:
        """Take new files of an input in place of the present ones, or as another model's."""
        if not dropped:
            return
        source = visit.source or Held([{} for _ in self.inputs])
        uploads: list[session.Models] = [*source.files]
        before, paths = uploads[place], [file["path"] for file in dropped]
        is_added = bool(visit.values["add"] and before)
        uploads[place] = session.added(before if is_added else {}, paths)
        earlier = {os.path.basename(path) for model_files in before.values() for path in model_files}
        is_corrected = {*map(os.path.basename, paths)} == earlier  # so that what was chosen stays
        how: dict[str, Any] = {"added": paths} if is_added else {} if is_corrected else {"wishes": {}}
        pasted = ["" if i == place else text for i, text in enumerate(source.pasted)]
        source = source._replace(files=uploads, pasted=pasted)
        yield {self.parts[f"file{place}"]: None, self.parts["source"]: source}
        async for changes in self._look(visit._replace(source=source), fresh=True, **how):
            yield changes

    async def _photographed(self, visit: Visit, dropped: Any) -> Updates:
        if not dropped:
            return
        source = (visit.source or self._example)._replace(photographs=[file["path"] for file in dropped])
        yield {self.parts["photographs"]: None, self.parts["source"]: source}
        async for changes in self._compute(visit._replace(source=source)):
            yield changes

    async def _clustered(self, visit: Visit) -> Updates:
        """Draw images together by a pattern of their names, which takes the place of a table."""
        before, _ = visit.done or (self._example_request, 0.0)
        source = visit.source or self._example
        if (visit.values["clusters_from_name"] or "").strip() and source.clusters:
            source = source._replace(clusters="")
            yield {self.parts["source"]: source}
            visit = visit._replace(source=source)
        if self._request(visit).choices != before.choices:
            async for changes in self._look(visit):
                yield changes

    async def _tabled(self, visit: Visit, dropped: Any) -> Updates:
        """Draw images together by a table, which takes the place of a pattern."""
        if not dropped:
            return
        source = (visit.source or self._example)._replace(clusters=dropped["path"])
        yield {self.parts["clusters"]: None, self.parts["clusters_from_name"]: "", self.parts["source"]: source}
        values = {**visit.values, "clusters_from_name": ""}
        async for changes in self._look(visit._replace(source=source, values=values)):
            yield changes

    async def _pasted(self, visit: Visit) -> Updates:
        cells = [visit.values[f"paste{place}"] or "" for place in range(len(self.inputs))]
        if not any(text.strip() for text in cells):
            yield {self.parts["error"]: gr.update(**view.said("Nothing was pasted."))}
            return
        source = Held([{} for _ in self.inputs], cells)
        yield {self.parts["source"]: source}
        async for changes in self._look(visit._replace(source=source), fresh=True):
            yield changes

    async def _flipped(self, visit: Visit) -> Updates:
        """Flip the sign of the scores that rank the wrong way round."""
        column = layout_of(self.metric).scores()
        seen = await time_limit.run(visit.session, worker.look, self._request(visit))
        if column is None or not seen.flipped:
            return
        name, turned = f"of-{column.name}", [*seen.flipped]
        yield {self.parts[name]: gr.update(value=turned)}
        async for changes in self._look(visit._replace(values={**visit.values, name: turned})):
            yield changes

    async def _grouped(self, visit: Visit) -> Updates:
        """Take a column as groups."""
        chosen = [str(visit.values["groups"])]
        yield {self.parts[f"of-{GROUPS}"]: gr.update(value=chosen)}
        async for changes in self._look(visit._replace(values={**visit.values, f"of-{GROUPS}": chosen})):
            yield changes

    async def _drawn_together(self, visit: Visit) -> Updates:
        """Take a column as clusters: of rows, or of the images that a table names."""
        column, source = str(visit.values["together"]), visit.source or self._example
        if source.clusters:
            source = source._replace(clusters=f"{split_place(source.clusters)[0]}:{column}")
            yield {self.parts["source"]: source}
        else:
            yield {self.parts[f"of-{CLUSTERS}"]: gr.update(value=[column])}
            visit = visit._replace(values={**visit.values, f"of-{CLUSTERS}": [column]})
        async for changes in self._look(visit._replace(source=source if source.clusters else visit.source)):
            yield changes

    async def _look(
        self, visit: Visit, fresh: bool = False, added: Sequence[str] = (), wishes: MadeOf | None = None
    ) -> Updates:
        """Describe the data, then compute.

        Parameters: fresh, whether options follow the data; added, files of more models; wishes, in place of the form's.
        """
        p, wanted = self.parts, self._request(visit)
        if fresh:
            wanted = replace(wanted, leave_out=False, by_position=False, added=added, are_new=True)
        if wishes is not None:
            wanted = replace(wanted, wishes=wishes)
        yield self._busy("Reading …")
        try:
            seen: Look = await time_limit.run(visit.session, worker.look, wanted)
        except PageError as error:
            seen = Look(error=error.args[0])
        shown = self._seen(seen, visit.source, wanted)
        in_panel = {"columns", *self.form.choices} & choices_of(seen.error)
        shown |= {p["panel"]: gr.update(open=bool(in_panel) or "Columns" in seen.error)}
        if seen.error:
            yield {**shown, **self._before(visit.done)}
            return
        options = dict(wanted.options)
        for name, value in seen.options.items() if fresh else ():
            if name in self.options:
                options[name] = value
                shown[p[f"option-{name}"]] = gr.update(value=self.options[name].shown(value))
        yield shown
        async for changes in self._compute(
            visit, replace(wanted, options=options, wishes=seen.made_of or wanted.wishes, added=(), are_new=False)
        ):
            yield changes

    def _said(self, seen: Look) -> dict[str, Any]:
        """The error of a look, or the request for the files of the other input."""
        if seen.lacks is None:
            return view.said(spelled(seen.error, form.in_form(self.metric)))
        return view.said(f"Now drop the {self.inputs[seen.lacks].lower()}.", "note")

    def _seen(self, seen: Look, source: Any, wanted: Request) -> dict[Any, Any]:
        """The updates of the components beside the data."""
        p, face = self.parts, form.in_form(self.metric)
        seen = replace(seen, notes=[spelled(note, face) for note in seen.notes])
        card = (
            view.data_card(seen, session.named(source.files, source.pasted), False, secret=session.deposit(source))
            if source
            else view.data_card(*self._example_card())
        )
        offered = choices_of(seen.error)
        out = form.LEAVE_OUT + f" {seen.out}" * bool(seen.out)
        label = next((form.label_of_leave_out(one) for one in cures_of(seen.error) if "leave_out" in one.choices), out)
        props: dict[str, Any] = {
            "data": {"value": card},
            "error": self._said(seen),
            "leave_out": {"visible": label != form.LEAVE_OUT, "label": label, "value": wanted.leave_out},
            "by_position": {"visible": "by_position" in offered or wanted.by_position, "value": wanted.by_position},
            "flip": {"visible": bool(seen.flipped)},
            "groups": {"visible": bool(seen.groups), "choices": [*seen.groups], "value": None},
            "together": {"visible": bool(seen.clusters), "choices": [*seen.clusters], "value": None},
        }
        for name, offers in seen.offers.items():
            props[f"of-{name}"] = {"choices": [*offers], "value": [*seen.made_of.get(name, ())], "visible": True}
        if not seen.offers and reads_images(self.metric) and not seen.error:
            props |= {f"of-{column.name}": {"visible": False} for column in layout_of(self.metric).columns}
        return view.changed(p, props)

    async def _changed(self, visit: Visit) -> Updates:
        """After an option has changed, compute anew if that is quick, or say that results are old."""
        before, seconds = visit.done or (self._example_request, 0.0)
        if self._request(visit) == before:
            return
        if seconds > QUICK:
            yield self._idle("Options have changed. Press Compute.", "old")
        else:
            async for changes in self._compute(visit):
                yield changes

    async def _compute(self, visit: Visit, wanted: Request | None = None) -> Updates:
        """Numbers first, then their intervals and comparisons where these are quick."""
        p, began = self.parts, time.monotonic()
        wanted = wanted or self._request(visit)
        copied = visit.values["copied"]
        if wanted == replace(self._example_request, metric=wanted.metric, options=self._usual(wanted.metric)):
            answers = examples(wanted.metric)
            yield {**self._answered(answers, wanted, copied, 0.0, True), **self._idle(said_of(answers))}
            return
        yield self._busy("Computing …")
        try:
            async for answers, is_last in time_limit.run_in_stages(visit.session, worker.compute, wanted, None, ""):
                answers = self._spelled(answers)
                seconds, level = time.monotonic() - began, best_of(answers).level
                words = f"Up to date · {f'{100 * level:g} % intervals, ' if level else ''}{seconds:.1f} s"
                state = self._idle(words) if is_last else self._busy("Intervals …")
                yield {**self._answered(answers, wanted, copied, seconds), **state}
        except PageError as error:
            text = spelled(error.args[0], form.in_form(self.metric))
            yield {p["error"]: gr.update(**view.said(text)), **self._before(visit.done)}

    def _spelled(self, answers: Mapping[str, Answer]) -> dict[str, Answer]:
        """Answers whose notes have the widgets of the page as their cures."""
        face = form.in_form(self.metric)
        return {name: replace(one, notes=[spelled(note, face) for note in one.notes]) for name, one in answers.items()}

    def _answered(
        self, answers: dict[str, Answer], wanted: Request, copied: str, seconds: float, example: bool = False
    ) -> dict[Any, Any]:
        """The updates of the results, opened on the best model."""
        p, stamp = self.parts, "" if example and wanted.metric == self.metric else f"{time.monotonic_ns():x}"
        answer = best_of(answers)
        return {
            **view.changed(p, view.view(answer, copied=copied)),
            p["answers"]: (stamp, answers),
            p["done"]: (wanted, seconds),
            p["stamp"]: stamp,
            p["model"]: answer.model,
            p["error"]: gr.update(**view.said("")),
        }

    def _busy(self, text: str) -> dict[Any, Any]:
        return {
            self.parts["state"]: view.state_line(text, "busy")["value"],
            self.parts["stop"]: gr.update(visible=True),
        }

    def _idle(self, text: str, kind: str = "") -> dict[Any, Any]:
        line = view.state_line(text, kind)["value"]
        return {self.parts["state"]: line, self.parts["stop"]: gr.update(visible=False)}

    def _before(self, done: tuple[Request, float] | None, why: str = "") -> dict[Any, Any]:
        """The line that says of which files the results are, where none are computed of the present ones."""
        is_own = done is not None and done[0].files != self._example.files
        of = f"those of {session.named(done[0].files, done[0].pasted)}" if done and is_own else "the example's"
        return self._idle(f"{why}Results are {of}.", "old")

    def _stopped(self, request: gr.Request, done: Any) -> dict[Any, Any]:
        time_limit.leave(request.session_hash or "")
        return self._before(done, "Stopped. ")

    def _answer(self, answers: Any, stamp: str, model: str) -> Answer:
        """The answer that is shown; the session's own are kept for a while only."""
        held = answers or ("", examples(self.metric))
        if held[0] != (stamp or "") or model not in held[1]:
            raise gr.Error("This page was left for a while. Press Compute to go on.", print_exception=False)
        answer: Answer = held[1][model]
        return answer

    async def _chosen(
        self,
        request: gr.Request,
        answers: Any,
        stamp: str,
        model: str,
        copied: str,
        done: Any,
        event: gr.EventData,
    ) -> Updates:
        """Show another model: its numbers at once, and its pictures when they are drawn."""
        model = str(event._data.get("value", ""))
        answer = self._answer(answers, stamp, model)
        yield {self.parts["model"]: model, **view.changed(self.parts, view.view(answer, copied=copied))}
        if answer.images or not answers or not done or not reads_images(self.metric):
            return
        with suppress(time_limit.SupersededError, PageError):
            images = await time_limit.run(request.session_hash or "", worker.pictures, done[0], model)
            drawn = replace(answer, images=images)
            held = (answers[0], {**answers[1], model: drawn})
            yield {self.parts["answers"]: held, **view.changed(self.parts, {"images": view.image_props(drawn)})}

    def _pictured(self, answers: Any, stamp: str, model: str, copied: str, event: gr.EventData) -> Any:
        answer, value = self._answer(answers, stamp, model), str(event._data.get("value", ""))
        kind = str(event._data.get("kind", ""))
        return gr.update(value=view.images(answer, int(value) if value.isdigit() else 0, kind))

    def _moved_by(self, name: str) -> Any:
        """The handler of a component that moves the threshold; the parts that follow it are visible already."""

        def moved(value: Any, answers: Any, stamp: str, model: str, copied: str) -> dict[Any, Any]:
            answer = self._answer(answers, stamp, model)
            try:
                place = view.place_at(answer, value)
            except ValueError:
                raise gr.Error("The threshold is no number.", print_exception=False) from None
            props = view.moved(answer, place, copied)
            if name == "slider":  # the visitor holds it
                props["slider"].pop("value")
            return view.changed(self.parts, {part: values for part, values in props.items() if part != "threshold"})

        return moved

    async def _typed(
        self, request: gr.Request, value: Any, answers: Any, stamp: str, model: str, copied: str, done: Any
    ) -> Any:
        """Show the decisions of a threshold, computed where they are not among the ones that are kept."""
        answer = self._answer(answers, stamp, model)
        try:
            at = view.number_of(value)
        except ValueError:
            raise gr.Error("The threshold is no number.", print_exception=False) from None
        changes: dict[Any, Any] = {}
        if answer.decisions is not None and not is_exact(answer.decisions, at):
            wanted = done[0] if done else self._example_request
            try:
                one = await time_limit.run(request.session_hash or "", worker.decided, wanted, model, at)
            except time_limit.SupersededError:
                return gr.skip()
            except PageError as error:
                raise gr.Error(str(error), print_exception=False) from None
            answer = replace(answer, decisions=with_more(answer.decisions, one))
            held = answers or ("", examples(self.metric))
            changes[self.parts["answers"]] = held[0], {**held[1], model: answer}
        props = view.moved(answer, view.place_at(answer, value), copied)
        props["number"]["value"] = str(value).strip()
        return changes | view.changed(self.parts, {part: each for part, each in props.items() if part != "threshold"})

    def _copied(self, answers: Any, stamp: str, model: str, copied: str, number: Any) -> str:
        answer = self._answer(answers, stamp, model)
        return FORMS[copied](answer, _place(answer, number))

    def _taking(self, kind: str) -> Any:
        async def taking(request: gr.Request, answers: Any, stamp: str, model: str, copied: str, number: Any) -> Any:
            answer = self._answer(answers, stamp, model)
            if kind == "report":
                try:
                    text = await time_limit.run(request.session_hash or "", worker.report, answer)
                except time_limit.SupersededError:
                    return gr.skip()
                except PageError as error:
                    raise gr.Error(str(error), print_exception=False) from None
            else:
                text = FORMS[kind.upper()](answer, _place(answer, number))
            suffix = "html" if kind == "report" else kind
            return gr.update(value=session.download(f"{answer.metric}.{suffix}", text))

        return taking

    def _link(self, *values: Any) -> Any:
        query = form.query_of(self.metric, dict(zip(self.options, values)))
        return gr.update(value=html.rendered("address", query=query), visible=True)

    def _wanted(self, request: gr.Request, secret: str) -> tuple[dict[str, Any], Held | None] | None:
        """The options of a link, and the files that were dropped on the front page, or here before the visitor left."""
        time_limit.start()
        options = form.from_query(self.metric, dict(request.query_params))
        held = session.deposited(secret)
        fits = held is not None and len(held.files) == len(self.inputs)
        return (options, held if fits else None) if options or fits else None

    async def _opened(self, visit: Visit, wanted: Any) -> Updates:
        if not wanted:
            return
        options, source = wanted
        controls = {f"option-{name}": value for name, value in options.items()}
        changes: dict[Any, Any] = {self.parts[name]: gr.update(value=value) for name, value in controls.items()}
        yield changes | ({} if source is None else {self.parts["source"]: source})
        visit = visit._replace(values={**visit.values, **controls}, source=source or visit.source)
        async for changes in self._compute(visit) if source is None else self._look(visit, fresh=True, wishes={}):
            yield changes

    def _usual(self, metric: str) -> dict[str, Any]:
        """The options of the example, as the form holds them at first."""
        shown = {name: option.shown(self._first.get(name, option.default)) for name, option in self.options.items()}
        return form.parsed(metric, shown)

    @property
    def _example_request(self) -> Request:
        """The request of the form as it is built."""
        seen = self._example_look
        wishes = {column.name: [*seen.made_of.get(column.name, ())] for column in layout_of(self.metric).columns}
        options = self._usual(self.metric)
        photographs = self._example.photographs
        return Request(self.metric, self._example.files, wishes=wishes, options=options, photographs=photographs)

    def _example_card(self) -> tuple[Look, str, bool, str]:
        return self._example_look, session.named(self._example.files), True, subject_of(self.metric).example.origin.html


def _place(answer: Answer, number: Any) -> int:
    """The index of the threshold in the field, or of the first while that holds no number."""
    try:
        return view.place_at(answer, number)
    except ValueError:
        return first_place(answer.decisions)


def _html(value: str = "", visible: bool = True, js_on_load: str = "") -> Any:
    return gr.HTML(value, visible=visible, js_on_load=js_on_load or None, apply_default_css=False)
