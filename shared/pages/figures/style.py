"""What the figures share: their style, how many points of a curve are drawn, and what lies behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..limits import MAX_POINTS

# Okabe and Ito's, of these the ones with a contrast of at least 3 on white and on the dark ground of `layout.THEME`
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#7f7f86"
SHADE = "rgba(0, 114, 178, 0.16)"  # below a line of BLUE
LINES = ((BLUE, "solid"), (ORANGE, "dash"), (GREEN, "dot"), (PURPLE, "dashdot"), (GREY, "longdash"))  # of several
_GRID = "rgba(128, 128, 128, 0.25)"
_NO_BUTTONS = [
    *("toimage", "zoom", "pan", "select", "lasso", "zoomin", "zoomout", "autoscale", "resetscale", "sendDataToCloud"),
    *("hoverClosestCartesian", "hoverCompareCartesian", "toggleSpikelines", "togglehover"),
]


def figure(x: str, y: str, **layout: Any) -> go.Figure:
    """An empty figure with titles of its axes. Its colours suit light and dark: text takes the page's (see STYLE)."""
    axis = dict(gridcolor=_GRID, zerolinecolor=_GRID, linecolor=GREY, ticks="outside", tickcolor=_GRID, automargin=True)
    title = dict(standoff=8, font=dict(size=13))  # fits a page of 400 px
    return go.Figure(
        layout={
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "height": 380,
            "margin": dict(l=10, r=14, t=40, b=10),
            "font": dict(family="system-ui, sans-serif", size=13),
            "legend": dict(orientation="h", yref="container", y=0, yanchor="bottom", x=0, xanchor="left"),
            "showlegend": True,
            "hovermode": "closest",
            "dragmode": False,
            # its buttons lie over the heading on a narrow page; what they do is below the picture
            "modebar": dict(remove=_NO_BUTTONS),
            "xaxis": {**axis, "title": dict(text=x, **title)},
            "yaxis": {**axis, "title": dict(text=y, **title)},
            **layout,
        }
    )


def curve(
    fig: go.Figure,
    x: Any,
    y: Any,
    name: str,
    color: str = BLUE,
    said: Callable[[int], str] | None = None,
    **kwargs: Any,
) -> go.Figure:
    """Add a line through at most MAX_POINTS points; its name says so when they are fewer than there are.

    said: what is said of a point, by its place, when it is pointed at; a hovertemplate has it as %{text}.
    """
    at = thin(len(x))
    drawn = "" if len(at) == len(x) else f" ({len(at):,} of {len(x):,} points)"
    line = {"color": color, "width": 2, **kwargs.pop("line", {})}
    if said is not None:
        kwargs["text"] = [said(i) for i in at.tolist()]
    return fig.add_scatter(
        x=np.asarray(x)[at].tolist(), y=np.asarray(y)[at].tolist(), name=name + drawn, mode="lines", line=line, **kwargs
    )


def point(
    fig: go.Figure, x: float, y: float, name: str, color: str = ORANGE, symbol: str = "circle", **kwargs: Any
) -> go.Figure:
    """Add a point that stands out, told from others by its symbol too."""
    marker = dict(color=color, size=11, symbol=symbol, line=dict(color="white", width=2))
    return fig.add_scatter(x=[x], y=[y], name=name, mode="markers", marker=marker, **kwargs)


def thin(length: int, most: int = MAX_POINTS) -> np.ndarray:
    """Indices of at most so many of the points of a curve, evenly spread, its ends included.

    >>> thin(5, 3).tolist(), thin(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)


def photograph_behind(
    fig: go.Figure,
    photograph: Any,
    size: tuple[float, float] | None,
    start: float = 0.0,
    xaxis: str = "x",
    yaxis: str = "y",
) -> None:
    """Lay a photograph behind a picture whose coordinates run over `size`, by default the photograph's pixels."""
    if photograph is not None:
        image, pixels = photograph
        width, height = size or pixels
        where = dict(xref=xaxis, yref=yaxis, x=start, y=start, sizex=width, sizey=height)
        fig.add_layout_image(source=image, **where, sizing="stretch", layer="below")
