"""The page of ood_bench: histograms of both sets' scores, and the ROC curve with the operating points."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...core.counts import Counts, exceedance_counts
from ...core.curves import OperatingPoint, operating_point
from ...ood.ood_bench import OODBench
from ...ood.points import parse_point
from ...ood.sides import split_ood
from ..figures.roc import chance, roc_points, unit_square
from ..figures.style import BLUE, GREEN, GREY, ORANGE, RED, curve, figure, point
from ..page import Column, Computed, Example, Option, Page, Sample, rows
from ..results import short

BINS = 40
MAX_MARKED = 4  # operating points in the picture


def _draw(computed: Computed) -> Sequence[Any]:
    options, state = computed.options, computed.state
    out, inside = split_ood(
        state["scores"], state["labels"], **{name: options[name] for name in ("in_value", "out_value", "ignore_value")}
    )
    counts = exceedance_counts(out, inside)
    named = ((name, parse_point(name)) for name in computed.results)
    found = {name: operating_point(counts, *point[:2], float(point[2])) for name, point in named if point is not None}
    points = {name: point for name, point in [*found.items()][:MAX_MARKED] if math.isfinite(point.threshold)}
    return [_histograms(inside, out, points, options["threshold"]), _roc(counts, computed, points)]


def _histograms(inside: Any, out: Any, points: Mapping[str, OperatingPoint], threshold: float | None) -> go.Figure:
    fig = figure("score (higher is more OOD)", "share of the set", barmode="overlay", bargap=0.04)
    both = np.concatenate([inside, out])
    finite = both[np.isfinite(both)].astype(np.float64)
    edges = np.histogram_bin_edges(finite if len(finite) else [0.0], bins=min(BINS, 5 + len(finite) // 2))
    for scores, name, color in ((inside, "in-distribution", BLUE), (out, "OOD", ORANGE)):
        shares = np.histogram(scores[np.isfinite(scores)], edges)[0] / len(scores)
        hover = "%{x:.4g}: %{y:.1%}<extra>" + name + "</extra>"
        fig.add_bar(
            x=((edges[:-1] + edges[1:]) / 2).tolist(),
            y=shares.tolist(),
            width=(edges[1:] - edges[:-1]).tolist(),
            name=f"{name} (N = {len(scores):,})",
            marker=dict(color=color, line=dict(color=color, width=1)),
            opacity=0.55,
            hovertemplate=hover,
        )
    top = max(max(trace.y) for trace in fig.data)
    for name, found in points.items():
        _line(fig, found.threshold, top, f"threshold of {name}", RED)
    if threshold is not None:
        _line(fig, float(threshold), top, "threshold", GREY)
    margin = 0.03 * (edges[-1] - edges[0])
    fig.update_xaxes(range=[edges[0] - margin, edges[-1] + margin])
    return fig.update_yaxes(tickformat=".0%", rangemode="tozero")


def _line(fig: go.Figure, at: float, top: float, name: str, color: str) -> None:
    if np.isfinite(at):
        fig.add_scatter(
            x=[at, at],
            y=[0, 1.05 * top],
            name=f"{name} = {short(at)}",
            mode="lines",
            line=dict(color=color, dash="dash"),
        )


def _roc(counts: Counts, computed: Computed, points: Mapping[str, OperatingPoint]) -> go.Figure:
    fig = unit_square(figure("false-positive rate", "true-positive rate (OOD)"))
    sampled = computed.options["step"] is not None
    value = computed.results.get("auroc")
    area = f", AUROC = {short(value)}" if value is not None and not sampled else ""
    curve(fig, *roc_points(counts), f"ROC{area}" + (" (every score; the numbers are sampled)" if sampled else ""))
    for i, (name, found) in enumerate(points.items()):
        point(fig, found.fpr, found.tpr, f"{name} = {short(computed.results[name])}", (RED, GREEN, ORANGE, GREY)[i])
    return chance(fig)


PAGE = Page(
    metric=OODBench,
    question="Are out-of-distribution samples told from in-distribution ones?",
    columns=(
        Column("predictions", ("scores", "score", "ood_score", "open_scores"), "score"),
        Column("references", ("labels", "label", "is_ood", "open_labels"), "label"),
        Column("in-distribution scores", ("id_scores", "scores_in", "scores_id"), part_of="predictions"),
        Column("OOD scores", ("scores_out", "scores_ood"), part_of="predictions"),
    ),
    options=(
        Option(
            "metrics",
            "several",
            ("auroc", "fpr95tpr", "aupr_out", "aupr_in", "detect_acc", "tpr5fpr", "f1_score", "accuracy_score"),
        ),
        Option("in_value", "number"),
        Option("out_value", "number"),
        Option("ignore_value", "number"),
        Option("threshold", "number"),
        Option("thresholds", "flag"),
        Option("step", "number"),
    ),
    examples=(
        Example(
            "Ten scores",
            (
                rows("""
                scores, labels
                0.77690503, 0
                0.16216813, 0
                0.2373073, 1
                0.30772442, 1
                0.06389388, 1
                0.90795935, 1
                0.15873279, 1
                0.77110265, 1
                0.19173886, 0
                0.70849355, 1
            """),
            ),
        ),
        Example(
            "A detector that separates",
            ({"scores": [0.1, 0.2, 0.3, 0.7, 0.9], "labels": [0, 0, 0, 1, 1]},),
        ),
        Example(
            "Scores of two sets, no labels",
            ({"ID scores": [0.1, 0.6, 0.2, 0.3, 0.25], "OOD scores": [0.4, 0.9, 0.8, "", ""]},),
        ),
        Example(
            "An operating point and a metric of scikit-learn",
            ({"scores": [0.1, 0.6, 0.4, 0.9], "labels": [0, 0, 1, 1]},),
            {"metrics": ("auroc", "tpr5fpr", "f1_score"), "threshold": 0.5},
        ),
    ),
    pictures=("Scores of both sets", "ROC curve"),
    draw=_draw,
    samples=(
        Sample(
            "Digits 6 to 9 are out-of-distribution, three detectors",
            ("digits.npz",),
            note="A logistic regression learnt scikit-learn's handwritten digits 0 to 5, and is tested on all ten.",
        ),
    ),
    outside=lambda columns: np.asarray(columns["references"]) == 1,
)
