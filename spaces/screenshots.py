"""Write the documentation's screenshots of pages, and the thumbnails of Spaces: `make screenshots`.

python spaces/screenshots.py [NAME …]    of some metrics; by default of all
"""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from openworld_metrics import METRICS
from openworld_metrics.faces.page.launch import build, launch

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "assets" / "screenshots"
PAGES = {"openauc": "light", "openset_detection": "light", "anomaly_suite": "dark"}
SIZE = {"width": 1280, "height": 1080}  # of the window
SHARED = {"width": 1200, "height": 630}  # of a picture that stands beside a link


def main(names: Sequence[str]) -> None:
    """Open each page with its example, and take a screenshot of its top."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        for name in names:
            demo = build(name)
            _, address, _ = launch(demo, prevent_thread_lock=True, quiet=True)
            if name in PAGES:
                shot = take(browser, f"{address}?__theme={PAGES[name]}", SIZE)
                shot.save(PICTURES / f"{name}.webp", quality=88, method=6)
            thumbnail = take(browser, f"{address}?__theme=light", SHARED).resize((800, 420))
            thumbnail.save(ROOT / "metrics" / name / "thumbnail.jpg", quality=85)
            demo.close()
        browser.close()


def take(browser: Any, address: str, size: dict[str, int]) -> Image.Image:
    """Wait for the figures of the example, and return the window's contents."""
    page = browser.new_page(viewport=size)
    page.goto(address)
    page.locator(".js-plotly-plot .main-svg").last.wait_for()
    page.wait_for_timeout(2000)
    shot = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    page.close()
    return shot


if __name__ == "__main__":
    main(sys.argv[1:] or METRICS)
