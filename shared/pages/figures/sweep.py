"""U-Recall, WI and A-OSE of detection over the confidence threshold."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ...detection.openset_detection import OpenSetDetection, detection_results
from .computed import Computed
from .style import BLUE, GREEN, ORANGE, curve, figure, line_style
from .threshold import STEERS, THRESHOLD, Sweep, moving_point, spread

RATE_STYLES = {"U-Recall": (BLUE, "solid"), "WI": (ORANGE, "dash"), "A-OSE": (GREEN, "dot")}
_TABLES = ("per_class", "per_image", "errors", "recall_budgets")  # not part of a sweep
MAX_LEVELS = 200  # of a sweep that conf_list does not set


def sweep_boxes(computed: Computed) -> Sweep:
    """The results at each confidence of conf_list, or else at each that occurs."""
    return _as_sweep(_levels(computed), computed)


def _levels(computed: Computed) -> Mapping[str, Any]:
    return computed.results.get("sweep") or _sweep(computed, _by_iou(computed))


def _by_iou(computed: Computed) -> bool:
    return computed.options["protocol"] == "ow-dln" and computed.options["matching"] != "confidence"


def _as_sweep(levels: Mapping[str, Any], computed: Computed) -> Sweep:
    # a box is kept at its own confidence: the level is the highest number that keeps it
    order = np.argsort(levels["confidence"])
    at = np.asarray(levels["confidence"], np.float64)[order]
    names = [name for name in RATE_STYLES if name in levels and name in computed.results]
    values = {name: np.asarray(levels[name], np.float64)[order] for name in names}
    rule = "boxes of confidence ≥"
    return Sweep(at, np.nextafter(at, np.inf), {}, {}, values, {}, {}, rule, ratios=("WI", "A-OSE"))


def draw_sweep(computed: Computed) -> go.Figure:
    """Draw U-Recall, WI and A-OSE over the confidence threshold; counts have their own axis."""
    by_iou = _by_iou(computed)
    fig = figure(
        "confidence threshold<br>(matched by confidence)" if by_iou else "confidence threshold", "rate", height=300
    )
    levels = _levels(computed)
    sweep = _as_sweep(levels, computed).thinned()
    axes = {name: "y2" if isinstance(levels[name][0], int) else "y" for name in sweep.values}
    for name, values in sweep.values.items():
        color, dash = RATE_STYLES[name]
        # between two confidences, only predictions of the higher one reach the threshold
        line = {"shape": "vh", "dash": dash}
        digits = ".3f" if sweep.is_share(name) else ".4g"
        hover = f"confidence ≥ %{{x:.4g}}: {name} = %{{y:{digits}}}<extra></extra>"
        title = f"{name}, count" if axes[name] == "y2" else name
        x, y = sweep.thresholds.tolist(), values.tolist()
        curve(fig, x, y, title, color, yaxis=axes[name], line=line, hovertemplate=hover, meta=STEERS)
    first = next(iter(axes))  # U-Recall, if it was asked for
    for (name, rival), (color, dash) in zip(computed.rivals.items(), map(line_style, count(3))):
        other = _as_sweep(_levels(rival), rival).thinned()
        hover = f"{name}: confidence ≥ %{{x:.4g}}: {first} = %{{y:.3f}}<extra></extra>"
        x, y, line = other.thresholds.tolist(), other.values[first].tolist(), {"shape": "vh", "dash": dash}
        curve(fig, x, y, f"{first}, {name}", color, yaxis=axes[first], line=line, hovertemplate=hover)
    if "y2" in axes.values():
        right = dict(overlaying="y", side="right", showgrid=False, rangemode="tozero", automargin=True)
        fig.update_layout(yaxis2=right)
    moving_point(fig, sweep, THRESHOLD, first).data[-1].update(yaxis=axes[first])
    return fig.update_yaxes(rangemode="tozero")


def _sweep(computed: Computed, by_iou: bool) -> Mapping[str, Any]:
    """The sweep at confidences that occur, for options without conf_list."""
    confidences = computed.state["predictions"][:, 4]
    levels = np.unique(confidences[np.isfinite(confidences) & (confidences >= computed.options["conf_threshold"])])
    chosen = levels[spread(len(levels), MAX_LEVELS)].tolist() or [0.0]
    options = {name: value for name, value in computed.options.items() if name not in _TABLES} | {"conf_list": chosen}
    if by_iou:
        options["matching"] = "confidence"
    state: Any = computed.state
    return detection_results(state, OpenSetDetection(**options))["sweep"]
