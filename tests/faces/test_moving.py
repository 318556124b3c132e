"""Figures that move: every kind, its colours, its names, and the marks of the threshold."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from openworld_metrics.answers.answer import Bars, Curves, Histogram, Matrix
from openworld_metrics.answers.decisions import number_at
from openworld_metrics.faces.moving import HEIGHT, plotly_of, theme_css
from openworld_metrics.faces.palette import TOKENS

from .sample import sample

ANSWER = sample()
FIGURES = {type(figure).__name__: figure for figure in ANSWER.figures}
DECISIONS = ANSWER.decisions
assert DECISIONS is not None


def drawn(figure: Any, place: int = 0) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(plotly_of(figure, DECISIONS, place).to_json())
    return content


@pytest.mark.parametrize("kind", ["Histogram", "Curves", "Bars", "Matrix"])
def test_colours_are_those_of_the_palette(kind: str) -> None:
    text = json.dumps(drawn(FIGURES[kind]))
    solid = {color for pair in TOKENS.values() for color in pair}
    assert {*re.findall(r"#[0-9a-f]{6}", text)} <= {color.light for color in TOKENS.values()}
    faded = re.findall(r"rgba\((\d+), ?(\d+), ?(\d+), ?[\d.]+\)", text)
    assert {"#{:02x}{:02x}{:02x}".format(*map(int, parts)) for parts in faded} <= solid | {"#000000"}


def test_every_colour_has_a_rule_for_dark_ground() -> None:
    for name, color in TOKENS.items():
        if color.light != color.dark and name != "ground" and not name.startswith("on-"):
            assert f"var(--{name})" in theme_css()


@pytest.mark.parametrize("place", [0, 9, 49])
def test_threshold_follows_the_decisions(place: int) -> None:
    curves, histogram = FIGURES["Curves"], FIGURES["Histogram"]
    assert isinstance(curves, Curves)
    assert curves.follows is not None
    assert DECISIONS is not None
    point = drawn(curves, place)["data"][-1]
    assert [point["x"][0], point["y"][0]] == [number_at(DECISIONS, name, place) for name in curves.follows]
    assert isinstance(histogram, Histogram)
    content = drawn(histogram, place)
    low, high = content["layout"]["xaxis"]["range"]
    at = min(max(float(DECISIONS.thresholds[place]), low), high)
    assert content["layout"]["shapes"][0]["x0"] == at
    pale, full = content["data"][:2]
    assert (max(pale["x"]), min(full["x"])) == (at, at)


def test_a_figure_that_follows_nothing_has_no_threshold() -> None:
    histogram = FIGURES["Histogram"]
    assert isinstance(histogram, Histogram)
    assert not drawn(replace(histogram, follows=False))["layout"].get("shapes")


def test_the_model_shown_is_on_top_and_the_list_is_by_value() -> None:
    curves = FIGURES["Curves"]
    assert isinstance(curves, Curves)
    lines = [trace for trace in drawn(curves)["data"] if trace.get("legendrank")]
    assert lines[-1]["name"] == "<b>knn 0.819</b>"
    assert [trace["line"]["width"] for trace in lines] == [1.6, 1.6, 2.6]
    ranked = sorted(lines, key=lambda trace: trace["legendrank"])
    assert [re.sub("<.*?>", "", trace["name"]) for trace in ranked] == ["knn 0.819", "energy 0.816", "msp 0.704"]


def test_a_long_list_stands_below_the_curves() -> None:
    curves = FIGURES["Curves"]
    assert isinstance(curves, Curves)
    assert drawn(curves)["layout"]["height"] == HEIGHT
    many = [replace(curves.series[0], name=f"a_detector_with_a_long_name_{i}_of_many") for i in range(12)]
    layout = drawn(replace(curves, series=many))["layout"]
    assert layout["height"] > HEIGHT + 12 * 15
    assert layout["legend"]["yref"] == "container"


def test_bars_and_cells_have_all_counts() -> None:
    bars, matrix = FIGURES["Bars"], FIGURES["Matrix"]
    assert isinstance(bars, Bars)
    assert isinstance(matrix, Matrix)
    assert sum(trace["x"][0] for trace in drawn(bars)["data"]) == pytest.approx(1)
    hover = drawn(matrix)["data"][0]["hovertext"]
    assert hover[0][0] == "known objects, its class: 71 (0.755 of the row)"
    shown = replace(matrix, counts=[[71, 3, 20], [None, 30, 16]])
    texts = [trace["text"] for trace in drawn(shown)["data"]]
    assert "–" in {text for rows in texts for row in rows for text in row}
