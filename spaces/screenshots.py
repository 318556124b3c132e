"""Write the documentation's screenshots of pages: `make screenshots`."""

from __future__ import annotations

import io
import shutil
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from openworld_metrics.faces.page.launch import build, launch

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "assets" / "screenshots"
PAGES = {"openauc": "light", "openset_detection": "light", "anomaly_suite": "dark"}
SIZE = {"width": 1280, "height": 1080}  # of the window


def main() -> None:
    """Open each page with its example, and take a screenshot of its top."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        for name, theme in PAGES.items():
            demo = build(name)
            _, address, _ = launch(demo, prevent_thread_lock=True, quiet=True)
            take(browser, f"{address}?__theme={theme}", name)
            demo.close()
        browser.close()


def take(browser: Any, address: str, name: str) -> None:
    """Wait for the figures of the example, and write the window's contents."""
    page = browser.new_page(viewport=SIZE)
    page.goto(address)
    page.locator(".js-plotly-plot .main-svg").last.wait_for()
    page.wait_for_timeout(2000)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    shot.save(PICTURES / f"{name}.webp", quality=88, method=6)
    page.close()


if __name__ == "__main__":
    main()
