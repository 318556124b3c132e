"""The eight pages in a real browser and through their API, as pages of the gallery (test_publish: each on its own)."""

from __future__ import annotations

import importlib
import io
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import openworld_metrics
from openworld_metrics.reading.maps.maps import resized_map
from tests.pages.figures.test_style import contrast
from tests.pages.groups import boxes_of_two_detectors, maps_of_categories, ranks_of_groups
from tests.pages.steps import BOXES, STEPS, Columns, as_lists, csv, drawn, grey_maps, numbers, yolo
from tests.served import CHROMIUM, CHROMIUM_OPTIONS, COMMAND, PATIENCE, connect, serve

Load = Callable[..., Any]
GALLERY_ORDER = (*openworld_metrics.METRICS,)
WIDE = {"width": 1280, "height": 900}
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")


class App(NamedTuple):
    name: str
    address: str
    folder: Path  # where it runs: logs and uploads


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of the gallery, which serves all eight pages from one process, and its folder."""
    folder = tmp_path_factory.mktemp("gallery")
    with serve(COMMAND, folder, "serve") as address:
        yield address, folder


@pytest.fixture(scope="module", params=openworld_metrics.METRICS)
def app(request: pytest.FixtureRequest, gallery: tuple[str, Path]) -> App:
    return App(request.param, *gallery)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        yield chromium
        chromium.close()


BEFORE = """name => {
    document.querySelector(`#${name}-results`).classList.add("stale");
    document.querySelector(`#${name}-told .error`)?.classList.remove("error");
}"""
# what the page does of itself, for the message of a test that waits in vain: events, and the inputs that differ
WATCH = """() => {
    const page = openworldMetrics, plain = (value) => JSON.stringify(value)?.slice(0, 300), then = {};
    page.told = [];
    for (const event of ["begin", "proceed", "compare", "settled", "stamp", "show", "placed"]) {
        const own = page[event];
        page[event] = (...values) => {
            const told = [Math.round(performance.now()), event];
            page.told.push(told);
            try {
                const answer = own(...values);
                if (event === "stamp") then[told[2] = answer.at(-1)] = values.slice(3, 3 + values[1]).map(plain);
                const first = {compare: 2, settled: 2, show: 3}[event];
                if (first) {
                    const now = values.slice(first).map(plain), old = then[told[2] = values[first - 1]];
                    told.push(now.flatMap((one, i) => old && old[i] !== one ? [[i, old[i], one]] : []));
                }
                return answer;
            } catch (error) {
                told.push(String(error));
                throw error;
            }
        };
    }
}"""
TWO_FRAMES = "() => new Promise((soon) => requestAnimationFrame(() => requestAnimationFrame(soon)))"
LOOKED = """([name, before]) => {
    const looks = openworldMetrics.looks[name] ?? {begun: 0};
    return looks.begun > before && looks.ended === looks.begun;
}"""
DRAWN = """name => [...document.querySelectorAll(`#${name}-results .js-plotly-plot`)]
    .filter((plot) => plot.querySelector(".main-svg")).map((plot) => plot.data.length)"""


class Page:
    """An app's page in a tab of the browser."""

    def __init__(self, tab: Any, name: str) -> None:
        self.tab, self.name = tab, name

    def open(self, address: str) -> None:
        """Go to the first table of the page, by its address, and wait until it is computed."""
        self.tab.set_default_timeout(1000 * PATIENCE)
        example = importlib.import_module(f"openworld_metrics.pages.metrics.{self.name}").PAGE.examples[0]
        self.tab.goto(f"{address}/{self.name}?{urlencode({'example': f'To type in: {example.title}'})}")
        self.part("numbers").locator("table").first.wait_for()
        self.tab.evaluate(WATCH)

    def part(self, what: str) -> Any:
        return self.tab.locator(f"#{self.name}-{what}")

    def cell(self) -> str:
        """The first cell of the table, once it is there."""
        cell = self.part("table0").get_by_role("gridcell").first
        cell.wait_for()
        return str(cell.inner_text())

    def upload(self, paths: list[Path], place: int = 0) -> None:
        """Choose files, and wait until what was read of them is shown; the results before are marked."""
        with self.look():
            self.part(f"file{place}").locator("input[type=file]").set_input_files(paths)
        self.tab.locator(f"#{self.name}-results.stale").wait_for()

    def clear(self, place: int = 0) -> None:
        """Take the chosen files away, and wait until the page has seen it."""
        with self.look():
            self.part(f"file{place}").get_by_role("button", name=re.compile("[Cc]lear|[Rr]emove")).first.click()

    def unfold(self, panel: str, part: str) -> None:
        """Open a panel until `part` is seen. gradio sets its fields once more a frame later, over what was typed."""
        if not self.part(part).is_visible():
            self.part(panel).get_by_role("button").first.click()
            self.part(part).wait_for()
            self.tab.evaluate(TWO_FRAMES)

    def hold(self, place: int) -> list[Any]:
        """Have the next request about a place for files wait; the list holds its route once it is there."""
        of_id = "id => window.gradio_config.components.find((one) => one.props.elem_id === id).id"
        component = self.tab.evaluate(of_id, f"{self.name}-file{place}")
        held: list[Any] = []

        def handle(route: Any) -> None:
            if held or route.request.post_data_json["trigger_id"] != component:
                route.continue_()
            else:
                held.append(route)

        self.tab.route("**/queue/join*", handle)
        return held

    @contextmanager
    def look(self) -> Iterator[None]:
        """Wait until the page has looked at the data that are changed meanwhile."""
        begun = self.tab.evaluate("name => openworldMetrics.looks[name]?.begun ?? 0", self.name)
        yield
        self.tab.wait_for_function(LOOKED, arg=[self.name, begun])

    def compute(self) -> None:
        """Press the button, and wait until the answer replaces what was there."""
        self.tab.evaluate(BEFORE, self.name)
        self.part("compute").click()
        answer = self.tab.locator(f"#{self.name}-results:not(.stale), #{self.name}-told .error").first
        try:
            answer.wait_for()
        except Exception:  # of playwright, which is imported where there is a browser
            told = "\n".join(map(str, self.tab.evaluate("openworldMetrics.told")[-30:]))
            raise AssertionError(f"no answer after\n{told}\n{self.tab.locator('body').inner_text()}") from None

    def numbers(self) -> dict[str, Any]:
        """The shown numbers in full, which three decimals have to agree with."""
        found: dict[str, Any] = {}
        assert self.part("told").all_inner_texts() in ([], [""]), "an error is shown"
        for row in [*self.part("numbers").locator("tr").all(), *self.part("more").locator("tr:has([data-key])").all()]:
            name = row.locator("th").get_attribute("data-key")
            titles = [cell.get_attribute("title") for cell in row.locator("td span").all()]
            full = [float(title) if title in ("inf", "-inf") else json.loads(title) for title in titles]
            for cell, value in zip(row.locator("td span").all(), full):
                if name.endswith("_threshold"):  # as short as decides the same: see figures/test_threshold.py
                    assert math.isfinite(float(cell.inner_text())) == math.isfinite(value)
                    continue
                assert float(cell.inner_text()) == pytest.approx(value, abs=5e-4, rel=5e-3)
                assert re.fullmatch(r"\d+|-?\d+\.\d{3,}|-?\d\.\d\de[-+]\d+|-?inf", cell.inner_text())
            found[name] = full if name.endswith("_curve") else full[0]
        return found

    def option(self, name: str, how: str) -> Any:
        field = "input[type=number]" if how == "number" else "input, textarea"
        return self.part(f"option-{name}").locator(field).first

    def set_option(self, name: str, how: str, typed: str) -> None:
        field = self.option(name, how)
        if how == "tick":
            field.check()
        else:
            field.fill(typed)
            field.press("Enter" if how == "pick" else "Tab")

    def traces(self) -> list[int]:
        """How many traces each picture has drawn."""
        count = STEPS[self.name].pictures
        self.tab.wait_for_function(f"([name, count]) => ({DRAWN})(name).length === count", arg=[self.name, count])
        return list(self.tab.evaluate(DRAWN, self.name))


