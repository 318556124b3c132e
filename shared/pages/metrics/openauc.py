"""The page of openauc: the open-set ROC curve, whose area it is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...core.counts import exceedance_counts
from ...open_set.openauc import OpenAUC, split_open_set
from ..direction import labelled_outside
from ..figures.roc import roc_points, unit_square
from ..figures.style import GREY, curve, figure
from ..page import Column, Computed, Example, Option, Page, rows
from ..results import short
from .open_f import COLUMNS, DIGITS


def open_set_roc(state: Any) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the correct-classification rate over the false-positive rate, as the threshold rises.

    At a threshold, the first is the share of the known samples that are accepted and of the right class, the second
    the share of the unknown samples that are accepted. The area is OpenAUC.
    """
    unknown, correct, wrong = split_open_set(state)
    if not len(correct):
        return np.asarray([0.0, 1.0]), np.zeros(2)
    # accepted first is what scores lowest
    fpr, hits = roc_points(exceedance_counts(-correct, -unknown))
    return fpr, hits * (len(correct) / (len(correct) + len(wrong)))


def _draw(computed: Computed) -> Sequence[Any]:
    fig = unit_square(figure("false-positive rate (unknown accepted)", "correct-classification rate"))
    fpr, rate = open_set_roc(computed.state)
    area = short(computed.results["openauc"])
    curve(fig, fpr, rate, f"area = OpenAUC = {area}", fill="tozeroy", fillcolor="rgba(59,130,246,0.18)")
    accuracy = computed.results["closed_set_accuracy"]
    fig.add_scatter(
        x=[0, 1],
        y=[accuracy, accuracy],
        name=f"closed-set accuracy = {short(accuracy)}",
        mode="lines",
        line=dict(color=GREY, dash="dash", width=1.5),
    )
    return [fig]


_PARTS = ("open_set_pred_known", "open_set_pred_unknown", "close_set_pred_class", "close_set_labels")

PAGE = Page(
    metric=OpenAUC,
    question="Is a known sample classified rightly, and ranked below an unknown one?",
    columns=(*COLUMNS, *(Column(name, (), part_of=name) for name in _PARTS)),
    options=(Option("tpr", "fraction"), Option("fpr_list", "numbers")),
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
    pictures=("Open-set ROC curve",),
    draw=_draw,
    samples=(DIGITS,),
    outside=labelled_outside,
)
