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
from urllib.parse import quote

import pytest

import openworld_metrics
from openworld_metrics.loading import metric_class

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
    "PRO score": "anomaly-folders",
    "is model A better": "uncertainty",
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
    # asked at once: letters that are typed are each a question, and what is shown may be the answer to their beginning
    page.goto(f"{address}/index.html?q={quote(question)}")
    page.locator(".md-search-result__item").first.wait_for(timeout=60_000)
    links = page.eval_on_selector_all(".md-search-result__item > a", "all => all.map(a => a.getAttribute('href'))")
    found = list(dict.fromkeys(link.partition("?")[0].rpartition("/")[2] for link in links))
    assert f"{QUESTIONS[question]}.html" in found[:FIRST], found


# what is wrong with a page as a browser shows it on a computer
FAULTS = r"""() => {
    const faults = [], article = document.querySelector(".md-content article");
    const all = (selector) => [...article.querySelectorAll(selector)];
    const start = (element) => element.textContent.trim().slice(0, 60);
    const wide = [["code", "pre > code"], ["table", ".md-typeset__scrollwrap"], ["formula", ".formula"]];
    for (const [what, selector] of wide)
        for (const element of all(selector))
            if (element.scrollWidth > element.clientWidth + 1) faults.push(`${what} is cut off: ${start(element)}`);
    for (const link of all(":is(p, li, td) a:not(.headerlink)"))
        if (getComputedStyle(link).textDecorationLine !== "underline") faults.push(`no underline: ${start(link)}`);
    for (const part of all("p, li, td")) {
        const words = [...part.childNodes].filter((node) => node.nodeType === 3).map((node) => node.data).join("");
        if (/[$][$]|\\(frac|sum)/.test(words)) faults.push(`a formula is not set: ${start(part)}`);
        if (/(^|\n)[-*] /.test(words)) faults.push(`a list is none: ${start(part)}`);
        if (/(^|\n)\|.*\|/.test(words)) faults.push(`a table is none: ${start(part)}`);
        if (/\{ ?[.#:]/.test(words)) faults.push(`attributes are shown: ${start(part)}`);
    }
    for (const formula of all("math"))
        if (formula.textContent.includes("\\")) faults.push(`a formula shows a backslash: ${start(formula)}`);
    for (const heading of all("h2, h3, h4"))
        if (/__\w+__/.test(heading.textContent)) faults.push(`a dunder: ${start(heading)}`);
    return faults;
}"""


def pages() -> list[str]:
    return [path.relative_to(SITE or ".").as_posix() for path in sorted(Path(SITE or ".").rglob("*.html"))]


def test_each_page_on_a_computer_and_on_a_phone(page: Any, address: str) -> None:
    """On a computer nothing is cut off and all is set, on a phone no body is wide, and no other host is asked."""
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("response", lambda response: errors.append(response.url) if response.status >= 400 else None)
    faults = {}
    for name in pages():
        if name != "404.html":
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(f"{address}/{name}")
            faults[name] = page.evaluate(FAULTS)
            page.set_viewport_size({"width": 400, "height": 800})
            faults[name] += ["wide"] * page.evaluate("document.documentElement.scrollWidth > 400")
    page.set_viewport_size({"width": 1280, "height": 900})
    assert not {name: reasons for name, reasons in faults.items() if reasons}
    assert not errors
    assert not [url for url in page.requests if not url.startswith((address, "data:", "blob:"))]


@pytest.mark.parametrize("name", ["anomaly_folder", "ood_suite", "open_set_detection"])
def test_a_notebook_is_shown_as_it_ran(name: str, page: Any, address: str) -> None:
    page.goto(f"{address}/notebooks/{name}.html")
    article = page.locator(".md-content article")
    assert article.locator(".output").count()
    assert article.locator("img[src$='.png']").count() == 1
    assert not [word for word in ("Traceback", "Warning", "http") if word in article.inner_text()]


def test_copying_takes_no_prompts_and_no_outputs(page: Any, address: str) -> None:
    """The copy button takes the visible text of what it has marked."""
    page.goto(f"{address}/guides/uncertainty.html")
    copied = page.evaluate(
        """() => {
            const code = [...document.querySelectorAll("pre > code")].find((each) => each.textContent.includes(">>> "));
            code.setAttribute("data-md-copying", "");
            return code.innerText;
        }"""
    )
    assert "from openworld_metrics import OODBench" in copied
    assert ">>>" not in copied
    assert "'auroc': 0.9375" not in copied


def test_the_page_of_classes_lists_the_eight_first(page: Any, address: str) -> None:
    page.goto(f"{address}/api/metrics.html")
    names = page.eval_on_selector_all("article h3", "all => all.map(each => each.id.split('.').pop())")
    assert names[:8] == [metric_class(name).__name__ for name in openworld_metrics.METRICS]
    assert page.locator("article li code").first.is_visible()  # options are lists
    assert page.locator("article p a[href*='match_boxes'] code").first.is_visible()  # names lead to their documentation


def test_aligned_tables_of_docstrings_become_lists(page: Any, address: str) -> None:
    page.goto(f"{address}/api/functions.html")
    names = page.eval_on_selector_all("article li > code:first-child", "all => all.map(each => each.textContent)")
    assert {"aurc", "augrc", "risk@cov80", "strict"} <= set(names)
    headings = page.eval_on_selector_all("article :is(h2, h3)", "all => all.map(each => each.tagName).join('')")
    assert "H2H2" not in headings  # no section is empty
