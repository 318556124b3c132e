"""The front page, which helps to choose a metric, and the pages of all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gradio as gr

from ...answers.subject import subject_of
from ...loading import METRICS
from .launch import blocks, fill
from .page import LOCAL, QUIET
from .view import render

SAYS = "What does your model output?"
CLASSES, SCORE, BOXES, MAPS = (
    "a score for each class",
    "one score: how unusual it is",
    "boxes",
    "a score for each pixel",
)
UNKNOWN = "Does your test set contain classes it was not trained on?"
YES, NO = "yes", "no"
SUMS = "What do you want to know?"
ANSWERS: Mapping[tuple[str, str], Mapping[str, str]] = {
    (CLASSES, YES): {
        "one number over all thresholds, for recognising and rejecting": "openauc",
        "F at a threshold, each class counting the same": "macro_open_f",
        "F at a threshold, each sample counting the same": "micro_open_f",
        "only how well unknown and known samples are told apart": "ood_bench",
    },
    (CLASSES, NO): {
        "is the true class among the k best": "accuracyk",
        "how high among the k best it is": "autkc",
    },
}
_OTHERS = {SCORE: "ood_bench", BOXES: "openset_detection", MAPS: "anomaly_suite"}
NEEDS = {
    "accuracyk": "class scores and labels",
    "autkc": "class scores and labels",
    "macro_open_f": "predictions, labels and an unknown-ness score",
    "micro_open_f": "predictions, labels and an unknown-ness score",
    "openauc": "predictions, labels and an unknown-ness score",
    "ood_bench": "scores, and which samples are out-of-distribution",
    "openset_detection": "predicted and true boxes",
    "anomaly_suite": "anomaly maps and masks",
}


def build_home(*, local: bool = False) -> gr.Blocks:
    """The front page, and for each metric the page that its own app.py shows.

    local: whether the pages are served on the user's own machine; the front page then says so
    """
    with blocks("openworld-metrics: eight metrics for the open world") as demo:
        if local:
            gr.HTML(LOCAL, apply_default_css=False)
        cards = [(name, subject_of(name).question, NEEDS[name]) for name in METRICS]
        gr.HTML(render("home.html"), apply_default_css=False)
        _choosing()
        gr.HTML(render("cards.html", cards=cards), apply_default_css=False)
    for name in METRICS:
        with demo.route(name):
            fill(name, demo, endpoint=f"compute_{name}")
    return demo


def questions(says: str | None, unknown: str | None) -> tuple[bool, list[str]]:
    """Whether to ask the second question, and the answers to offer for the third."""
    return says == CLASSES, [*ANSWERS.get((says or "", unknown or ""), {})]


def suggestion(says: str | None, unknown: str | None, sums: str | None) -> str | None:
    """The metric that fits the answers; None while an answer is missing.

    >>> suggestion(BOXES, None, None), suggestion(CLASSES, NO, None)
    ('openset_detection', None)
    """
    if says != CLASSES:
        return _OTHERS.get(says or "")
    return ANSWERS.get((says, unknown or ""), {}).get(sums or "")


def _choosing() -> None:
    """Three questions that lead to a metric."""
    with gr.Accordion("Which metric for me?", open=True):
        says = gr.Radio([CLASSES, SCORE, BOXES, MAPS], label=SAYS, elem_id="ask-says")
        unknown = gr.Radio([YES, NO], label=UNKNOWN, visible=False, elem_id="ask-unknown")
        sums = gr.Radio([], label=SUMS, visible=False, elem_id="ask-sums")
        way = gr.Button("", variant="primary", visible=False, elem_id="ask-way")
    answers = [says, unknown, sums]
    for part in answers:
        part.input(_answered, answers, [unknown, sums, way], **QUIET)


def _answered(says: str | None, unknown: str | None, sums: str | None) -> list[Any]:
    """Updates that show the next question, or the way to the metric once it is known."""
    second, choices = questions(says, unknown)
    sums = sums if sums in choices else None
    name = suggestion(says, unknown, sums)
    return [
        gr.update(visible=second),
        gr.update(choices=choices, value=sums, visible=bool(second and choices)),
        gr.update(value=f"Open {name}", link=name, link_target="_self", visible=name is not None),
    ]
