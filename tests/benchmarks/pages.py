"""What waiting for a page costs: its start, the numbers of 10,000 scores after the press, and another image.

python -m tests.benchmarks.pages    prints seconds and the server's processor time; for a quiet machine with Chromium
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tests.served import CHROMIUM, CHROMIUM_OPTIONS, serve

ROOT = Path(__file__).resolve().parents[2]
TIMES = 5
LINE = "{:<58} {:>8.2f} s {:>12.2f} s {:>10}"
FIRST_PICTURE = "name => JSON.stringify(document.querySelector(`#${name}-plot0 .js-plotly-plot`)?.data[0].z?.flat())"


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    print(f"{'':<58} {'seconds':>10} {'processor':>14} {'target':>10}")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        scores = _scores(Path(folder))
        with _page(browser, "ood_bench", Path(folder)) as (tab, busy):
            tab.locator("#ood_bench-file0 input[type=file]").set_input_files([scores])
            tab.locator("#ood_bench-read").get_by_text("10,000 rows").wait_for()
            run = "document.querySelector('#ood_bench-numbers .new').dataset.run"

            def press() -> None:
                before = tab.evaluate(run)
                tab.locator("#ood_bench-compute").click()
                tab.wait_for_function(f"before => {run} !== before", arg=before)

            def press_for_intervals() -> None:
                before = tab.evaluate(run)
                tab.locator("#ood_bench-compute").click()
                sure = "document.querySelector('#ood_bench-numbers .interval')"
                tab.wait_for_function(f"before => {run} !== before && {sure}", arg=before)

            press_for_intervals()
            _report("from the press to the numbers of 10,000 scores", press, busy, "≤ 0.5 s")
            tab.locator("#ood_bench-numbers .interval").first.wait_for()
            _report("from the press to their intervals", press_for_intervals, busy, "≤ 1.5 s")
        with _page(browser, "anomaly_suite", Path(folder)) as (tab, busy):
            slider = tab.locator("#anomaly_suite-image input[type=range]")
            slider.focus()

            def another() -> None:
                before = tab.evaluate(FIRST_PICTURE, "anomaly_suite")
                slider.press("ArrowLeft")  # the worst image, which is shown first, is the last
                shown = f"before => ({FIRST_PICTURE})('anomaly_suite') !== before"
                tab.wait_for_function(shown, arg=before)

            _report("from the key to the picture of another image", another, busy, "≤ 0.5 s")
        browser.close()


def _scores(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    labels = np.arange(10_000) % 2
    np.savez(folder / "scores.npz", scores=rng.normal(labels), labels=labels)
    return folder / "scores.npz"


@contextmanager
def _page(browser: Any, name: str, folder: Path) -> Iterator[tuple[Any, Callable[[], float]]]:
    """A page of its own, opened and computed; and what gives the processor seconds of its server so far."""
    before, begun = _children(), time.perf_counter()
    with serve(ROOT / "metrics" / name / "app.py", folder) as address:
        (server,) = _children() - before

        def busy() -> float:
            user, system = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[11:13]
            return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

        print(LINE.format(f"start of the server of {name}", time.perf_counter() - begun, busy(), "≤ 8 s"), flush=True)
        tab = browser.new_page()
        tab.goto(address)
        tab.locator(f"#{name}-results:not(.stale) .js-plotly-plot .main-svg").first.wait_for()
        time.sleep(2)  # until all pictures are drawn
        yield tab, busy


def _children() -> set[int]:
    return {int(pid) for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()}


def _report(words: str, action: Callable[[], None], busy: Callable[[], float], target: str) -> None:
    taken, used = [], busy()
    for _ in range(TIMES):
        begun = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begun)
        time.sleep(0.5)
    print(LINE.format(words, median(taken), (busy() - used) / TIMES, target), flush=True)


if __name__ == "__main__":
    main()
