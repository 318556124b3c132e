"""A curve of few points is tested as it is drawn, steps included, against that of all points."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.spatial import cKDTree

from openworld_metrics import read
from openworld_metrics.answers.answer import Curves, Histogram, Series
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.charts import drawn_vertices
from openworld_metrics.answers.decisions import number_at
from openworld_metrics.answers.saved import POINTS, saved_answers
from openworld_metrics.answers.subject import subject_of
from openworld_metrics.loading import METRICS, script

IN_USE = (POINTS, 400, 2_000)


def line(x: Any, y: Any, steps: bool) -> tuple[np.ndarray, np.ndarray]:
    """The corners of a line as it is drawn: of steps, the value of a point holds back to the point before it."""
    x, y = np.asarray(x, np.float64), np.asarray(y, np.float64)
    return (np.repeat(x, 2)[:-1], np.repeat(y, 2)[1:]) if steps else (x, y)


def along(x: np.ndarray, y: np.ndarray, number: int = 4_000) -> np.ndarray:
    """Points (number, 2) at equal distances along a line."""
    way = np.append(0, np.cumsum(np.hypot(np.diff(x), np.diff(y))))
    at = np.linspace(0, way[-1], number)
    return np.stack([np.interp(at, way, x), np.interp(at, way, y)], axis=1)


def gap(one: Any, other: Any) -> float:
    """The largest distance of a point of either line from the other line."""
    points = [along(*each) for each in (one, other)]
    return float(max(cKDTree(a).query(b)[0].max() for a, b in (points, points[::-1])))


def check_as_drawn(few: Curves, full: Curves) -> None:
    def scaled(series: Series) -> tuple[np.ndarray, np.ndarray]:
        x, y = line(series.x, series.y, full.steps)
        whole = next(each for each in full.series if each.name == series.name)
        return x / (max(whole.x) - min(whole.x) or 1), y / (1 if full.shares[1] else max(whole.y) or 1)

    for series, whole in zip(few.series, full.series):
        one, other = scaled(series), scaled(whole)
        assert gap(one, other) <= 0.025, (few.title, series.name)
        areas = [float(np.trapezoid(y, x)) for x, y in (one, other)]
        assert areas[0] == pytest.approx(areas[1], abs=0.005), (few.title, series.name)


@pytest.mark.parametrize("metric", METRICS)
def test_curves_as_drawn(metric: str) -> None:
    """Those of the examples, also as they are saved, at every number of points in use."""
    example, folder = subject_of(metric).example, script(metric).parent / "examples"
    reading = read(metric, *(folder / name for name in example.files))
    full = answers_of(metric, reading, example.options, intervals=False, points=10**6)
    few = [answers_of(metric, reading, example.options, intervals=False, points=number) for number in IN_USE]
    for answers in (*few, saved_answers(folder / "answers.json")):
        for model, answer in answers.items():
            drawn_by = "its page, spaces/screenshots.py and docs/building/figures.py"
            assert answer.figures, f"{metric}: expected `figures` in its Subject, for {drawn_by}, got none"
            for figure, whole in zip(answer.figures, full[model].figures, strict=True):
                assert type(figure) is type(whole)
                if isinstance(figure, Curves) and isinstance(whole, Curves):
                    check_as_drawn(figure, whole)


@pytest.mark.parametrize("metric", METRICS)
def test_a_moved_point_lies_on_its_curve(metric: str) -> None:
    """That of each threshold, on the line of the model that is shown, up to its end; none for a rate of nothing."""
    example, folder = subject_of(metric).example, script(metric).parent / "examples"
    reading = read(metric, *(folder / name for name in example.files))
    for answer in answers_of(metric, reading, example.options, intervals=False, points=10**6).values():
        for figure in answer.figures:
            if answer.decisions is None or not isinstance(figure, Curves) or figure.follows is None:
                continue
            shown = next(series for series in figure.series if series.selected)
            x, y = line(shown.x, shown.y, figure.steps)
            places = range(len(answer.decisions.thresholds))
            points = np.asarray([[number_at(answer.decisions, name, at) for name in figure.follows] for at in places])
            assert np.isfinite(points).all(axis=1).mean() > 0.9
            for point in points[(points <= [max(x), np.inf]).all(axis=1)]:
                assert distance(point, x, y) <= 1e-9, (figure.title, point)


def distance(point: np.ndarray, x: np.ndarray, y: np.ndarray) -> float:
    """The distance of a point from a line through corners, in shares of its extent."""
    scale = np.asarray([np.ptp(x) or 1, np.ptp(y) or 1])
    corners, point = np.stack([x, y], axis=1) / scale, point / scale
    ways = np.diff(corners, axis=0)
    lengths = (ways**2).sum(axis=1)
    part = np.clip(((point - corners[:-1]) * ways).sum(axis=1) / np.where(lengths, lengths, 1), 0, 1)
    return float(np.hypot(*(corners[:-1] + part[:, None] * ways - point).T).min())


@pytest.mark.parametrize("steps", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_drawn_vertices(seed: int, steps: bool) -> None:
    """The ends are kept, in order; all where there are few; more vertices bring the line nearer to all."""
    rng = np.random.default_rng([seed, steps])
    number = int(rng.integers(2, 300))
    x = np.cumsum(rng.choice([0, 0.1, 1], number)) / number
    y = np.round(np.cumsum(rng.choice([-1, 0, 1], number)) / number, int(rng.integers(1, 4)))
    most = int(rng.integers(2, 60))
    kept = drawn_vertices(x, y, most, steps=steps)
    assert kept == sorted({*kept})
    assert (kept[0], kept[-1]) == (0, number - 1)
    assert len(kept) == min(number, most)
    gaps = [
        gap(line(x[own], y[own], steps), line(x, y, steps))
        for own in (drawn_vertices(x, y, each, steps=steps) for each in (4, 40, 400))
    ]
    assert gaps[2] == pytest.approx(0, abs=1e-9)
    assert gaps[1] <= gaps[0] + 0.01


@pytest.mark.parametrize("metric", ["openauc", "macro_open_f", "micro_open_f"])
def test_histograms_by_kind_have_one_scale(metric: str) -> None:
    """Bars of all kinds are shares of all samples: a kind of few samples has low bars."""
    for answer in saved_answers(script(metric).parent / "examples" / "answers.json").values():
        figure = next(one for one in answer.figures if one.title == "Scores by kind")
        decisions = answer.decisions
        assert decisions is not None
        assert isinstance(figure, Histogram)
        totals = {
            name: sum(decisions.counts[cell][0] for cell in cells.values()) for name, cells in decisions.table.items()
        }
        for series in figure.series:
            drawn = sum(series.y) * sum(totals.values())
            assert 0.9 * totals[series.name] <= drawn <= totals[series.name] + 1e-6
        assert figure.of_all
