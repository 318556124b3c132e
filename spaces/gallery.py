"""All eight pages as tabs of one: `python spaces/gallery.py` serves it on a free local port and prints the address."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import gradio as gr

METRICS = Path(__file__).resolve().parent.parent / "metrics"
ORDER = (
    "accuracyk",
    "autkc",
    "macro_open_f",
    "micro_open_f",
    "openauc",
    "ood_bench",
    "openset_detection",
    "anomaly_suite",
)


def build() -> tuple[gr.Blocks, Any]:
    """The gallery, and the module that launches it. Each tab is what the metric's own app.py shows."""
    apps = {name: runpy.run_path(str(METRICS / name / "app.py")) for name in ORDER}
    ui = apps[ORDER[0]]["ui"]
    with ui.blocks("openworld-metrics") as demo, gr.Tabs():
        for name, app in apps.items():
            with gr.Tab(name, id=name):
                app["ui"].fill(app["page"], METRICS / name, endpoint=f"compute_{name}")
    return demo.queue(max_size=ui.QUEUE, default_concurrency_limit=2), ui


if __name__ == "__main__":
    gallery, pages = build()
    pages.launch(gallery)
