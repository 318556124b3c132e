"""A report in a browser: nothing is cut off, filters filter, print shows all, and axe-core finds nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from openworld_metrics import evaluation, metric_class, reports
from tests import cases
from tests.detection import scenes
from tests.pages.served import CHROMIUM, CHROMIUM_OPTIONS

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        yield chromium
        chromium.close()


SIDEWAYS = """[...document.querySelectorAll(".scroll, .scrollx, .data, .data tr, .data td")]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth).map((part) => part.textContent)"""


@pytest.fixture(scope="module", params=["boxes", "samples"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    return {"boxes": report_of_boxes, "samples": report_of_samples}[request.param](folder).as_uri()


def report_of_samples(folder: Path) -> Path:
    columns, options = cases.draw("macro_open_f", 4)
    metric = metric_class("macro_open_f")(**options, per_sample=True)
    images = [folder / f"{'long-name-' * 6}{i}.png" for i in range(len(columns["references"]))]
    for path in images:
        Image.new("RGB", (64, 48), "grey").save(path)
    return reports.write_error_report(metric.compute(**columns), folder, images=images)


def report_of_boxes(folder: Path) -> Path:
    """Two detectors on images whose names and classes are long."""
    made = scenes.scene(6, 40)
    long = {label: f"{name} with a long name of many words" for label, name in made.dataset.classes.items()}
    names = [f"a/very/long/folder/of/images/{'0' * 40}{name}" for name in made.dataset.names]
    made = made._replace(dataset=made.dataset._replace(names=names, classes=long))
    other = made._replace(predictions=[{**boxes, "labels": boxes["labels"] * 0 + 2} for boxes in made.predictions])
    options: dict[str, Any] = {"unknown_class_id": 999, "protocol": "owod", "recall_level": None, "errors": True}
    results = evaluation.evaluate_detections(made, scenes.KNOWN, standard=False, **options)
    results["comparison"] = evaluation.compare_detections(made, other, scenes.KNOWN, n_resamples=20, **options)
    return reports.write_report(made, results, folder, scenes.KNOWN, other=other, **options)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_nothing_scrolls_sideways_and_all_can_be_read(browser: Any, report: str, scheme: str, width: int) -> None:
    from axe_playwright_python.sync_playwright import Axe

    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(report)
    tab.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.evaluate(SIDEWAYS) == []
    assert tab.evaluate("(part => part.scrollWidth - part.clientWidth)(document.querySelector('.contents'))") == 0
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    violations = Axe().run(tab).response["violations"]
    assert [(found["id"], found["nodes"][0]["html"]) for found in violations] == []
    tab.close()


def test_filters_and_enlarging(browser: Any, report: str) -> None:
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(report)
    sections = tab.locator("section:has(.chips)").all()
    assert sections
    for section in sections:
        tiles = section.locator(".tile:visible")
        everything = tiles.count()
        for chip in section.locator(".chip").all()[::-1]:  # the last is the one that shows all
            chip.click()
            assert tiles.count() == int(chip.locator("b").inner_text()) > 0
            assert section.locator(".chip[aria-pressed=true]").count() == 1
        assert tiles.count() == everything
        before = tiles.first.bounding_box()["width"]
        tiles.first.click()
        assert tiles.first.bounding_box()["width"] > 1.5 * before
        assert tiles.first.get_attribute("aria-expanded") == "true"
    tab.close()


def test_print_shows_all(browser: Any, report: str) -> None:
    tab = browser.new_page(viewport={"width": 690, "height": 1000}, color_scheme="dark")
    tab.goto(report)
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0
    cut = "(part) => part.scrollWidth > part.clientWidth + 1 || part.scrollHeight > part.clientHeight + 1"
    assert tab.evaluate(f"[...document.querySelectorAll('.scroll, .scrollx')].filter({cut}).length") == 0
    assert tab.evaluate(SIDEWAYS) == []
    assert tab.evaluate("document.documentElement.scrollWidth") == 690
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details[open]").count() == 0
    tab.close()
