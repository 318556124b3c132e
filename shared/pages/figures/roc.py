"""ROC curves from the counts of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...core.counts import Counts
from ..digits import short
from ..page import Computed
from .style import GREY, LINES, curve, figure
from .threshold import Sweep, moving_point

ROC_HOVER = "%{text}<br>FPR %{x:.2%}, TPR %{y:.2%}"


def unit_square(fig: go.Figure) -> go.Figure:
    """Let both axes run from 0 to 1, with room for a line along the edge."""
    return fig.update_xaxes(range=[-0.02, 1.02]).update_yaxes(range=[-0.02, 1.04])


def chance(fig: go.Figure) -> go.Figure:
    """Add the diagonal that a random ranking gives."""
    return fig.add_scatter(
        x=[0, 1], y=[0, 1], name="chance", mode="lines", line=dict(color=GREY, width=1, dash="dot"), hoverinfo="skip"
    )


def said_of_corner(counts: Counts) -> Callable[[int], str]:
    """What the decision is at a corner of `roc_points`, by its place."""
    thresholds = counts.thresholds

    def said(i: int) -> str:
        if not 0 < i <= 2 * len(thresholds):
            return "no sample is found" if i == 0 else "every sample is found"
        return f"score {'≥' if i % 2 == 0 else '>'} {short(float(thresholds[(i - 1) // 2]))}"

    return said


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


def pr_points(counts: Counts) -> tuple[np.ndarray, np.ndarray]:
    """Recall and precision at each threshold, from the highest on; they begin at recall 0 with the first precision.

    >>> from openworld_metrics import exceedance_counts
    >>> recall, precision = pr_points(exceedance_counts(np.asarray([0.9, 0.4]), np.asarray([0.4, 0.1])))
    >>> recall.tolist(), precision.round(3).tolist()
    ([0.0, 0.5, 1.0], [1.0, 1.0, 0.667])
    """
    tp, fp = np.asarray(counts.tp), np.asarray(counts.fp)
    recall, precision = tp / counts.num_positives, tp / (tp + fp)
    return np.concatenate([[0.0], recall]), np.concatenate([precision[:1], precision])


def _reached(counts: Counts) -> Callable[[int], str]:
    return lambda i: f"score ≥ {short(float(counts.thresholds[max(0, i - 1)]))}"


def draw_pr(
    counts: Counts, sweep: Sweep, positive: str, computed: Computed, others: Mapping[str, Counts], key: str
) -> go.Figure:
    """Precision over recall, steps as average precision takes them, and the share that chance finds.

    others: the counts of the rivals; key: of the result that is the area.
    """
    fig = unit_square(figure(f"recall ({positive})", "precision"))
    found = {computed.title or "precision": (counts, computed)}
    found |= {name: (other, computed.rivals[name]) for name, other in others.items()}
    for (name, (one, of)), (color, dash) in zip(found.items(), cycle(LINES)):
        area = of.results.get(key)
        title = name if area is None else f"{name}, area = {short(area)}"
        hover = f"{name}<br>%{{text}}<br>recall %{{x:.2%}}, precision %{{y:.2%}}<extra></extra>"
        curve(fig, *pr_points(one), title, color, _reached(one), line=dict(shape="vh", dash=dash), hovertemplate=hover)
    share = counts.num_positives / (counts.num_positives + counts.num_negatives)
    line = dict(color=GREY, width=1, dash="dot")
    name = f"chance = {short(share)}"
    fig.add_scatter(x=[0, 1], y=[share, share], name=name, mode="lines", line=line, hoverinfo="skip")
    return moving_point(fig, sweep, "TPR", "precision")
