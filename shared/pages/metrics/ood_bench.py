"""The page of ood_bench: histograms of both sets' scores, and the ROC curve with the operating points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...metric.numbers import number_text
from ...ood.ood_bench import OODBench
from ...ood.sides import StateOptions, is_ood, ood_sides, state_options
from ...ranking.counts import Side
from ...ranking.roc import roc_curve
from .. import credits
from ..figures.computed import Computed
from ..figures.decisions import binary_sweep
from ..figures.histograms import histograms
from ..figures.ranked import Ranked
from ..figures.roc import draw_pr, draw_roc_curves
from ..figures.style import BLUE, ORANGE, figure, legend_title
from ..figures.threshold import Sweep, moving_line, moving_point
from ..page import CONFIDENCE, Example, Option, Page, Sample, rows
from ..serving.limits import MAX_POINTS

_SAMPLED = " (every score; the numbers are sampled)"


def _labels(options: Mapping[str, Any]) -> StateOptions:
    return state_options(options["in_value"], options["out_value"], options["ignore_value"], None)


def _sides(computed: Computed) -> tuple[Side, Side]:
    """Scores of the OOD and of the in-distribution samples."""
    return ood_sides(computed.state, _labels(computed.options))


def _ranked(computed: Computed) -> Ranked | None:
    """The samples by their scores; None if equal ones were merged into counts, since their rows are lost."""
    options, state = computed.options, computed.state
    if "counts" in state:
        return None
    out, kept = is_ood(np.asarray(state["labels"]), _labels(options))
    kept = np.ones(len(out), bool) if kept is None else kept
    kinds = {"in-distribution": kept & ~out, "OOD": kept & out}
    scores = np.asarray(state["scores"], np.float64)
    return Ranked(scores, kinds, "OOD", ("in-distribution", "OOD"), names=computed.samples)


def sweep_ood(computed: Computed) -> Sweep:
    """The sweep over thresholds that separate OOD samples."""
    out, inside = _sides(computed)
    drawn = roc_curve(positives=out, negatives=inside, max_points=MAX_POINTS)["threshold"]
    return binary_sweep(out, inside, "OOD", "in-distribution")._replace(flagged="called OOD", drawn=drawn)


def _draw(computed: Computed) -> Sequence[Any]:
    out, inside = _sides(computed)
    sweep = sweep_ood(computed)
    sides = [(computed.title, computed, (out, inside))]
    sides += [(name, rival, _sides(rival)) for name, rival in computed.rivals.items()]
    sampled, several = computed.options["step"] is not None, len(sides) > 1
    pooled = " pooled" * computed.pooled

    def named(alone: str, said: str, key: str) -> dict[str, tuple[Side, Side]]:
        """Both sides of each detector by its name, which states the area if it is exactly that of the curve."""
        areas = [None if sampled else detector.results.get(key) for _, detector, _ in sides]
        word = "" if several else f", {said}{pooled}"
        ends = [f"{word} = {number_text(area)}" if area is not None else _SAMPLED * sampled for area in areas]
        return {f"{name or alone}{end}": both for (name, _, both), end in zip(sides, ends)}

    def titled(fig: Any, said: str, key: str) -> Any:
        """A figure whose legend says what the numbers beside several detectors are."""
        stated = several and not sampled and key in computed.results
        return fig.update_layout(legend_title=legend_title(f"{said}{pooled}")) if stated else fig

    empty, place = figure("false-positive rate", "true-positive rate (OOD)"), computed.place
    fig = titled(draw_roc_curves(empty, named("ROC", "AUROC", "auroc"), place), "AUROC", "auroc")
    sides_drawn = ((inside.repeated(), "in-distribution", BLUE, ""), (out.repeated(), "OOD", ORANGE, "/"))
    histogram, top = histograms("score (higher is more OOD)", sides_drawn)
    return [
        moving_line(histogram, sweep, 1.05 * top),
        moving_point(fig, sweep, "FPR", "TPR"),
        titled(draw_pr(named("precision", "area", "aupr_out"), sweep, "OOD", place), "area", "aupr_out"),
    ]


PAGE = Page(
    metric=OODBench,
    question="Are out-of-distribution samples told apart from in-distribution ones?",
    options=(
        Option(
            "metrics",
            "several",
            (
                *("auroc", "fpr95tpr", "aupr_out", "aupr_in", "detect_acc", "tpr5fpr", "eer", "pauroc@fpr10", "prr"),
                *("f1_score", "accuracy_score"),
            ),
        ),
        Option("in_value", "number"),
        Option("out_value", "number"),
        Option("ignore_value", "number"),
        Option("positive", "choice", ("out", "in")),
        Option("threshold", "number"),
        Option("thresholds", "flag"),
        Option("step", "number"),
        CONFIDENCE,
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
    pictures=("Scores of both sets", "ROC curve", "Precision and recall"),
    draw=_draw,
    sweep=sweep_ood,
    ranked=_ranked,
    headline=r"auroc|fpr95tpr",
    method=", with OOD as the positive class and every distinct score as a threshold",
    sections={
        "Areas": r"p?auroc.*|aupr_.*|prr",
        "Rates at operating points": r"[ft][pn]r[\d.]+[ft][pn]r|detect_acc|eer",
        "At the threshold": r"[ft][pn]r|.*_score|.*_loss|.*_coef.*",
        "Thresholds": r".*_threshold",
    },
    samples=(
        Sample(
            "Digits 6 to 9 are out-of-distribution, three detectors",
            ("digits.npz",),
            credits.SIX_DIGITS,
        ),
    ),
)
