"""A press on a number copies all its digits, by mouse and by keys; tables are saved with all digits."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import openworld_metrics
from tests.pages.browser.test_steps import WIDE, Page, needs_browser
from tests.pages.steps import csv
from tests.served import CHROMIUM, CHROMIUM_OPTIONS, COMMAND, PATIENCE, serve

CLIPBOARD = "navigator.clipboard.readText()"


@needs_browser
def test_a_press_copies_the_whole_number(tmp_path: Path) -> None:
    from playwright.sync_api import sync_playwright

    with serve(COMMAND, tmp_path, "serve", "ood_bench") as address, sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=list(CHROMIUM_OPTIONS))
        with chromium.new_context(viewport=WIDE) as context:
            context.grant_permissions(["clipboard-read", "clipboard-write"])
            page = Page(context.new_page(), "ood_bench")
            tab = page.tab
            tab.set_default_timeout(1000 * PATIENCE)
            tab.goto(address)
            tab.locator("#ood_bench-numbers table").first.wait_for()
            rng = np.random.default_rng(0)
            labels = np.tile(np.repeat([0, 1], 20), 2)  # enough of both for intervals, in each group
            columns = {"predictions": rng.normal(labels), "references": labels, "groups": np.repeat(["a", "b"], 40)}
            page.upload(csv(columns, tmp_path)[0])
            page.part("compute").click()
            tab.locator("#ood_bench-numbers .interval button.number").first.wait_for()
            for place in ("#ood_bench-numbers td button.number", "#ood_bench-numbers .interval button.number"):
                copied_is_whole(tab, tab.locator(place).first, "click")
            copied_is_whole(tab, tab.locator("#ood_bench-threshold .rates button.number").last, "Enter")
            results = openworld_metrics.OODBench(confidence_level=0.95).compute(**columns)["groups"]
            tab.locator("[role=group][data-name=ood_bench]").get_by_text("82.0 %").click()
            groups = tab.locator("#ood_bench-more details", has_text="groups")
            for cell in groups.locator("td:has(.interval)").all():  # numbers and their intervals in one unit
                assert re.fullmatch(r"\d+\.\d+ % \[\d+\.\d+ %, \d+\.\d+ %\]", cell.inner_text())
            with tab.expect_download() as download:
                groups.get_by_role("button", name="CSV").click()
            saved = pd.read_csv(download.value.path(), float_precision="round_trip")
            assert saved.to_dict("list") == results
            tab.locator("#ood_bench-worst summary").click()
            first, other = (tab.locator("#ood_bench-worst table").first.locator("button.number").nth(i) for i in (0, 1))
            tab.wait_for_function(
                "document.querySelectorAll('#ood_bench-worst button.number[tabindex=\"0\"]').length === 2"
            )
            first.focus()
            tab.keyboard.press("ArrowRight")
            assert other.evaluate("button => button === document.activeElement && button.tabIndex === 0")
            copied_is_whole(tab, other, "Enter")
        chromium.close()


def copied_is_whole(tab: Any, button: Any, how: str) -> None:
    full = button.locator("[data-full]").get_attribute("data-full")
    if how == "click":
        button.click()
    else:
        button.press(how)
    tab.get_by_role("status").get_by_text(f"Copied {full}", exact=True).wait_for()
    assert tab.evaluate(CLIPBOARD) == full
