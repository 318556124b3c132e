"""Pages of the open-set F-scores: F over the threshold, the best one marked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...metric.metric import Metric
from ...metric.numbers import number_text
from ...open_set.open_f import macro_open_f, micro_open_f, open_f_curve
from ...open_set.samples import count_classes
from ...ranking.counts import Side, as_side
from .. import credits
from ..figures.computed import Computed
from ..figures.decisions import cuts_at, promised_thresholds
from ..figures.histograms import histograms
from ..figures.open_set_decisions import KINDS, open_set_sweep
from ..figures.ranked import Ranked
from ..figures.roc import lines_of
from ..figures.style import BLUE, GREEN, ORANGE, PURPLE, RATE_TICKS, SHADE, curve, figure, point
from ..figures.threshold import STEERS, THRESHOLD, Sweep, moving_line, moving_point
from ..page import CONFIDENCE, Example, Option, Page, Sample, Table
from ..serving.costs import Drawing
from ..serving.limits import MAX_POINTS

OPTIONS = (Option("t_list", "numbers"), Option("num_classes", "number"), CONFIDENCE)
_DECISIONS = (Option("decisions", "flag"), Option("threshold", "number"))
CLASS_IDS: Table = {"predictions": [0, 1, 1, 0], "references": [0, 1, 0, -1], "open_scores": [0.1, 0.4, 0.2, 0.6]}

_HOVER = "threshold %{x:.4g}: F = %{y:.3f}<extra></extra>"
DIGITS = Sample(
    "Digits 0 to 5 known, 6 to 9 unknown, three detectors",
    ("digits.npz",),
    credits.SIX_DIGITS,
)


def open_f_page(metric: type[Metric], question: str, average: str, *examples: Example) -> Page:
    """The page of one of the two F-scores; `average` as in `open_f_curve`."""
    return Page(
        metric=metric,
        question=question,
        options=OPTIONS if average == "micro" else (*OPTIONS, *_DECISIONS),
        examples=examples,
        pictures=("Scores by kind", "F over the threshold"),
        draw=lambda computed: draw_f(computed, metric.name, average),
        drawing=Drawing(group=8_000 if average == "macro" else 2_000),
        sweep=lambda computed: sweep_f(computed, metric.name, average),
        ranked=ranked_open_set,
        headline=metric.name,
        samples=(DIGITS,),
    )


def ranked_open_set(computed: Computed) -> Ranked | None:
    """The samples of an open-set metric by their scores; None if equal ones were merged into counts."""
    state = computed.state
    if "counts" in state or "thresholds" in state:
        return None
    classes, predicted = np.asarray(state["classes"]), np.asarray(state["predicted"])
    others = {"class": np.where(classes < 0, -1, classes), "predicted": predicted}
    kinds = dict(zip(KINDS, _kinds(predicted, classes)))
    scores = np.asarray(state["scores"], np.float64)
    return Ranked(scores, kinds, KINDS[0], ("known", "unknown"), others, computed.samples)


def _rows(state: Any) -> tuple[np.ndarray, ...]:
    """Predicted class, true class and score of each sample."""
    columns = (np.asarray(state[key]) for key in ("predicted", "classes", "scores"))
    predicted, classes, scores = (np.repeat(column, state.get("counts", 1)) for column in columns)
    return predicted, classes, scores


def _sides(state: Any) -> tuple[Side, ...]:
    """Scores of unknown, of correctly classified and of wrongly classified samples."""
    predicted, classes, scores = _rows(state)
    return tuple(as_side(scores[kind]) for kind in _kinds(predicted, classes))


def _kinds(predicted: np.ndarray, classes: np.ndarray) -> tuple[np.ndarray, ...]:
    """Which samples are of each of `KINDS`."""
    known, right = classes >= 0, predicted == classes
    return ~known, known & right, known & ~right


def sweep_f(computed: Computed, name: str, average: str) -> Sweep | None:
    """F and the decisions at the thresholds of its curve and at the best one; unknown means score > threshold."""
    state = computed.state
    predicted, classes, scores = _rows(state)
    num_classes = count_classes(state, computed.options["num_classes"])
    table = open_f_curve(predicted, classes, scores, num_classes, average=average, max_points=MAX_POINTS)
    f = {t: value for t, value in zip(table["threshold"], table["open_f"]) if np.isfinite(t)}
    if not f:
        return None
    best = computed.results[f"{name}_threshold"]
    if np.isfinite(best):
        f[best] = computed.results[name]
    sides = _sides(state)
    promises = promised_thresholds(sides[1:]) if sides[1].total + sides[2].total else {}
    others = [at for at in (*promises.values(), -np.inf) if at not in f]
    f |= _f_at(others, predicted, classes, scores, num_classes, average)
    places = cuts_at(np.asarray([*f]), [np.asarray(side.scores, np.float64) for side in sides], promises)
    sweep = open_set_sweep(sides, places, {"F": np.asarray([f[t] for t in places.thresholds.tolist()])})
    presets = {"best F": int(np.flatnonzero(places.thresholds == best)[0])} if np.isfinite(best) else {}
    return sweep._replace(presets={**presets, **sweep.presets})


def _f_at(
    thresholds: Sequence[float], predicted: Any, classes: Any, scores: Any, num_classes: int, average: str
) -> dict[float, float]:
    """F at each threshold."""
    if not thresholds:
        return {}
    true, at = np.where(classes < 0, -1, classes), np.asarray(thresholds)
    macro = average == "macro"
    scored = (
        macro_open_f(predicted, true, scores, num_classes, at) if macro else micro_open_f(predicted, true, scores, at)
    )
    return dict(zip(thresholds, scored[2] or ()))


def histogram_by_kind(sides: Sequence[Side], sweep: Sweep | None) -> Any:
    """Draw the scores of unknown, correctly and wrongly classified samples, and the moving threshold."""
    unknown, correct, wrong = (np.asarray(side.repeated()) for side in sides)
    known = ((correct, "known, right class", BLUE, ""), (wrong, "known, wrong class", PURPLE, "."))
    fig, top = histograms("open-set score (higher is more unknown)", (*known, (unknown, "unknown", ORANGE, "/")))
    return moving_line(fig, sweep, 1.05 * top)


def draw_f(computed: Computed, name: str, average: str) -> Sequence[Any]:
    """Draw F over its thresholds, those of t_list, and the best one.

    Rivals are not drawn: their thresholds are on scales of their own.
    """
    sweep = sweep_f(computed, name, average)
    best, threshold = computed.results[name], computed.results[f"{name}_threshold"]
    fig = figure("threshold (unknown above it)", "F")
    if sweep is not None:
        at, f = sweep.thresholds[::-1].tolist(), sweep.values["F"][::-1].tolist()
        margin = 0.05 * (at[-1] - at[0]) or 0.5
        # F is constant from one score to the next, and 0 before the first
        before = [at[0] - margin] if np.isfinite(computed.state["scores"]).all() else []
        x, y = [*before, *at, at[-1] + margin], [*(0.0 for _ in before), *f, f[-1]]
        style: Any = dict(line=dict(shape="hv"), fill="tozeroy", fillcolor=SHADE, hovertemplate=_HOVER, meta=STEERS)
        curve(fig, x, y, computed.title or "F", lines_of(1, computed.place)[0][0], **style)
    if f"{name}_curve" in computed.results:
        thresholds = np.atleast_1d(np.asarray(computed.options["t_list"], dtype=np.float64))
        fig.add_scatter(
            x=thresholds.tolist(),
            y=computed.results[f"{name}_curve"],
            mode="markers",
            name="t_list",
            marker=dict(color=GREEN, size=9, symbol="diamond"),
            hovertemplate="t_list: " + _HOVER,
        )
    if np.isfinite(threshold):
        name_of_best = f"best F = {number_text(best)} at {number_text(threshold)}"
        point(fig, threshold, best, name_of_best, ORANGE, "square", hovertemplate=_HOVER)
    moving_point(fig, sweep, THRESHOLD, "F")
    return [
        histogram_by_kind(_sides(computed.state), sweep),
        fig.update_yaxes(range=[-0.02, 1.04], tickformat=RATE_TICKS),
    ]
