"""The report of an answer: every part is there, in its order, with its digits, and nothing else is decided."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from openworld_metrics.answers.answer import Answer, Difference, Image, Table
from openworld_metrics.faces import html as parts
from openworld_metrics.faces.images import filter_key
from openworld_metrics.faces.report import report_html
from openworld_metrics.faces.report.frame import Tile, tiles
from tests.faces.sample import sample

MADE = datetime(2026, 11, 22, 15, 12, tzinfo=timezone(timedelta(hours=2)))


def of_two() -> Answer:
    """The answer of two models, whose differences are of all samples, of a group, and of a count."""
    whole = sample()
    rows = [
        *(replace(row, first="knn", second="energy") for row in whole.differences),
        Difference("knn", "energy", "fpr95tpr", (0.75, 0.5), 0.25, 0.125, 0.375, 0.01, "energy", False),
        Difference("knn", "energy", "count", (3.0, 5.0), -2.0, -4.0, -1.0, 0.02, "energy", False),
        Difference("knn", "energy", "total", (3.0, 5.0), -2.0, -4.0, -1.0, 0.02, "energy", None),
    ]
    numbers = {name: whole.numbers[name] for name in ("knn", "energy")}
    return replace(whole, models=["knn", "energy"], numbers=numbers, differences=rows)


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(sample(), command="openworld-metrics compute", date=MADE)


def section(html: str, title: str) -> str:
    return html.partition(f"<h2>{title}</h2>")[2].partition("</section>\n")[0]


def test_a_page_is_whole_and_needs_no_network(html: str) -> None:
    assert "://" not in html
    assert not re.search(r'(src|href)="(?!data:|#)', html)
    assert "22 November 2026, 13:12 UTC" in html
    assert re.search(r"openworld-metrics \d+\.\d+", html)
    assert "<h1>ood_bench: three detectors</h1>" in html
    ids = re.findall(r'<section id="(.*?)"', html)
    assert ids == re.findall(r'<a href="#(.*?)"', html)
    for tag in ("section", "div", "table", "figure", "button", "details", "p", "main", "span", "i", "tr", "td", "th"):
        assert len(re.findall(f"<{tag}[ >]", html)) == html.count(f"</{tag}>"), tag


def test_the_parts_are_in_their_order(html: str) -> None:
    assert re.findall('<section id=".*?"><h2>([^<]*)', html) == [
        *("By set", "Decisions", "Figures", "Images with the most errors", "In-distribution, scored highest"),
        *("OOD, scored lowest", "Per model", "Details"),
    ]
    assert re.findall("<summary>(.*?)</summary>", html) == [
        *("All numbers, six digits", "Comparison, six digits", "What the numbers mean", "In Python", "For a paper"),
        "Signature",
    ]


def test_decisions_are_those_of_the_first_preset(html: str) -> None:
    decisions = sample().decisions
    assert decisions is not None
    part, place = section(html, "Decisions"), next(iter(decisions.presets.values()))
    at = decisions.thresholds[place].replace("-", "−")
    assert f'<p class="lead">OOD if score &gt; {at}.</p>' in part
    assert f"caught {decisions.counts['TP'][place]:,}" in part
    assert f"At most 5 % of new data exceed {at}." in part
    rows = re.findall(r'<th scope="row">(\d+ % \w+)</th>(.*?)</tr>', part)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)", row) for name, row in rows}
    for name, index in decisions.presets.items():
        tp, fp = decisions.counts["TP"][index], decisions.counts["FP"][index]
        assert cells[name] == [
            decisions.thresholds[index].replace("-", "−"),
            *(f"{value:.3f}" for value in (tp / 709, fp / 1291, tp / (tp + fp))),
        ]


def test_all_digits_are_there() -> None:
    folded = section(report_html(of_two()), "Details")
    cells = r'<th scope="row">auroc</th>\s*<td class="r">([\d.]+) <span class="ends">\[0.801000, 0.839000\]'
    assert re.findall(cells, folded) == ["0.820000"]
    assert re.findall(r'0.115000 <span class="ends">(.*?)</span>', folded) == ["[0.092000, 0.137000]"]
    assert "svhn" in folded
    assert ">ood_bench|v1|groups:3</pre>" in folded


def test_the_differences_of_two_models_lie_on_one_axis() -> None:
    part = parts.pair(of_two())
    assert "<b>knn vs energy:</b> AUROC +0.003 [−0.019, 0.025], <b>no clear difference</b>" in part
    # neither a group nor what has no better direction is compared; counts have no place on an axis of rates
    assert "energy is better in 2 of 3 numbers · mean of 3 sets" in part
    words = re.findall(r'<td class="better">(.*?)</td>', part)
    assert words == ["no clear difference", "energy is better", "energy is better"]
    assert part.count("<i style=") == 2
    low, high = (
        float(end.replace("−", "-")) for end in re.findall(r'aria-hidden="true"><span>(.*?)<.*<span>(.*?)<', part)[0]
    )
    at = {0.0: "<s", 0.003: "<i", 0.25: "<i"}
    for value, mark in at.items():
        places = [float(place) for place in re.findall(rf'{mark} style="left:([\d.]+)%', part)]
        assert any(abs(place - 100 * (value - low) / (high - low)) < 0.01 for place in places)
    assert parts.pair(replace(sample(), differences=[])) == ""


def test_where_neither_is_better_one_sentence_says_so() -> None:
    two = of_two()
    alike = replace(two, differences=[replace(row, better="") for row in two.differences])
    assert "neither is better in any of 3 numbers" in parts.pair(alike)


def test_the_verdict_stands_above_the_notes() -> None:
    """Also where there are many notes; a rule begins with a capital, and a column in a note stays as it is."""
    two = replace(of_two(), notes=["Groups may be named by site, which has few words, each in several rows."])
    text = report_html(two)
    assert text.index("no clear difference") < text.index("Groups may be named by site")
    assert re.search(r'<p class="lead">[A-Z][^<]* &gt; ', section(text, "Decisions"))


def test_more_models_have_their_intervals_and_no_choice(html: str) -> None:
    head = html.partition("<section id=")[0]
    assert "Three detectors" in head
    assert "<input" not in head
    assert head.count('<div class="verdict">') == 1


def test_numbers_that_are_compared_stand_once() -> None:
    """The models side by side are shown where they have more numbers than their comparison, or where it has no ends."""
    whole = sample()
    models = [*whole.models]
    columns = {whole.noun: models, **{key: [0.5] * len(models) for key in whole.leading[: parts.MAX_COMPARED]}}
    alike = replace(whole, side_by_side=Table("Side by side", columns))
    more = replace(whole, side_by_side=Table("Side by side", {**columns, "f1_score": [0.5] * len(models)}))
    for answer, number in ((alike, 0), (more, 1)):
        assert report_html(answer).count("<h2>Side by side</h2>") == number
        assert parts.tables(answer).count("<h2>Side by side</h2>") == number


def test_one_model_without_the_rest() -> None:
    whole = sample()
    bare = Answer(**{name: getattr(whole, name) for name in ("metric", "question", "data", "model")},
                  models=["knn"], leading=[], numbers={"knn": whole.numbers["knn"]}, results={})  # fmt: skip
    assert re.findall('<section id="(.*?)"', report_html(bare)) == ["details"]
    assert whole.decisions is not None
    single = report_html(replace(whole, decisions=replace(whole.decisions, presets={})))
    assert f"score &gt; {whole.decisions.thresholds[0].replace('-', '−')}." in single


def test_filters_are_those_that_show_something() -> None:
    shown = [Tile("1", [], [Image("1", (4, 3))], ["bad"]), Tile("2", [], [Image("2", (4, 3))])]
    chips = re.findall(r'data-kind="(\w*)".*?<b>(\d)</b>', tiles(shown, {"bad": "Bad", "worse": "Worse"}))
    assert chips == [("", "2"), ("bad", "1")]
    assert 'class="chips"' not in tiles(shown[:1], {"bad": "Bad"})
    assert 'class="chips"' not in tiles(shown, {"worse": "Worse"})
    assert {filter_key(name) for name in ("a b", "a, b", "<a>", "ä")} == {"a-b", "x-3c613e", "x-c3a4"}
