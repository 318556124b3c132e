"""All pages as tabs of one page, with a first tab that helps to choose; `openworld-metrics serve` tab_of_button it.

`?tab=ood_bench` in the address tab_of_button that tab.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gradio as gr

from ...loading import METRICS, script
from ..build import LOCAL, fill
from ..files import page_of
from ..page import Page
from ..serving.launch import QUIET, blocks
from .choosing import BOXES, CLASSES, MAPS, NO, SAYS, SCORE, SUMS, UNKNOWN, YES, questions, suggestion
from .pictures import picture

HOME = "home"
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
.cards { display: grid !important; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 16px; }
.metric-card { border: 1px solid var(--border-color-primary); border-radius: 8px; padding: 12px; }
.metric-card > button { margin-top: auto; }
.metric-card svg { width: 100%; max-height: 110px; display: block; }
.metric-card h2 { font-size: 1.1em; margin: 6px 0 2px; }
.metric-card p { margin: 2px 0; }
.metric-card .needs { color: var(--body-text-color-subdued); font-size: var(--text-sm); }
</style>"""


def build_gallery(*, local: bool = False) -> gr.Blocks:
    """Build the first tab, and for each metric a tab with the page that its own app.py shows.

    local: whether the pages are served on the user's own machine; the first tab then says so
    """
    pages = {name: page_of(name) for name in METRICS}
    with blocks("openworld-metrics: eight metrics for the open world") as demo:
        with gr.Tabs(selected=HOME) as tabs:
            with gr.Tab(HOME, id=HOME):
                home(pages, tabs, local)
            for name, page in pages.items():
                with gr.Tab(name, id=name) as tab:
                    fill(page, script(name).parent, endpoint=f"compute_{name}", opened=tab.select)
        demo.load(tab_of_address, None, [tabs], **QUIET)
    return demo


def home(pages: dict[str, Page], tabs: gr.Tabs, local: bool) -> None:
    """Fill the first tab: a card for each metric, and three questions that lead to one of them."""
    gr.HTML(STYLE, apply_default_css=False)
    gr.Markdown(f"{TITLE}\n\n{LOCAL}" if local else TITLE)
    with gr.Accordion("Which metric for me?", open=True):
        says = gr.Radio([CLASSES, SCORE, BOXES, MAPS], label=SAYS, elem_id="ask-says")
        unknown = gr.Radio([YES, NO], label=UNKNOWN, visible=False, elem_id="ask-unknown")
        sums = gr.Radio([], label=SUMS, visible=False, elem_id="ask-sums")
        way = gr.Button("", variant="primary", visible=False, elem_id="ask-found")
    answers = [says, unknown, sums]
    for part in answers:
        part.input(answered, answers, [unknown, sums, way], **QUIET)
    way.click(tab_of_button, [way], [tabs], **QUIET)
    with gr.Column(elem_classes="cards"):
        for name, page in pages.items():
            with gr.Column(elem_classes="metric-card", min_width=0):
                text = f"{picture(name)}<h2>{name}</h2><p>{page.question}</p><p class='needs'>Needs {NEEDS[name]}.</p>"
                gr.HTML(text, apply_default_css=False)
                button = gr.Button(f"Open {name}", size="sm", elem_id=f"open-{name}")
                button.click(opener(name), None, [tabs], **QUIET)


def answered(says: str | None, unknown: str | None, sums: str | None) -> list[Any]:
    """Updates that show the next question, or the metric once it is known."""
    second, choices = questions(says, unknown)
    sums = sums if sums in choices else None
    name = suggestion(says, unknown, sums)
    return [
        gr.update(visible=second),
        gr.update(choices=choices, value=sums, visible=bool(second and choices)),
        gr.update(value=f"Open {name}", visible=name is not None),
    ]


def tab_of_button(text: Any) -> Any:
    """An update that opens the tab named on a button; other values from the browser are ignored."""
    name = str(text).rpartition(" ")[2]
    return gr.Tabs(selected=name) if name in METRICS else gr.skip()


def opener(name: str) -> Callable[[], Any]:
    """A function that returns the update to open a tab."""
    return lambda: gr.Tabs(selected=name)


def tab_of_address(request: gr.Request) -> Any:
    """An update that opens the tab named in the address."""
    name = request.query_params.get("tab")
    return gr.Tabs(selected=name) if name in METRICS else gr.skip()