def opened_page(context: Any, name: str, address: str, errors: list[str]) -> Page:
    """A metric's page in a new tab, with what its console says of errors."""
    page = Page(context.new_page(), name)
    page.tab.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    page.tab.on("pageerror", lambda error: errors.append(str(error.stack or error)))
    page.open(address)
    return page


@pytest.fixture
def opened(gallery: tuple[str, Path], browser: Any) -> Iterator[Callable[[str], Page]]:
    """Open a metric's page in a new tab. Whatever happens there, the console stays free of errors."""
    with browser.new_context(viewport=WIDE) as context:
        errors: list[str] = []
        yield lambda name: opened_page(context, name, gallery[0], errors)
        assert errors == []


@pytest.fixture(scope="module")
def page(app: App, browser: Any) -> Iterator[Page]:
    """A metric's page, on which the tests that ask for it go on, each from what the one before left."""
    with browser.new_context(viewport=WIDE) as context:
        errors: list[str] = []
        yield opened_page(context, app.name, app.address, errors)
        assert errors == []


@needs_browser
def test_the_example(page: Page, load: Load) -> None:
    steps = STEPS[page.name]
    assert page.cell()
    button = page.part("compute").bounding_box()
    assert button["y"] + button["height"] <= 900, "the button is in sight without scrolling"
    page.compute()
    results = load(page.name).compute(**steps.columns, **steps.options)
    assert page.numbers() == results
    traces = page.traces()
    assert len(traces) == steps.pictures
    assert min(traces) >= 1
    assert page.tab.locator(".js-plotly-plot .xtick").count() >= 2 * steps.pictures


