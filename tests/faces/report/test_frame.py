"""The frame of reports: what its blocks say, that every text is escaped, and that a whole page holds together."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from openworld_metrics.answers.answer import Bars, Difference, Histogram, Matrix, Number, Series
from openworld_metrics.faces.numbers import number
from openworld_metrics.faces.report.frame import (
    Block,
    Mark,
    Picture,
    Section,
    Tile,
    bars,
    card,
    chart,
    code,
    details,
    facts,
    filter_key,
    grid,
    headline,
    keys,
    matrix,
    page_html,
    rendered,
    table,
    text,
    tiles,
)

ROWS = [
    Difference("mine", "<theirs>", "auroc", (0.75, 0.5), 0.25, 0.125, 0.375, 0.01, "mine", True),
    Difference("mine", "<theirs>", "<ap>", (0.25, 0.25), 0.0, -0.1, 0.1, 1.0, "", True),
    Difference("mine", "<theirs>", "count", (3.0, 5.0), -2.0, -4.0, -1.0, 0.02, "<theirs>", False),
    Difference("mine", "<theirs>", "total", (3.0, 5.0), -2.0, -4.0, -1.0, 0.02, "<theirs>", None),
    Difference("mine", "<theirs>", "auroc", (0.75, 0.5), 0.25, 0.125, 0.375, 0.01, "mine", True, group="<far>"),
]
FATES = Bars("Fates", ["a<ap>"], ["found", "<missed>", "none"], ["right", "missed", "d1"], [[90, 10, 0]])
TILES = [
    Tile("<1>", ["<2> errors"], [Picture("data:,", "a <picture>", (4, 3))], ["bad"]),
    Tile("2", [], [Picture("", "<plain>", (4, 3), [Mark("unknown", 0, 0, 50, 50, "<six>", "<six>", 1, 2)])]),
]


def first_screen(**more: Any) -> Block:
    numbers = [
        Number("<ap>", 0.25, (0.2, 0.3), True, meaning="words & <more>", note="<note>", threshold="−0.5"),
        Number("count", 3, higher=False),
    ]
    return headline(numbers, ("mine", "<theirs>"), ROWS, note="mean of <2> sets", hint="A <hint>.", **more)


def page(head: Block | None = None) -> str:
    histogram = Histogram("<scores>", "<unit>", [Series("<known>", "known", [0.0], [1.0])], 1.0, note="<of all>")
    sections = [
        Section(
            "Errors", "Where <errors> went", [grid(card(bars(FATES, unit="x"), title="<card>", note="<n>"))], "<lead>"
        ),
        Section("All images", "Images", [keys([("unknown", "<key>", "<1>")], "line"), tiles(TILES, {"bad": "<Bad>"})]),
        Section(
            "Classes", "By class", [table({"<class>": ["<a>", "b"], "recall_of": [(0.5, 0.25, 0.75), None]}, "<t>")]
        ),
        Section("Empty", "Empty", []),
        Section(
            "Figures", "Figures", [chart(histogram, name="<name>"), matrix(Matrix("<m>", ["<r>"], ["<c>"], [[1]]))]
        ),
        details({"All <numbers>": [facts({"<a>": "<a>"}), text("<p>"), code("<pre>")], "Nothing": []}),
    ]
    made = datetime(2026, 11, 22, 15, 12, tzinfo=timezone(timedelta(hours=2)))
    return page_html("A <title>", "openworld-metrics <x>", ["60 <images>"], head or first_screen(), sections, date=made)


def test_a_page_is_whole_escaped_and_needs_no_network() -> None:
    html = page()
    body = html.partition("<body>")[2].partition("<script>")[0]
    texts = (
        "ap title hint theirs errors card a images numbers 1 2 r c t class key lead n name pre scores unit known six"
    )
    assert not re.search(f"<({texts.replace(' ', '|')}|note|picture|plain|missed|Bad|m|x|of all|far)>", body)
    assert "<p></p>" not in body
    assert html.count("<title>") == 1
    assert "://" not in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    assert "22 November 2026, 13:12 UTC" in html
    assert re.search(r"openworld-metrics \d+\.\d+", html)
    ids = re.findall(r'<section id="(.*?)"', html)
    assert ids == re.findall(r'<a href="#(.*?)"', html) == ["errors", "all-images", "classes", "figures", "details"]
    assert html.count("<h1>") == 1
    for tag in ("section", "div", "table", "figure", "button", "details", "p", "main", "span", "i", "tr", "td", "th"):
        assert len(re.findall(f"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag


def test_the_headline_says_which_is_better() -> None:
    html = page()
    assert '<p class="big">0.250 <span class="ci">[0.200, 0.300]</span></p>' in html
    assert "words &amp; &lt;more&gt;; &lt;note&gt;; at score &gt; −0.5</p>" in html
    assert re.findall(r'<p class="say">(.*?)</p>', html) == [
        "<b>mine vs &lt;theirs&gt;:</b> &lt;ap&gt; 0.000 [−0.100, 0.100], <b>no clear difference</b>"
    ]
    # neither a group nor what has no better direction is compared
    assert "mine is better in 1, &lt;theirs&gt; in 1 of 3 numbers. Mean of &lt;2&gt; sets" in html
    words = re.findall(r'<td class="words">(.*?)</td>', html)
    assert words == ["no clear difference", "mine is better", "&lt;theirs&gt; is better"]
    assert html.count('class="reach"') == 2  # counts have no place on an axis of rates


def test_intervals_lie_on_one_axis() -> None:
    html = page()
    lines = [[*map(float, ends)] for ends in re.findall(r'class="line" style="left:([\d.]+)%;width:([\d.]+)%"', html)]
    (zero,) = {float(place) for place in re.findall(r'class="zero" style="left:([\d.]+)%"', html)}
    values = [float(place) for place in re.findall(r'class="middle" style="left:([\d.]+)%"', html)]

    def at(value: float) -> float:
        return 4 + 92 * (value + 0.1) / 0.475

    assert zero == pytest.approx(at(0), abs=0.06)
    assert values == pytest.approx([at(0), at(0.25)], abs=0.06)
    assert lines[1] == pytest.approx([at(0.125), at(0.375) - at(0.125)], abs=0.11)


def test_more_models_have_a_sentence_each() -> None:
    head = headline([Number("auroc", 0.75)], verdicts=["a vs <b>: no clear difference", "a vs c: a is better"])
    html = page(head)
    assert re.findall(r'<p class="say">(.*?)</p>', html) == [
        "a vs &lt;b&gt;: no clear difference",
        "a vs c: a is better",
    ]
    assert 'class="card ab"' not in page(headline([Number("auroc", 0.75)]))


def test_bars_count_every_part() -> None:
    html = page()
    assert 'aria-label="a&lt;ap&gt;: found 90, &lt;missed&gt; 10, none 0"' in html
    assert re.findall(r'<i class="box (\w+)"></i>([^<]+) <b>(.*?)</b>', html) == [
        ("right", "found", "90 %"),
        ("missed", "&lt;missed&gt;", "10 %"),
        ("d1", "none", "0 %"),
    ]
    assert re.findall(r'style="flex:(\d+) 1 0"', html) == ["90", "10"]
    long = rendered(bars(Bars("", ["known"], ["a", "b"], ["known", "unknown"], [[83_930, 916_070]]), unit="samples"))
    assert ">83,930</i>" not in long  # there is no room for it
    assert ">916,070</i>" in long
    assert "1,000,000 samples" in long


def test_filters_are_those_that_show_something() -> None:
    html = rendered(tiles(TILES, {"bad": "Bad", "worse": "Worse"}))
    assert re.findall(r'data-kind="(\w*)".*?<b>(\d)</b>', html) == [("", "2"), ("bad", "1")]
    assert 'class="chips"' not in rendered(tiles(TILES[:1], {"bad": "Bad"}))
    assert {filter_key(name) for name in ("a b", "a, b", "<a>", "ä")} == {"a-b", "x-3c613e", "x-c3a4"}


def test_a_matrix_frames_what_is_right() -> None:
    html = rendered(matrix(Matrix("m", ["Known"], ["right", "wrong", "none"], [[3, 1, None]], right=[(0, 0)])))
    assert re.findall(r"<td(.*?)>(\S+?)<", html)[1:] == [
        (' class="right" style="background:color-mix(in srgb,var(--unknown) 38%,var(--soft))"', "3"),
        (' style="background:color-mix(in srgb,var(--unknown) 12%,var(--soft))"', "1"),
        (' class="none"', "–"),
    ]
    assert "<small>75 %</small>" in html
    assert ">·<" in rendered(matrix(Matrix("m", ["six"], ["zero", "one"], [[0, 4]], shares=False)))


def test_cells_of_a_table() -> None:
    columns: dict[str, list[Any]] = {
        "class": ["a", "mean"],
        "recall": [(0.5, 0.25, 0.75), 1.0],
        "both": [[0.5, -0.25], None],
        "objects": [1234, 1],
    }
    html = rendered(table(columns, "t", meters=["recall"], best=[(1, "recall")], minor=["objects"], first=1))
    rows = re.findall(r"<tr.*?</tr>", html, re.S)
    assert 'style="width:50.0%"></i></span><b>0.500 <span class="ci">[0.250, 0.750]</span></b>' in rows[1]
    assert re.findall(r'<i class="(d\d)" style="width:([\d.]+)%"></i></span><b>(\S+?)</b>', rows[1]) == [
        ("d1", "50.0", "0.500"),
        ("d2", "0.0", "−0.250"),
    ]
    assert '<td class="minor" data-name="objects">1,234</td>' in rows[1]
    assert rows[1].startswith('<tr class="mean">')
    assert '<td class="none" data-name="both">–</td>' in rows[2]
    assert 'class="best"' in rows[2]
    assert 'tabindex="0"' in rendered(table({"row": list(range(41))}, "t"))


def test_small_numbers() -> None:
    assert number(5.359e-9, 6) == "5.36e−09"
