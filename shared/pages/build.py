"""The page of a metric, from its description as data (`page.Page`); every app.py is `launch(build(PAGE, folder))`.

    table or files ─ uploads ─→ named arrays ─ columns, inputs ─→ the metric's columns ┐
    controls ─ controls ─→ the metric's options ───────────────────────────────────────┤ runner, costs
                             ┌─ compute() ─→ results: table, JSON, Python (results) ←──┤
                             └─ state() ─→ kernel functions ─→ figures (Page.draw) ←───┘

The numbers are those of the metric that evaluate loads from the same folder. Each press of the button reads the inputs
anew; what was computed last is kept for a while (`kept`), to show another image or detector of it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gradio as gr

from .browser.layout import card_text
from .form.events import Forms
from .form.parts import input_parts
from .page import Page
from .results.answers import Answers
from .results.outputs import result_parts
from .runner import Runner, explain
from .serving.launch import QUEUE, QUIET, SHOWN, blocks


def build(page: Page, folder: Path) -> gr.Blocks:
    """Make the page of a metric whose script, kernel files and card are in `folder`."""
    with blocks(page.name) as demo:
        fill(page, folder, opened=demo.load)
    return demo.queue(max_size=QUEUE, default_concurrency_limit=2)


def fill(page: Page, folder: Path, endpoint: str = "compute", opened: Any = None) -> None:
    """Fill the blocks that are open with a metric's page, and add its endpoint; `opened` is the event that opens it."""
    runner = Runner(page, folder)
    gr.Markdown(f"# {page.name}\n{page.question}", elem_classes="heading")
    with gr.Row(equal_height=False, elem_classes="halves"):
        with gr.Column(min_width=320, elem_classes="inputs-column"):
            given = input_parts(page, runner.defaults, runner.texts.inputs)
        with gr.Column(min_width=320, elem_classes="results-column"):
            out = result_parts(page)
    gr.Markdown(card_text(folder, runner.texts.description), latex_delimiters=_LATEX, elem_classes="card")
    address, seen_before = gr.Textbox(visible=False), gr.Checkbox(visible=False)

    data = [given.example, *given.tables, *given.files, *given.columns, given.read_as, *given.controls]
    data.append(given.leave_out)
    seen = [given.read, given.panel, given.flip, given.leave, given.leave_out, *given.columns, *given.controls]
    loaded = [given.example, *given.tables, *given.files, given.read_as, out.photograph, *seen]
    answers, forms = Answers(runner, folder, data, out, given.told), Forms(runner, folder)
    pressed: dict[str, Any] = dict(fn=answers.press, inputs=answers.inputs, outputs=answers.outputs)

    def shown_after(event: Any) -> None:
        """The results come into sight, and the address of the page says what they are of."""
        done = event.then(forms.query, data, [address], **QUIET)
        done.then(None, [address], None, js=_SHOW.replace("NAME", page.name), api_visibility="private")

    shown_after(given.button.click(**pressed, **SHOWN))
    answers.connect()
    chosen = given.example.input(forms.load, [given.example], loaded, **QUIET)
    shown_after(chosen.then(**pressed, **QUIET))
    stale, wait, go_on = (script.replace("NAME", page.name) for script in (_STALE, _WAIT, _GO_ON))
    for file in given.files:
        for event in (file.upload, file.clear, file.delete):
            event(None, None, None, js=wait, api_visibility="private")
            event(forms.upload, data, loaded, **QUIET).then(None, None, None, js=stale, api_visibility="private")
    for text, table in zip(given.pasted, given.tables):
        text.change(None, None, None, js=wait, api_visibility="private")
        pasted = text.change(forms.paste, [text], [table, given.read], trigger_mode="always_last", **QUIET)
        pasted.failure(None, None, None, js=go_on, api_visibility="private")
        pasted.success(forms.own_table, data, loaded, **QUIET).then(
            None, None, None, js=stale, api_visibility="private"
        )
    for part in (*given.tables, *given.columns, given.read_as):
        part.input(forms.again, data, [given.told, *seen], **QUIET)
        part.input(None, None, None, js=stale, api_visibility="private")
    for part in given.controls:
        part.change(None, None, None, js=stale, api_visibility="private")
    given.flip.click(forms.turn, data, [*given.columns], **QUIET).then(forms.again, data, [given.told, *seen], **QUIET)
    left_out = given.leave.click(forms.leave, data, [given.told, *seen], **QUIET)
    shown_after(left_out.then(**pressed, **QUIET))
    link = given.link.click(forms.query, data, [address], **QUIET)
    link.then(None, [address, given.link], [given.link], js=_COPY, api_visibility="private")
    out.download.click(None, [out.full], None, js=_DOWNLOAD.replace("NAME", page.name), api_visibility="private")
    if opened is not None:
        first = opened(forms.open, [seen_before], [seen_before, *loaded], **QUIET)
        computed = first.success(**pressed, **QUIET)
        computed.then(None, None, None, js=stale.replace("add", "remove"), api_visibility="private")
    _add_api(runner, endpoint)


_LATEX = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
# on a narrow page the results are below the button; after an error those before stay, dimmed
_SHOW = """(query) => requestAnimationFrame(() => {
    const results = document.querySelector("#NAME-results");
    const error = document.querySelector("#NAME-told .error");
    results?.classList.toggle("stale", error !== null);
    const shown = error ?? document.querySelector("#NAME-numbers table");
    const place = shown?.getBoundingClientRect();
    if (place && (place.top < 0 || place.bottom > window.innerHeight)) shown.scrollIntoView({block: "nearest"});
    const kept = [...new URLSearchParams(location.search)].filter(([key]) => key.startsWith("__"));
    const more = new URLSearchParams(kept).toString();
    history.replaceState(null, "", query + (more && "&" + more));
})"""
# data are looked at before they can be computed, since options follow of them
_WAIT = """() => { document.querySelector("#NAME-compute").disabled = true; }"""
_GO_ON = """() => { document.querySelector("#NAME-compute").disabled = false; }"""
_STALE = """() => {
    document.querySelector("#NAME-compute").disabled = false;
    document.querySelector("#NAME-results")?.classList.add("stale");
}"""
_COPY = """(query, label) => {
    navigator.clipboard.writeText(location.origin + location.pathname + query);
    return "Link copied";
}"""
# the file is made in the browser: nothing is written on the server
_DOWNLOAD = """(text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
    link.download = "NAME.json";
    link.click();
    URL.revokeObjectURL(link.href);
}"""


def _add_api(runner: Runner, endpoint: str) -> None:
    """The endpoint: columns and options by name to the results. Errors carry the metric's own message."""

    def compute(columns: dict[str, Any], options: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return runner.results(columns, options or {})
        except Exception as error:
            raise gr.Error(explain(error), print_exception=False) from None

    gr.api(compute, api_name=endpoint, api_description=runner.texts.description.strip())
