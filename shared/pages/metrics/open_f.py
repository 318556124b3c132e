"""Pages of the open-set F-scores: F over the threshold, the best one marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...metric.metric import Metric
from ...open_set.open_f_curve import open_f_curve
from ...open_set.samples import count_classes
from ..assembly.direction import labelled_outside
from ..columns.arrays import Classes
from ..columns.column import Column
from ..columns.samples import Labels, Scores
from ..figures.computed import Computed
from ..figures.digits import short
from ..figures.style import BLUE, GREEN, ORANGE, SHADE, curve, figure, point
from ..figures.threshold import THRESHOLD, Sweep, moving_point
from ..figures.worst import Worst, worst_samples
from ..page import CONFIDENCE, COUNTS, DATA_SETS, DETECTORS, Example, Option, Page, Sample, Table
from ..serving.limits import MAX_POINTS

COLUMNS = (
    Classes("predictions", ("close_pred", "class", "scores", "logits", "probs", "y_pred", "p")),
    Column("references", ("close_labels", "labels", "label", "y_true", "target")),
    Scores("open_scores", ("open_pred", "open_score", "ood_score", "unknown_score")),
    Labels("open_labels", ("open_label", "is_unknown", "unknown"), required=False),
    COUNTS,
    DATA_SETS,
    DETECTORS,
)
OPTIONS = (Option("t_list", "numbers"), Option("num_classes", "number"), CONFIDENCE)
CLASS_IDS: Table = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, -1], "open_scores": [0.1, 0.4, 0.2, 0.6]}

_HOVER = "threshold %{x:.4g}: F = %{y:.4f}<extra></extra>"
DIGITS = Sample(
    "Digits 0 to 5 known, 6 to 9 unknown, three detectors",
    ("digits.npz",),
    note="A logistic regression learnt scikit-learn's handwritten digits 0 to 5; it is tested on all ten.",
)


def open_f_page(metric: type[Metric], question: str, average: str, *examples: Example) -> Page:
    """The page of one of the two F-scores; average, as of `open_f_curve`."""
    return Page(
        metric=metric,
        question=question,
        columns=COLUMNS,
        options=OPTIONS,
        examples=examples,
        pictures=("F over the threshold",),
        draw=lambda computed: draw_f(computed, metric.name, average),
        sweep=lambda computed: sweep_f(computed, metric.name, average),
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


def sweep_f(computed: Computed, name: str, average: str) -> Sweep | None:
    """F and what becomes of the samples at the thresholds of its curve and the best: unknown is score > threshold."""
    state = computed.state
    columns = (np.asarray(state[key]) for key in ("predicted", "classes", "scores"))
    predicted, classes, scores = (np.repeat(column, state.get("counts", 1)) for column in columns)
    num_classes = count_classes(state, computed.options["num_classes"])
    found = open_f_curve(predicted, classes, scores, num_classes, average=average, max_points=MAX_POINTS)
    f = {t: value for t, value in zip(found["threshold"], found["open_f"]) if np.isfinite(t)}
    if not f:
        return None
    best = computed.results[f"{name}_threshold"]
    if np.isfinite(best):
        f[best] = computed.results[name]
    at = np.sort([*f])
    kinds = {
        "unknown": classes < 0,
        "known, right class": (classes >= 0) & (predicted == classes),
        "known, wrong class": (classes >= 0) & (predicted != classes),
    }
    counts: dict[str, np.ndarray] = {}
    for kind, is_kind in kinds.items():
        accepted = np.searchsorted(np.sort(scores[is_kind]), at, side="right")
        counts |= {f"{kind}, accepted": accepted, f"{kind}, rejected": np.count_nonzero(is_kind) - accepted}
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
    values = {"F": np.asarray([f[t] for t in at.tolist()])}
    return Sweep(at, counts, rates, values, table, presets, "rejected as unknown at score > threshold")


def draw_f(computed: Computed, name: str, average: str) -> Sequence[Any]:
    """F over its thresholds, those of t_list, and the best one.

    Rivals are not drawn: their thresholds are on scales of their own.
    """
    sweep = sweep_f(computed, name, average)
    best, threshold = computed.results[name], computed.results[f"{name}_threshold"]
    fig = figure("threshold (unknown above it)", "F")
    if sweep is not None:
        at, f = sweep.thresholds.tolist(), sweep.values["F"].tolist()
        margin = 0.05 * (at[-1] - at[0]) or 0.5
        # F is constant from one score to the next, and 0 before the first
        before = [at[0] - margin] if np.isfinite(computed.state["scores"]).all() else []
        x, y = [*before, *at, at[-1] + margin], [*(0.0 for _ in before), *f, f[-1]]
        style: Any = dict(line=dict(shape="hv"), fill="tozeroy", fillcolor=SHADE, hovertemplate=_HOVER)
        curve(fig, x, y, computed.title or "F", BLUE, **style)
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
    moving_point(fig, sweep, THRESHOLD, "F")
    return [fig.update_yaxes(range=[-0.02, 1.04])]
