"""The frame of reports: its numbers, its escaping, and that a whole page holds together."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

from openworld_metrics.reports.frame import (
    Figure,
    Part,
    Section,
    Tile,
    card,
    data_table,
    details,
    facts_html,
    grid,
    headline,
    matrix,
    picture_html,
    report_html,
    stacked_bars,
    tiles_html,
)

TABLE: dict[str, list[Any]] = {
    "key": ["auroc", "<ap>", "count"],
    "first": [0.75, 0.25, 3.0],
    "second": [0.5, 0.25, 5.0],
    "difference": [0.25, 0.0, -2.0],
    "low": [0.125, -0.1, -4.0],
    "high": [0.375, 0.1, -1.0],
    "p_value": [0.01, 1.0, 0.02],
    "better": ["first", None, "second"],
}


def page() -> str:
    figures = [Figure("<ap>", 0.25, 0.2, 0.3, True, "words & more"), Figure("count", 3, higher=False)]
    bars = stacked_bars(
        {"a<ap>": [Part("found", 90, "known"), Part("missed", 10, "edge"), Part("none", 0, "d1")]}, unit="x"
    )
    tiles = [
        Tile("<1>", ["2 errors"], picture_html("data:,", "a <picture>", (4, 3), "<path/>"), ["bad"]),
        Tile("2", [], ""),
    ]
    sections = [
        Section("Errors", "Where <errors> went", grid(card(bars, title="<card>")), "A sentence & more."),
        Section("All images", "Images", tiles_html(tiles, {"bad": "Bad", "worse": "Worse"})),
        Section(
            "Classes",
            "By class",
            data_table({"class": ["<a>", "mean"], "recall_of": [(0.5, 0.25, 0.75), None]}, "t", last=1),
        ),
        details({"All <numbers>": facts_html({"a": "<a>"})}),
    ]
    made = datetime(2026, 11, 22, 15, 12, tzinfo=timezone(timedelta(hours=2)))
    compared = headline(figures, ("mine", "<theirs>"), TABLE, {"auroc": True}, "mean of 2 sets", "A <hint>.")
    return report_html("A <title>", "openworld-metrics x", ["60 <images>"], compared, sections, date=made)


def test_a_page_is_whole_escaped_and_needs_no_network() -> None:
    text = page()
    body = text.partition("<body>")[2].partition("<script>")[0]
    assert not re.search("<(ap|title|hint|theirs|errors|card|a|images|numbers|1)>", body)
    assert text.count("<title>") == 1
    assert "://" not in text
    assert not re.search(r'(src|href)="(?!data:|#)', text)
    assert "22 November 2026, 13:12 UTC" in text
    assert re.search(r"openworld-metrics \d+\.\d+", text)
    ids = re.findall(r'<section id="(.*?)"', text)
    assert ids == re.findall(r'href="#(.*?)"', text) == ["errors", "all-images", "classes", "details"]
    assert text.count("<h1>") == 1
    for tag in ("section", "div", "table", "figure", "button", "details", "p", "main"):
        assert len(re.findall(f"<{tag}[ >]", text)) == text.count(f"</{tag}>"), tag


def test_the_headline_says_which_is_better() -> None:
    text = page()
    assert '<p class="big">0.250 <span class="ci">[0.200, 0.300]</span></p>' in text
    said = re.findall(r'<p class="say">(.*?)</p>', text)
    assert said == ["<b>mine vs &lt;theirs&gt;:</b> &lt;ap&gt; 0.000 [−0.100, 0.100], <b>no clear difference</b>"]
    assert "mine is better in 1, &lt;theirs&gt; in 1 of 3 numbers. Mean of 2 sets" in text
    words = re.findall(r'<td class="words">(.*?)</td>', text)
    assert words == ["no clear difference", "mine is better", "&lt;theirs&gt; is better"]
    assert text.count('class="reach"') == 2  # counts have no place on an axis of rates


def test_a_comparison_of_groups_shows_the_means() -> None:
    table: dict[str, list[Any]] = {name: values * 2 for name, values in TABLE.items()}
    table["group"] = [None] * 3 + ["a"] * 3
    text = headline([Figure("auroc", 0.75)], ("mine", "theirs"), table)
    assert text.count('<td class="words">') == 3


def test_what_is_neither_better_nor_worse_is_not_compared() -> None:
    text = headline([Figure("auroc", 0.75)], ("mine", "theirs"), TABLE, {"auroc": True, "count": None})
    assert "mine is better in 1, theirs in 0 of 2 numbers" in text
    assert text.count('<td class="words">') == 2
    assert 'class="card ab"' not in headline([Figure("a", 1)], ("b", "c"), TABLE, dict.fromkeys(TABLE["key"], None))


def test_bars_count_every_part() -> None:
    text = page()
    assert 'aria-label="a&lt;ap&gt;: found 90, missed 10, none 0"' in text
    assert re.findall(r'<i class="box (\w+)"></i>(\w+) <b>(.*?)</b>', text) == [
        ("known", "found", "90 %"),
        ("edge", "missed", "10 %"),
        ("d1", "none", "0 %"),
    ]
    assert "0 objects" in stacked_bars({"empty": []}, unit="objects")


def test_filters_are_those_that_show_something() -> None:
    text = page()
    assert re.findall(r'data-kind="(\w*)".*?<b>(\d)</b>', text) == [("", "2"), ("bad", "1")]
    assert 'class="chips"' not in tiles_html([Tile("a", [], "", ["bad"])], {})


def test_a_matrix_frames_what_is_right() -> None:
    text = matrix({"Known": [3, 1, None]}, ["right", "wrong", "none"], "Decisions", right=[("Known", "right")])
    assert re.findall(r"<td(.*?)>(\S+?)<", text)[1:] == [
        (' class="right" style="background:color-mix(in srgb,var(--unknown) 38%,var(--soft))"', "3"),
        (' style="background:color-mix(in srgb,var(--unknown) 12%,var(--soft))"', "1"),
        (' class="none"', "–"),
    ]
    assert "<small>75 %</small>" in text
    assert ">·<" in matrix({"six": [0, 4]}, ["zero", "one"], "Confusions", shares=False)
