"""Pictures of curves over thresholds: lines of detectors over each other, ROC, and precision over recall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from ...metric.numbers import number_text
from ...ranking.counts import Side
from ...ranking.roc import precision_recall_curve, roc_curve
from ..serving.limits import MAX_POINTS
from .decisions import said_at
from .style import GREY, RATE_TICKS, brief, curve, figure, legend_inside, line_style
from .threshold import STEERS, Sweep, moving_point

Curve = Mapping[str, Sequence[Any]]  # a table of a public curve function, with a column `said`
ROC_HOVER = "%{text}<br>FPR %{x:.3f}, TPR %{y:.3f}"


def unit_square(fig: go.Figure) -> go.Figure:
    """Set both axes to [0, 1], with room for a line along the edge."""
    x, y = dict(range=[-0.02, 1.02], tickformat=RATE_TICKS), dict(range=[-0.02, 1.04], tickformat=RATE_TICKS)
    return fig.update_xaxes(**x).update_yaxes(**y)


def chance(fig: go.Figure, x: Sequence[float] = (0, 1), y: Sequence[float] = (0, 1), name: str = "chance") -> go.Figure:
    """Add the line of a random ranking, by default the diagonal."""
    return fig.add_scatter(
        x=x,
        y=y,
        name=name,
        mode="lines",
        line=dict(color=GREY, width=1, dash="dot"),
        hoverinfo="skip",
        showlegend=name != "chance",
    )


def with_words(table: Mapping[str, Sequence[float]], sides: Sequence[Side]) -> Curve:
    """Add the column `said` to a curve: the decision at each point, in words."""
    return {**table, "said": said_at(table["threshold"], sides)}


def overlay(
    fig: go.Figure,
    curves: Mapping[str, Curve],
    x: str,
    y: str,
    hover: str,
    first: Mapping[str, Any] = {},
    place: int = 0,
    **line: Any,
) -> go.Figure:
    """Draw named curves over each other, each in its own colour and dash.

    curves: tables with a column `said`, the decision at each point
    x, y: columns of these tables; hover: the text at a point; first: extra style of the first curve
    place: the index of the first curve among all detectors, so that each keeps its colour
    A click on any moves the threshold of the first detector to its nearest point.
    """
    for (name, table), (color, dash) in zip(curves.items(), lines_of(len(curves), place)):
        style = {
            "line": {**line, "dash": dash},
            "hovertemplate": f"{name}<br>{hover}<extra></extra>",
            "meta": STEERS,
            **first,
        }
        curve(fig, table[x], table[y], brief(name), color, table["said"], **style)
        first = {}
    return fig


def lines_of(number: int, place: int) -> list[tuple[str, str]]:
    """Colours and dashes of curves; the first gets the style at index `place`, the others keep theirs.

    >>> lines_of(3, 1) == [line_style(i) for i in (1, 0, 2)]
    True
    """
    own = [line_style(i) for i in range(max(number, place + 1))]
    return [own[place], *own[:place], *own[place + 1 :]]


def draw_roc_curves(fig: go.Figure, sides: Mapping[str, tuple[Side, Side]], place: int = 0) -> go.Figure:
    """Add named ROC curves and the line of chance."""
    curves = {
        name: with_words(roc_curve(positives=one, negatives=other, max_points=MAX_POINTS), (one, other))
        for name, (one, other) in sides.items()
    }
    return legend_inside(unit_square(chance(overlay(fig, curves, "fpr", "tpr", ROC_HOVER, place=place))))


def draw_pr(sides: Mapping[str, tuple[Side, Side]], sweep: Sweep, positive: str, place: int = 0) -> go.Figure:
    """Draw precision over recall, stepwise as average precision sums it, and the precision of chance."""
    fig = unit_square(figure(f"recall ({positive})", "precision"))
    curves = {
        name: with_words(precision_recall_curve(positives=one, negatives=other, max_points=MAX_POINTS), (one, other))
        for name, (one, other) in sides.items()
    }
    hover = "%{text}<br>recall %{x:.3f}, precision %{y:.3f}"
    overlay(fig, curves, "recall", "precision", hover, place=place, shape="vh")
    positives, negatives = (side.total for side in next(iter(sides.values())))
    share = positives / (positives + negatives)
    chance(fig, y=(share, share), name=f"chance = {number_text(share)}")
    return legend_inside(moving_point(fig, sweep, "TPR", "precision"))
