"""Pages of the open-set F-scores: F over the threshold, the best one marked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.metric import Metric
from ..digits import short
from ..direction import labelled_outside
from ..figures.style import BLUE, GREEN, ORANGE, SHADE, curve, figure, point, thin
from ..figures.threshold import THRESHOLD, Sweep, moving_point
from ..page import CONFIDENCE, DATA_SETS, Column, Computed, Example, Option, Page, Sample, Table
from ..worst import Worst, worst_samples

COLUMNS = (
    Column("predictions", ("close_pred", "class", "scores", "logits", "probs", "y_pred", "p"), "classes"),
    Column("references", ("close_labels", "labels", "label", "y_true", "target")),
    Column("open_scores", ("open_pred", "open_score", "ood_score", "unknown_score"), "score"),
    Column("open_labels", ("open_label", "is_unknown", "unknown"), "label", required=False),
    DATA_SETS,
)
OPTIONS = (Option("t_list", "numbers"), Option("num_classes", "number"), CONFIDENCE)
CLASS_IDS: Table = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, -1], "open_scores": [0.1, 0.4, 0.2, 0.6]}

_HOVER = "threshold %{x:.4g}: F = %{y:.4f}<extra></extra>"
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
        sweep=lambda computed: sweep_f(computed, metric.name, f_at),
        worst=worst_open_set,
        headline=metric.name,
        samples=(DIGITS,),
        outside=labelled_outside,
    )


def worst_open_set(computed: Computed) -> Sequence[Worst]:
    """The samples of an open-set metric that are ranked worst; nothing where equal ones have been counted."""
    state = computed.state
    if "counts" in state or "thresholds" in state:
        return ()
    classes = np.asarray(state["classes"])
    others = {"class": np.where(classes < 0, -1, classes), "predicted": state["predicted"]}
    return worst_samples(state["scores"], classes < 0, ("known", "unknown"), others)


def sweep_f(computed: Computed, name: str, f_at: Curve) -> Sweep | None:
    """F and what becomes of the samples at every distinct score, or 2,000 of them: unknown is score > threshold."""
    state = computed.state
    scores, classes = np.asarray(state["scores"], np.float64), np.asarray(state["classes"])
    weights = np.asarray(state["counts"]) if "counts" in state else np.ones(len(scores), np.int64)
    distinct = np.unique(scores[np.isfinite(scores)])
    if not len(distinct):
        return None
    best = computed.results[f"{name}_threshold"]
    at = np.union1d(distinct[thin(len(distinct))], [best] if np.isfinite(best) else [])
    kinds = {
        "unknown": classes < 0,
        "known, right class": (classes >= 0) & (np.asarray(state["predicted"]) == classes),
        "known, wrong class": (classes >= 0) & (np.asarray(state["predicted"]) != classes),
    }
    counts: dict[str, np.ndarray] = {}
    for kind, is_kind in kinds.items():
        order = np.argsort(scores[is_kind], kind="stable")
        until = np.concatenate([[0], np.cumsum(weights[is_kind][order])])
        accepted = until[np.searchsorted(scores[is_kind][order], at, side="right")]
        counts |= {f"{kind}, accepted": accepted, f"{kind}, rejected": until[-1] - accepted}
    table = {kind: {told: f"{kind}, {told}" for told in ("accepted", "rejected")} for kind in kinds}
    known = [part for kind in [*kinds][1:] for part in table[kind].values()]
    rates = {
        "unknown rejected": (["unknown, rejected"], ["unknown, accepted", "unknown, rejected"]),
        "known accepted": ([part for part in known if part.endswith("accepted")], known),
        "right class": (["known, right class, accepted"], known),
    }
    presets = {"best F": int(np.searchsorted(at, best))} if np.isfinite(best) else {}
    total = sum(counts[part] for part in known)
    enough = np.flatnonzero(20 * sum(counts[part] for part in rates["known accepted"][0]) >= 19 * total)
    if len(enough):
        presets["95 % of known accepted"] = int(enough[0])
    values = {"F": np.asarray(f_at(computed, at.tolist()))}
    return Sweep(at, counts, rates, values, table, presets, "rejected as unknown at score > threshold")


def draw_f(computed: Computed, name: str, f_at: Curve) -> Sequence[Any]:
    """F over every distinct score (at most 2,000 of them), the thresholds of t_list, and the best one.

    Rivals are not drawn: their thresholds are on scales of their own.
    """
    scores = np.unique(np.asarray(computed.state["scores"], dtype=np.float64))
    scores = scores[np.isfinite(scores)]
    thresholds = scores[thin(len(scores))]
    best, threshold = computed.results[name], computed.results[f"{name}_threshold"]
    fig = figure("threshold (unknown above it)", "F")
    if len(scores):
        margin = 0.05 * (scores[-1] - scores[0]) or 0.5
        # F is constant from one score to the next, and 0 before the first
        x = np.concatenate([[scores[0] - margin], thresholds, [scores[-1] + margin]])
        y = f_at(computed, x.tolist())
        drawn = "" if len(thresholds) == len(scores) else f" (at {len(thresholds):,} of {len(scores):,} scores)"
        style = dict(shape="hv")
        curve(
            fig,
            x,
            y,
            f"{computed.title or 'F'}{drawn}",
            BLUE,
            line=style,
            fill="tozeroy",
            fillcolor=SHADE,
            hovertemplate=_HOVER,
        )
    if f"{name}_curve" in computed.results:
        given = np.atleast_1d(np.asarray(computed.options["t_list"], dtype=np.float64))
        fig.add_scatter(
            x=given.tolist(),
            y=computed.results[f"{name}_curve"],
            mode="markers",
            name="t_list",
            marker=dict(color=GREEN, size=9, symbol="diamond"),
            hovertemplate="t_list: " + _HOVER,
        )
    if np.isfinite(threshold):
        name_of_best = f"best F = {short(best)} at {short(threshold)}"
        point(fig, threshold, best, name_of_best, ORANGE, "square", hovertemplate=_HOVER)
    moving_point(fig, sweep_f(computed, name, f_at), THRESHOLD, "F")
    return [fig.update_yaxes(range=[-0.02, 1.04])]
