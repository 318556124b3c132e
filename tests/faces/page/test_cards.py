"""The card of each metric is a page, to which its page links."""

from __future__ import annotations

import re

import pytest

from openworld_metrics.faces.page.cards import ROUTES, card_html
from openworld_metrics.faces.page.gate import ROUTES as ALLOWED
from openworld_metrics.loading import METRICS, script


@pytest.mark.parametrize("metric", METRICS)
def test_a_card_is_whole(metric: str) -> None:
    text = script(metric).with_name("README.md").read_text(encoding="utf-8")
    page = card_html(metric)
    headings = re.findall(r"^#+ (.*)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), flags=re.MULTILINE)
    assert len(headings) > 5
    assert [re.sub("<.*?>|`", "", one) for one in re.findall(r"<h\d>(.*?)</h\d>", page)] == [
        one.replace("`", "") for one in headings
    ]
    assert "sdk_version" not in page
    assert "$$" not in page
    assert page.count("<table>") == len(re.findall(r"^\|[-: |]+\|$", text, flags=re.MULTILINE))
    assert f"/card/{metric}" in {route.path for route in ROUTES}
    assert re.fullmatch("|".join(ALLOWED["GET"]), f"/card/{metric}")


def test_pages_link_to_cards(address: str) -> None:
    import httpx

    for metric in ("ood_bench", "openset_detection"):
        text = httpx.get(f"{address}/{metric}", timeout=60).text
        assert f"card/{metric}" in text
        assert "Metric Card" in httpx.get(f"{address}/card/{metric}", timeout=60).text
