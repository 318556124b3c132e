"""The page of openauc: the OSCR curve, whose area it is, and the scores by kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...arrays.options import as_fraction
from ...open_set.openauc import OpenAUC, open_set_sides, split_open_set
from ...open_set.oscr import oscr_curve
from ...ranking.shares import least_reaching
from ..assembly.direction import labelled_outside
from ..columns.column import Column
from ..figures.computed import Computed
from ..figures.digits import short
from ..figures.histograms import histograms
from ..figures.roc import Curve, overlay, unit_square
from ..figures.style import BLUE, GREY, ORANGE, PURPLE, SHADE, figure
from ..figures.threshold import Sweep, moving_line, moving_point
from ..page import CONFIDENCE, Example, Option, Page, rows
from ..serving.limits import MAX_POINTS
from .open_f import COLUMNS, DIGITS, worst_open_set


def open_set_curve(state: Any) -> Curve:
    """The OSCR curve of a state, whose area is OpenAUC."""
    unknown, correct, wrong = open_set_sides(state)
    return oscr_curve(unknown, correct, correct.total + wrong.total, max_points=MAX_POINTS)


def _accepted_at(thresholds: Sequence[float]) -> list[str]:
    """What the decision is at each vertex of it, in words."""
    return ["no sample is accepted", *(f"accepted at score ≤ {short(threshold)}" for threshold in thresholds[1:])]


def sweep_openauc(computed: Computed) -> Sweep:
    """What becomes of the samples where the threshold is the score of an unknown one, from the highest on."""
    unknown, correct, wrong = (np.asarray(side, np.float64) for side in split_open_set(computed.state))
    thresholds = np.unique(unknown)[::-1]
    below = [np.searchsorted(side, thresholds, side="left") for side in (unknown, correct, wrong)]
    counts = {
        "unknown rejected": len(unknown) - below[0],
        "unknown accepted": below[0],
        "right accepted": below[1],
        "wrong accepted": below[2],
        "right rejected": len(correct) - below[1],
        "wrong rejected": len(wrong) - below[2],
    }
    known = ["right accepted", "wrong accepted", "right rejected", "wrong rejected"]
    every = ["unknown rejected", "unknown accepted", *known]
    rates = {
        "unknown rejected": (["unknown rejected"], ["unknown rejected", "unknown accepted"]),
        "unknown accepted": (["unknown accepted"], ["unknown rejected", "unknown accepted"]),
        "known accepted": (["right accepted", "wrong accepted"], known),
        "right class": (["right accepted"], known),
        "accuracy": (["unknown rejected", "right accepted"], every),
    }
    table = {
        "unknown": {"accepted": "unknown accepted", "rejected": "unknown rejected"},
        "known, right class": {"accepted": "right accepted", "rejected": "right rejected"},
        "known, wrong class": {"accepted": "wrong accepted", "rejected": "wrong rejected"},
    }
    needed = as_fraction(computed.options["tpr"], "tpr")
    first = int(np.argmax(counts["unknown rejected"] >= least_reaching(needed, len(unknown))))
    best = counts["unknown rejected"] + counts["right accepted"]
    presets = {
        f"{100 * needed:g} % of unknown rejected": first,
        "best accuracy": int(np.argmax(best)),
    }
    kept = np.flatnonzero(20 * (below[1] + below[2]) >= 19 * (len(correct) + len(wrong)))
    if len(kept):
        presets["95 % of known accepted"] = int(kept[-1])
    return Sweep(thresholds, counts, rates, {}, table, presets, "rejected as unknown at score ≥ threshold")


def _histogram(computed: Computed, sweep: Sweep) -> Any:
    unknown, correct, wrong = split_open_set(computed.state)
    sides = ((correct, "known, right class", BLUE, ""), (wrong, "known, wrong class", PURPLE, "."))
    fig, top = histograms("open-set score (higher is more unknown)", (*sides, (unknown, "unknown", ORANGE, "/")))
    return moving_line(fig, sweep, 1.05 * top)


def _draw(computed: Computed) -> Sequence[Any]:
    sweep = sweep_openauc(computed)
    fig = unit_square(figure("false-positive rate (unknown accepted)", "correct-classification rate"))
    found = {computed.title or "OSCR": computed, **computed.rivals}
    curves = {
        f"{name}, OpenAUC {short(one.results['openauc'])}": open_set_curve(one.state) for name, one in found.items()
    }
    overlay(fig, curves, "fpr", "ccr", _OSCR_HOVER, _accepted_at, first=dict(fill="tozeroy", fillcolor=SHADE))
    accuracy = computed.results["closed_set_accuracy"]
    fig.add_scatter(
        x=[0, 1],
        y=[accuracy, accuracy],
        name=f"closed-set accuracy = {short(accuracy)}",
        mode="lines",
        line=dict(color=GREY, dash="dash", width=1.5),
        hoverinfo="skip",
    )
    moving_point(fig, sweep, "unknown accepted", "right class")
    return [_histogram(computed, sweep), fig]


_OSCR_HOVER = "%{text}<br>unknown accepted %{x:.2%}<br>known accepted, right class %{y:.2%}"


_PARTS = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")

PAGE = Page(
    metric=OpenAUC,
    question="Is a known sample classified rightly, and ranked below an unknown one?",
    columns=(*COLUMNS, *(Column(name, part_of=name) for name in _PARTS)),
    options=(
        Option("tpr", "fraction"),
        Option("fpr_list", "numbers"),
        Option("risk_metrics", "several", ("aurc", "augrc", "risk@cov80", "coverage@risk5")),
        Option("ood_cost", "number"),
        Option("unknown_share", "number"),
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
    sweep=sweep_openauc,
    worst=worst_open_set,
    headline=r"openauc",
    method=", the area under the open-set classification rate curve (OSCR) over every score",
    sections={
        "Its parts": r"closed_set_accuracy|open_set_auroc",
        "At a threshold": r"open_set_accuracy@.*|ccr@.*",
        "Where the least sure are left out": r"aurc|augrc|risk@.*|coverage@.*",
    },
    samples=(DIGITS,),
    outside=labelled_outside,
)
