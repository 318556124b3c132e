"""Figures that move: every kind, its colours, its names, and the marks of the threshold."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from typing import Any

import pytest

from openworld_metrics.answers.answer import Curves, Histogram
from openworld_metrics.answers.decisions import number_at
from openworld_metrics.faces.moving import moves_of, plotly_of, theme_css
from openworld_metrics.faces.palette import TOKENS

from .sample import sample

ANSWER = sample()
FIGURES = {type(figure).__name__: figure for figure in ANSWER.figures}
DECISIONS = ANSWER.decisions
assert DECISIONS is not None


def drawn(figure: Any, place: int = 0) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(plotly_of(figure, DECISIONS, place))
    return content


@pytest.mark.parametrize("kind", ["Histogram", "Curves"])
def test_plotly_knows_every_property(kind: str) -> None:
    go = pytest.importorskip("plotly.graph_objects")
    content = drawn(FIGURES[kind], 9)
    assert go.Figure(content).to_plotly_json()["data"]
    with pytest.raises(ValueError, match="Invalid property"):
        go.Figure({"data": [{**content["data"][0], "shade": 1}]})


def test_a_coordinate_that_is_no_number_is_a_gap() -> None:
    curves = FIGURES["Curves"]
    assert isinstance(curves, Curves)
    series = [replace(one, y=[float("nan"), float("inf"), *one.y[2:]]) for one in curves.series]
    content = drawn(replace(curves, series=series))
    assert [trace["y"][:2] for trace in content["data"] if "meta" in trace] == [[None, None]] * len(series)


@pytest.mark.parametrize("kind", ["Histogram", "Curves"])
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


@pytest.mark.parametrize("place", range(0, 50, 7))
def test_the_threshold_does_not_cross_its_words(place: int) -> None:
    """They begin right of the line where there is room, and end left of it elsewhere."""
    content = drawn(FIGURES["Histogram"], place)["layout"]
    (note,), (line,) = content["annotations"], content["shapes"]
    side = {"left": 1, "right": -1}[note["xanchor"]]
    assert note["x"] == line["x0"]
    assert side * note["xshift"] > 0
    low, high = content["xaxis"]["range"]
    room = (high - line["x0"] if side > 0 else line["x0"] - low) / (high - low)
    assert room >= min(0.5, 0.024 * len(html.unescape(note["text"])))


@pytest.mark.parametrize("kind", ["Histogram", "Curves"])
@pytest.mark.parametrize("place", [0, 9, 49])
def test_a_figure_that_is_moved_is_the_one_drawn_there(kind: str, place: int) -> None:
    assert DECISIONS is not None
    figure: Any = FIGURES[kind]
    content, moves = drawn(figure, 20), json.loads(json.dumps(moves_of(figure, DECISIONS, place)))
    for name, values in moves["data"].items():
        for trace, value in zip(moves["traces"], values, strict=True):
            content["data"][trace][name] = value
    content["layout"] |= moves["layout"]
    assert content == drawn(figure, place)


def test_a_figure_that_follows_nothing_has_no_threshold() -> None:
    histogram = FIGURES["Histogram"]
    assert isinstance(histogram, Histogram)
    assert not drawn(replace(histogram, follows=False))["layout"].get("shapes")


def test_the_model_shown_is_on_top() -> None:
    lines = [trace for trace in drawn(FIGURES["Curves"])["data"] if trace["mode"] == "lines" and "meta" in trace]
    assert [trace["line"]["width"] for trace in lines] == [1.6, 1.6, 2.6]
    assert lines[-1]["meta"] == ["knn"]
