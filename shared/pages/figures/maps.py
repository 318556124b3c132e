"""Pictures of anomaly maps: a map over its photograph and mask, and the PRO and ROC curves up to a limit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any, NamedTuple

import numpy as np
import plotly.graph_objects as go

from ...anomaly.aupro import mean_overlap, pro_curve
from ...anomaly.maps import level_sides
from ...answers.thresholds import shown_threshold
from ...arrays.checks import as_fractions
from ...metric.numbers import number_text
from ...ranking.counts import Side
from ...ranking.roc import thinned
from ..serving.limits import MAX_POINTS
from .computed import Computed
from .decisions import said_at
from .roc import Curve, draw_roc_curves, overlay
from .style import BLUE, GREY, ORANGE, RATE_TICKS, SHADE, curve, figure, legend_inside, legend_title, photograph_behind
from .threshold import Sweep, moving_point

MAX_SIDE = 256  # pixels drawn along each side of a map
MAX_BESIDE = 4  # maps, one per detector
GAP = 0.05  # between maps, as a share of the width
MAX_EDGES = 20_000  # edges between pixels in an outline
_DASHES = ("dash", "dot", "dashdot", "longdash")  # of the limits
_FINE = 100 * MAX_POINTS  # points of a PRO curve, of which only a small part may be drawn


def draw_map(computed: Computed) -> go.Figure:
    """Draw a map in colours, the outline of its mask, and the region above the best pixel threshold.

    The maps of several detectors are drawn side by side, the selected one first.
    """
    fig = figure("", "", height=380)
    others = [rival._replace(title=name, image=computed.image) for name, rival in computed.rivals.items()]
    sides = [computed, *others][:MAX_BESIDE]
    x, y = fig.layout.xaxis.to_plotly_json(), fig.layout.yaxis.to_plotly_json()
    style = dict(constrain="domain", showgrid=False, zeroline=False, showticklabels=False, ticks="", showline=False)
    across = (1 + GAP) / len(sides)
    for i, side in enumerate(sides):
        place = f"{i + 1}" if i else ""
        _panel(fig, side._replace(photograph=computed.photograph), dict(xaxis=f"x{place}", yaxis=f"y{place}"))
        title = {**x["title"], "text": side.title if others else ""}
        own = dict(domain=[i * across, (i + 1) * across - GAP], title=title, **({"matches": "x"} if i else {}))
        beside = dict(matches="y", showticklabels=False, title=None, anchor=f"x{place}") if i else {}
        fig.layout[f"xaxis{place}"] = {**x, **style, **own}
        fig.layout[f"yaxis{place}"] = {**y, **style, "autorange": "reversed", "scaleanchor": f"x{place}", **beside}
    return fig


def _panel(fig: go.Figure, computed: Computed, axes: Mapping[str, str]) -> None:
    """Draw the map of one detector."""
    score_map = np.asarray(computed.columns["predictions"][computed.image], dtype=np.float64)
    mask = union_mask(computed.columns["references"][computed.image], computed.options["ignore_value"])
    step = max(1, -(-max(score_map.shape) // MAX_SIDE))
    rows, columns = (np.arange(0, n, step) for n in score_map.shape)
    photograph_behind(fig, computed.photograph, (score_map.shape[1], score_map.shape[0]), -0.5, **axes)
    every = "" if step == 1 else f" (every {step}. pixel)"
    fig.add_heatmap(
        z=score_map[np.ix_(rows, columns)].tolist(),
        x=columns.tolist(),
        y=rows.tolist(),
        name=f"score{computed.title and ' of '}{computed.title}",
        colorscale="Viridis",
        opacity=1 if computed.photograph is None else 0.55,
        hovertemplate="row %{y}, column %{x}: %{z:.4g}<extra></extra>",
        showscale=axes["xaxis"] == "x",
        colorbar=dict(
            title=dict(text=f"score{computed.title and ' of '}{computed.title}{every}", side="bottom"),
            orientation="h",
            thickness=8,
            len=0.9,
            y=0,
            yanchor="top",
            outlinewidth=0,
        ),
        **axes,
    )
    threshold = computed.results.get("pixel_f1_max_threshold")
    if threshold is not None:
        text = shown_threshold(threshold, [computed.state["anomalous"], computed.state["normal"]])
        name = f"score > {text} (best F1{computed.title and ' of '}{computed.title})"
        _outline(fig, score_map > threshold, name, ORANGE, "dot", **axes)
    _outline(fig, mask, "mask", BLUE, "solid", **axes)


def union_mask(reference: Any, ignore_value: int | None, of: int = 1) -> np.ndarray:
    """The anomalous pixels of a mask, or of the masks of defects (see `AnomalySuite.reduce`); of=0 for the normal."""
    masks = np.asarray(reference["masks"] if isinstance(reference, Mapping) else reference)
    masks = masks if isinstance(reference, Mapping) else masks[None]
    void = np.zeros(masks.shape, bool) if ignore_value is None else masks == ignore_value
    anomalous = ((masks != 0) & ~void).any(axis=0)
    return anomalous if of else ~anomalous & ~void.any(axis=0)


def _outline(fig: go.Figure, inside: np.ndarray, name: str, color: str, dash: str, **axes: str) -> None:
    """Draw the edges between inside and outside pixels; of every k-th pixel if there are too many."""
    step = 1
    while sum(map(np.count_nonzero, _borders(inside[::step, ::step]))) > MAX_EDGES:
        step += 1
    across, down = map(np.argwhere, _borders(inside[::step, ::step]))
    ends = [across[:, ::-1] - (1.5, 0.5), across[:, ::-1] - 0.5], [down[:, ::-1] - (0.5, 1.5), down[:, ::-1] - 0.5]
    edges = np.concatenate([np.stack(pair, axis=1) for pair in ends]) * step  # (n, start and end, x and y)
    if step > 1 or len(edges):
        x, y = ([v for pair in edges[:, :, i].tolist() for v in (*pair, None)] for i in (0, 1))
        thinned = "" if step == 1 else f" (of every {step}. pixel)"
        style = dict(x=x, y=y, name=f"{name}{thinned}", mode="lines", hoverinfo="skip", **axes)
        # white below, since parts of a map or photograph may be as dark as any colour
        fig.add_scatter(**style, line=dict(color="white", width=5), showlegend=False)
        fig.add_scatter(**style, line=dict(color=color, width=2.5, dash=dash))


def _borders(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Flag pixels that differ from the one above, and from the one to the left; beyond the border is outside."""
    padded = np.pad(inside, 1)
    return padded[1:] != padded[:-1], padded[:, 1:] != padded[:, :-1]


