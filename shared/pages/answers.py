"""What happens when the button is pressed, and when another image or detector is to be seen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from .kept import Kept
from .limits import MAX_IMAGES
from .outputs import Outputs
from .page import Page
from .parts import Inputs
from .results import message
from .runner import Done, Runner, Shown, explain


def connect(runner: Runner, given: Inputs, out: Outputs) -> Any:
    """Connect the button, and what chooses an image or a detector; return the event of the button."""
    page, kept = runner.page, Kept()
    inputs = [*given.tables, *given.files, *given.columns, given.read_as, *given.controls]
    chosen = [out.detector, out.image, out.photograph, out.token]
    shown = [out.numbers, out.threshold, out.image, out.strip, out.worst, out.tables_tab, *out.tables]
    shown += [out.full, out.call, out.cite, out.report, *out.plots]
    first = [given.told, out.results, out.hint, out.detector, out.token]
    quiet: dict[str, Any] = dict(api_visibility="private", show_progress="hidden")
    press, see, look = _pressed(runner, kept), _seen(runner, kept), _looked(runner, kept)
    pressed = given.button.click(press, [*inputs, *chosen], [*first, *shown], api_visibility="private")
    out.detector.input(see, [*inputs, *chosen], [given.told, out.token, *shown], **quiet)
    if page.images:
        for event in (out.image.input, out.photograph.change):
            event(look, [*inputs, *chosen], [given.told, out.token, out.plots[0]], **quiet)
    return pressed


def box(text: str) -> Any:
    """An update of a place for messages, which is hidden while there is none."""
    return gr.update(value=text, visible=bool(text))


def _pressed(runner: Runner, kept: Kept) -> Callable[..., list[Any]]:
    page = runner.page

    def press(*values: Any) -> list[Any]:
        inputs, (_, image, photographs, token) = values[:-4], values[-4:]
        try:
            done = runner.run(*_sorted(page, inputs))
            found = runner.display(done, "", image, photographs)
        except Exception as error:  # whatever it is, the person is told where they look, and inputs stay
            hidden = [gr.update(visible=False), gr.update(visible=False)]
            return [box(message(explain(error))), *hidden, gr.skip(), gr.skip(), *[gr.skip()] * _count(page)]
        names = [*done.found]
        detector = gr.update(choices=names, value=names[0], visible=len(names) > 1)
        told = [box(""), gr.update(visible=True), gr.update(visible=False)]
        return [*told, detector, kept.put(done, token), *_texts(found)]

    return press


def _seen(runner: Runner, kept: Kept) -> Callable[..., list[Any]]:
    """Another detector in full."""

    def see(*values: Any) -> list[Any]:
        inputs, (detector, image, photographs, token) = values[:-4], values[-4:]
        try:
            done, token = _done(runner, kept, inputs, token)
            found = runner.display(done, detector, image, photographs)
        except Exception as error:  # as in press
            return [box(message(explain(error))), token, *[gr.skip()] * _count(runner.page)]
        return [box(""), token, *_texts(found)]

    return see


def _looked(runner: Runner, kept: Kept) -> Callable[..., list[Any]]:
    """Another image, or another photograph behind it: the first picture alone."""

    def look(*values: Any) -> list[Any]:
        inputs, (detector, image, photographs, token) = values[:-4], values[-4:]
        try:
            done, token = _done(runner, kept, inputs, token)
            return [box(""), token, runner.picture(done, detector, image, photographs)]
        except Exception as error:  # as in press
            return [box(message(explain(error))), token, gr.skip()]

    return look


def _done(runner: Runner, kept: Kept, inputs: tuple[Any, ...], token: str) -> tuple[Done, str]:
    """What was computed, as long as it is kept; otherwise it is computed again."""
    done = kept.get(token)
    if done is None:
        done = runner.run(*_sorted(runner.page, inputs))
        token = kept.put(done)
    return done, token


def _count(page: Page) -> int:
    """How many components `_texts` fills."""
    return 13 + len(page.pictures)


def _texts(found: Shown) -> list[Any]:
    count = found.num_images
    more = f" (of the first {count})" if count == MAX_IMAGES else ""
    slider = gr.update(maximum=max(2, count), visible=count > 1, label=f"Image shown{more}")
    tables = [gr.update(visible=bool(found.tables)), *(found.tables or [""] * 3)]
    parts = [found.numbers, found.threshold, slider, found.strip, found.worst, *tables]
    return [*parts, found.json, found.call, found.cite, found.report, *found.figures]


def _sorted(page: Page, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values of the inputs by what they are."""
    parts: list[Any] = []
    for size in (len(page.sources), len(page.sources), len(page.columns), 1, len(page.options)):
        parts.append(values[:size])
        values = values[size:]
    tables, files, made_of, (read_as,), controls = parts
    return tables, files, made_of, read_as, controls
