"""The view of an answer on a page: the properties of its components, by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ...answers.answer import Answer, Curves, Figure, Histogram
from ...answers.decisions import first_place, place_of
from .. import html
from ..copies import FORMS
from ..moving import moves_of, plotly_of
from .worker import Look

MAX_FIGURES = 6
COPIED = tuple(form for form in FORMS if form != "JSON")  # which is taken as a file
MAX_STILL = 200  # drawings that are kept
Props = dict[str, Any]
_drawn: dict[str, str] = {}


def view(answer: Answer, copied: str = COPIED[0]) -> dict[str, Props]:
    """The properties of each component of the results, by name: at the first preset, with the first image large.

    Parameters: copied, one of `COPIED`.
    """
    place = first_place(answer.decisions)
    decisions = answer.decisions if answer.decisions is not None and answer.decisions.thresholds else None
    props = {
        "comparison": _html(html.comparison(answer)),
        "headline": _html(html.headline(answer)),
        "images": image_props(answer),
        "worst": _html(html.worst(answer)),
        "more": _html("".join([html.numbers(answer), html.differences(answer), html.tables(answer)])),
        "notes": _html(html.notes(answer)),
        **moved(answer, place, copied),
    }
    for i in range(MAX_FIGURES):
        figure = answer.figures[i] if i < len(answer.figures) else None
        moves = isinstance(figure, (Histogram, Curves))
        drawn = None
        if isinstance(figure, (Histogram, Curves)):
            drawn = _plot(plotly_of(figure, decisions, place, state=_state(answer, place)))
        props[f"plot{i}"] = {"value": drawn, "visible": moves}
        shown = "" if figure is None else html.title_of(figure) if moves else _still(figure)
        props[f"title{i}"], props[f"card{i}"] = _html(shown), {"visible": figure is not None}
    return props


def image_props(answer: Answer) -> Props:
    """The properties of the images, of which the first is large."""
    return _html(images(answer, 0))


def _still(figure: Figure) -> str:
    """A figure that stands still, drawn once: each takes 0.1 s on the thread of all visitors."""
    key = repr(figure)
    if key not in _drawn:
        if len(_drawn) >= MAX_STILL:
            _drawn.clear()
        _drawn[key] = html.drawn(figure)
    return _drawn[key]


def moved(answer: Answer, place: int, copied: str = COPIED[0]) -> dict[str, Props]:
    """The properties of components that follow the threshold, at an index of the decisions.

    Plots stay, and page.js moves what follows in them: Gradio would make each anew. One that is made later, or again,
    is moved as well, since page.js compares the state of each plot with that of the moves.
    """
    decisions, text = answer.decisions, {"value": FORMS[copied](answer, place)}
    if decisions is None or not decisions.thresholds:
        return {"threshold": {"visible": False}, "decisions": _html(""), "text": text}
    low, high = _range(answer)
    at = float(decisions.thresholds[place])
    preset = next((name for name, index in decisions.presets.items() if index == place), None)
    return {
        "threshold": {"visible": True},
        "slider": {
            "minimum": low,
            "maximum": high,
            "step": (high - low) / 1000,
            "value": min(max(at, low), high),
            "label": f"{decisions.rule} {decisions.thresholds[place]}",
        },
        "number": {"value": decisions.thresholds[place], "label": decisions.rule},
        "preset": {"choices": [*decisions.presets], "value": preset},
        "decisions": _html(html.decisions(answer, place) + html.rendered("moves", moves=_moves(answer, place))),
        "text": text,
    }


def _moves(answer: Answer, place: int) -> str:
    """The moves of the plots as JSON."""
    assert answer.decisions is not None
    state = _state(answer, place)
    moves = [
        {"plot": i, **moves_of(figure, answer.decisions, place, state=state)}
        for i, figure in enumerate(answer.figures[:MAX_FIGURES])
        if isinstance(figure, (Histogram, Curves)) and figure.follows
    ]
    return json.dumps(moves, allow_nan=False)


def _state(answer: Answer, place: int) -> str:
    """The model and the threshold that a plot shows; "" without decisions."""
    thresholds = answer.decisions.thresholds if answer.decisions is not None else ()
    return f"{answer.model} > {thresholds[place]}" if thresholds else ""


def place_at(answer: Answer, text: Any) -> int:
    """The index of the decisions of a preset or a threshold, 0 without decisions. Raises ValueError for other text."""
    if answer.decisions is None:
        return 0
    if isinstance(text, str) and text in answer.decisions.presets:
        return answer.decisions.presets[text]
    return place_of(answer.decisions, number_of(text))


def number_of(text: Any) -> float:
    """The number of a text, also with a minus of print. Raises ValueError for other text and NaN."""
    number = float(str(text).strip().replace("−", "-"))
    if number != number:
        raise ValueError("expected a number, got NaN")
    return number


def _range(answer: Answer) -> tuple[float, float]:
    """The ends of the slider, which are the ends of the histogram above it."""
    for figure in answer.figures:
        if isinstance(figure, Histogram) and figure.follows:
            return min(min(s.x) for s in figure.series), max(max(s.x) for s in figure.series) + figure.width
    assert answer.decisions is not None
    ends = [float(text) for text in answer.decisions.thresholds]
    low, high = min(ends), max(ends)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def images(answer: Answer, chosen: int, kind: str = "") -> str:
    """The images of an answer as thumbnails of a kind, with one of them large."""
    if not answer.images:
        return ""
    chosen = min(max(chosen, 0), len(answer.images) - 1)
    image = answer.images[chosen]
    parts = {"large": html.picture_of(image), "gallery": html.gallery(answer, chosen, kind)}
    return html.rendered("images", name=image.name, ratio=round(html.ratio_of(image), 4), **parts)


def data_card(look: Look, names: str, example: bool, origin: str = "", secret: str = "") -> str:
    """The data of a page: the names of files, their size, and the roles of columns; secret, of `session.deposit`."""
    rows = [*zip(*(cells for _, _, cells in look.first))] if look.first else []
    about = {"names": names, "example": example, "origin": origin, "secret": secret}
    return html.rendered("data", look=look, roles=look.roles, rows=rows, **about)


def said(text: str, kind: str = "error") -> Props:
    """A sentence beside the data: an error, which screen readers announce, or a note."""
    return _html(html.rendered("said", text=text, kind=kind) if text else "")


def state_line(text: str, kind: str = "") -> Props:
    """The line below the button."""
    return {"value": html.rendered("state", text=text, kind=kind)}


def _plot(text: str) -> Any:
    from gradio.components.plot import PlotData

    return PlotData(type="plotly", plot=text)


def _html(text: str) -> Props:
    return {"value": str(text), "visible": bool(text)}


def changed(parts: Mapping[str, Any], props: Mapping[str, Props]) -> dict[Any, Any]:
    """The updates of components, from their properties by name."""
    import gradio as gr

    return {parts[name]: gr.update(**values) for name, values in props.items() if name in parts}
