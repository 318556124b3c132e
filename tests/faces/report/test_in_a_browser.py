"""A report in a browser: nothing is cut off, filters filter, print shows all, and axe-core finds nothing."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from openworld_metrics import suites
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.faces.report import report_html, write_anomaly_report, write_report
from openworld_metrics.faces.report.answer import with_outcomes
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.reading.reading import Reading
from openworld_metrics.suites.anomaly import evaluate_maps
from tests import cases
from tests.detection import scenes
from tests.faces.report.test_answer import an_answer
from tests.suites import trees

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield chromium
        chromium.close()


SIDEWAYS = """[...document.querySelectorAll(".scroll, .scrollx, .data, .data tr, .data td")]
    .filter((part) => part.scrollWidth > part.clientWidth + 1 && part.clientWidth).map((part) => part.textContent)"""


@pytest.fixture(scope="module", params=["boxes", "crowd", "samples", "maps", "map", "answer"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("report")
    reports_by_kind: dict[str, Callable[[Path], Path]] = {
        "boxes": report_of_boxes,
        "crowd": report_of_a_crowd,
        "samples": report_of_samples,
        "maps": partial(report_of_maps, categories=15),
        "map": partial(report_of_maps, categories=1),
        "answer": report_of_an_answer,
    }
    return reports_by_kind[request.param](folder).as_uri()


def report_of_maps(folder: Path, categories: int) -> Path:
    """Two models' maps, the worse first, and the masks of categories, without images."""
    tree, names = trees.TREES["folders"], tuple(f"category_{i}" for i in range(categories))
    drawn = trees.scene(0, tree.defects, names)
    for name in ("data", "maps", "other"):
        (folder / name).mkdir()
    tree.write(drawn, folder / "data", folder / "maps")
    tree.write([one._replace(score_map=-one.score_map) for one in drawn], folder / "data", folder / "other")
    listed = (list_anomaly_maps(folder / name, folder / "data") for name in ("other", "maps"))
    one, other = (evaluate_maps(each, curves=True) for each in listed)
    return write_anomaly_report(one, folder / "report", other=other)


def report_of_an_answer(folder: Path) -> Path:
    """All parts of an answer, of three models with long names."""
    page = folder / "index.html"
    page.write_text(report_html(an_answer(3, word="a_long_name_of_")), encoding="utf-8")
    return page


def report_of_a_crowd(folder: Path) -> Path:
    """3,000 boxes on three images, of 15 classes."""
    made = scenes.scene(0, 3)
    rng = np.random.default_rng(0)
    corners = rng.integers(0, 48, (3, 1000, 2)) * 1.0
    boxes = [np.concatenate([corner, corner + 12], axis=1) for corner in corners]
    labels = rng.integers(0, 15, (3, 1000))
    true = [{"boxes": box, "labels": label, "ignored": 0 * label} for box, label in zip(boxes, labels)]
    own = [np.where(label < 12, label, rng.choice([3, 999], 1000)) for label in labels]
    found = [{"boxes": box + 1, "labels": label, "scores": rng.random(1000)} for box, label in zip(boxes, own)]
    classes = {label: f"class {label}" for label in range(15)}
    crowd = made._replace(dataset=made.dataset._replace(references=true, classes=classes), predictions=found)
    options: dict[str, Any] = {"unknown_class_id": 999, "recall_level": None}
    results = suites.evaluate_detections(crowd, range(12), standard=False, **options)
    return write_report(crowd, results, folder, range(12), **options)


def report_of_samples(folder: Path) -> Path:
    columns, options = cases.draw("macro_open_f", 4)
    answer = answers_of("macro_open_f", Reading("macro_open_f", {"": columns}), options)[""]
    images = [folder / f"{'long-name-' * 6}{i}.png" for i in range(len(columns["references"]))]
    for path in images:
        Image.new("RGB", (64, 48), "grey").save(path)
    page = folder / "index.html"
    page.write_text(report_html(with_outcomes(answer, images)), encoding="utf-8")
    return page


def report_of_boxes(folder: Path) -> Path:
    """Two detectors on images whose names and classes are long."""
    made = scenes.scene(6, 40)
    long = {label: f"{name} with a long name of many words" for label, name in made.dataset.classes.items()}
    names = [f"a/very/long/folder/of/images/{'0' * 40}{name}" for name in made.dataset.names]
    made = made._replace(dataset=made.dataset._replace(names=names, classes=long))
    other = made._replace(predictions=[{**boxes, "labels": boxes["labels"] * 0 + 2} for boxes in made.predictions])
    options: dict[str, Any] = {"unknown_class_id": 999, "protocol": "owod", "recall_level": None, "errors": True}
    results = suites.evaluate_detections(made, scenes.KNOWN, standard=False, **options)
    results["comparison"] = suites.compare_detections(made, other, scenes.KNOWN, n_resamples=20, **options)
    return write_report(made, results, folder, scenes.KNOWN, other=other, **options)


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
    if not sections:  # there is nothing to choose among
        kinds = {tile.get_attribute("data-kinds").partition(" ")[0] for tile in tab.locator(".tile").all()} - {""}
        assert len(kinds) <= 1
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
