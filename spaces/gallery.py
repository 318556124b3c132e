"""All eight pages as tabs of one: `python spaces/gallery.py` serves it on a free local port and prints the address."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import gradio as gr

from openworld_metrics import METRICS
from openworld_metrics.pages.build import QUEUE, blocks, fill, launch

FOLDERS = Path(__file__).resolve().parent.parent / "metrics"


def build() -> gr.Blocks:
    """The gallery: each tab is the page that the metric's own app.py shows."""
    with blocks("openworld-metrics") as demo, gr.Tabs():
        for name in METRICS:
            with gr.Tab(name, id=name):
                page = import_module(f"openworld_metrics.pages.metrics.{name}").PAGE
                fill(page, FOLDERS / name, endpoint=f"compute_{name}")
    return demo.queue(max_size=QUEUE, default_concurrency_limit=2)


if __name__ == "__main__":
    launch(build())