@needs_browser
def test_what_can_be_taken_away(page: Page, load: Load, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page.compute()
    steps = STEPS[page.name]
    results = load(page.name).compute(**steps.columns, **steps.options)
    # an editor draws only the lines in sight, so the text is taken as the copy button gives it
    page.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.part("results").get_by_label("Copy", exact=True).first.click()
    call = page.tab.evaluate("navigator.clipboard.readText()")
    monkeypatch.chdir(root)
    names: dict[str, Any] = {}
    exec(call, names)
    assert names["results"] == results
    page.tab.get_by_role("tab", name="JSON").click()
    with page.tab.expect_download() as download:
        page.part("download").click()
    assert download.value.suggested_filename == f"{page.name}.json"
    assert numbers(Path(download.value.path()).read_text()) == results


@needs_browser
def test_a_narrow_dark_page_by_keyboard(page: Page) -> None:
    tab = page.tab
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.evaluate("document.body.classList.add('dark')")
    tab.evaluate("name => document.querySelector(`#${name}-results`).classList.add('stale')", page.name)
    page.part("example").locator("input").focus()
    for _ in range(120):
        tab.keyboard.press("Tab")
        if tab.evaluate("document.activeElement.id") == f"{page.name}-compute":
            break
    tab.wait_for_function("!document.querySelector('[role=listbox]')")  # the lists of fields that were passed fade
    tab.keyboard.press("Enter")
    tab.locator(f"#{page.name}-results:not(.stale)").wait_for()
    tab.wait_for_function(
        "name => { const top = document.querySelector(`#${name}-numbers table`).getBoundingClientRect().top;"
        " return top >= -5 && top < 760; }",
        arg=page.name,
    )
    tab.wait_for_function(RESULTS_NEXT, arg=page.name)
    page.part("compute").focus()
    tab.keyboard.press("Tab")
    assert tab.evaluate("name => document.activeElement.closest(`#${name}-results`) !== null", page.name)
    assert len(page.traces()) == STEPS[page.name].pictures
    assert tab.evaluate("document.documentElement.scrollWidth") <= 400
    for part in ("numbers", "compute", "table0", "plot0"):
        box = page.part(part).bounding_box()
        assert box["x"] >= 0, part
        assert box["x"] + box["width"] <= 400, part
    fill = tab.locator(".js-plotly-plot .xtick text").first.evaluate("e => getComputedStyle(e).fill")
    assert min(map(int, re.findall(r"\d+", fill)[:3])) > 180, "labels have to be light on a dark page"
    tab.evaluate("document.body.classList.remove('dark')")
    tab.set_viewport_size(WIDE)


# below the button come the results, then the columns and options
RESULTS_NEXT = """name => {
    const place = (part) => document.querySelector(part).getBoundingClientRect();
    const button = place(`#${name}-compute`), results = place(`#${name}-results`);
    const options = place(`[id^=${name}-option-]`);
    const between = results.top - button.bottom;
    return between < 100 && options.top > results.bottom;
}"""


@needs_browser
def test_an_option_and_an_error(page: Page, load: Load) -> None:
    steps = STEPS[page.name]
    option, how, typed, value = steps.change
    page.set_option(option, how, typed)
    page.compute()
    options = {**steps.options, option: value}
    assert page.numbers() == load(page.name).compute(**steps.columns, **options)

    cell = page.cell()
    option, how, typed, value = steps.wrong
    page.set_option(option, how, typed)
    page.compute()
    with pytest.raises((ValueError, TypeError)) as raised:
        load(page.name).compute(**steps.columns, **{**options, option: value})
    told = page.part("told").locator("[role=alert]")
    assert told.inner_text() == re.sub(r"\s+", " ", str(raised.value))
    in_sight = "name => document.querySelector(`#${name}-told`).getBoundingClientRect().bottom <= window.innerHeight"
    page.tab.wait_for_function(in_sight, arg=page.name)  # after the layout has settled
    page.tab.locator(f"#{page.name}-results.stale").wait_for()
    assert page.option(option, how).input_value() == typed
    assert page.cell() == cell


@needs_browser
def test_a_file(page: Page, load: Load, tmp_path: Path) -> None:
    steps, columns = STEPS[page.name], drawn(page.name)
    for i, paths in enumerate(steps.upload(columns, tmp_path)):
        page.upload(paths, i)
    page.compute()
    lists = {name: as_lists(column) for name, column in columns.items()}
    assert page.numbers() == load(page.name).compute(**lists, **_derived(page.name, columns))
    assert min(page.traces()) >= 1


GROUPED = {
    **dict.fromkeys(("accuracyk", "autkc"), ranks_of_groups),
    "anomaly_suite": maps_of_categories,
    "openset_detection": boxes_of_two_detectors,
}


@needs_browser
def test_groups_and_detectors(page: Page, load: Load, tmp_path: Path) -> None:
    """What folders and columns of files say: a row of the metric's numbers for each group, or for each detector."""
    if page.name not in GROUPED:
        return
    files, columns = GROUPED[page.name](tmp_path)
    for place in range(len(files)):
        if page.part(f"file{place}").get_by_role("button", name=re.compile("[Cc]lear|[Rr]emove")).count():
            page.clear(place)  # files of the test before
    for place, paths in enumerate(files):
        page.upload(paths, place)
    page.compute()
    level = {}
    if page.name in ("accuracyk", "autkc"):  # the others have too few images for intervals
        page.part("numbers").locator(".interval").first.wait_for()
        level = {"confidence_level": 0.95}
    page.tab.get_by_role("tab", name="JSON").click()
    with page.tab.expect_download() as download:
        page.part("download").click()
    results = {name: load(page.name).compute(**one, **level) for name, one in columns.items()}
    found = numbers(Path(download.value.path()).read_text())
    assert found == (results if len(results) > 1 else results[""])
    rows = [row.inner_text() for row in page.part("compared").locator("table.compared tbody th").all()]
    assert rows == [*results] if len(results) > 1 else [*results[""]["groups"]["group"], "mean"]
    if len(results) > 1:
        page.traces()
        shown = "JSON.stringify(document.querySelector('#openset_detection-plot0 .js-plotly-plot')?.data.map(t => t.x))"
        before = page.tab.evaluate(shown)
        page.part("detector").get_by_label("two").check()
        page.tab.wait_for_function(f"before => {shown} !== before", arg=before)
        large = page.part("numbers").locator("table.large td span").all()
        assert [json.loads(cell.get_attribute("title")) for cell in large] == [
            results["two"][key] for key in ("U-Recall", "WI", "A-OSE")
        ]


def test_the_endpoint(app: App, load: Load) -> None:
    client = connect(app.address, download_files=False)
    steps, endpoint = STEPS[app.name], f"/compute_{app.name}"
    columns = {name: as_lists(column) for name, column in steps.columns.items()}
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in steps.options.items()}
    results = load(app.name).compute(**steps.columns, **steps.options)
    assert client.predict(columns=columns, options=options, api_name=endpoint) == results
    with pytest.raises(Exception, match=re.escape(f"{app.name} has no argument 'nonsense'")):
        client.predict(columns={**columns, "nonsense": [1]}, options=options, api_name=endpoint)
    client.close()
    named = list(client.view_api(return_format="dict")["named_endpoints"])
    assert named == [f"/compute_{name}" for name in GALLERY_ORDER]


@needs_browser
def test_a_cell_is_edited(opened: Callable[[str], Page], load: Load) -> None:
    page, columns = opened("ood_bench"), STEPS["ood_bench"].columns
    cell = page.part("table0").get_by_role("gridcell").first
    cell.dblclick()
    editor = cell.locator("textarea, input").first
    editor.fill("0.05")
    editor.press("Enter")
    page.compute()
    edited = [0.05, *columns["predictions"][1:]]
    assert page.numbers() == load("ood_bench").compute(predictions=edited, references=columns["references"])


@needs_browser
def test_columns_are_chosen_by_hand(opened: Callable[[str], Page], load: Load, tmp_path: Path) -> None:
    page, columns = opened("openauc"), drawn("openauc")
    letters = dict(zip(columns, "cab"))
    page.upload(csv({letters[name]: column for name, column in columns.items()}, tmp_path)[0])
    page.unfold("columns", "from-references")
    for name, letter in letters.items():
        field = page.part(f"from-{name}").locator("input")
        field.focus()
        for _ in range(4):
            field.press("Backspace")
        field.fill(f"{letter}_0 …" if np.ndim(columns[name]) == 2 else letter)
        page.part(f"from-{name}").get_by_role("option").first.click()
        field.press("Escape")
    page.compute()
    assert page.numbers() == load("openauc").compute(**columns)


EMPTIED = {
    "the token": lambda field: field.locator(".token-remove:not(.remove-all)").first.click(),
    "a key": lambda field: field.locator("input").press("Backspace"),
    "all tokens": lambda field: field.locator(".remove-all").click(),
}


@needs_browser
@pytest.mark.parametrize("way", EMPTIED)
def test_a_column_is_emptied(way: str, opened: Callable[[str], Page], load: Load, tmp_path: Path) -> None:
    """However it is emptied, the page says at once that the column is not used, and computes without it."""
    page, counts = opened("ood_bench"), {"counts": [1, 2, 3, 4, 5, 6]}
    columns = {"predictions": [0.1, 0.4, 0.2, 0.3, 0.8, 0.9], "references": [0, 0, 0, 1, 1, 1]}
    page.upload(csv({**columns, **counts}, tmp_path)[0])
    page.compute()
    assert page.numbers() == load("ood_bench").compute(**columns, **counts)
    page.unfold("columns", "from-counts")
    EMPTIED[way](page.part("from-counts"))
    page.tab.locator("#ood_bench-results.stale").wait_for()
    page.part("read").locator(".chip", has_text="counts").wait_for(state="detached")
    page.compute()
    assert page.numbers() == load("ood_bench").compute(**columns)


