"""Pictures of anomaly maps: a map over its photograph and mask, and the PRO and ROC curves up to a limit."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...anomaly.anomaly_suite import level_counts
from ...core.counts import Counts
from ...core.options import as_fractions
from ..digits import short
from ..page import Computed
from .roc import ROC_HOVER, chance, roc_points, said_of_corner, unit_square
from .style import BLUE, GREEN, LINES, ORANGE, SHADE, curve, figure, photograph_behind
from .threshold import Sweep, moving_point

MAX_SIDE = 256  # pixels of a map that are drawn along each side
MAX_BESIDE = 4  # maps, each of a detector
GAP = 0.05  # between them, of the width
MAX_EDGES = 20_000  # between pixels, that an outline has


def draw_map(computed: Computed) -> go.Figure:
    """One map in colours, the outline of its mask, and what the best threshold of the pixels calls anomalous.

    Of several detectors their maps beside each other, that of the one that is looked at first.
    """
    fig = figure("column", "row", height=460)
    others = [rival._replace(title=name, image=computed.image) for name, rival in computed.rivals.items()]
    sides = [computed, *others][:MAX_BESIDE]
    x, y = fig.layout.xaxis.to_plotly_json(), fig.layout.yaxis.to_plotly_json()
    style = dict(constrain="domain", showgrid=False, zeroline=False)
    across = (1 + GAP) / len(sides)
    for i, side in enumerate(sides):
        place = f"{i + 1}" if i else ""
        _panel(fig, side._replace(photograph=computed.photograph), dict(xaxis=f"x{place}", yaxis=f"y{place}"))
        title = {**x["title"], "text": f"column, {side.title}" if others else "column"}
        own = dict(domain=[i * across, (i + 1) * across - GAP], title=title, **({"matches": "x"} if i else {}))
        beside = dict(matches="y", showticklabels=False, title=None, anchor=f"x{place}") if i else {}
        fig.layout[f"xaxis{place}"] = {**x, **style, **own}
        fig.layout[f"yaxis{place}"] = {**y, **style, "autorange": "reversed", "scaleanchor": f"x{place}", **beside}
    return fig


def _panel(fig: go.Figure, computed: Computed, axes: Mapping[str, str]) -> None:
    """The map of one detector."""
    score_map = np.asarray(computed.columns["predictions"][computed.image], dtype=np.float64)
    mask = np.asarray(computed.columns["references"][computed.image], dtype=np.float64)
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
            title=dict(text=f"score{computed.title and ' of '}{computed.title}{every}", side="top"),
            orientation="h",
            thickness=10,
            len=0.9,
            y=1.0,
            yanchor="bottom",
            outlinewidth=0,
        ),
        **axes,
    )
    threshold = computed.results.get("pixel_f1_max_threshold")
    if threshold is not None:
        name = f"score ≥ {short(threshold)} (best F1{computed.title and ' of '}{computed.title})"
        _outline(fig, score_map >= threshold, name, ORANGE, "dot", **axes)
    _outline(fig, mask > 0, "mask", BLUE, "solid", **axes)


def _outline(fig: go.Figure, inside: np.ndarray, name: str, color: str, dash: str, **axes: str) -> None:
    """The edges between pixels that are inside and those that are not; of every k. pixel where there are too many."""
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
        # some part of a map or photograph is as dark as any colour
        fig.add_scatter(**style, line=dict(color="white", width=5), showlegend=False)
        fig.add_scatter(**style, line=dict(color=color, width=2.5, dash=dash))


def _borders(inside: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Whether a pixel differs from the one above it, and from the one to its left; around them all is outside."""
    padded = np.pad(inside, 1)
    return padded[1:] != padded[:-1], padded[:, 1:] != padded[:, :-1]


