"""The page of a metric, from its description as data (`page.Page`); every app.py is `launch(build(PAGE, folder))`.

    table or files ─ uploads ─→ named arrays ─ columns, inputs ─→ the metric's columns ┐
    controls ─ controls ─→ the metric's options ───────────────────────────────────────┤ runner, costs
                             ┌─ compute() ─→ results: table, JSON, Python (results) ←──┤
                             └─ state() ─→ kernel functions ─→ figures (Page.draw) ←───┘

The numbers are those of the metric that evaluate loads from the same folder. Each press of the button reads the inputs
anew; what was computed last is kept for a while (`kept`), to show another image or detector of it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import gradio as gr
from starlette.middleware import Middleware

from .answers import box, connect
from .columns import KINDS
from .controls import shown
from .folder import own_folder
from .guard import Guard
from .guesses import guess
from .inputs import describe, offered
from .layout import CSS, HEAD, THEME, card_text, data_frame
from .limits import MAX_BYTES
from .outputs import result_parts
from .page import Page
from .parts import input_parts
from .results import message
from .runner import Runner, explain
from .sources import checked_sources

QUEUE = 32  # visitors who may wait; two are served at a time


def build(page: Page, folder: Path) -> gr.Blocks:
    """Make the page of a metric whose script, kernel files and card are in `folder`."""
    with blocks(page.name) as demo:
        fill(page, folder)
    return demo.queue(max_size=QUEUE, default_concurrency_limit=2)


def blocks(title: str) -> gr.Blocks:
    """An empty page. What visitors upload is deleted after an hour or two, or by the next page that starts."""
    own_folder()
    return gr.Blocks(title=title, analytics_enabled=False, delete_cache=(3600, 3600))


def launch(demo: gr.Blocks, **kwargs: Any) -> Any:
    """Serve a page, or the gallery, with its style and limits."""
    settings = dict(theme=THEME, css=CSS, head=HEAD, max_file_size=MAX_BYTES, ssr_mode=False, footer_links=["api"])
    guarded = {"middleware": [Middleware(Guard)]}
    for block in demo.blocks.values():
        block.async_move_resource_to_block_cache = _nothing_fetched(block.async_move_resource_to_block_cache)
    return demo.launch(**{**settings, "app_kwargs": guarded, **kwargs})


def _nothing_fetched(move: Callable[..., Any]) -> Callable[..., Any]:
    """As gradio takes the path of an upload; refused is an address of the web, which it would fetch, however large."""

    async def taken(path: Any) -> Any:
        if "://" in str(path):
            raise gr.Error("Expected an uploaded file, got an address; none is opened.", print_exception=False)
        return await move(path)

    return taken


def fill(page: Page, folder: Path, endpoint: str = "compute") -> None:
    """Fill the blocks that are open with a metric's page, and add its endpoint."""
    runner = Runner(page, folder)
    gr.Markdown(f"# {page.name}\n{page.question}", elem_classes="heading")
    with gr.Row(equal_height=False):
        with gr.Column(min_width=320, elem_classes="inputs-column"):
            given = input_parts(page, runner.defaults, runner.texts.inputs)
        with gr.Column(min_width=320, elem_classes="results-column"):
            out = result_parts(page)
    gr.Markdown(card_text(folder, runner.texts.description), latex_delimiters=_LATEX, elem_classes="card")

    quiet: dict[str, Any] = dict(api_visibility="private", show_progress="hidden")
    pressed = connect(runner, given, out)
    pressed.then(None, None, None, js=_SHOW.replace("NAME", page.name), api_visibility="private")
    loaded = [*given.tables, *given.files, *given.columns, given.read_as, *given.controls]
    given.example.input(_example(runner), [given.example], loaded, **quiet)
    for part in [*given.tables, *given.files]:
        seen = [given.read, *given.columns, *given.controls]
        part.change(_look(page), [*given.tables, *given.files, *given.columns], seen, **quiet)
    out.download.click(None, [out.full], None, js=_DOWNLOAD.replace("NAME", page.name), api_visibility="private")
    _add_api(runner, endpoint)


_LATEX = [
    {"left": "$$", "right": "$$", "display": True},
    {"left": "$", "right": "$", "display": False},
]
# on a narrow page the results are below the button
_SHOW = """() => requestAnimationFrame(() => {
    const numbers = document.querySelector("#NAME-numbers table");
    const place = numbers?.getBoundingClientRect();
    if (place && (place.top < 0 || place.top > window.innerHeight - 100)) numbers.scrollIntoView();
})"""
# the file is made in the browser: nothing is written on the server
_DOWNLOAD = """(text) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], {type: "application/json"}));
    link.download = "NAME.json";
    link.click();
    URL.revokeObjectURL(link.href);
}"""


def _example(runner: Runner) -> Callable[[str], list[Any]]:
    page = runner.page

    def load_example(title: str) -> list[Any]:
        chosen = next(example for example in page.examples if example.title == title)
        values = [chosen.options.get(option.name, runner.defaults[option.name]) for option in page.options]
        cleared: list[list[str]] = [[] for _ in page.columns]
        controls = [shown(option, value) for option, value in zip(page.options, values)]
        return [*map(data_frame, chosen.tables), *([None] * len(page.sources)), *cleared, KINDS[0], *controls]

    return load_example


def _look(page: Page) -> Callable[..., list[Any]]:
    def look(*values: Any) -> list[Any]:
        """Say what was read, offer its columns, and set the options that a format brings with it.

        What a person chose stays as long as there are columns of these names.
        """
        count = len(page.sources)
        tables, files, chosen = values[:count], values[count : 2 * count], values[2 * count :]
        try:
            sources = checked_sources(page, tables, files)
        except Exception as error:  # as in press
            return [box(message(explain(error))), *([gr.skip()] * (len(page.columns) + len(page.options)))]
        offers, guesses = offered(page, sources), guess(page, sources)
        mapped = []
        for column, names in zip(page.columns, chosen):
            stays = names and set(names) <= set(offers[column.name])
            mapped.append(gr.update(choices=offers[column.name], value=names if stays else guesses[column.name]))
        brought = {name: value for data in sources for name, value in data.options.items()}
        changed = [brought.get(option.name, gr.skip()) for option in page.options]
        return [box(message(describe(sources, files), "note")), *mapped, *changed]

    return look


def _add_api(runner: Runner, endpoint: str) -> None:
    """The endpoint: columns and options by name to the results. Errors carry the metric's own message."""

    def compute(columns: dict[str, Any], options: dict[str, Any] | None = None) -> dict[str, Any]:
        try:
            return runner.results(columns, options or {})
        except Exception as error:
            raise gr.Error(explain(error), print_exception=False) from None

    gr.api(compute, api_name=endpoint, api_description=runner.texts.description.strip())
