"""An answer arrives however long it takes, and however long it has waited for its turn; who leaves frees the place."""

from __future__ import annotations

import contextlib
import importlib
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import numpy as np
import pytest

from openworld_metrics.pages.serving import ending
from openworld_metrics.pages.serving.ending import EndedError, bounded
from openworld_metrics.reading.limits import RefusedError
from tests.served import CHROMIUM, CHROMIUM_OPTIONS, PATIENCE, connect, serve

SECONDS = 2.0  # of a computation; the guard waits for a quarter of that
COLUMNS = {"predictions": [0.1, 0.9], "references": [0, 1]}
ENDLESS = {"predictions": [0, 0], "references": [0, 1]}


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    script = Path(__file__).with_name("slow_page.py")
    settings = {"SECONDS": str(SECONDS), "FOLDER": str(root / "metrics" / "ood_bench")}
    with serve(script, tmp_path_factory.mktemp("slow"), **settings) as found:
        yield found


def test_answers_that_take_and_wait_long_arrive(address: str) -> None:
    """Two are computed at a time, so the last of six waits twice as long as it is computed."""
    clients = [connect(address) for _ in range(6)]
    begun = time.monotonic()
    jobs = [one.submit(columns=COLUMNS, api_name="/compute") for one in clients]
    assert [job.result(PATIENCE)["auroc"] for job in jobs] == [1.0] * 6
    assert time.monotonic() - begun >= 3 * SECONDS
    for one in clients:
        one.close()


def call(address: str, columns: dict[str, Any]) -> str:
    """Ask by a plain request; where its answer is."""
    url = f"{address}/gradio_api/call/compute"
    return f"{url}/{httpx.post(url, json={'data': [columns, {}]}, timeout=60).json()['event_id']}"


def test_a_plain_call_that_takes_long(address: str) -> None:
    with httpx.stream("GET", call(address, COLUMNS), timeout=60) as stream:
        assert "event: complete" in "".join(stream.iter_text())


@pytest.mark.parametrize("way", ["session", "call"])
def test_who_leaves_frees_the_place(way: str, address: str) -> None:
    """Both places are held by what would never end, until those leave whom it is for."""

    def visit() -> None:
        if way == "call":
            url = call(address, ENDLESS)
        else:
            body = {"data": [ENDLESS, {}], "session_hash": f"s{threading.get_ident()}", "fn_index": number}
            httpx.post(f"{address}/gradio_api/queue/join", json=body, timeout=60)
            url = f"{address}/gradio_api/queue/data?session_hash={body['session_hash']}"
        with contextlib.suppress(httpx.ReadTimeout), httpx.stream("GET", url, timeout=1) as stream:
            for _ in stream.iter_text():
                pass

    config = httpx.get(f"{address}/config", timeout=60).json()
    number = next(event["id"] for event in config["dependencies"] if event["api_name"] == "compute")
    visitors = [threading.Thread(target=visit) for _ in range(2)]
    for visitor in visitors:
        visitor.start()
    for visitor in visitors:
        visitor.join()
    one = connect(address)
    begun = time.monotonic()
    assert one.predict(columns=COLUMNS, api_name="/compute")["auroc"] == 1.0
    assert time.monotonic() - begun < ending.MAX_SECONDS / 2
    one.close()


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here: apt-get install chromium")
def test_an_answer_that_takes_long_arrives_in_a_browser(address: str) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        tab = browser.new_page()
        tab.set_default_timeout(1000 * PATIENCE)
        tab.goto(address)
        tab.locator("#ood_bench-numbers table").first.wait_for()
        tab.locator("#ood_bench-compute").click()
        tab.locator("#ood_bench-numbers .new:not([data-run='1'])").wait_for()
        tab.locator("#ood_bench-results:not(.stale)").wait_for()
        shown = tab.locator("#ood_bench-numbers .new").get_attribute("data-run")
        tab.locator("#ood_bench-compute").click()
        tab.locator("#ood_bench-option-step").locator("input, textarea").first.fill(
            "7"
        )  # what is computed is no longer what is asked for
        tab.locator(f"#ood_bench-numbers .new:not([data-run='{shown}'])").wait_for()
        tab.wait_for_timeout(500)
        assert tab.locator("#ood_bench-results.stale").count() == 1
        browser.close()


