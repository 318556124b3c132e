"""The report of an answer: every part is there, in its order, with its digits, and nothing else is decided."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from openworld_metrics.answers.answer import (
    Answer,
    Bars,
    Box,
    Curves,
    Decisions,
    Difference,
    Histogram,
    Image,
    Matrix,
    Number,
    Series,
    Table,
    Worst,
)
from openworld_metrics.faces.report import report_html

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
MADE = datetime(2026, 11, 22, 13, 12, tzinfo=timezone.utc)


def an_answer(models: int = 2, word: str = "") -> Answer:
    """An answer with every part."""
    names = [f"{word}{name}" for name in ("knn", "<energy>", "msp")[:models]]
    numbers = {
        name: [
            Number("auroc", 0.9 - place / 10, (0.8, 0.95), True, True, "AUROC", "chance of <order>", best=not place),
            Number("fpr95tpr", 0.123456789, None, False, True, "", "false alarms", threshold="-0.394"),
            Number("total", 2000),
        ]
        for place, name in enumerate(names)
    }
    differences = [
        Difference(names[0], other, "auroc", (0.9, 0.8), 0.1, 0.0125, 0.19, 0.012345678, names[0], True, group)
        for other in names[1:]
        for group in ("", "<far>")
    ]
    table = Table(
        "Detectors",
        {"detector": names, "auroc": [0.9, 0.8, 0.7][:models], "fpr95tpr": [0.1, 0.2, 0.3][:models]},
        best=[(0, "auroc")],
        intervals={"auroc": [(0.8, 0.95)] * models},
        higher={"auroc": True, "fpr95tpr": False},
    )
    sides = [Series("ID", "known", [0.0, 0.5], [0.5, 0.5]), Series("OOD", "unknown", [0.0, 0.5], [0.25, 0.75])]
    curves = [Series(name, f"d{place}", [0, 0.5, 1], [0, 0.9, 1], value=0.9) for place, name in enumerate(names, 1)]
    decisions = Decisions(
        thresholds=["-0.394", "0.25", "0.5"],
        ends=[0.1, 0.3, 0.6],
        counts={"TP": [679, 600, 500], "FN": [35, 114, 214], "FP": [63, 50, 20], "TN": [479, 492, 522]},
        rates={"TPR": (["TP"], ["TP", "FN"]), "FPR": (["FP"], ["FP", "TN"])},
        table={"OOD": {"called OOD": "TP", "called ID": "FN"}, "ID": {"called OOD": "FP", "called ID": "TN"}},
        presets={"5 % FPR": 1, "95 % TPR": 0},
        rule="OOD if score >",
        values={"t²": [0.1, 0.2, 0.3]},
        promises={"5 % FPR": "At most 5 % of new samples score above {threshold}, with 95 % confidence."},
        roles={"OOD": "unknown", "ID": "known"},
        note="All sets pooled.",
    )
    box = Box((1, 1, 5, 5), "called cat (0.50): unknown called known", "unknown", "cat", True)
    return Answer(
        metric="ood_bench",
        question="Are the <unknown> scored higher?",
        data="714 OOD, 542 ID",
        model=names[0],
        models=names,
        leading=["auroc", "fpr95tpr"],
        numbers=numbers,
        results={name: {} for name in names},
        best=names[0],
        verdicts=[f"{names[0]} vs {other}: AUROC +0.100, {names[0]} is better" for other in names[1:]],
        differences=differences,
        side_by_side=table,
        tables=[Table("By <set>", {"set": ["mean", "far"], "auroc": [0.9, 0.8]}, first=1)],
        figures=[
            Histogram("Scores", "score", sides, 0.5, note="all sets pooled"),
            Curves("ROC", ("FPR", "TPR"), curves, ("FPR", "TPR"), diagonal=True),
            Bars("Fates", ["OOD"], ["found", "missed"], ["right", "missed"], [[3, 1]]),
            Matrix("Confusions", ["six"], ["zero", "one"], [[2, 0]], shares=False),
        ],
        images=[
            Image("<a>.png", (10, 10), PIXEL, [box], "1 unknown, called known"),
            Image("b.png", (10, 10), PIXEL, [], "a map"),
        ],
        decisions=decisions,
        worst=[
            Worst("ID, scored highest", {"sample": ["<x>"], "score": ["−1.5"]}, "1 of 2."),
            Worst("OOD, scored lowest", {"sample": ["y"], "outcome": ["unknown, called known"]}, "", [PIXEL]),
        ],
        notes=["95 % intervals: 1,000 resamples.", "Left out: 3 rows."],
        signature="ood_bench|v:0.1.0",
        sentence="We report <AUROC>.",
        citation="@article{a}",
        call="load('ood_bench').compute(<scores>)",
        level=0.95,
        noun="detector",
        over="mean of 3 sets",
    )


@pytest.fixture(scope="module")
def html() -> str:
    return report_html(an_answer(), command="openworld-metrics compute", date=MADE)


def test_the_parts_are_in_their_order(html: str) -> None:
    assert re.findall("<h2>([^<]*)", html.partition("</section>")[2]) == [
        "Detectors",
        "Decisions",
        "Figures",
        "Images with the most errors",
        "ID, scored highest",
        "OOD, scored lowest",
        "By &lt;set&gt;",
        "Details",
    ]
    assert re.findall("<summary>(.*?)</summary>", html) == [
        "All numbers, six digits",
        "Comparison, six digits",
        "What the numbers mean",
        "In Python",
        "For a paper",
        "Signature",
    ]
    head = html.partition("<nav")[0]
    assert "<h1>ood_bench: knn</h1>" in head
    assert "<span>Are the &lt;unknown&gt; scored higher?</span><span>714 OOD, 542 ID</span>" in head
    assert not re.search("<(unknown|energy|order|far|set|a|x|AUROC|scores)>", html)
    assert "://" not in html


def test_the_first_screen_has_numbers_and_the_verdict(html: str) -> None:
    first = html.partition('aria-label="Headline"')[2].partition("</section>")[0]
    assert re.findall(r"<h2>(\S+)", first) == ["AUROC", "fpr95tpr"]
    assert re.findall(r'<p class="big">(\S+?)(?: <span|</p>)', first) == ["0.900", "0.123"]
    assert "false alarms; at score &gt; −0.394</p>" in first
    assert "95 % intervals: 1,000 resamples. Left out: 3 rows.</p>" in first
    assert "<b>knn vs &lt;energy&gt;:</b> AUROC +0.100 [0.013, 0.190], <b>knn is better</b>" in first
    assert first.count('<td class="words">') == 1  # that of a group is folded
    assert "Mean of 3 sets" in first


def test_decisions_are_those_of_the_first_preset(html: str) -> None:
    part = html.partition("<h2>Decisions</h2>")[2].partition("</section>")[0]
    assert '<p class="lead">OOD if score &gt; 0.25. All sets pooled.</p>' in part
    assert re.findall(r"(\d+)<small>", part) == ["600", "114", "50", "492"]
    rows = re.findall(r'<th scope="row">(\d+ % \w+)</th>(.*?)</tr>', part)
    cells = {name: re.findall(r"<td[^>]*>([^<]*)", row) for name, row in rows}
    assert cells == {
        "5 % FPR": ["0.25", f"{600 / 714:.3f}", f"{50 / 542:.3f}", "0.200"],
        "95 % TPR": ["−0.394", f"{679 / 714:.3f}", f"{63 / 542:.3f}", "0.100"],
    }
    assert "At most 5 % of new samples score above 0.25, with 95 % confidence." in part


def test_all_digits_are_there(html: str) -> None:
    folded = html.partition("<h2>Details</h2>")[2]
    assert re.findall(r'<th scope="row">fpr95tpr</th>.*?>(0\.\d+)<', folded) == ["0.123457"]
    assert '0.100000 <span class="ci">[0.012500, 0.190000]</span>' in folded
    assert '<td data-name="p">0.012346</td>' in folded
    assert "&lt;far&gt;" in folded
    assert ">ood_bench|v:0.1.0</pre>" in folded
    assert "compute(&lt;scores&gt;)</pre>" in folded


def test_a_table_has_intervals_arrows_and_the_best(html: str) -> None:
    part = html.partition("<h2>Detectors</h2>")[2].partition("</section>")[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', part) == ["detector", "AUROC ↑", "fpr95tpr ↓"]
    assert '<td class="best" data-name="AUROC ↑">0.900 <span class="ci">[0.800, 0.950]</span></td>' in part
    assert "and every detector not clearly worse" in part


def test_figures_and_images(html: str) -> None:
    part = html.partition("<h2>Figures</h2>")[2].partition("</section>")[0]
    assert re.findall(r"<h3>(\w+)", part) == ["Scores", "ROC", "Fates", "Confusions"]
    assert re.findall(r'<svg [^>]*aria-label="(\w+)"', part) == ["Scores", "ROC"]
    assert "all sets pooled" in part
    images = html.partition("<h2>Images with")[2].partition("</section>")[0]
    assert 'alt="&lt;a&gt;.png: 1 unknown, called known"' in images
    assert '<i class="line unknown"></i>unknown, called known' in images
    assert images.count('class="mark unknown"') == 1


def test_three_models_have_a_sentence_each() -> None:
    html = report_html(an_answer(3))
    assert re.findall(r'<p class="say">(.*?)</p>', html) == [
        "knn vs &lt;energy&gt;: AUROC +0.100, knn is better",
        "knn vs msp: AUROC +0.100, knn is better",
    ]
    assert "knn vs msp" in html.partition("Comparison, six digits")[2]


def test_one_model_without_the_rest() -> None:
    whole = an_answer(1)
    bare = Answer(**{name: getattr(whole, name) for name in ("metric", "question", "data", "model", "models")},
                  leading=[], numbers=whole.numbers, results={})  # fmt: skip
    html = report_html(bare)
    assert re.findall('<section id="(.*?)"', html) == ["details"]
    single = report_html(replace(whole, decisions=replace(whole.decisions, presets={})))
    assert "score &gt; −0.394. All sets pooled." in single
