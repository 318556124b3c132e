"""Shared style of the figures: colours, lines, points and photographs behind them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

# Okabe and Ito's colours for classes of samples: BLUE for known ones, ORANGE for unknown ones. LINES are for detectors.
# All have a contrast of at least 3 on white and on the dark ground of `layout.THEME`
BLUE, ORANGE, GREEN, PURPLE, GREY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#828289"
SHADE = "rgba(128, 128, 128, 0.18)"  # below a line
LINES = (
    ("#8e4fb5", "solid"),
    ("#00866b", "dash"),
    ("#a87400", "dot"),
    (PURPLE, "dashdot"),
    (GREY, "longdash"),
)  # for detectors, in their order, and other lines
RATE_TICKS = "~g"  # on axes of rates; page.js turns them, and %{x:.3f} in hovers, to percent and back
_GRID = "rgba(128, 128, 128, 0.25)"
_NO_BUTTONS = [
    *("toimage", "zoom", "pan", "select", "lasso", "zoomin", "zoomout", "autoscale", "resetscale", "sendDataToCloud"),
    *("hoverClosestCartesian", "hoverCompareCartesian", "toggleSpikelines", "togglehover"),
]


def ink_on(color: str) -> str:
    """The colour of text on a ground, black or white, whichever has the higher contrast."""
    red, green, blue = (int(color[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return "#18181b" if 0.2126 * red**2.2 + 0.7152 * green**2.2 + 0.0722 * blue**2.2 > 0.2 else "white"


def figure(x: str, y: str, **layout: Any) -> go.Figure:
    """An empty figure with axis titles, legible in light and dark: text takes the page's colour (see STYLE)."""
    axis = dict(gridcolor=_GRID, zerolinecolor=_GRID, linecolor=GREY, ticks="outside", tickcolor=_GRID, automargin=True)
    title = dict(standoff=8, font=dict(size=13))  # fits a page 400 px wide
    return go.Figure(
        layout={
            "template": "none",
            "paper_bgcolor": "rgba(0,0,0,0)",
            "plot_bgcolor": "rgba(0,0,0,0)",
            "height": 236,
            "margin": dict(l=10, r=14, t=12, b=10),
            "font": dict(family="system-ui, sans-serif", size=13),
            "legend": dict(orientation="h", yref="container", y=0, yanchor="bottom", x=0, xanchor="left"),
            "showlegend": True,
            "hovermode": "closest",
            "dragmode": False,
            # its buttons would cover the heading on a narrow page; the page has its own below the picture
            "modebar": dict(remove=_NO_BUTTONS),
            "xaxis": {**axis, "title": dict(text=x, **title)},
            "yaxis": {**axis, "title": dict(text=y, **title)},
            **layout,
        }
    )


def line_style(place: int) -> tuple[str, str]:
    """The colour and the dash of a line at an index; the first 25 differ.

    >>> line_style(0), line_style(5), len({line_style(place) for place in range(25)})
    (('#8e4fb5', 'solid'), ('#8e4fb5', 'dash'), 25)
    """
    return LINES[place % len(LINES)][0], LINES[(place + place // len(LINES)) % len(LINES)][1]


def brief(name: str, most: int = 32) -> str:
    """A name for a legend; a long one has no middle.

    >>> brief("knn = 0.970"), brief("a_very_long_name_of_a_detector_seed_0 = 0.827", 25)
    ('knn = 0.970', 'a_very_long_…ed_0 = 0.827')
    """
    if len(name) <= most:
        return name
    half = (most - 1) // 2
    return f"{name[:half]}…{name[-half:]}"


def legend_inside(fig: go.Figure) -> go.Figure:
    """Put the legend over the corner that curves leave free, since what it covers cannot be clicked.

    It is the lower right one unless another hides less of the drawn curves; axes run from 0 to 1.
    """
    curves = [trace for trace in fig.data if trace.mode == "lines" and trace.hoverinfo != "skip"]
    points = np.concatenate([np.empty((0, 2)), *map(_along, curves)])
    height = 0.12 * sum(trace.showlegend is not False for trace in fig.data)

    def hidden(corner: tuple[str, str]) -> int:
        beside = points[:, 0] > 0.35 if corner[0] == "right" else points[:, 0] < 0.65
        behind = points[:, 1] < height if corner[1] == "bottom" else points[:, 1] > 1 - height
        return int(np.count_nonzero(beside & behind))

    right, bottom = min(_CORNERS, key=hidden)
    x, y = 0.98 if right == "right" else 0.02, 0.03 if bottom == "bottom" else 0.97
    ground = dict(bgcolor="rgba(128,128,128,0.08)", font=dict(size=12))
    corner = dict(orientation="v", yref="paper", xref="paper", x=x, xanchor=right, y=y, yanchor=bottom)
    return fig.update_layout(legend={**corner, **ground})


_CORNERS = (("right", "bottom"), ("right", "top"), ("left", "top"), ("left", "bottom"))


def _along(trace: Any) -> np.ndarray:
    """Points (N, 2) along a curve, also between its vertices."""
    vertices = np.asarray([trace.x, trace.y], np.float64).T
    steps = np.linspace(0, 1, 21)[:, None, None]
    return (vertices[:-1] + steps * np.diff(vertices, axis=0)).reshape(-1, 2)


def legend_title(words: str) -> dict[str, Any]:
    """The title of a legend: the name of the numbers in it."""
    return dict(text=words, font=dict(size=12))


def curve(
    fig: go.Figure,
    x: Any,
    y: Any,
    name: str,
    color: str = BLUE,
    said: Sequence[str] | None = None,
    **kwargs: Any,
) -> go.Figure:
    """Add a line; `said` is the text of each point on hover, %{text} in a hovertemplate."""
    line = {"color": color, "width": 2, **kwargs.pop("line", {})}
    return fig.add_scatter(x=x, y=y, name=name, mode="lines", line=line, text=said, **kwargs)


def point(
    fig: go.Figure, x: float, y: float, name: str, color: str = ORANGE, symbol: str = "circle", **kwargs: Any
) -> go.Figure:
    """Add a marked point, distinct by symbol as well as by colour."""
    marker = dict(color=color, size=11, symbol=symbol, line=dict(color="white", width=2))
    return fig.add_scatter(x=[x], y=[y], name=name, mode="markers", marker=marker, **kwargs)


def photograph_behind(
    fig: go.Figure,
    photograph: Any,
    size: tuple[float, float] | None,
    start: float = 0.0,
    xaxis: str = "x",
    yaxis: str = "y",
) -> None:
    """Lay a photograph behind a picture with coordinates up to `size`, by default the photograph's pixels."""
    if photograph is not None:
        image, pixels = photograph
        width, height = size or pixels
        where = dict(xref=xaxis, yref=yaxis, x=start, y=start, sizex=width, sizey=height)
        fig.add_layout_image(source=image, **where, sizing="stretch", layer="below")