@needs_browser
def test_a_late_answer_leaves_what_was_chosen_since(opened: Callable[[str], Page], tmp_path: Path) -> None:
    """What the server says of the columns comes after another field has been emptied, which stays empty."""
    page, columns = opened("openauc"), drawn("openauc")
    page.upload(csv(columns, tmp_path)[0])
    page.unfold("columns", "from-references")
    held: list[Any] = []
    page.tab.route("**/queue/join*", lambda route: held.append(route), times=1)
    fields = [page.part(f"from-{name}") for name in ("references", "open_scores")]
    with page.tab.expect_request("**/queue/join*"):
        fields[0].locator(".token-remove").first.click()
    fields[1].locator(".token-remove").first.click()
    for field in fields:
        field.locator(".token").wait_for(state="detached")
    held[0].continue_()
    page.part("read").get_by_text("Which column holds references and open_scores?").wait_for()
    assert [page.part(f"from-{name}").locator(".token").count() for name in columns] == [1, 0, 0]


@needs_browser
def test_a_late_flip_leaves_what_was_chosen_since(opened: Callable[[str], Page], tmp_path: Path) -> None:
    """A detector that is taken away while the signs are flipped is gone."""
    page = opened("ood_bench")
    table = {
        "msp": 4 * [0.9, 0.6, 0.8, 0.7],
        "energy": 4 * [0.8, 0.5, 0.7, 0.6],
        "labels": 4 * ["id", "ood", "id", "ood"],  # of four samples, the sign may be wrong by chance
    }
    page.upload(csv(table, tmp_path)[0])
    page.unfold("columns", "from-predictions")
    held: list[Any] = []
    page.tab.route("**/queue/join*", lambda route: held.append(route), times=1)
    page.part("flip").click()
    while not held:
        page.tab.wait_for_timeout(50)
    page.part("from-predictions").locator(".token-remove").first.click()
    page.part("read").locator(".chip", has_text="msp").wait_for(state="detached")
    held[0].continue_()
    page.tab.wait_for_timeout(1000)  # nothing tells that an answer has been left out
    assert page.part("from-predictions").locator(".token").all_inner_texts() == ["energy"]
    page.part("flip").click()
    page.part("read").get_by_text("minus score").wait_for()
    assert page.part("from-predictions").locator(".token").all_inner_texts() == ["-energy"]


@needs_browser
def test_a_late_answer_is_not_shown_beside_another_example(opened: Callable[[str], Page], tmp_path: Path) -> None:
    page = opened("ood_bench")
    table = {"msp": [0.1, 0.4, 0.2, 0.3], "labels": [0, 1, 0, 1], "counts": [1, 2, 3, 4]}
    page.upload(csv(table, tmp_path)[0])
    page.unfold("columns", "from-counts")
    held: list[Any] = []
    page.tab.route("**/queue/join*", lambda route: held.append(route), times=1)
    with page.tab.expect_request("**/queue/join*"):
        page.part("from-counts").locator(".token-remove").first.click()
    page.part("example").locator("input").click()
    page.tab.get_by_role("option", name=re.compile("Ten scores")).click()
    read = page.part("read")
    read.get_by_text("10 rows").wait_for()
    held[0].continue_()
    read.get_by_text("4 rows").wait_for()
    read.get_by_text("10 rows").wait_for()


@needs_browser
def test_an_answer_is_out_of_date_where_its_inputs_differ(opened: Callable[[str], Page]) -> None:
    """Whenever a change is told: before the press, or while its answer is awaited, which is when late ones come."""
    page = opened("ood_bench")
    old, fresh = (page.tab.locator(f"#{page.name}-results{kind}") for kind in (".stale", ":not(.stale)"))
    before = page.option("step", "text").input_value()
    page.set_option("step", "text", "7")
    old.wait_for()
    page.set_option("step", "text", before)
    fresh.wait_for()
    held: list[Any] = []
    for after, shown in ((before, fresh), ("7", old)):
        page.part("compared").locator("[role=status]").wait_for(state="detached")  # the intervals are there
        page.tab.route("**/queue/join*", lambda route: held.append(route), times=1)
        page.part("compute").click()
        while not held:
            page.tab.wait_for_timeout(50)
        page.set_option("step", "text", "7")
        old.wait_for()
        page.set_option("step", "text", after)
        shown.wait_for()
        # only the answer turns the mark back
        page.tab.evaluate("name => document.querySelector(`#${name}-results`).classList.toggle('stale')", page.name)
        held.pop().continue_()
        shown.wait_for()


@needs_browser
def test_nothing_is_computed_while_files_are_looked_at(opened: Callable[[str], Page], tmp_path: Path) -> None:
    """The button is off until the last of several looks at data has ended, whichever ends first."""
    page, columns = opened("anomaly_suite"), grey_maps(tmp_path)
    maps, masks = (sorted((tmp_path / side).iterdir()) for side in columns)
    held = page.hold(0)
    page.part("file0").locator("input[type=file]").set_input_files(maps)
    while not held:
        page.tab.wait_for_timeout(50)
    page.part("file1").locator("input[type=file]").set_input_files(masks)
    page.tab.wait_for_function("openworldMetrics.looks.anomaly_suite.ended === 1")  # that of the masks
    assert page.part("compute").is_disabled()
    held[0].continue_()
    page.tab.wait_for_function("openworldMetrics.looks.anomaly_suite.ended === 2")
    assert page.part("compute").is_enabled()


@needs_browser
def test_changes_of_one_place_follow_each_other(opened: Callable[[str], Page], tmp_path: Path) -> None:
    """Files that are taken away while they are looked at are gone afterwards."""
    page = opened("ood_bench")
    held = page.hold(0)
    page.part("file0").locator("input[type=file]").set_input_files(csv(drawn("ood_bench"), tmp_path)[0])
    while not held:
        page.tab.wait_for_timeout(50)
    page.part("file0").get_by_role("button", name=re.compile("[Cc]lear|[Rr]emove")).first.click()
    assert page.part("compute").is_disabled()
    held[0].continue_()
    page.tab.wait_for_function("openworldMetrics.looks.ood_bench.ended === 2")
    assert page.part("compute").is_enabled()
    assert "Your own" not in page.part("example").locator("input").input_value()


# what a busy machine may do: the end of a stream of answers is read later than the answer to a request after it
LATE_ENDS = """() => {
    const fetched = window.fetch, encoder = new TextEncoder();
    const late = {async transform(chunk, controller) {
        const text = new TextDecoder().decode(chunk), place = text.indexOf('data: {"msg":"close_stream"');
        if (place < 0) return controller.enqueue(chunk);
        if (place > 0) controller.enqueue(encoder.encode(text.slice(0, place)));
        await new Promise((done) => setTimeout(done, 100));
        controller.enqueue(encoder.encode(text.slice(place)));
    }};
    window.fetch = async (...given) => {
        const answer = await fetched(...given);
        if (!String(given[0].url ?? given[0]).includes("/queue/data")) return answer;
        return new Response(answer.body.pipeThrough(new TransformStream(late)), answer);
    };
}"""


