"""The cost of a page: its start, its opening beside a plain Gradio app with one plot, new numbers, a moved threshold.

python -m tests.benchmarks.pages    prints the table; for a quiet machine with Chromium
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.served import CHROMIUM, CHROMIUM_OPTIONS, serve

ROOT = Path(__file__).resolve().parents[2]
TIMES, ROWS = 5, 50_000
PLAIN = """
import gradio as gr
import plotly.graph_objects as go
with gr.Blocks() as demo:
    gr.Plot(go.Figure(go.Scatter(y=[1, 3, 2])))
demo.launch()
"""
DRAWN = ".js-plotly-plot .main-svg"


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plain.py").write_text(PLAIN)
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        costs = {}
        for script in (folder / "plain.py", ROOT / "metrics" / "ood_bench" / "app.py"):
            with _served(script, folder) as (address, server):
                costs[script.stem] = [_opened(browser, address, server) for _ in range(TIMES)]
                if script.stem == "app":
                    _use(browser, address, _scores(folder))
        for place, what in enumerate(("requests", "bytes", "processor seconds of the server", "seconds until drawn")):
            plain, ours = (median(cost[place] for cost in costs[each]) for each in ("plain", "app"))
            print(f"{what:<48} {ours:>12,.2f} {plain:>12,.2f} {ours / plain:>6.2f}")
        browser.close()


@contextmanager
def _served(script: Path, folder: Path) -> Iterator[tuple[str, int]]:
    """The address of a page, and its server's process."""
    before, begun = _children(), time.perf_counter()
    with serve(script, folder) as address:
        (server,) = _children() - before
        print(f"{f'start of {script.parent.name}/{script.name}, seconds':<48} {time.perf_counter() - begun:>12.2f}")
        time.sleep(3)  # until its workers have started
        yield address, server


def _opened(browser: Any, address: str, server: int) -> tuple[int, int, float, float]:
    """Requests, bytes, processor seconds of the server, and seconds until a plot is drawn, with an empty cache."""
    context = browser.new_context()
    tab, sizes = context.new_page(), []
    tab.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    before, begun = _busy(server), time.perf_counter()
    tab.goto(address)
    tab.locator(DRAWN).first.wait_for()
    seconds = time.perf_counter() - begun
    tab.wait_for_timeout(2000)
    context.close()
    return len(sizes), sum(sizes), _busy(server) - before, seconds


def _use(browser: Any, address: str, scores: Path) -> None:
    """Upload scores, and move the threshold."""
    tab = browser.new_page()
    tab.goto(address)
    tab.locator(DRAWN).first.wait_for()
    begun = time.perf_counter()
    tab.locator("#file0 input[type=file]").set_input_files([scores])
    tab.locator(".data .line b", has_text=scores.name).wait_for()
    tab.wait_for_function("document.querySelector('.state').innerText.startsWith('Up to date')")
    print(f"{f'{ROWS:,} rows: from the upload to the numbers, seconds':<48} {time.perf_counter() - begun:>12.2f}")
    taken = []
    for place in range(TIMES):
        before = tab.locator(".decisions .rates").inner_text()
        tab.locator("#threshold :is(input, textarea)").fill(str(place / TIMES))
        begun = time.perf_counter()
        tab.keyboard.press("Enter")
        tab.wait_for_function("old => document.querySelector('.decisions .rates').innerText !== old", arg=before)
        taken.append(time.perf_counter() - begun)
    print(f"{f'{ROWS:,} rows: a threshold, seconds':<48} {median(taken):>12.2f}")
    tab.close()


def _scores(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    labels = np.arange(ROWS) % 2
    np.savez(folder / "scores.npz", scores=rng.normal(labels), labels=labels)
    return folder / "scores.npz"


def _busy(process: int) -> float:
    """The processor seconds of a process so far."""
    user, system = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def _children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()}


if __name__ == "__main__":
    main()
