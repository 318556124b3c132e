"""Parts of pages: no text becomes markup, and what is marked, drawn and copied is the answer's."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics.answers.answer import Answer, Table
from openworld_metrics.faces import html, typography
from openworld_metrics.faces.moving import plotly_of
from openworld_metrics.faces.report import report_html

from .sample import image, sample

HOSTILE = """ "'><script>alert(1)</script><img src=x onerror=alert(1)>{{7*7}}</style><a href="javascript:x">"""
PARTS: dict[str, Callable[[Answer], str]] = {
    "comparison": html.comparison,
    "headline": html.headline,
    "decisions": lambda answer: html.decisions(answer, 9),
    "numbers": html.numbers,
    "tables": html.tables,
    "differences": html.differences,
    "worst": html.worst,
    "gallery": html.gallery,
    "notes": html.notes,
    "titles": lambda answer: "".join(map(html.title_of, answer.figures)),
    "pictures": lambda answer: "".join(map(html.picture_of, answer.images)),
    "report": report_html,
}


class Tags(HTMLParser):
    """The tags of a text with the names of their attributes, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: Counter[tuple[Any, ...]] = Counter()
        self.text = ""
        self.feed(str(text))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[(tag, *(name for name, _ in attrs))] += 1

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("part", [*PARTS])
def test_no_text_becomes_markup(part: str) -> None:
    plain, hostile = (Tags(PARTS[part](sample(said))) for said in (str, lambda text: text + HOSTILE))
    if part in ("pictures", "report"):  # labels that are long find fewer places, or have more lines
        assert {*hostile.tags} <= {*plain.tags, ("text", "style", "transform")}  # of a figure
    else:
        assert hostile.tags == plain.tags
    assert "<script>alert(1)</script>" in hostile.text
    assert "{{7*7}}" in hostile.text


@pytest.mark.parametrize("kind", range(2), ids=["histogram", "curves"])
def test_no_text_becomes_markup_of_plotly(kind: int) -> None:
    tags = []
    for answer in (sample(), sample(lambda text: text + HOSTILE)):
        figure: Any = answer.figures[kind]
        text = json.dumps(json.loads(plotly_of(figure, answer.decisions, 9)))
        tags.append({*re.findall(r"</?\w+", text)})
    assert tags[1] <= tags[0] | {"<br"}  # long names have several lines


def test_pictures_are_data_alone() -> None:
    away = replace(image(), picture="https://example.org/a.png", thumbnail="javascript:alert(1)")
    text = html.picture_of(away) + html.gallery(replace(sample(), images=[away]))
    assert "<img" not in text
    assert "<img" in html.picture_of(image())


def test_thresholds_that_are_left_out_are_counted() -> None:
    answer = sample()
    assert answer.decisions is not None
    assert " of 1,234 thresholds" not in html.decisions(answer, 9)
    fewer = replace(answer, decisions=replace(answer.decisions, note="pooled", possible=1_234))
    assert f"pooled; {len(answer.decisions.thresholds)} of 1,234 thresholds" in html.decisions(fewer, 9)


def test_a_single_model_has_no_comparison() -> None:
    assert html.comparison(replace(sample(), models=["knn"])) == ""
    assert "Details for" not in html.headline(replace(sample(), models=["knn"]))


def test_the_best_are_marked_as_the_answer_marks_them() -> None:
    text = html.comparison(sample())
    assert re.findall(r'<b class="best">([\d.]+)</b>', text) == ["0.817", "0.625", "0.820", "0.615"]
    assert re.search(r'value="knn" checked', text)
    assert "[0.801, 0.839]" in text


def test_drawings_lie_on_their_axis_with_a_guide_at_the_best() -> None:
    text = html.comparison(sample())
    places = [float(place) for place in re.findall(r"left:([-\d.]+)%", text)]
    assert len(places) == 18
    assert all(0 <= place <= 100 for place in places)
    guides, values = ([float(at) for at in re.findall(rf'<{mark} style="left:([\d.]+)%', text)] for mark in "si")
    assert {*guides[::2]} == {max(values[::2])}  # AUROC
    assert {*guides[1::2]} == {min(values[1::2])}  # FPR


def test_the_first_boxes_are_on_top() -> None:
    own = image()
    drawn = re.findall(r'<i class="box (\w+)"', html.framed(own, {}))
    assert drawn == [box.role for box in reversed(own.boxes)] != [box.role for box in own.boxes]


def test_numbers_that_are_missing_or_infinite_are_not_drawn() -> None:
    answer, wide = sample(), (0.1, float("inf"))
    numbers_of = {
        "msp": answer.numbers["msp"][1:],
        "energy": [replace(number, interval=wide) for number in answer.numbers["energy"]],
        "knn": [replace(number, value=float("nan")) for number in answer.numbers["knn"]],
    }
    text = html.comparison(replace(answer, numbers=numbers_of))
    assert text.count("<i style=") == 3
    assert "–" in Tags(text).text
    assert not re.search(r"(left|width):(nan|-?inf)", text)


def test_decisions_have_whole_numbers_and_the_promise_of_their_preset() -> None:
    answer = sample()
    assert answer.decisions is not None
    place = answer.decisions.presets["95 % TPR"]
    text = Tags(html.decisions(answer, place)).text
    counts = {name: values[place] for name, values in answer.decisions.counts.items()}
    assert f"caught {counts['TP']}" in text
    assert f"missed {counts['FN']}" in text
    assert typography.typographic(f"exceed {answer.decisions.thresholds[place]}") in text
    assert "exceed" not in html.decisions(answer, place + 1)
    assert html.decisions(replace(answer, decisions=None), 0) == ""


def test_labels_of_boxes_do_not_cover_each_other() -> None:
    for width in (640, 340):
        own = image(number=60)
        labels = html._labels(own, width)
        assert len(labels) > 8
        for (_, one), (_, other) in combinations(labels, 2):
            apart = [abs(one[i] - other[i]) >= (one[i + 2] + other[i + 2]) / 2 - 0.01 for i in (0, 1)]
            beside = one[0] + one[2] <= other[0] + 0.01 or other[0] + other[2] <= one[0] + 0.01
            assert beside or apart[1]


def test_a_table_has_intervals_bars_arrows_and_the_best() -> None:
    columns: dict[str, list[Any]] = {
        "class": ["a", "mean"],
        "recall": [0.5, 1.0],
        "both": [[0.5, -0.25], None],
        "objects": [1234, 1],
    }
    own = Table("t", columns, best=[(1, "objects")], first=1, intervals={"recall": [(0.25, 0.75), None]})
    text = html.table(replace(own, higher={"recall": True}), {"recall": "Recall"}, meters=["recall", "both"], digits=4)
    head, first, second = re.findall(r"<tr.*?</tr>", text, re.S)
    assert re.findall(r'<th scope="col"(.*?)>(\w+) (.*?)</th>', head)[1][:2] == (' class="r"', "Recall")
    assert 'aria-label="higher is better"' in head
    assert first.startswith('<tr class="mean">')
    assert re.findall(r'var\(--(\w+)\)"><i style="width:([\d.]+)%"></i>(\S+?)</span>', first) == [
        ("known", "50.0", "0.5000"),
        ("d1", "50.0", "0.5000"),
        ("d2", "0.0", "−0.2500"),
    ]
    assert '<span class="ends">[0.2500, 0.7500]</span>' in first
    assert ">1,234</td>" in first
    assert ">–</td>" in second
    assert '<b class="best">1</b>' in second
    assert "and 1 more rows" in html.table(own, most=1)


def test_the_key_of_a_figure_stands_above_it() -> None:
    """Sides by name, curves by value with the one shown in bold, and parts of bars; those of a matrix are its axes."""
    histogram, curves, bars, matrix = (
        re.findall("<li>(.*?)</li>", html.title_of(figure)) for figure in sample().figures
    )
    assert [re.sub("<.*?>", "", name) for name in histogram] == ["in-distribution", "OOD"]
    assert [re.sub("<.*?>", "", name) for name in curves] == ["knn 0.819", "energy 0.816", "msp 0.704"]
    assert ["<b>" in name for name in curves] == [True, False, False]
    assert [re.sub("<.*?>", "", name) for name in bars] == ["right", "called known", "badly placed", "missed"]
    assert matrix == []


def test_style_sheets_are_whole() -> None:
    for path in Path(html.__file__).parent.rglob("*.css"):
        text = path.read_text(encoding="utf-8")
        assert text.count("{") == text.count("}")


def test_labels_cover_no_other_label_and_stay_inside() -> None:
    rng = np.random.default_rng(0)
    for _ in range(30):
        number, size = int(rng.integers(1, 30)), (400, 300)
        corner = rng.integers(0, [360, 260], (number, 2))
        places = np.concatenate([corner, corner + rng.integers(4, 40, (number, 2))], axis=1).tolist()
        spots = [spot for spot in html.label_places([60] * number, 20, places, size) if spot is not None]
        assert spots
        taken = np.zeros(size, int)
        for x1, y1, x2, y2 in spots:
            assert (x2 - x1, y2 - y1) == (60, 20)
            assert min(x1, y1) >= 0
            assert x2 <= 400
            assert y2 <= 300
            taken[x1:x2, y1:y2] += 1
        assert taken.max() == 1


def test_a_label_without_a_place_is_left_out() -> None:
    assert html.label_places([60, 60], 20, [[0, 0, 60, 20], [0, 0, 60, 20]], (60, 20)).count(None) >= 1
    assert html.label_places([90], 20, [[0, 0, 60, 20]], (60, 30)) == [None]