@needs_browser
@pytest.mark.parametrize("where", ["server", "client"])
def test_no_answer_is_lost_when_a_stream_ends_late(where: str, gallery: tuple[str, Path], browser: Any) -> None:
    """On its way from the server, or from streams.js to gradio's client."""
    with browser.new_context(viewport=WIDE) as context:
        page = Page(context.new_page(), "accuracyk")
        if where == "server":
            page.tab.add_init_script(f"({LATE_ENDS})()")
        page.open(gallery[0])
        if where == "client":
            page.tab.evaluate(LATE_ENDS)
        for _ in range(8):
            page.compute()
            page.tab.wait_for_function("!document.querySelector('#accuracyk-compared [role=status]')")


@needs_browser
def test_an_example_is_loaded_once_and_only_if_another_is_chosen(opened: Callable[[str], Page], tmp_path: Path) -> None:
    """Whoever passes the field with the Tab key, or closes its list, keeps their own data."""
    page = opened("accuracyk")
    example = page.part("example").locator("input")

    def computed() -> int:
        return int(page.tab.evaluate("openworldMetrics.told.filter(([, event]) => event === 'stamp').length"))

    page.upload(ranks_of_groups(tmp_path)[0][0])
    example.focus()
    page.tab.keyboard.press("Tab")
    example.click()
    page.tab.locator("h1").first.click()
    page.compute()
    assert computed() == 1
    assert "mine" in page.part("file0").inner_text()
    assert example.input_value() == "Your own data"

    example.click()
    page.tab.get_by_role("option", name=re.compile("Scores of five classes")).click()
    page.tab.locator(f"#{page.name}-results:not(.stale)").wait_for()
    page.cell()
    page.compute()
    assert computed() == 3
    assert "mine" not in page.part("file0").inner_text()

    example.focus()
    page.tab.keyboard.press("ArrowUp")
    page.tab.keyboard.press("Enter")
    page.tab.wait_for_function("openworldMetrics.told.filter(([, event]) => event === 'show').length >= 4")
    page.compute()
    assert computed() == 5
    assert not example.input_value().startswith("To type in")


@needs_browser
def test_images_and_masks(opened: Callable[[str], Page], load: Load, tmp_path: Path) -> None:
    page, columns = opened("anomaly_suite"), grey_maps(tmp_path)
    for i, side in enumerate(columns):
        paths = sorted((tmp_path / side).iterdir())
        page.upload(paths, i)
        said = f"maps: {len(paths)} maps" if i else "masks: expected a folder, an archive or files, got none"
        page.part("read").get_by_text(said).wait_for()
    page.part("read").get_by_text(f"{len(paths)} maps, paired with their masks by name").wait_for()
    page.compute()
    assert page.numbers() == load("anomaly_suite").compute(**columns)
    page.traces()
    first = "document.querySelector('#anomaly_suite-plot0 .js-plotly-plot')?.data[0].z.length"
    chosen = page.part("image").locator("input[type=number]")
    assert chosen.input_value() == "3", "the worst image comes first"
    assert page.tab.evaluate(first) == len(columns["predictions"][2])
    chosen.fill("1")
    chosen.press("Enter")
    page.tab.wait_for_function(f"{first} == {len(columns['predictions'][0])}")


@needs_browser
def test_maps_are_resized(opened: Callable[[str], Page], load: Load, tmp_path: Path) -> None:
    """One press resizes maps to their masks, and computes."""
    page, columns = opened("anomaly_suite"), grey_maps(tmp_path)
    large = [np.kron(mask, np.ones((2, 2), np.uint8)) for mask in columns["references"]]
    for i, mask in enumerate(large):
        Image.fromarray(255 * mask.astype(np.uint8)).save(tmp_path / "references" / f"{i}.png")
    for i, side in enumerate(columns):
        page.upload(sorted((tmp_path / side).iterdir()), i)
    page.part("resize").click()
    page.tab.locator("#anomaly_suite-results:not(.stale)").wait_for()
    maps = [resized_map(each, mask.shape, "bilinear") for each, mask in zip(columns["predictions"], large)]
    assert page.numbers() == load("anomaly_suite").compute(predictions=maps, references=large)


@needs_browser
def test_yolo_files(opened: Callable[[str], Page], load: Load, tmp_path: Path) -> None:
    page = opened("openset_detection")
    for i, paths in enumerate(yolo(tmp_path)):
        page.upload(paths, i)
    page.part("read").get_by_text("Guessed: known classes 0–2 (predicted by the detector); unknown id 999").wait_for()
    page.compute()
    columns = dict(zip(("predictions", "references"), BOXES))
    assert page.numbers() == load("openset_detection").compute(**columns, **STEPS["openset_detection"].options)
    assert page.part("option-box_format").locator("input:checked").get_attribute("value") == "xyxy"
    shown = "JSON.stringify(document.querySelector('#openset_detection-plot0 .js-plotly-plot')?.data.map(t => t.x))"
    page.traces()
    before = json.dumps(page.tab.evaluate(shown))
    slider = page.part("image").locator("input[type=range]")
    slider.focus()
    slider.press("ArrowRight" if slider.input_value() == "1" else "ArrowLeft")
    page.tab.wait_for_function(f"{shown} != {before}")
    guessed = page.part("read").get_by_text("Guessed: known classes")
    guessed.wait_for()
    field = page.part("option-known_classes").locator("input, textarea")
    held = field.input_value()
    for other, state in ((f"{held}, 3", "detached"), (held, "visible")):
        field.fill(other)
        field.press("Tab")
        guessed.wait_for(state=state)


def _derived(name: str, columns: Columns) -> dict[str, Any]:
    """What follows of data for options that have no default."""
    return dict(importlib.import_module(f"openworld_metrics.pages.metrics.{name}").PAGE.derive(columns, {}).options)


@needs_browser
def test_from_the_questions_to_the_real_example(gallery: tuple[str, Path], browser: Any, load: Load) -> None:
    """Which metric for me? in three answers; its page opens with the numbers of real data."""
    with browser.new_context(viewport=WIDE) as context:
        tab = context.new_page()
        tab.goto(gallery[0])
        for place, answer in (
            ("says", "a score for each class"),
            ("unknown", "no"),
            ("sums", "how high among the k best"),
        ):
            tab.locator(f"#ask-{place}").get_by_label(answer).check()
        tab.locator("#ask-found").get_by_text("Open autkc").wait_for()
        tab.locator("#ask-found").click()
        tab.locator("#autkc-numbers table").first.wait_for()
        with np.load(gallery_data("autkc") / "digits.npz") as arrays:
            columns = {"predictions": arrays["logits"], "references": arrays["labels"]}
        results = load("autkc").compute(**columns, k_list=(1, 2, 3))
        cells = tab.locator("#autkc-numbers td > button.number > [data-full]").all()
        shown = [json.loads(cell.get_attribute("data-full")) for cell in cells]
        assert shown == [*results.values()]


