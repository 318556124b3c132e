"""Pages of the open-set F-scores: F over the threshold, the best one marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.metric import Metric
from ..direction import labelled_outside
from ..figures.style import BLUE, ORANGE, curve, figure, point, thin
from ..page import Column, Computed, Example, Option, Page, Sample, Table
from ..results import short

COLUMNS = (
    Column("predictions", ("close_pred", "class", "scores", "logits", "probs", "y_pred", "p"), "classes"),
    Column("references", ("close_labels", "labels", "label", "y_true", "target")),
    Column("open_scores", ("open_pred", "open_score", "ood_score", "unknown_score"), "score"),
    Column("open_labels", ("open_label", "is_unknown", "unknown"), "label", required=False),
)
OPTIONS = (Option("t_list", "numbers"), Option("num_classes", "number"))
CLASS_IDS: Table = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, -1], "open_scores": [0.1, 0.4, 0.2, 0.6]}

DIGITS = Sample(
    "Digits 0 to 5 known, 6 to 9 unknown, three detectors",
    ("digits.npz",),
    note="A logistic regression learnt scikit-learn's handwritten digits 0 to 5; it is tested on all ten.",
)

Curve = Callable[[Computed, list[float]], list[float]]  # F at each of some thresholds


def open_f_page(metric: type[Metric], question: str, f_at: Curve, *examples: Example) -> Page:
    """The page of one of the two F-scores."""
    return Page(
        metric=metric,
        question=question,
        columns=COLUMNS,
        options=OPTIONS,
        examples=examples,
        pictures=("F over the threshold",),
        draw=lambda computed: draw_f(computed, metric.name, f_at),
        samples=(DIGITS,),
        outside=labelled_outside,
    )


def draw_f(computed: Computed, name: str, f_at: Curve) -> Sequence[Any]:
    """F over every distinct score (at most 2,000 of them), the thresholds of t_list, and the best one."""
    scores = np.unique(np.asarray(computed.state["scores"], dtype=np.float64))
    scores = scores[np.isfinite(scores)]
    thresholds = scores[thin(len(scores))]
    best, threshold = computed.results[name], computed.results[f"{name}_threshold"]
    fig = figure("threshold (unknown above it)", "F", hovermode="x")
    if len(scores):
        margin = 0.05 * (scores[-1] - scores[0]) or 0.5
        # F is constant from one score to the next, and 0 before the first
        x = np.concatenate([[scores[0] - margin], thresholds, [scores[-1] + margin]])
        y = f_at(computed, x.tolist())
        drawn = "" if len(thresholds) == len(scores) else f" (at {len(thresholds):,} of {len(scores):,} scores)"
        curve(fig, x, y, f"F{drawn}", BLUE, line=dict(shape="hv"), fill="tozeroy", fillcolor="rgba(59,130,246,0.12)")
    if f"{name}_curve" in computed.results:
        given = np.atleast_1d(np.asarray(computed.options["t_list"], dtype=np.float64))
        fig.add_scatter(
            x=given.tolist(),
            y=computed.results[f"{name}_curve"],
            mode="markers",
            name="t_list",
            marker=dict(color=ORANGE, size=9, symbol="diamond"),
        )
    if np.isfinite(threshold):
        point(fig, threshold, best, f"best F = {short(best)} at {short(threshold)}")
    return [fig.update_yaxes(range=[-0.02, 1.04])]
