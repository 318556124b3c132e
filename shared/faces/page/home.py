"""The front page, with a card for each metric, and the pages of all of them."""

from __future__ import annotations

import gradio as gr

from ...answers.subject import subject_of
from ...loading import METRICS
from ..html import rendered
from .launch import blocks, fill
from .page import LOCAL


def build_home(*, local: bool = False) -> gr.Blocks:
    """The front page, and for each metric the page that its own app.py shows.

    local: whether the pages are served on the user's own machine; the front page then says so
    """
    with blocks("openworld-metrics: eight metrics for the open world") as demo:
        if local:
            gr.HTML(LOCAL, apply_default_css=False)
        cards = [(name, subject_of(name).question, subject_of(name).form.needs) for name in METRICS]
        gr.HTML(rendered("home"), apply_default_css=False)
        gr.HTML(rendered("cards", cards=cards), apply_default_css=False)
        for name in METRICS:  # `demo.route` does the same, but makes the whole app anew after each page
            demo.pages.append((name, name, True))
            demo.current_page = name
            fill(name, demo, endpoint=f"compute_{name}")
    return demo