def gallery_data(name: str) -> Path:
    return Path(__file__).resolve().parents[3] / "metrics" / name / "examples"


@needs_browser
def test_ones_own_scores(opened: Callable[[str], Page], load: Load, tmp_path: Path) -> None:
    """Semicolons, words as labels, a score of the other sign; then two columns of two values, so that one is asked."""
    from playwright.sync_api import expect

    page, out = opened("ood_bench"), np.arange(40) % 2
    confidence = np.round(1 - out + np.random.default_rng(0).normal(0, 0.5, 40), 3)
    table = pd.DataFrame({"measure": confidence, "set": np.where(out, "ood", "id")})
    table.to_csv(tmp_path / "mine.csv", index=False, sep=";")
    page.set_option("step", "text", "7")
    page.upload([tmp_path / "mine.csv"])
    expect(page.option("step", "text")).to_have_value("")  # an option of the example is not that of one's own data
    page.part("read").get_by_text("If higher scores mean in-distribution here, flip the sign.").wait_for()
    assert not any(link.is_visible() for link in page.part("file0").locator("a").all()), "files are not served"
    page.part("flip").click()
    page.part("read").get_by_text("minus score").wait_for()
    page.compute()
    assert page.numbers() == load("ood_bench").compute(predictions=-confidence, references=out)
    assert page.tab.url.endswith("/ood_bench")
    table.assign(set=out, other=1 - out).to_csv(tmp_path / "asks.csv", index=False)
    page.clear()
    page.part("table0").wait_for(state="hidden")
    page.upload([tmp_path / "asks.csv"])
    page.part("read").get_by_text("Which column holds references?").wait_for()
    page.part("from-references").wait_for()

    cells = table.assign(measure=-confidence).astype(object)
    cells.loc[[3, 8], "measure"], cells.loc[5, "measure"], cells.loc[21, "set"] = "", "n.a.", "?"
    cells.to_csv(tmp_path / "gaps.csv", index=False)
    page.clear()
    page.part("read").get_by_text("1,256 rows, 5 columns").wait_for()
    page.upload([tmp_path / "gaps.csv"])
    page.part("read").get_by_text("measure, line 5 and 2 more: this cell is empty or NaN.").wait_for()
    page.compute()
    page.part("told").get_by_text("leave out these 4 rows of 40").wait_for()
    assert not page.part("read").get_by_text("this cell is empty").is_visible(), "an error is shown once"
    page.part("leave").get_by_text("Leave out 4 rows").click()
    page.part("compared").get_by_text("Left out 4 of 40 rows that could not be read: lines 5, 7, 10, 23.").wait_for()
    rows = np.setdiff1d(np.arange(40), [3, 5, 8, 21])
    assert page.numbers() == load("ood_bench").compute(predictions=-confidence[rows], references=out[rows])
    page.part("leave").get_by_text("Do not leave out 4 rows").wait_for()


@needs_browser
def test_pasted_cells(opened: Callable[[str], Page], load: Load) -> None:
    page = opened("ood_bench")
    page.unfold("paste", "pasted0")
    html = page.part("read").inner_html()
    page.part("pasted0").locator("textarea").fill("0,25\t0\n0,5\t1\n0,75\t0\n1,5\t1")
    page.tab.wait_for_function("html => document.querySelector('#ood_bench-read').innerHTML !== html", arg=html)
    page.unfold("columns", "from-predictions")
    page.part("from-predictions").get_by_text("A", exact=True).wait_for()
    page.compute()
    assert page.numbers() == load("ood_bench").compute(predictions=[0.25, 0.5, 0.75, 1.5], references=[0, 1, 0, 1])


HOVER = """id => {
    const plot = document.querySelector(`#${id} .js-plotly-plot`);
    window.Plotly.Fx.hover(plot, [{curveNumber: 0, pointNumber: 9}]);
}"""
HOVERED = """id => {
    const box = document.querySelector(`#${id} .hovertext`);
    return [box.textContent, ...["text", "path"].map((part) => {
        const fill = getComputedStyle(box.querySelector(part)).fill.match(/\\d+/g);
        return "#" + fill.slice(0, 3).map((one) => (+one).toString(16).padStart(2, "0")).join("");
    })];
}"""
LEGENDS_IN_PERCENT = r"""() => {
    const legends = [...document.querySelectorAll("#ood_bench-results .legendtext")].map((one) => one.textContent);
    return legends.some((text) => /= [\d.]+ %/.test(text)) && !legends.some((text) => /\d\.\d{3}/.test(text));
}"""
# where a part of a curve's points is on the screen, and its rates
POINT = """([id, part]) => {
    const plot = document.querySelector(`#${id} .js-plotly-plot`), {xaxis, yaxis} = plot._fullLayout;
    plot.scrollIntoView({block: "center"});
    const box = plot.getBoundingClientRect(), {x, y} = plot.data[0], k = Math.floor(part * x.length);
    return [box.left + xaxis._offset + xaxis.d2p(x[k]), box.top + yaxis._offset + yaxis.d2p(y[k]), x[k], y[k]];
}"""
# the middle of the slider's thumb, 16 pixels wide, and of the line in the histogram, in pixels from the left
THUMB_AND_LINE = """() => {
    const slider = document.querySelector("#ood_bench-threshold input[type=range]");
    const box = slider.getBoundingClientRect();
    const share = (slider.value - slider.min) / (slider.max - slider.min);
    const plot = document.querySelector("#ood_bench-plot0 .js-plotly-plot"), axis = plot._fullLayout.xaxis;
    const line = plot.data.find((trace) => trace.meta?.x === "threshold" && !trace.meta.y).x[0];
    return [box.left + 8 + share * (box.width - 16), plot.getBoundingClientRect().left + axis._offset + axis.d2p(line)];
}"""
POINTS = """[...document.querySelectorAll('#ood_bench-results .js-plotly-plot')].flatMap(
    (plot) => plot.data.filter((trace) => trace.meta?.x).map((trace) => [trace.x[0], trace.y[0]]))"""


