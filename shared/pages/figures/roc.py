"""ROC curves from the counts of the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...core.counts import Counts
from .style import GREY


def unit_square(fig: go.Figure) -> go.Figure:
    """Let both axes run from 0 to 1, with room for a line along the edge."""
    return fig.update_xaxes(range=[-0.02, 1.02]).update_yaxes(range=[-0.02, 1.04])


def chance(fig: go.Figure) -> go.Figure:
    """Add the diagonal that a random ranking gives."""
    return fig.add_scatter(
        x=[0, 1], y=[0, 1], name="chance", mode="lines", line=dict(color=GREY, width=1, dash="dot"), hoverinfo="skip"
    )


def roc_points(counts: Counts, hits: Any = None) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the ROC curve: false-positive rates, and true-positive rates (or `hits`, in place of them).

    Before each threshold the curve has run along the negatives above it; ties rise slantwise, so that the area under
    the corners is the AUROC.

    >>> from openworld_metrics import exceedance_counts
    >>> fpr, tpr = roc_points(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.4, 0.1])))
    >>> fpr.tolist(), tpr.tolist()
    ([0.0, 0.0, 0.0, 0.0, 0.5, 1.0], [0.0, 0.0, 0.5, 0.5, 1.0, 1.0])
    """
    hits = np.asarray(counts.tp) / counts.num_positives if hits is None else hits
    fpr = np.stack([counts.above, counts.fp], axis=1).reshape(-1) / counts.num_negatives
    tpr = np.stack([np.concatenate([[0.0], hits[:-1]]), hits], axis=1).reshape(-1)
    return np.concatenate([[0.0], fpr, [1.0]]), np.concatenate([[0.0], tpr, [1.0]])