def endless() -> None:
    while True:
        np.sort(np.zeros(1000))


def test_a_computation_ends_with_its_time() -> None:
    begun = time.monotonic()
    with pytest.raises(RefusedError, match=r"stopped after 0.2 seconds, the limit of a page"):
        bounded(endless, seconds=0.2)
    assert time.monotonic() - begun < 5


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of an end that is lost, as below
def test_nothing_is_raised_after_an_end() -> None:
    """Where computing ends just as its time does, it has a result or is refused, and what follows is left alone."""

    def almost(i: int) -> int:
        until = time.perf_counter() + i % 100 * 1e-5
        while time.perf_counter() < until:
            pass
        return i

    def run() -> None:
        for i in range(500):
            with contextlib.suppress(RefusedError):
                assert bounded(almost, i, seconds=5e-4) == i
            ended.append(sum(range(100)))

    ended: list[int] = []
    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(ended) == 2000


def test_an_end_that_is_lost_is_repeated() -> None:
    """What is raised in a callback of the garbage collector goes no further."""

    def deaf() -> None:
        with contextlib.suppress(EndedError):
            while True:
                pass
        while True:
            pass

    begun = time.monotonic()
    with pytest.raises(RefusedError, match="seconds, the limit of a page"):
        bounded(deaf, seconds=0.1)
    assert time.monotonic() - begun < 30


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of an end that is lost
def test_a_computation_that_starts_threads_ends_too() -> None:
    """Before Python 3.12 a thread that starts could take the exception in place of the one that starts it."""

    def start() -> None:
        while True:
            thread = threading.Thread(target=int)
            thread.start()
            thread.join()

    def run() -> None:
        for _ in range(50):
            with pytest.raises(RefusedError, match="seconds, the limit of a page"):
                bounded(start, seconds=2e-3)
        ended.append(True)

    ended: list[bool] = []
    thread = threading.Thread(target=run, daemon=True)  # where it hangs, the test does not
    thread.start()
    thread.join(60)
    assert ended


def test_a_module_is_imported_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a package that is imported by half, the modules stay, and importing it again does not bind them."""
    package = tmp_path / "slow_package"
    package.mkdir()
    (package / "part.py").write_text("value = 1")
    (package / "__init__.py").write_text("import time\nimport slow_package.part\nfor _ in range(40): time.sleep(0.01)")
    monkeypatch.syspath_prepend(tmp_path)

    def use() -> None:
        importlib.import_module("slow_package")
        endless()

    with pytest.raises(RefusedError, match="seconds, the limit of a page"):
        bounded(use, seconds=0.1)
    assert importlib.import_module("slow_package").part.value == 1


def test_a_loop_is_compiled_to_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limit passes in the middle of the compiler, whose work goes on until the watching thread has looked at it."""
    numba = pytest.importorskip("numba")
    now, looked, compiles = [0.0], threading.Event(), ending._Run._compiles

    def look(run: ending._Run) -> bool:
        found = compiles(run)
        looked.set()
        return found

    monkeypatch.setattr(ending, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep))
    monkeypatch.setattr(ending._Run, "_compiles", look)

    def within() -> None: ...

    @numba.extending.overload(within)
    def typed_within() -> Callable[[], None]:
        now[0] = 2.0
        assert looked.wait(60)
        return lambda: None

    @numba.njit
    def loop(x: int) -> int:
        within()
        return x + 1

    def use() -> None:
        loop(1)
        endless()

    with pytest.raises(RefusedError, match="seconds, the limit of a page"):
        bounded(use, seconds=0.01)
    assert len(loop.signatures) == 1


def test_an_error_of_the_computation_is_its_own() -> None:
    def wrong() -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        bounded(wrong)
    assert bounded(int, "7") == 7
