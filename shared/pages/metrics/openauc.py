"""The page of openauc: the OSCR curve, of which it is the area, and the scores by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from openworld_metrics.pages.figures.decisions import cuts
from openworld_metrics.pages.figures.open_set_decisions import open_set_sweep
from openworld_metrics.pages.figures.roc import overlay, unit_square
from openworld_metrics.pages.figures.style import GREY, SHADE, figure, legend_inside
from openworld_metrics.pages.figures.threshold import moving_point
from openworld_metrics.pages.metrics.open_f import DIGITS, histogram_by_kind, ranked_open_set
from openworld_metrics.pages.page import rows
from openworld_metrics.pages.serving.costs import Drawing
from openworld_metrics.pages.serving.limits import MAX_POINTS

from ...answers.decisions import CONFIDENCE, said_at
from ...answers.subject import Computed, Example
from ...arrays.checks import as_fraction
from ...detection.curves import Curve
from ...faces.page.form import Option
from ...faces.page.page import Page
from ...metric.numbers import number_text
from ...open_set.openauc import OpenAUC, open_set_sides, oscr_curve
from ...open_set.sweep import Sweep
from ...ranking.quantities import least_reaching


def open_set_curve(state: Any) -> Curve:
    """The OSCR curve of a state; the area below it is OpenAUC."""
    unknown, correct, wrong = sides = open_set_sides(state)
    num_known = correct.total + wrong.total
    table = oscr_curve(unknown=unknown, correct_known=correct, num_known=num_known, max_points=MAX_POINTS)
    words = {"nothing flagged": "everything accepted", "everything flagged": "nothing accepted"}
    said = [
        words.get(text, text.replace("score >", "accepted if score ≤")) for text in said_at(table["threshold"], sides)
    ]
    return {**table, "said": said}


def sweep_openauc(computed: Computed) -> Sweep:
    """The sweep over thresholds, one for each distinct score of an unknown sample."""
    sides = unknown, *known = open_set_sides(computed.state)
    sweep = open_set_sweep(sides, cuts(unknown, known, promise=True), {})
    needed = as_fraction(computed.options["tpr"], "tpr")
    rejected = sweep.counts["unknown, rejected"]
    reached = np.flatnonzero(rejected >= least_reaching(needed, unknown.total))
    presets = {f"{100 * needed:g} % of unknown rejected": int(reached[0])} if len(reached) else {}
    right = rejected + sweep.counts["known, right class, accepted"]
    presets |= {"best accuracy": int(np.argmax(right))} if len(right) else {}
    drawn = open_set_curve(computed.state)["threshold"]
    return sweep._replace(presets={**presets, **sweep.presets}, drawn=drawn)


def _draw(computed: Computed) -> Sequence[Any]:
    sweep = sweep_openauc(computed)
    fig = unit_square(figure("unknown samples accepted (FPR)", "known, right class (CCR)"))
    detectors = {computed.title or "OSCR": computed, **computed.rivals}
    said = f"OpenAUC{' pooled' * computed.pooled}"
    curves = {
        f"{name}, {said} = {number_text(one.results['openauc'])}": open_set_curve(one.state)
        for name, one in detectors.items()
    }
    overlay(fig, curves, "fpr", "ccr", _OSCR_HOVER, dict(fill="tozeroy", fillcolor=SHADE), computed.place)
    accuracy = computed.results["closed_set_accuracy"]
    fig.add_scatter(
        x=[0, 1],
        y=[accuracy, accuracy],
        name=f"closed-set accuracy = {number_text(accuracy)}",
        mode="lines",
        line=dict(color=GREY, dash="dash", width=1.5),
        hoverinfo="skip",
    )
    moving_point(fig, sweep, "unknown accepted", "right class")
    return [histogram_by_kind(open_set_sides(computed.state), sweep), legend_inside(fig)]


_OSCR_HOVER = "%{text}<br>unknown accepted %{x:.3f}<br>known accepted, right class %{y:.3f}"


_MEANING = "chance that a known sample is classified correctly, and scores below an unknown one"

PAGE = Page(
    metric=OpenAUC,
    question="Is a known sample classified correctly, and ranked below an unknown one?",
    options=(
        Option("tpr", "fraction"),
        Option("fpr_list", "numbers"),
        Option("risk_metrics", "several", ("aurc", "augrc", "risk@cov80", "coverage@risk5")),
        Option("ood_cost", "number"),
        Option("unknown_share", "number"),
        Option("roc_metrics", "several", ("eer", "pauroc@fpr10", "pauroc@tpr80")),
        CONFIDENCE,
    ),
    examples=(
        Example(
            "Eighteen samples, eight of them unknown",
            (
                rows("""
                predictions, references, open_scores
                3, 2, 0.10813683
                2, 2, 0.46179204
                3, 2, 0.46586681
                0, 1, 0.38944239
                0, 4, 0.06500318
                1, 0, 0.85720791
                1, 3, 0.23660373
                2, 3, 0.39949662
                2, 0, 0.12335166
                2, 0, 0.80062615
                0, -1, 0.01781371
                0, -1, 0.48136111
                0, -1, 0.58010638
                0, -1, 0.54412853
                0, -1, 0.44452411
                0, -1, 0.05729807
                0, -1, 0.2351886
                0, -1, 0.64246962
            """),
            ),
        ),
        Example(
            "A better classifier",
            (
                {
                    "class 0": [0.9, 0.7, 0.2, 0.1, 0.3, 0.6, 0.2, 0.4, 0.3, 0.5],
                    "class 1": [0.1, 0.2, 0.7, 0.8, 0.3, 0.3, 0.6, 0.3, 0.4, 0.2],
                    "class 2": [0.0, 0.1, 0.1, 0.1, 0.4, 0.1, 0.2, 0.3, 0.3, 0.3],
                    "references": [0, 0, 1, 1, 2, 1, -1, -1, -1, -1],
                    "open_scores": [0.05, 0.1, 0.2, 0.15, 0.5, 0.3, 0.45, 0.8, 0.9, 0.7],
                },
            ),
            {"tpr": 0.75},
        ),
        Example(
            "The four arrays of XCurve",
            (
                {
                    "open_set_pred_known": [0.1, 0.4, 0.2],
                    "open_set_pred_unknown": [0.6, 0.3, ""],
                    "close_set_pred_class": [0, 1, 1],
                    "close_set_labels": [0, 1, 0],
                },
            ),
        ),
    ),
    pictures=("Scores by kind", "OSCR curve"),
    draw=_draw,
    drawing=Drawing(number=400),
    sweep=sweep_openauc,
    ranked=ranked_open_set,
    headline=r"openauc",
    meaning=lambda key: _MEANING if key == "openauc" else "",
    method=", the area under the open-set classification rate curve (OSCR) over every score",
    sections={
        "Its parts": r"closed_set_accuracy|open_set_auroc",
        "At a threshold": r"open_set_accuracy@.*|ccr@.*",
        "If the least confident are left out": r"aurc|augrc|risk@.*|coverage@.*",
    },
    samples=(DIGITS,),
)
