"""Figures of answers: they show the data of the answer, in the colours of the palette, in both themes."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from openworld_metrics.answers.answer import Bars, Curves, Decisions, Figure, Histogram, Matrix, Series
from openworld_metrics.faces.drawing import STYLE, draw_curves, draw_figure, draw_histogram, styled, svg_of, width_of
from openworld_metrics.faces.palette import TOKENS, token

pytest.importorskip("matplotlib")

SIDES = [Series("known, 4", "known", [0.0, 0.5], [0.75, 0.25]), Series("_odd, 2", "unknown", [0.0, 0.5], [0.5, 0.5])]
FIGURES: dict[str, Figure] = {
    "histogram": Histogram("Scores <b>", "score, higher is more OOD", SIDES, 0.5),
    "curves": Curves(
        "ROC",
        ("FPR", "TPR"),
        [
            Series("$a$ <b>", "d1", [0.0, 0.2, 1.0], [0.0, 0.8, 1.0], value=0.9),
            Series("b", "d2", [0, 1], [0, 1], selected=False),
        ],
        ("FPR", "TPR"),
        diagonal=True,
    ),
    "bars": Bars("Fates", ["known", "unknown"], ["found", "missed"], ["right", "missed"], [[3, 1], [20, 0]]),
    "matrix": Matrix(
        "Decisions", ["six", "seven"], ["zero", "one"], [[3, None], [0, 2]], roles=[["known"] * 2] * 2, right=[(0, 0)]
    ),
}
DECISIONS = Decisions(
    ["-0.25", "0.25"],
    [0.1, 0.9],
    {"TP": [2, 1], "FN": [0, 1], "FP": [4, 1], "TN": [0, 3]},
    {"TPR": (["TP"], ["TP", "FN"]), "FPR": (["FP"], ["FP", "TN"])},
    {},
    {},
    "OOD if score >",
)


@pytest.fixture
def axes() -> Iterator[Any]:
    with styled() as canvas:
        yield canvas().subplots()


@pytest.mark.parametrize("name", FIGURES)
def test_an_inline_figure_follows_the_theme_and_needs_no_network(name: str) -> None:
    svg = svg_of(FIGURES[name], DECISIONS, 1)
    assert svg == svg_of(FIGURES[name], DECISIONS, 1)  # in every byte
    assert "://" not in svg
    assert "<style" not in svg  # a style sheet would be that of the whole page
    ElementTree.fromstring(svg)
    assert {*re.findall(r"var\(--([\w-]+)\)", svg)} <= {*TOKENS}
    assert re.findall(r"#[0-9a-f]{6}\b", svg) == []
    ids = re.findall(r' id="([^"]*)"', svg)
    assert {*ids} <= {*re.findall(r'(?:url\(#|href="#)([^")]+)', svg)}
    width, height = map(float, re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    places = [(float(x), float(y)) for x, y in re.findall(r'<text [^>]*? x="([-\d.]+)" y="([-\d.]+)"', svg)]
    assert all(0 <= x <= width and 0 <= y <= height for x, y in places)
    assert 'role="img"' in svg


@pytest.mark.parametrize("name", FIGURES)
def test_roles_have_the_colours_of_the_palette(name: str) -> None:
    svg = svg_of(FIGURES[name])
    roles = {
        "histogram": ["known", "unknown"],
        "curves": ["d1", "d2"],
        "bars": ["right", "missed"],
        "matrix": ["known"],
    }
    for role in roles[name]:
        assert f"var(--{token(role)})" in svg


def test_names_are_text_and_escaped() -> None:
    svg = svg_of(FIGURES["curves"], name='a "name" \\1 & <more>')
    assert 'aria-label="a &quot;name&quot; \\1 &amp; &lt;more&gt;"' in svg
    assert "legend" not in svg  # the key stands above


def bars_of(axes: Any) -> list[tuple[float, float, float, float]]:
    """Left end, width, height and opacity of each bar."""
    bars = [bar for bar in axes.patches if hasattr(bar, "get_width")]
    return [(bar.get_x(), round(bar.get_width(), 6), bar.get_height(), bar.get_alpha()) for bar in bars]


def test_a_histogram_is_cut_at_the_threshold(axes: Any) -> None:
    draw_figure(axes, FIGURES["histogram"], DECISIONS, 1)
    bars = bars_of(axes)
    assert {(0.0, 0.25, 0.75), (0.25, 0.25, 0.75), (0.5, 0.5, 0.25)} <= {bar[:3] for bar in bars}
    assert axes.get_lines()[0].get_xdata()[0] == 0.25
    assert max(bar[3] for bar in bars if bar[0] < 0.25) < min(bar[3] for bar in bars if bar[0] >= 0.25)


def test_a_threshold_at_the_edge_of_a_bin_cuts_none(axes: Any) -> None:
    draw_histogram(axes, Histogram("", "", SIDES[:1], 0.5), 0.5)
    assert sorted(bar[:2] for bar in bars_of(axes)) == [(0.0, 0.5), (0.5, 0.5)]


def test_counts_stand_in_the_middle_of_their_parts(axes: Any) -> None:
    draw_figure(axes, FIGURES["bars"])
    assert [(text.get_text(), text.get_position()) for text in axes.texts][:2] == [("3", (0.375, 0)), ("20", (0.5, 1))]


def test_the_point_of_curves_is_that_of_the_decisions(axes: Any) -> None:
    draw_figure(axes, FIGURES["curves"], DECISIONS, 1)
    _, first, second, point = axes.get_lines()
    assert (list(first.get_xdata()), list(first.get_ydata())) == ([0.0, 0.2, 1.0], [0.0, 0.8, 1.0])
    assert first.get_linewidth() > second.get_linewidth()
    assert point.get_xydata().tolist() == [[0.25, 0.5]]


def test_a_curve_over_a_part_of_an_axis_has_its_end(axes: Any) -> None:
    draw_curves(axes, Curves("PRO", ("FPR", ""), [Series("", "d1", [0.0, 0.3], [0.0, 0.9])]))
    assert axes.get_xlim() == (0, 0.3)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "0.15", "0.3"]


@pytest.mark.parametrize("ends", [(7.96, 37.4), (0.0, 1.0), (-3.2, 0.7), (1e-9, 3e-9), (1e6, 1e6 + 3), (-1e300, 1e300)])
def test_ticks_are_few_and_differ(ends: tuple[float, float]) -> None:
    low, high = ends
    with styled() as canvas:
        figure = canvas()
        axes: Any = figure.subplots()
        draw_histogram(axes, Histogram("", "score", [Series("a", "known", [low], [1.0])], high / 2 - low / 2))
        figure.draw_without_rendering()
        labels = [label.get_text() for label in axes.get_xticklabels()]
    assert 2 <= len({*labels}) == len(labels) <= 6
    assert all(len(label) <= 9 for label in labels)


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (0.2, 0.2)])
def test_the_legend_covers_no_bar(shape: tuple[float, float]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    heights = np.histogram(np.random.default_rng(0).beta(*shape, size=3000), 40, (0, 1))[0] / 3000
    series = [Series(name, name, (np.arange(40) / 40).tolist(), heights.tolist()) for name in ("known", "unknown")]
    with styled() as canvas:
        figure = canvas(layout="constrained")
        axes: Any = figure.subplots()
        draw_histogram(axes, Histogram("Scores", "score", series, 1 / 40))
        drawn: Any = FigureCanvasAgg(figure)
        drawn.draw()
        legend, label = axes.get_legend().get_window_extent(), axes.xaxis.label.get_window_extent()
    assert legend.y1 <= label.y0  # below the name of the axis
    assert legend.y0 >= 0  # within the picture


@pytest.mark.parametrize("seed", range(12))
def test_names_of_a_matrix_do_not_meet(seed: int) -> None:
    """Texts of a line stand side by side, and all of them within the picture, whatever the names."""
    from matplotlib.textpath import TextPath

    rng = np.random.default_rng(seed)
    words = ["a", "its", "class", "wrong", "known", "unknown", "pedestrian", "traffic", "light", "7", "zebra"]
    rows, columns = ([" ".join(rng.choice(words, rng.integers(1, 4))) for _ in range(rng.integers(1, 9))] for _ in "ab")
    counts = rng.integers(0, 99, (len(rows), len(columns))).tolist()
    figure = Matrix("", rows, columns, counts)
    svg = svg_of(figure, width=width_of(figure))
    width, height = map(int, re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    lines: dict[int, list[tuple[float, float]]] = {}
    for style, rest, text in re.findall(r'<text style="([^"]*)" ([^>]*)>([^<]*)</text>', svg):
        x, y = map(float, re.findall(r"-?\d+\.?\d*", rest))
        long = TextPath((0, 0), text, size=11).get_extents().width
        start = x - long * (0.5 if "middle" in style else "end" in style)
        assert 0 <= start <= start + long <= width, text
        assert 0 <= y <= height - 3, text
        lines.setdefault(round(y), []).append((start, start + long))
    for ends in map(sorted, lines.values()):
        assert all(end < start for (_, end), (start, _) in itertools.pairwise(ends))


def test_settings_of_others_stay_as_they_are() -> None:
    import matplotlib as mpl

    before = {name: mpl.rcParams[name] for name in STYLE}
    svg_of(FIGURES["bars"])
    assert {name: mpl.rcParams[name] for name in STYLE} == before