def pro_points(state: Mapping[str, Any], counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the PRO curve: the mean overlap of the regions over the false-positive rate of the normal pixels."""
    return roc_points(counts, pro_values(state, counts))


def pro_values(state: Mapping[str, Any], counts: Counts) -> np.ndarray:
    """The mean overlap of the regions at each threshold."""
    sizes, scores = np.asarray(state["region_sizes"]), np.asarray(state["anomalous"], np.float64)
    weights = np.repeat(1.0 / (len(sizes) * sizes), sizes)
    thresholds = np.asarray(counts.thresholds, np.float64)
    group = np.searchsorted(-thresholds, -scores)
    return np.cumsum(np.bincount(group, weights, minlength=len(thresholds)))


def draw_pro(computed: Computed, counts: Counts, sweep: Sweep) -> go.Figure:
    """The PRO curve up to the largest limit, and the limits."""
    limits = as_fractions(computed.options["integration_limits"], "integration_limits")
    areas = {limit: computed.results[f"aupro@{limit}"] for limit in limits}
    fig = figure("false-positive rate (normal pixels)", "per-region overlap (PRO)")
    fpr, pro = until(max(areas), *pro_points(computed.state, counts))
    sampled = "" if computed.options["num_thresholds"] is None else " (every score; the numbers are sampled)"
    hover = "FPR of pixels %{x:.2%}, mean overlap %{y:.2%}<extra></extra>"
    curve(fig, fpr, pro, f"PRO{sampled}", fill="tozeroy", fillcolor=SHADE, hovertemplate=hover)
    for (limit, value), (color, dash) in zip(sorted(areas.items(), reverse=True), LINES[1:]):
        line = dict(color=color, dash=dash, width=2)
        fig.add_scatter(x=[limit, limit], y=[0, 1], name=f"AUPRO@{limit:g} = {short(value)}", mode="lines", line=line)
    for (name, rival), (color, dash) in zip(computed.rivals.items(), cycle(LINES[1:])):
        other = until(max(areas), *pro_points(rival.state, level_counts(rival.state, "pixel")))
        curve(fig, *other, name, color, line=dict(dash=dash, width=3), hovertemplate=hover)
    moving_point(fig, sweep, "FPR", "PRO")
    return fig.update_yaxes(range=[-0.02, 1.04]).update_xaxes(range=[-0.02 * max(areas), 1.04 * max(areas)])


def draw_roc(computed: Computed, counts: Mapping[str, Counts], limit: float, sweep: Sweep) -> go.Figure:
    """ROC curves of images and of pixels; the shade ends at the limit of PRO."""
    fig = figure("false-positive rate", "true-positive rate")
    styles = {"image": (GREEN, "dash"), "pixel": (BLUE, "solid")}
    for level, sides in counts.items():
        color, dash = styles[level]
        fpr, tpr = roc_points(sides)
        name = f"{level}s, AUROC = {short(computed.results[f'{level}_auroc'])}"
        hover = f"{level}s: {ROC_HOVER}<extra></extra>"
        curve(fig, fpr, tpr, name, color, line=dict(dash=dash), said=said_of_corner(sides), hovertemplate=hover)
        if level == "pixel":
            x, y = until(limit, fpr, tpr)
            shade: dict[str, Any] = dict(line=dict(width=0), fill="tozeroy", fillcolor=SHADE, hoverinfo="skip")
            curve(fig, x, y, f"pixels up to {limit:g}", color, **shade)
    level = [*counts][-1]
    for (name, rival), (color, dash) in zip(computed.rivals.items(), cycle(LINES[1:])):
        sides = level_counts(rival.state, level)
        title = f"{name}, {level}s, AUROC = {short(rival.results[f'{level}_auroc'])}"
        hover = f"{name}: {ROC_HOVER}<extra></extra>"
        curve(fig, *roc_points(sides), title, color, said_of_corner(sides), line=dict(dash=dash), hovertemplate=hover)
    return unit_square(moving_point(chance(fig), sweep, "FPR", "TPR"))


def until(limit: float, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The part of a curve up to a limit of x, cut there."""
    inside = x <= limit
    return np.append(x[inside], limit), np.append(y[inside], np.interp(limit, x, y) if limit < x[-1] else y[-1])