def pro_values(state: Mapping[str, Any], tp: np.ndarray) -> np.ndarray:
    """The mean overlap of the regions when `tp` anomalous pixels score above the threshold."""
    return mean_overlap(state["anomalous"], state["region_sizes"])[1][tp]


class _Points(NamedTuple):
    fpr: np.ndarray
    pro: np.ndarray
    threshold: np.ndarray


def pro_up_to(limit: float, state: Any, normal: Side) -> Curve:
    """The PRO curve up to a false-positive rate of `limit`, thinned to `MAX_POINTS`."""
    full = pro_curve(state["anomalous"], state["region_sizes"], normal, max_points=_FINE)
    fpr, pro = until(limit, np.asarray(full["fpr"]), np.asarray(full["pro"]))
    points = _Points(fpr, pro, np.append(full["threshold"][: len(fpr) - 1], np.nan))
    if len(fpr) > MAX_POINTS:
        points = thinned(points, lambda some: ((some.fpr / limit + some.pro) / 2, some.pro), MAX_POINTS)
    table = {name: column.tolist() for name, column in points._asdict().items()}
    said = said_at(table["threshold"][:-1], [Side(np.sort(state["anomalous"])), normal])
    return {**table, "said": [*said, "at the limit"]}


def draw_pro(computed: Computed, normal: Side, sweep: Sweep) -> go.Figure:
    """Draw the PRO curve up to the largest limit, and mark the limits."""
    limits = as_fractions(computed.options["integration_limits"], "integration_limits")
    areas = {limit: computed.results[f"aupro@{limit}"] for limit in limits}
    fig, most = legend_inside(figure("FPR of normal pixels", "overlap (PRO)")), max(areas)
    sampled = "" if computed.options["num_thresholds"] is None else " (every score; the numbers are sampled)"
    curves = {f"{computed.title or 'PRO'}{sampled}": pro_up_to(most, computed.state, normal)}
    for name, rival in computed.rivals.items():
        curves[name] = pro_up_to(most, rival.state, level_sides(rival.state, "pixel")[1])
    hover = "%{text}<br>FPR of pixels %{x:.3f}, mean overlap %{y:.3f}"
    overlay(fig, curves, "fpr", "pro", hover, dict(fill="tozeroy", fillcolor=SHADE), computed.place)
    for (limit, value), dash in zip(sorted(areas.items(), reverse=True), cycle(_DASHES)):
        line = dict(color=GREY, dash=dash, width=2)
        name = f"AUPRO@{limit:g} = {number_text(value)}"
        hover = f"{name}<extra></extra>"
        style: Any = dict(x=[limit, limit], y=[0, 1], name=name, mode="lines", line=line, showlegend=False)
        fig.add_scatter(**style, hovertemplate=hover)
    moving_point(fig, sweep, "FPR", "PRO").update_layout(showlegend=bool(computed.rivals))
    fig.update_yaxes(range=[-0.02, 1.04], tickformat=RATE_TICKS)
    return fig.update_xaxes(range=[-0.02 * most, 1.04 * most], tickformat=RATE_TICKS)


def draw_roc(computed: Computed, sides: Mapping[str, tuple[Side, Side]], limit: float, sweep: Sweep) -> go.Figure:
    """Draw the ROC curves of pixels and of images; the shading ends at the limit of PRO."""
    level = next(iter(sides))

    def titled(detector: Computed, level: str, name: str = "") -> str:
        return f"{name}{level}s = {number_text(detector.results[f'{level}_auroc'])}"

    named = {titled(computed, level): both for level, both in sides.items()}
    for name, rival in computed.rivals.items():
        named[titled(rival, level, f"{name}, ")] = level_sides(rival.state, level)
    fig = draw_roc_curves(figure("FPR", "TPR"), named).update_layout(legend_title=legend_title("AUROC"))
    if level == "pixel":
        x, y = until(limit, *map(np.asarray, (fig.data[0].x, fig.data[0].y)))
        shade: Any = dict(line=dict(width=0), fill="tozeroy", fillcolor=SHADE, hoverinfo="skip", showlegend=False)
        curve(fig, x.tolist(), y.tolist(), f"pixels up to {limit:g}", **shade)
    return moving_point(fig, sweep, "FPR", "TPR")


def until(limit: float, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of a curve up to x = limit, interpolated there."""
    inside = x <= limit
    return np.append(x[inside], limit), np.append(y[inside], np.interp(limit, x, y))
