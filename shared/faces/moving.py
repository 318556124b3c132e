"""Figures that move, as JSON of plotly.js, in the colours of a light page, which `theme_css` adapts to its theme."""

from __future__ import annotations

import html
import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..answers.answer import Curves, Decisions, Histogram, Series
from ..answers.decisions import number_at
from .palette import DASHES, TOKENS, light
from .typography import number, typographic

Drawing = tuple[list[dict[str, Any]], dict[str, Any]]  # traces, and what differs in the layout
_PER_SERIES = 4  # traces of a histogram, of which the first two follow the threshold
_LETTER = 0.024  # the share of the width of a figure that a letter takes
_NONE = "rgba(0,0,0,0)"
_FONT = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif'
_AXIS = {
    "fixedrange": True,
    "zeroline": False,
    "showgrid": False,
    "showline": True,
    "linecolor": light("edge"),
    "gridcolor": light("line"),
    "ticks": "outside",
    "ticklen": 4,
    "tickcolor": light("edge"),
}
_BARE = {"visible": False, "fixedrange": True}
_LAYOUT = {
    "template": "none",
    "paper_bgcolor": _NONE,
    "plot_bgcolor": _NONE,
    "autosize": True,  # to the height of the style sheet
    "font": {"family": _FONT, "size": 12, "color": light("ink2")},
    "showlegend": False,
    "hovermode": "closest",
    "dragmode": False,
    "barmode": "stack",
    "hoverlabel": {
        "bgcolor": light("ink"),
        "bordercolor": light("ink"),
        "align": "left",
        "font": {"family": _FONT, "size": 12, "color": light("surface")},
    },
}
_HALF = {"range": [-0.01, 1.02], "tickvals": [0, 0.5, 1], "ticktext": ["0", "0.5", "1"], "showgrid": True}


def plotly_of(
    figure: Histogram | Curves, decisions: Decisions | None = None, place: int = 0, *, state: str = ""
) -> str:
    """Draw a figure as JSON of plotly.js, with the threshold of the decisions at an index where it follows them.

    A title stands above it on the page, and not in it. Names are escaped, since plotly reads them as markup.
    `layout.meta` is the state that is drawn; page.js compares it with that of `moves_of`.
    """
    draw: Any = _histogram if isinstance(figure, Histogram) else _curves
    traces, layout = draw(figure, decisions, place)
    return json.dumps({"data": traces, "layout": {**_LAYOUT, **layout, "meta": state}}, allow_nan=False)


def moves_of(figure: Histogram | Curves, decisions: Decisions, place: int, *, state: str = "") -> dict[str, Any]:
    """The properties of a drawn figure that follow the threshold, at an index: of some traces, and of the layout.

    Returns {"traces", "data", "layout"}: indices of traces, and what `Plotly.update` takes.
    """
    if isinstance(figure, Histogram):
        left, right = _ends(figure)
        at, layout = _threshold(figure, decisions, place)
        parts = [part for series in figure.series for part in _parts(series, figure.width, left, at, right)]
        traces = [_PER_SERIES * i + part for i in range(len(figure.series)) for part in range(2)]
    else:
        parts, layout = _moving(figure, decisions, place), {}
        traces = [figure.diagonal + len(figure.series)]
    names = ("x", "y") if isinstance(figure, Histogram) else ("x", "y", "hovertext")
    return {
        "traces": traces,
        "data": {name: [part[name] for part in parts] for name in names},
        "layout": layout | {"meta": state},
    }


def theme_css() -> str:
    """The rules that give the colours of a figure their values on dark ground, by the text that plotly writes."""
    rules = []
    for name, (bright, dark) in TOKENS.items():
        if bright == dark or (bright == TOKENS["surface"].light and name != "surface"):
            continue
        written = "rgb({}, {}, {})".format(*(int(bright[i : i + 2], 16) for i in (1, 3, 5)))
        for part in ("fill", "stroke"):
            selectors = f'[style*="{part}: {written}"],[{part}="{written}"],[{part}="{bright}"]'
            rules.append(f".dark .js-plotly-plot :is({selectors}){{{part}:var(--{name})!important}}\n")
    return "".join(rules)


