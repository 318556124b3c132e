"""A report in a browser: nothing is cut off, filters filter, print shows all, and axe-core finds nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from openworld_metrics import suites
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.faces.report import report_html, write_anomaly_report, write_report
from openworld_metrics.faces.report.answer import with_outcomes
from openworld_metrics.reading.reading import Reading
from tests import cases
from tests.detection import scenes
from tests.faces.sample import sample
from tests.reading.maps import trees

CUT_OFF = """(parts) => [...document.querySelectorAll(parts)]
    .filter((part) => part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent)"""


BROKEN = """() => {  // numbers in cells that take two lines
  const broken = [];
  const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.parentElement.closest("td.r, dd.large")) continue;
    for (const match of text.data.matchAll(/[−+]?\\d[\\d.]*/g)) {
      const range = document.createRange();
      range.setStart(text, match.index);
      range.setEnd(text, match.index + match[0].length);
      if (new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(match[0]);
    }
  }
  return broken;
}"""


def report_of_maps(folder: Path, categories: int = 15) -> Path:
    """Two models' maps, the worse first, and the masks of categories, without images."""
    tree, names = trees.TREES["folders"], tuple(f"category_{i}" for i in range(categories))
    drawn = trees.scene(0, tree.defects, names)
    for name in ("data", "maps", "other"):
        (folder / name).mkdir()
    tree.write(drawn, folder / "data", folder / "maps")
    tree.write([one._replace(score_map=-one.score_map) for one in drawn], folder / "data", folder / "other")
    maps: dict[str, Path | str] = {name: folder / name for name in ("other", "maps")}
    return write_anomaly_report(trees.computed(maps, folder / "data", intervals=None, shown=True), folder / "report")


def report_of_an_answer(folder: Path) -> Path:
    """All parts of an answer, of three models with long names."""
    page = folder / "index.html"
    page.write_text(report_html(sample(lambda text: f"a_long_name_of_{text}")), encoding="utf-8")
    return page


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
    made = scenes.scene(6, 20)
    long = {label: f"{name} with a long name of many words" for label, name in made.dataset.classes.items()}
    names = [f"a/very/long/folder/of/images/{'0' * 40}{name}" for name in made.dataset.names]
    made = made._replace(dataset=made.dataset._replace(names=names, classes=long))
    other = made._replace(predictions=[{**boxes, "labels": boxes["labels"] * 0 + 2} for boxes in made.predictions])
    options: dict[str, Any] = {"unknown_class_id": 999, "protocol": "owod", "recall_level": None, "errors": True}
    results = suites.evaluate_detections(made, scenes.KNOWN, standard=False, **options)
    results["comparison"] = suites.compare_detections(made, other, scenes.KNOWN, n_resamples=20, **options)
    return write_report(made, results, folder, scenes.KNOWN, other=other, **options)


SMALLEST = """() => Math.min(...[...document.querySelectorAll('.chart svg')].flatMap((svg) => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll('text')].map((text) => scale * parseFloat(getComputedStyle(text).fontSize));
}))"""


REPORTS: dict[str, Callable[[Path], Path]] = {
    "boxes": report_of_boxes,
    "samples": report_of_samples,
    "maps": report_of_maps,
    "answer": report_of_an_answer,
}


@pytest.mark.parametrize("kind", REPORTS)
def test_a_report(kind: str, browser: Any, tmp_path: Path) -> None:
    """All can be read at each width in each theme, filters filter, and print shows all, whatever is folded."""
    from axe_playwright_python.sync_playwright import Axe

    tab = browser.new_page()
    asked: list[str] = []
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(REPORTS[kind](tmp_path).as_uri())
    check_filters(tab)
    for width, scheme in ((1280, "light"), (1280, "dark"), (400, "dark"), (400, "light")):
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme)
        tab.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
        assert tab.evaluate("document.documentElement.scrollWidth") == width
        assert tab.evaluate(SMALLEST) >= 9  # of labels in figures, in pixels
        tables = "[...document.querySelectorAll('.scroll:not(:has(tr:nth-child(26)))')]"
        assert tab.evaluate(f"{tables}.every((each) => each.scrollHeight <= each.clientHeight + 1)")
        assert tab.evaluate(CUT_OFF, ".card, .tile, summary, .contents, .headline dl") == []  # others scroll
        if (width, scheme) in ((1280, "light"), (400, "dark")):
            violations = Axe().run(tab, options={"resultTypes": ["violations"]}).response["violations"]
            assert [(each["id"], each["nodes"][0]["html"]) for each in violations] == []
    titles = tab.locator("h2").all_inner_texts()
    assert len({*titles}) == len(titles)
    assert {url.partition(":")[0] for url in asked} <= {"file", "data"}
    check_print(tab)
    tab.close()


def check_filters(tab: Any) -> None:
    for section in tab.locator("section:has(.chips)").all():
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


def check_print(tab: Any) -> None:
    tab.set_viewport_size({"width": 690, "height": 1000})
    tab.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = false; })")
    tab.emulate_media(media="print", color_scheme="dark")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not([open])").count() == 0
    assert tab.evaluate(CUT_OFF, ".card, .scroll, .contents, .headline dl") == []
    assert tab.evaluate("document.documentElement.scrollWidth") == 690
    assert tab.evaluate(BROKEN) == []
    lines = tab.locator(".headline .ends").evaluate_all("all => all.map(one => one.offsetHeight)")
    assert max(lines, default=0) < 25
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    tab.evaluate("dispatchEvent(new Event('afterprint'))")
    assert tab.locator("details[open]").count() == 0
