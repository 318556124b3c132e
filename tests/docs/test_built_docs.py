"""The built documentation in a browser: `make docs` runs this after building; skipped where BUILT_DOCS is not set."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

SITE = os.environ.get("BUILT_DOCS")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(not SITE or not CHROMIUM, reason="no built documentation, or no Chromium")

# what a newcomer searches for first, and the page that answers it
QUESTIONS = {
    "install": "get-started",
    "confidence interval of AUROC": "get-started",
    "which metric": "choose",
    "threshold validation test": "thresholds",
    "FPR at 95 TPR": "ood_bench",
    "OSCR": "openauc",
    "AUPRO": "anomaly_suite",
    "compare two models p-value": "uncertainty",
    "is 0.2 % better significant": "uncertainty",
    "mean over categories groups": "groups",
    "model card": "hub",
    "OpenOOD different numbers": "coming-from",
    "Trainer compute_metrics": "training",
    "YOLO": "detection",
    "MVTec AD folder": "anomaly-folders",
    "ties": "exactness",
    "distributed torchrun": "processes",
}
FIRST = 4  # pages of the results, among which it has to be


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(Path(SITE or ".").resolve())))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def page(address: str) -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.requests = []
        page.on("request", lambda request: page.requests.append(request.url))
        yield page
        browser.close()


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_search_finds(question: str, page: Any, address: str) -> None:
    page.goto(f"{address}/index.html")
    page.locator("input.md-search__input").click()
    page.locator("input.md-search__input").press_sequentially(question)  # it listens to keys
    page.locator(".md-search-result__item").first.wait_for(timeout=60_000)
    page.wait_for_timeout(1000)  # until what was typed last is answered
    links = page.eval_on_selector_all(".md-search-result__item > a", "all => all.map(a => a.getAttribute('href'))")
    found = list(dict.fromkeys(link.partition("?")[0].rpartition("/")[2] for link in links))
    assert f"{QUESTIONS[question]}.html" in found[:FIRST], found


def test_each_page_is_shown_without_another_host_or_a_wide_body(page: Any, address: str) -> None:
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("response", lambda response: errors.append(response.url) if response.status >= 400 else None)
    page.set_viewport_size({"width": 400, "height": 800})
    for file in sorted(Path(SITE or ".").rglob("*.html")):
        if file.name != "404.html":
            name = file.relative_to(SITE or ".").as_posix()
            page.goto(f"{address}/{name}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
    assert not errors
    assert not [url for url in page.requests if not url.startswith((address, "data:", "blob:"))]