def _histogram(figure: Histogram, decisions: Decisions | None, place: int) -> Drawing:
    """The shares of each side as steps, paler left of the threshold; the unknown side is hatched."""
    left, right = _ends(figure)
    top = 1.2 * max(max(series.y) for series in figure.series)
    at: float = left
    marks: dict[str, Any] = {}
    if figure.follows and decisions is not None:
        at, marks = _threshold(figure, decisions, place)
    traces: list[dict[str, Any]] = []
    for series in figure.series:
        pale, full = _parts(series, figure.width, left, at, right)
        traces += [  # as many as _PER_SERIES
            {**pale, **_filled(series.role, 0.4)},
            {**full, **_filled(series.role)},
            {**_steps(series, figure.width, left, right), "line": {"color": light(series.role), "width": 1.5}},
            _hover(series, figure.width, f"of all samples, {series.name}" if figure.of_all else f"of {series.name}"),
        ]
    axis = {**_AXIS, "range": [left, right], "nticks": 8, "tickformat": "~g"}
    margin = {"l": 6, "r": 6, "t": 4, "b": 24}
    return traces, {"xaxis": axis, "yaxis": {**_BARE, "range": [0, top]}, **marks, "margin": margin}


def _ends(figure: Histogram) -> tuple[float, float]:
    return min(min(s.x) for s in figure.series), max(max(s.x) for s in figure.series) + figure.width


def _threshold(figure: Histogram, decisions: Decisions, place: int) -> tuple[float, dict[str, Any]]:
    """The threshold within the axis, and its line and text in the layout."""
    left, right = _ends(figure)
    at = min(max(float(decisions.thresholds[place]), left), right)
    line = {"color": light("ink"), "width": 2}
    shape = {"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 0.93, "yref": "paper", "line": line}
    text = typographic(f"{decisions.rule} {decisions.thresholds[place]}")
    fits = at + _LETTER * len(text) * (right - left) <= right
    note = _note(text, at) if fits else {**_note(text, at), "xanchor": "right", "xshift": -5}
    return at, {"annotations": [note], "shapes": [shape]}


def _parts(series: Series, width: float, left: float, at: float, right: float) -> list[dict[str, Any]]:
    """The bins left and right of the threshold."""
    return [_steps(series, width, left, at), _steps(series, width, at, right)]


def _steps(series: Series, width: float, low: float, high: float) -> dict[str, Any]:
    """The outline of the bins between two scores, down to zero at both ends."""
    x, y = np.asarray(series.x, np.float64), np.asarray(series.y, np.float64)
    edges = np.clip(np.stack([x, x + width], axis=1).ravel(), low, high)
    inside = np.concatenate([edges[:1], edges, edges[-1:]]).tolist()
    style = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "line": {"width": 0}}
    return {**style, "x": inside, "y": [0, *np.repeat(y, 2).tolist(), 0]}


def _filled(role: str, part: float = 1.0) -> dict[str, Any]:
    """The fill of a side, a part of its full strength: hatched for the unknown one, else even."""
    if role == "unknown":
        pattern = {
            "shape": "/",
            "fgcolor": light(role),
            "fgopacity": part,
            "bgcolor": _NONE,
            "size": 6,
            "solidity": 0.3,
        }
        return {"fill": "tozeroy", "fillcolor": _NONE, "fillpattern": pattern}
    return {"fill": "tozeroy", "fillcolor": _faded(role, (0.5 if role == "known" else 0.15) * part)}


def _faded(role: str, alpha: float) -> str:
    color = light(role)
    return "rgba({},{},{},{})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)), alpha)


