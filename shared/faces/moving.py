"""Figures that move, by plotly: colours of light ground, which `theme_css` turns into those of the page's theme."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..answers.answer import Bars, Curves, Decisions, Figure, Histogram, Matrix, Series
from ..answers.decisions import number_at
from .numbers import brief, number, typographic
from .palette import DASHES, TOKENS, light, on

Drawing = tuple[list[dict[str, Any]], dict[str, Any]]  # traces, and what differs in the layout
HEIGHT = 236
_LINE = 19  # pixels of a line of names
_FEW = 14  # columns of a matrix whose counts are written
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
    "height": HEIGHT,
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


def plotly_of(figure: Figure, decisions: Decisions | None = None, place: int = 0) -> go.Figure:
    """Draw a figure, with the threshold of the decisions at an index where it follows them.

    A title stands above it on the page, and not in it. Names are escaped, since plotly reads them as markup.
    """
    traces, layout = _DRAWN[type(figure)](figure, decisions, place)
    return go.Figure({"data": traces, "layout": {**_LAYOUT, **layout}})


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
    """The shares of each side as steps; those left of the threshold are paler, the unknown side is hatched."""
    left = min(min(series.x) for series in figure.series)
    right = max(max(series.x) for series in figure.series) + figure.width
    top = 1.2 * max(max(series.y) for series in figure.series)
    follows = figure.follows and decisions is not None
    at = min(max(float(decisions.thresholds[place]), left), right) if follows and decisions is not None else left
    traces: list[dict[str, Any]] = []
    for series in figure.series:
        traces += [
            {**_steps(series, figure.width, left, at), **_filled(series.role, 0.4)},
            {**_steps(series, figure.width, at, right), **_filled(series.role)},
            {**_steps(series, figure.width, left, right), "line": {"color": light(series.role), "width": 1.5}},
            _said(series, figure.width),
        ]
    notes = _sides(figure, left, right, top)
    shapes = []
    if follows and decisions is not None:
        line = {"color": light("ink"), "width": 2}
        shapes.append({"type": "line", "x0": at, "x1": at, "y0": 0, "y1": 0.93, "yref": "paper", "line": line})
        text = typographic(f"{decisions.rule} {decisions.thresholds[place]}")
        start = min(at, left + (1 - _room(text)) * (right - left))
        notes.append({**_note(text, start, 1.0, "left"), "yref": "paper", "yanchor": "top"})
    axis = {**_AXIS, "range": [left, right], "nticks": 8, "tickformat": "~g"}
    margin = {"l": 6, "r": 6, "t": 4, "b": 24}
    layout = {"xaxis": axis, "yaxis": {**_BARE, "range": [0, top]}, "annotations": notes, "shapes": shapes}
    return traces, {**layout, "margin": margin}


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
    """A colour with a share of opacity, as plotly takes it."""
    color = light(role)
    return "rgba({},{},{},{})".format(*(int(color[i : i + 2], 16) for i in (1, 3, 5)), alpha)


def _said(series: Series, width: float) -> dict[str, Any]:
    """Unseen points over the bins, which say their share on hover."""
    texts = series.said or [
        f"{number(float(x))} to {number(float(x + width))}: {number(float(y))} of {series.name}"
        for x, y in zip(series.x, series.y)
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


def _sides(figure: Histogram, left: float, right: float, top: float) -> list[dict[str, Any]]:
    """The name of each side at its curve: of the lower one at its left flank, of the others at their right one."""

    def mean(series: Series) -> float:
        return float(np.average(series.x, weights=series.y)) if sum(series.y) else left

    span, notes, heights = right - left, [], [0.0]
    for i, series in enumerate(sorted(figure.series, key=mean)):
        tall = np.flatnonzero(np.asarray(series.y) > 0.55 * max(series.y))
        low, high = (tall[0], tall[-1]) if len(tall) else (0, len(series.x) - 1)
        start, end = float(series.x[low]) - left, right - float(series.x[high]) - figure.width
        room = _room(brief(series.name, 34)) * span
        if len(figure.series) > 1 and start > 0.4 * room and (i == 0 or end < room):
            x, anchor = (left + start, "right") if start > room else (left, "left")
            notes.append(_note(series.name, x, float(series.y[low]), anchor))
            continue
        x, anchor = (right - end, "left") if end > room else (right, "right")
        height = float(series.y[high]) if end > room else min(1.1 * max(series.y), 0.85 * top)
        height = max([height, *(other + 0.1 * top for other in heights if abs(other - height) < 0.1 * top)])
        heights.append(height)  # names on one side stand above each other
        notes.append(_note(series.name, x, height, anchor))
    return notes


def _room(text: str) -> float:
    """The share of a figure 330 pixels wide that a text takes."""
    return min(1.0, 8 * len(text) / 330)


def _note(text: str, x: float, y: float, anchor: str) -> dict[str, Any]:
    """A text at a point, in ink, over what lies behind it."""
    return {
        "text": f"<b>{_escaped(brief(text, 34))}</b>",
        "hovertext": _escaped(text) if len(text) > 34 else None,
        "x": x,
        "y": y,
        "xanchor": anchor,
        "xshift": 5 if anchor == "left" else -5,
        "showarrow": False,
        "borderpad": 0,
        "bgcolor": "rgba(255,255,255,0.6)",
        "font": {"size": 12, "color": light("ink")},
    }


def _curves(figure: Curves, decisions: Decisions | None, place: int) -> Drawing:
    """The curves, the model shown on top, with names and values in a corner that is free, and the moving point."""
    traces = []
    if figure.diagonal:
        line = {"color": light("edge"), "width": 1, "dash": "dot"}
        style = {"type": "scatter", "mode": "lines", "hoverinfo": "skip", "showlegend": False}
        traces.append({**style, "x": [0, 1], "y": [0, 1], "line": line})
    ordered = sorted(figure.series, key=lambda series: -np.inf if series.value is None else -series.value)
    for rank, series in sorted(enumerate(ordered), key=lambda pair: pair[1].selected):
        traces.append(_curve(figure, series, rank))
    traces += _moving(figure, decisions, place)
    x, y = ({**_AXIS, **(_HALF if share else {"tickformat": "~g", "nticks": 5})} for share in figure.shares)
    x["title"] = {"text": _escaped(figure.axes[0]), "standoff": 2, "font": {"size": 12}}
    name = {**_note(figure.axes[1], 0, 1, "left"), "xref": "paper", "yref": "paper", "yanchor": "bottom"}
    name |= {"text": _escaped(figure.axes[1]), "xshift": -20, "font": {"size": 12, "color": light("ink2")}}
    names, room = _names(figure)
    margin = {"l": 30 if figure.shares[1] else 52, "r": 10, "t": 20, "b": 38 + room}
    layout = {"xaxis": x, "yaxis": y, "annotations": [name], "margin": margin, "height": HEIGHT + room}
    return traces, {**layout, "showlegend": len(figure.series) > 1, "legend": names}


def _curve(figure: Curves, series: Series, rank: int) -> dict[str, Any]:
    title = _listed(series)
    role = series.role if series.role in DASHES else ""
    numbers = f"{_quoted(figure.axes[0])} %{{x:.3f}}, {_quoted(figure.axes[1])} %{{y:.3f}}"
    said = {"text": np.asarray([*map(_escaped, series.said)], object)} if series.said else {}
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.asarray(series.x, np.float64),  # plotly checks lists item by item
        "y": np.asarray(series.y, np.float64),
        "name": f"<b>{title}</b>" if series.selected else title,
        "legendrank": rank + 1,
        "line": {
            "color": light(series.role),
            "width": 2.6 if series.selected else 1.6,
            "dash": DASHES.get(role, "solid"),
            "shape": "vh" if figure.steps else "linear",
        },
        "meta": [_escaped(series.name)],
        "hovertemplate": f"%{{meta[0]}}{'<br>%{text}' if said else ''}<br>{numbers}<extra></extra>",
        **said,
    }


def _listed(series: Series) -> str:
    """The name of a curve in the list, and its value."""
    value = "" if series.value is None else f" {number(series.value)}"
    return f"{_escaped(brief(series.name))}{value}"


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
            "x": [x],
            "y": [y],
            "marker": {"size": 12, "color": light("surface"), "line": {"color": light("ink"), "width": 2.5}},
            "hovertext": [f"{_escaped(decisions.rule)} {at}<br>{_escaped(text)}"],
            "hoverinfo": "text",
            "showlegend": False,
            "cliponaxis": False,
        }
    ]


def _names(figure: Curves) -> tuple[dict[str, Any], int]:
    """Where the list of curves stands: in a corner that no curve crosses, else below; and the room that it takes."""
    style = {"itemclick": False, "itemdoubleclick": False, "bgcolor": _NONE, "font": {"color": light("ink")}}
    style |= {"itemwidth": 30, "tracegroupgap": 0}
    if len(figure.series) < 2:
        return style, 0
    letters = max(len(brief(series.name)) + 6 for series in figure.series)
    width, height = (48 + 7 * letters) / 220, (8 + _LINE * len(figure.series)) / (HEIGHT - 58)
    points = np.concatenate([_along(series) for series in figure.series])
    points = np.concatenate([points[np.isfinite(points).all(axis=1)], [[0.0, 0.0]]])
    low, high = points.min(axis=0), points.max(axis=0)
    low, high = (np.where(figure.shares, end, own) for end, own in ((0.0, low), (1.0, high)))
    points = (points - low) / np.where(high > low, high - low, 1)
    for right, bottom in ((True, True), (False, False), (True, False), (False, True)):
        across = points[:, 0] > 1 - width if right else points[:, 0] < width
        along = points[:, 1] < height if bottom else points[:, 1] > 1 - height
        if width < 0.9 and height < 0.8 and not np.any(across & along) and (right or bottom):
            corner = {"x": 0.99 if right else 0.02, "xanchor": "right" if right else "left"}
            return {**style, **corner, "y": 0.02 if bottom else 0.98, "yanchor": "bottom" if bottom else "top"}, 0
    room = 6 + _LINE * len(figure.series)
    return {**style, "yref": "container", "y": 0, "yanchor": "bottom", "x": 0, "xanchor": "left"}, room


def _along(series: Series) -> np.ndarray:
    """Points (N, 2) along a curve, also between its vertices."""
    vertices = np.asarray([series.x, series.y], np.float64).T
    steps = np.linspace(0, 1, 2 + 400 // len(vertices))[:, None, None]
    return (vertices[:-1] + steps * np.diff(vertices, axis=0)).reshape(-1, 2)


def _bars(figure: Bars, decisions: Decisions | None, place: int) -> Drawing:
    """Each row as a bar of its whole, divided into the shares of its parts; their names stand in the title."""
    counts = np.asarray(figure.counts, np.int64).reshape(len(figure.rows), len(figure.parts))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    style = {"type": "bar", "orientation": "h", "y": [*range(len(figure.rows))], "width": 0.62, "hoverinfo": "text"}
    style |= {"textposition": "inside", "insidetextanchor": "middle", "textangle": 0}
    traces = []
    for part, role, own, of in zip(figure.parts, figure.roles, counts.T.tolist(), shares.T.tolist()):
        hover = [f"{row}, {part}: {n:,} ({number(share)})" for row, n, share in zip(figure.rows, own, of)]
        trace = {
            "x": of,
            "marker": {"color": light(role), "line": {"color": light("surface"), "width": 1}},
            "text": [f"{n:,}" if share > 0.06 else "" for n, share in zip(own, of)],
            "textfont": {"color": light(on(role)), "size": 12},
            "hovertext": [*map(_escaped, hover)],
        }
        traces.append({**style, **trace})
    return traces, {
        "xaxis": {**_AXIS, **_HALF, "range": [0, 1]},
        "yaxis": {**_AXIS, **_category(figure.rows), "showline": False, "ticks": "", "autorange": "reversed"},
        "height": 44 + 40 * len(figure.rows),
        "margin": {"l": 10, "r": 10, "t": 4, "b": 26},
    }


def _matrix(figure: Matrix, decisions: Decisions | None, place: int) -> Drawing:
    """Counts as cells, shaded by their share of the row or of the highest count; right decisions have their colour."""
    shape = len(figure.rows), len(figure.columns)
    counts = np.asarray([[count or 0 for count in row] for row in figure.counts], np.int64).reshape(shape)
    wholes = counts.sum(axis=1, keepdims=True) if figure.shares else counts.max(initial=0, keepdims=True)
    shades = counts / np.maximum(wholes, 1)
    few = len(figure.columns) <= _FEW
    roles: Any = np.asarray(figure.roles, object) if figure.roles else np.full(shape, "unknown", object)
    for cell in figure.right:
        roles[cell] = "known"
    texts, hover = (np.full(shape, "", object) for _ in range(2))
    for i, j in np.ndindex(shape):
        count = figure.counts[i][j]
        texts[i, j] = "–" if count is None else f"{count:,}"
        share = f" ({number(float(shades[i, j]))} of the row)" if figure.shares and count is not None else ""
        hover[i, j] = _escaped(f"{figure.rows[i]}, {figure.columns[j]}: {texts[i, j]}{share}")
    style = {
        "texttemplate": "%{text}" if few else "",
        "textfont": {"color": light("ink"), "size": 13},
        **{"zmin": 0, "zmax": 1, "showscale": False, "hoverinfo": "text", "hoverongaps": False},
        **dict.fromkeys(("xgap", "ygap"), 2 if few else 0),
    }
    traces = []
    for role in dict.fromkeys(roles.ravel().tolist()):
        others = np.asarray(roles != role)
        z, text = shades.astype(object), texts.copy()
        z[others], text[others] = None, ""
        colors = [[0, _faded(role, 0.04)], [1, _faded(role, 0.5)]]
        trace = {"type": "heatmap", "z": z.tolist(), "text": text.tolist(), "hovertext": hover.tolist()}
        traces.append({**trace, **style, "colorscale": colors})
    bare = {**_AXIS, "showline": False, "ticks": ""}
    down, across = (
        {**bare, **_category(names, line), "title": {"text": _escaped(words), "standoff": 6, "font": {"size": 12}}}
        for names, words, line in zip(
            (figure.rows, figure.columns), figure.axes, (12, max(6, 42 // len(figure.columns)))
        )
    )
    return traces, {
        "xaxis": {**across, "tickangle": 0 if len(figure.columns) < 8 else "auto"},
        "yaxis": {**down, "autorange": "reversed"},
        "height": min(480, 64 + (36 if few else 16) * len(figure.rows)),
        "margin": {"l": 10, "r": 10, "t": 4, "b": 40},
    }


def _category(names: Sequence[str], line: int = 12) -> dict[str, Any]:
    """An axis of names, which may be equal, in lines of at most some letters."""
    ticks = ["<br>".join(map(_escaped, wrap(brief(name, 22), line))) for name in names]
    return {
        "tickvals": [*range(len(names))],
        "ticktext": ticks,
        "automargin": True,
        "tickfont": {"color": light("ink")},
    }


def _escaped(text: str) -> str:
    """A text that plotly shows as it is."""
    return html.escape(text, quote=False)


def _quoted(text: str) -> str:
    """A text within a template of plotly."""
    return _escaped(text).replace("%{", "% {")


_DRAWN: Mapping[type, Any] = {Histogram: _histogram, Curves: _curves, Bars: _bars, Matrix: _matrix}
