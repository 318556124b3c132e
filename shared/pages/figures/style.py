"""What the figures share: their style, how many points of a curve are drawn, and what lies behind."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ..limits import MAX_POINTS

BLUE, ORANGE, GREEN, RED, GREY = "#3b82f6", "#f59e0b", "#10b981", "#ef4444", "#8b8f98"
_GRID = "rgba(128, 128, 128, 0.25)"


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
            "xaxis": {**axis, "title": dict(text=x, **title)},
            "yaxis": {**axis, "title": dict(text=y, **title)},
            **layout,
        }
    )


def curve(fig: go.Figure, x: Any, y: Any, name: str, color: str = BLUE, **kwargs: Any) -> go.Figure:
    """Add a line through at most MAX_POINTS points; its name says so when they are fewer than there are."""
    at = thin(len(x))
    drawn = "" if len(at) == len(x) else f" ({len(at):,} of {len(x):,} points)"
    line = {"color": color, "width": 2, **kwargs.pop("line", {})}
    return fig.add_scatter(
        x=np.asarray(x)[at].tolist(), y=np.asarray(y)[at].tolist(), name=name + drawn, mode="lines", line=line, **kwargs
    )


def point(fig: go.Figure, x: float, y: float, name: str, color: str = RED) -> go.Figure:
    """Add a point that stands out."""
    marker = dict(color=color, size=11, line=dict(color="white", width=2))
    return fig.add_scatter(x=[x], y=[y], name=name, mode="markers", marker=marker)


def thin(length: int, most: int = MAX_POINTS) -> np.ndarray:
    """Indices of at most so many of the points of a curve, evenly spread, its ends included.

    >>> thin(5, 3).tolist(), thin(2, 3).tolist()
    ([0, 2, 4], [0, 1])
    """
    return np.linspace(0, length - 1, min(length, most)).round().astype(int)


def photograph_behind(fig: go.Figure, photograph: Any, size: tuple[float, float] | None, start: float = 0.0) -> None:
    """Lay a photograph behind a picture whose coordinates run over `size`, by default the photograph's pixels."""
    if photograph is not None:
        image, pixels = photograph
        width, height = size or pixels
        where = dict(xref="x", yref="y", x=start, y=start, sizex=width, sizey=height, sizing="stretch", layer="below")
        fig.add_layout_image(source=image, **where)