@needs_browser
def test_the_threshold_moves_and_pictures_are_saved(gallery: tuple[str, Path], browser: Any) -> None:
    """In the browser, by a preset and by keys; a curve as CSV, a report of one file without addresses."""
    with browser.new_context(viewport=WIDE) as context:
        tab = context.new_page()
        tab.goto(f"{gallery[0]}/ood_bench")
        tab.locator("#ood_bench-plot2 .main-svg").first.wait_for()
        context.grant_permissions(["clipboard-read", "clipboard-write"])
        tab.locator("#ood_bench-results").get_by_label("Copy", exact=True).first.click()
        call = tab.evaluate("navigator.clipboard.readText()")
        assert '"metrics/ood_bench/examples/digits.npz"' in call
        tab.locator("#ood_bench-link").click()
        tab.locator("#ood_bench-link").get_by_text("Link copied").wait_for()
        link = tab.evaluate("navigator.clipboard.readText()")
        assert link.startswith(f"{gallery[0]}/ood_bench?example=Digits+6+to+9")
        with np.load(gallery_data("ood_bench") / "digits.npz") as arrays:
            scores, labels = arrays["one_minus_msp"].astype(float), arrays["labels"]

        def shown() -> tuple[Any, dict[str, str]]:
            tab.wait_for_timeout(200)
            rates = tab.locator("#ood_bench-threshold dl > div").all()
            return tab.evaluate(POINTS), dict(rate.inner_text().split("\n") for rate in rates)

        tab.get_by_role("button", name="5 % FPR").click()
        slider = tab.locator("#ood_bench-threshold input[type=range]")
        for key in ("", "ArrowRight"):
            if key:
                slider.press(key)
            ((threshold, _), (fpr, tpr), (recall, precision)), rates = shown()
            called = scores > threshold
            assert (fpr, tpr) == (np.mean(called[labels == 0]), np.mean(called[labels == 1]))
            assert (recall, precision) == (tpr, pytest.approx(np.mean(labels[called])))
            assert rates["FPR"] == f"{fpr:.3f}"
            assert fpr <= 0.05
            thumb, line = tab.evaluate(THUMB_AND_LINE)
            assert thumb == pytest.approx(line, abs=2), "the thumb is below the line"
        box = slider.bounding_box()
        tab.mouse.click(box["x"] + 0.7 * box["width"], box["y"] + box["height"] / 2)
        ((threshold, _), *_), _ = shown()
        thumb, line = tab.evaluate(THUMB_AND_LINE)
        assert thumb == pytest.approx(line, abs=2)
        assert line == pytest.approx(box["x"] + 0.7 * box["width"], abs=8), "where the slider was clicked"
        typed = tab.locator("#ood_bench-threshold [data-typed]")
        for text in ("0.15", "-99", "99"):
            typed.fill(text)
            typed.press("Enter")
            (_, (fpr, tpr), *_), _ = shown()
            called = scores > float(text)
            assert (fpr, tpr) == (np.mean(called[labels == 0]), np.mean(called[labels == 1]))
            assert typed.input_value() == text
        typed.fill("0.15")
        slider.press("End")
        assert shown()[0][0][0] > threshold
        slider.press("Home")
        assert tab.locator("#ood_bench-threshold tbody td").nth(1).inner_text() == "0", "everything is flagged"
        left, top, *rates_there = tab.evaluate(POINT, ["ood_bench-plot1", 0.3])
        tab.mouse.click(left, top)
        assert shown()[0][1] == pytest.approx(rates_there, abs=0.01), "the threshold is where the curve was clicked"
        tab.locator("#ood_bench-link").click()
        tab.wait_for_function(
            f"async () => (await navigator.clipboard.readText()).endsWith('at={typed.input_value()}')"
        )
        listed = tab.locator("#ood_bench-listed")
        tab.locator("#ood_bench-threshold").get_by_role("button", name=re.compile(r"^\d+$")).nth(1).click()
        missed = np.count_nonzero(~(scores > shown()[0][0][0])[labels == 1])
        listed.get_by_text(f"{missed} samples: OOD, score ≤").wait_for()
        assert listed.locator("tbody tr").count() == min(missed, 200)
        bar = tab.locator("#ood_bench-plot0 .bars .point path").nth(8).bounding_box()
        tab.mouse.click(bar["x"] + bar["width"] / 2, bar["y"] + bar["height"] - 3)
        listed.get_by_text(re.compile(r"^\d+ samples?: .*, score [\d.]+ to [\d.]+$")).wait_for()
        switch = tab.locator("[role=group][data-name=ood_bench]")
        rate, moved = tab.locator("#ood_bench-numbers .large .rate"), tab.locator("#ood_bench-threshold .rate")
        switch.get_by_text("82.0 %").click()
        assert all(re.fullmatch(r"\d+\.\d %", each.first.inner_text()) for each in (rate, moved))
        assert re.fullmatch(r"[\d.]+(, [\w ]+ \d+\.\d+ %)+", slider.get_attribute("aria-valuetext"))
        tab.wait_for_function(LEGENDS_IN_PERCENT)
        switch.get_by_text("0.820").press("Enter")
        assert all(re.fullmatch(r"\d\.\d\d\d", each.first.inner_text()) for each in (rate, moved))
        assert re.fullmatch(r"[\d.]+(, [\w ]+ \d\.\d{3,})+", slider.get_attribute("aria-valuetext"))
        for place, words in enumerate(
            (r"score .* to .*: 0\.\d+ of in-.*", r".*score > .*FPR 0\.\d+, TPR 0\.\d+", r".*(score > .*|flagged.*)")
        ):
            tab.locator(f"#ood_bench-plot{place}").scroll_into_view_if_needed()
            tab.evaluate(HOVER, f"ood_bench-plot{place}")
            tab.locator(f"#ood_bench-plot{place} .hovertext text").first.wait_for()
            said, *colors = tab.evaluate(HOVERED, f"ood_bench-plot{place}")
            assert re.fullmatch(words, said), said
            assert contrast(*colors) >= 4.5
        bars = tab.locator(".modebar").all()
        assert not any(bar.is_visible() for bar in bars), "no buttons of plotly's over the heading"
        files = {}
        switch.get_by_text("82.0 %").click()
        for button in ("ROC curve as CSV", "ROC curve as SVG", "Download the report", "ROC curve as PNG"):
            menu = tab.locator("#ood_bench-results .take[data-title='ROC curve'] summary")
            if "ROC" in button and not tab.get_by_role("button", name=button).is_visible():
                menu.click()
            with tab.expect_download() as download:
                tab.get_by_role("button", name=button).click()
            files[download.value.suggested_filename] = Path(download.value.path()).read_text(errors="replace")
        assert re.fullmatch(r"\d+\.\d %", rate.first.inner_text())
        texts = re.findall(r"([^<>]+)</text>", files["ood_bench_report.html"])
        assert any(re.search(r"= 0\.\d{3}", text) for text in texts), "a report has fractions"
        assert not any("%" in text for text in texts)
        assert [*files] == ["ood_bench_roc.csv", "ood_bench_roc.svg", "ood_bench_report.html", "ood_bench_roc.png"]
        with Image.open(download.value.path()) as picture:
            assert picture.width >= 3 * 600
        assert "ROC curve</text>" in files["ood_bench_roc.svg"], "the picture has a title"
        assert files["ood_bench_roc.csv"].startswith("trace,x,y,z,text\n")
        assert not re.search(r"(src|href)=.https?:", files["ood_bench_report.html"])
        assert re.search(r"OOD if score &gt;\s+[−\d.]+", files["ood_bench_report.html"]), "the threshold of the page"
        saved = context.new_page()
        for width in (1280, 400):
            saved.set_viewport_size({"width": width, "height": 900})
            saved.set_content(files["ood_bench_report.html"])
            assert saved.evaluate("document.documentElement.scrollWidth") == width
            assert saved.locator(".drawn .card[role=img][aria-label] svg").count() == 3
        for scheme in ("light", "dark"):
            saved.emulate_media(color_scheme=scheme)
            ink, ground = saved.evaluate("""[getComputedStyle(document.querySelector(".drawn text")).fill,
                getComputedStyle(document.querySelector(".card")).backgroundColor]""")
            assert contrast(*map(as_hex, (ink, ground))) >= 7, scheme


