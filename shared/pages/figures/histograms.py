"""Histograms of scores, one for each kind of sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from .style import RATE_TICKS, figure

BINS = 40


def histograms(title: str, sides: Sequence[tuple[Any, str, str, str]]) -> tuple[go.Figure, float]:
    """Overlaid histograms of each kind's scores in common bins, and the height of the tallest bar.

    sides: scores, name, colour and pattern of each kind; the pattern tells them apart without colour
    """
    fig = figure(title, "share of samples", barmode="overlay", bargap=0.04)
    together = np.concatenate([np.asarray(scores, np.float64) for scores, *_ in sides])
    finite = together[np.isfinite(together)]
    edges = np.histogram_bin_edges(finite if len(finite) else [0.0], bins=min(BINS, 5 + len(finite) // 2))
    top = 0.0
    for scores, name, color, pattern in sides:
        drawn = scores[np.isfinite(scores)]
        shares = np.histogram(drawn, edges)[0] / max(1, len(scores))
        top = max(top, float(shares.max()))
        left = len(scores) - len(drawn)
        without = f", {left:,} infinite ones not drawn" if left else ""
        fig.add_bar(
            x=((edges[:-1] + edges[1:]) / 2).tolist(),
            y=shares.tolist(),
            width=(edges[1:] - edges[:-1]).tolist(),
            customdata=np.stack([edges[:-1], edges[1:]], axis=1).tolist(),
            name=f"{name} (N = {len(scores):,}{without})",
            meta={"kind": name},  # a click lists the samples of the bar
            marker=dict(color=color, line=dict(color=color, width=1), pattern=dict(shape=pattern, size=6)),
            opacity=0.6,
            hovertemplate="score %{customdata[0]:.4g} to %{customdata[1]:.4g}: %{y:.3f} of " + name + "<extra></extra>",
        )
    margin = 0.03 * (edges[-1] - edges[0])
    fig.update_xaxes(range=[edges[0] - margin, edges[-1] + margin])
    return fig.update_yaxes(tickformat=RATE_TICKS, rangemode="tozero"), top
