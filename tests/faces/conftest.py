"""One browser for a file of tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.served import CHROMIUM, CHROMIUM_OPTIONS


@pytest.fixture(scope="module")  # while it is open, nothing else of this process can use asyncio
def browser() -> Iterator[Any]:
    """One profile for all tabs, so that the scripts of Gradio are loaded and compiled once."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        chromium = running.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        yield chromium.new_context()
        chromium.close()
