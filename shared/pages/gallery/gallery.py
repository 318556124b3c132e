"""A front page that helps to choose, and a page for each metric at its name; `openworld-metrics serve` opens them."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ...loading import METRICS, script
from ..build import LOCAL, fill
from ..metrics import page_of
from ..page import Page
from ..serving.launch import QUIET, blocks
from .choosing import BOXES, CLASSES, MAPS, NO, SAYS, SCORE, SUMS, UNKNOWN, YES, questions, suggestion
from .pictures import picture

TITLE = """# openworld-metrics
Eight metrics for models that face things they were never trained on.
Exact numbers from your files, or from one line of Python."""
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
STYLE = """<style>
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 16px; }
.metric-card { border: 1px solid var(--border-color-primary); border-radius: 8px; padding: 12px; }
.metric-card svg { width: 100%; max-height: 110px; display: block; }
.dark .metric-card svg { filter: brightness(1.45); }
.html-container:has(> * > .cards) { padding: 0 !important; }
.metric-card h2 { font-size: 1.1em; margin: 6px 0 2px; }
.metric-card p { margin: 2px 0; }
.metric-card a { color: inherit; text-decoration: underline; }
.metric-card:hover { border-color: var(--body-text-color-subdued); }
.metric-card .needs { color: var(--body-text-color-subdued); font-size: var(--text-sm); }
</style>"""


def build_gallery(*, local: bool = False) -> gr.Blocks:
    """Build the front page, and for each metric the page that its own app.py shows.

    local: whether the pages are served on the user's own machine; the front page then says so
    """
    pages = {name: page_of(name) for name in METRICS}
    with blocks("openworld-metrics: eight metrics for the open world") as demo:
        _front(pages, local)
    for name, page in pages.items():
        with demo.route(name):
            fill(page, script(name).parent, demo, endpoint=f"compute_{name}")
    return demo


def _front(pages: dict[str, Page], local: bool) -> None:
    """Fill the front page: three questions that lead to a metric, and a card for each."""
    gr.HTML(STYLE, apply_default_css=False)
    gr.Markdown(f"{TITLE}\n\n{LOCAL}" if local else TITLE)
    with gr.Accordion("Which metric for me?", open=True):
        says = gr.Radio([CLASSES, SCORE, BOXES, MAPS], label=SAYS, elem_id="ask-says")
        unknown = gr.Radio([YES, NO], label=UNKNOWN, visible=False, elem_id="ask-unknown")
        sums = gr.Radio([], label=SUMS, visible=False, elem_id="ask-sums")
        way = gr.Button("", variant="primary", visible=False, elem_id="ask-found")
    answers = [says, unknown, sums]
    for part in answers:
        part.input(_answered, answers, [unknown, sums, way], **QUIET)
    cards = "".join(_card(name, page.question) for name, page in pages.items())
    gr.HTML(f"<div class='cards'>{cards}</div>", apply_default_css=False, padding=False)


def _card(name: str, question: str) -> str:
    heading = f"<h2><a href='{name}'>{name}</a></h2><p>{question}</p>"
    return f"<div class='metric-card'>{picture(name)}{heading}<p class='needs'>Needs {NEEDS[name]}.</p></div>"


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
