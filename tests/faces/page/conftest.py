"""One server of all pages, and one browser, for the tests of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest

if not all(map(find_spec, ("gradio", "pebble"))):  # to import gradio takes seconds, which servers have to, not tests
    pytest.skip("needs gradio and pebble", allow_module_level=True)

from tests.served import COMMAND, serve
from tests.waiting import PATIENCE

WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 400, "height": 800}


@pytest.fixture(scope="session")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(COMMAND, tmp_path_factory.mktemp("served"), "serve") as own:
        yield own


def opened_pages(address: str, browser: Any, use: Callable[[Callable[..., Any]], Any]) -> Iterator[Any]:
    """Tabs that are opened by paths: they may log no error, and may not scroll sideways when they are closed."""
    tabs: list[Any] = []
    errors: list[str] = []

    def open_page(path: str) -> Any:
        tab = browser.new_page()
        tab.set_viewport_size(WIDE)
        tabs.append(tab)
        tab.set_default_timeout(1000 * PATIENCE)
        tab.on("pageerror", lambda error: errors.append(str(error)))
        tab.goto(f"{address}/{path}")
        tab.locator(":is(.main-svg, .cards)").first.wait_for()
        return tab

    yield use(open_page)
    for tab in tabs:
        assert tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
        tab.close()
    assert errors == []


@pytest.fixture
def opened(address: str, browser: Any) -> Iterator[Callable[..., Any]]:
    """A function that opens a page by its path."""
    yield from opened_pages(address, browser, lambda open_page: open_page)