def _hover(series: Series, width: float, of: str) -> dict[str, Any]:
    """Unseen points over the bins, which say their share on hover."""
    texts = series.said or [
        f"{number(float(x))} to {number(float(x + width))}: {number(float(y))} {of}" for x, y in zip(series.x, series.y)
    ]
    return {
        "type": "scatter",
        "mode": "markers",
        "marker": {"opacity": 0, "size": 8, "color": light(series.role)},
        "x": [x + width / 2 for x in series.x],
        "y": [*series.y],
        "hovertext": [*map(_escaped, texts)],
        "hoverinfo": "text",
    }


def _note(text: str, x: float) -> dict[str, Any]:
    """A text above a figure, which begins at x."""
    style = {"yref": "paper", "yanchor": "top", "xanchor": "left", "xshift": 5, "showarrow": False, "borderpad": 0}
    return {**style, "text": _escaped(text), "x": x, "y": 1, "font": {"size": 12, "color": light("ink")}}


def _curves(figure: Curves, decisions: Decisions | None, place: int) -> Drawing:
    traces = []
    if figure.diagonal:
        line = {"color": light("edge"), "width": 1, "dash": "dot"}
        style = {"type": "scatter", "mode": "lines", "hoverinfo": "skip"}
        traces.append({**style, "x": [0, 1], "y": [0, 1], "line": line})
    traces += [_curve(figure, series) for series in sorted(figure.series, key=lambda series: series.selected)]
    traces += _moving(figure, decisions, place)
    x, y = ({**_AXIS, **(_HALF if share else {"tickformat": "~g", "nticks": 5})} for share in figure.shares)
    x["title"] = {"text": _escaped(figure.axes[0]), "standoff": 2, "font": {"size": 12}}
    name = {**_note(figure.axes[1], 0), "xref": "paper", "yanchor": "bottom", "xshift": -20}
    margin = {"l": 30 if figure.shares[1] else 52, "r": 10, "t": 20, "b": 38}
    return traces, {"xaxis": x, "yaxis": y, "annotations": [name], "margin": margin}


def _curve(figure: Curves, series: Series) -> dict[str, Any]:
    role = series.role if series.role in DASHES else ""
    numbers = f"{_quoted(figure.axes[0])} %{{x:.3f}}, {_quoted(figure.axes[1])} %{{y:.3f}}"
    hover = {"text": [*map(_escaped, series.said)]} if series.said else {}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": _numbers(series.x),
        "y": _numbers(series.y),
        "line": {
            "color": light(series.role),
            "width": 2.6 if series.selected else 1.6,
            "dash": DASHES.get(role, "solid"),
            "shape": "vh" if figure.steps else "linear",
        },
        "meta": [_escaped(series.name)],
        "hovertemplate": f"%{{meta[0]}}{'<br>%{text}' if hover else ''}<br>{numbers}<extra></extra>",
        **hover,
    }


def _moving(figure: Curves, decisions: Decisions | None, place: int) -> list[dict[str, Any]]:
    """The point of the decisions at the threshold at an index."""
    if decisions is None or figure.follows is None:
        return []
    x, y = (number_at(decisions, name, place) for name in figure.follows)
    at = typographic(decisions.thresholds[place])
    text = ", ".join(f"{name} {number(value)}" for name, value in zip(figure.follows, (x, y)))
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": _numbers([x]),
            "y": _numbers([y]),
            "marker": {"size": 12, "color": light("surface"), "line": {"color": light("ink"), "width": 2.5}},
            "hovertext": [f"{_escaped(decisions.rule)} {at}<br>{_escaped(text)}"],
            "hoverinfo": "text",
            "cliponaxis": False,
        }
    ]


def _numbers(values: Sequence[float]) -> list[float | None]:
    """Coordinates as JSON, with gaps where there is no number."""
    return [float(value) if math.isfinite(value) else None for value in values]


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)


def _quoted(text: str) -> str:
    """A text within a template of plotly."""
    return _escaped(text).replace("%{", "% {")