def as_hex(color: str) -> str:
    """A colour such as rgb(24, 24, 27), as a browser computes it, as #18181b."""
    return "#" + "".join(f"{int(part):02x}" for part in re.findall(r"\d+", color)[:3])


@needs_browser
def test_results_can_be_read_by_everybody(gallery: tuple[str, Path], browser: Any) -> None:
    """axe-core finds no text of too little contrast, nothing without a name, nothing that keys do not reach.

    On all pages with the results of real data, and of one all else that is on it, as on the others; in the dark theme
    too, where nothing but the contrast is another.
    """
    from axe_playwright_python.sync_playwright import Axe

    rules = {"light": ["wcag2a", "wcag2aa"], "dark": ["color-contrast"]}
    violations = []
    with browser.new_context(viewport=WIDE) as context:
        tab = context.new_page()
        for name in openworld_metrics.METRICS:
            tab.goto(f"{gallery[0]}/{name}?__theme=dark")
            tab.locator(f"#{name}-results:not(.stale) .js-plotly-plot .main-svg").first.wait_for()
            tab.evaluate(Axe().axe_script)
            whole = name == "openset_detection"
            tab.evaluate(NOT_JUDGED, [name, whole])
            within = {"include": [["body"] if whole else [f"#{name}-results"]]}
            for theme in ("dark", "light"):
                tab.evaluate("theme => document.body.classList.toggle('dark', theme === 'dark')", theme)
                tab.evaluate(STILL)
                options = {"runOnly": rules[theme], "resultTypes": ["violations"]}
                result = tab.evaluate("([within, options]) => axe.run(within, options)", [within, options])
                assert result["passes"], "something is judged"
                violations += [(name, theme, each["id"], each["nodes"][0]["html"]) for each in result["violations"]]
    assert violations == []


# axe-core goes over the whole document each time: what is not judged here, the drawings, of whose parts it judges none,
# and each of twenty samples that are written alike
NOT_JUDGED = """([name, whole]) => {
    document.querySelectorAll("details").forEach((part) => { part.open = true; });
    if (!whole) document.querySelectorAll(".inputs-column, .card").forEach((part) => part.replaceChildren());
    const results = document.querySelector(`#${name}-results`);
    results.querySelectorAll(".main-svg, .samples tbody tr:nth-child(n + 4)").forEach((part) => part.remove());
}"""
STILL = """Promise.all(document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime < 5000)
    .map((one) => one.finished.catch(() => null))).then(() => null)"""


@needs_browser
def test_an_image_is_chosen_by_key(gallery: tuple[str, Path], browser: Any) -> None:
    name = "openset_detection"
    with browser.new_context(viewport=WIDE) as context:
        tab = context.new_page()
        tab.goto(f"{gallery[0]}/{name}")
        tab.locator(f"#{name}-plot2 .main-svg").first.wait_for()
        before = tab.evaluate("JSON.stringify(document.querySelector('[id$=-plot0] .js-plotly-plot').data[0].x)")
        image = tab.locator(f"#{name}-strip button.see").nth(1)
        image.press("Enter")
        tab.wait_for_function(
            "before => JSON.stringify(document.querySelector('#openset_detection-plot0 .js-plotly-plot')"
            ".data[0].x) !== before",
            arg=before,
        )
        assert image.get_attribute("aria-pressed") == "true"
        chosen = tab.locator(f"#{name}-image input[type=number]")
        assert image.inner_text().startswith(f"{chosen.input_value()} ·")

        # the knob of the slider is seen, at its lowest value too
        chosen.fill("1")
        chosen.press("Enter")
        for theme in ("dark", "light"):
            tab.evaluate("theme => document.body.classList.toggle('dark', theme === 'dark')", theme)
            knob = tab.locator(f"#{name}-image input[type=range]").screenshot()
            colors = np.asarray(Image.open(io.BytesIO(knob)).convert("RGB")).reshape(-1, 3)
            assert np.count_nonzero(np.abs(colors.astype(int) - [0x00, 0x72, 0xB2]).sum(axis=1) < 12) > 40

        # a row for each image, whose numbers stay in one line, and which shows the image of its name
        tab.locator(f"#{name}-option-per_image input").check()
        waiting = tab.locator(f"#{name}-compared [role=status]", has_not_text="No images say how large they are")
        waiting.wait_for(state="detached")  # the intervals are there
        asked, held = [], []

        def hold_the_second(route: Any) -> None:
            asked.append(route)
            held.append(route) if len(asked) == 2 else route.continue_()

        tab.route("**/queue/join*", hold_the_second)
        tab.evaluate(BEFORE, name)
        tab.locator(f"#{name}-compute").click()
        table = tab.locator(f"#{name}-more details", has_text="per_image")
        table.locator("summary").click()
        cells = table.locator("td > *")
        assert {*cells.evaluate_all("cells => cells.map((cell) => cell.getClientRects().length)")} == {1}
        if held:  # the intervals come, and leave the table open
            held.pop().continue_()
            waiting.wait_for(state="detached")
        row = table.locator("tbody tr").nth(4)
        row.locator("button.see").click()
        assert row.inner_text().startswith("5 · ")
        assert chosen.input_value() == "5"


def test_no_error_on_the_server(gallery: tuple[str, Path]) -> None:
    assert "Traceback" not in (gallery[1] / "app.log").read_text()
