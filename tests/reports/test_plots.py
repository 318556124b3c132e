"""The picture of a metric: which panels it has, and that its threshold and counts are those of the samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS, OODBench, OpenAUC
from openworld_metrics.loading import metric_class
from openworld_metrics.ranking.counts import as_side
from openworld_metrics.reports.panels import Marked, Sides, draw_histogram, marked_threshold, rates_of_results
from openworld_metrics.reports.plots import draw, sides_of
from tests import cases

pytest.importorskip("matplotlib")


def prepared(metric: Any, columns: dict[str, Any]) -> tuple[Sides | None, dict[str, Any]]:
    metric.add_batch(**columns)
    sides = sides_of([*metric.prepared()], metric.state())
    return sides, metric.compute()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_drawn(name: str, ending: str, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 0)
    sides, results = prepared(metric_class(name)(**options), columns)
    assert (sides is None) == (name in ("accuracyk", "autkc", "openset_detection"))
    for i in range(2):
        draw(name, results, sides, tmp_path / f"{i}.{ending}")
    first, second = ((tmp_path / f"{i}.{ending}").read_bytes() for i in range(2))
    assert len(first) > 1000
    if ending == "svg":
        assert first == second
        assert all(key.encode() in first for key in rates_of_results(results)) or name == "openset_detection"


@pytest.mark.parametrize("seed", range(20))
def test_sides_are_those_of_the_samples(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = np.round(rng.normal(size=30), 1), np.arange(30) % 3 == 0
    for metric, columns in (
        (OODBench(in_value=1, out_value=0), {"predictions": scores, "references": (~labels).astype(int)}),
        (
            OpenAUC(),
            {"predictions": rng.integers(0, 2, 30), "references": np.where(labels, -1, 0), "open_scores": scores},
        ),
    ):
        sides, results = prepared(metric, columns)
        assert sides is not None
        assert sides.unknown.repeated().tolist() == sorted(scores[labels].tolist())
        assert sides.known.repeated().tolist() == sorted(scores[~labels].tolist())
        marked = marked_threshold(results, sides)
        if marked is None:  # the lowest of all scores is to be detected
            continue
        shown = float(marked.text(sides).replace("−", "-"))
        assert ((scores > shown) == (scores > marked.threshold)).all()
        assert len(marked.text(sides)) <= len(repr(marked.threshold)) + 1


def test_thresholds() -> None:
    sides = Sides(as_side(np.asarray([0.9, 0.4])), as_side(np.asarray([0.6, 0.1])))
    assert marked_threshold({"auroc": 0.75, "x_threshold": 0.25}, sides) == ("x", 0.25)
    assert marked_threshold({"auroc": 0.75, "x_threshold": np.inf}, sides) == ("95 % TPR", 0.1)
    assert Marked("x", 0.1).text(sides) == "0.1"
    assert Marked("x", 0.6).text(sides) == "0.6"
    assert Marked("x", 0.9).text(sides) == "1"
    assert Marked("x", -1e300).text(sides).startswith("−1")
    lowest = Sides(as_side(np.asarray([0.4])), as_side(np.asarray([0.6])))
    assert marked_threshold({}, lowest) is None


@pytest.mark.parametrize("scores", [[1.0, 1.0], [-np.inf, np.inf], [np.inf, np.inf], [1e-300, 1e300]])
def test_odd_scores(scores: list[float], tmp_path: Path) -> None:
    side = as_side(np.asarray(scores))
    draw("ood_bench", {"auroc": 0.5}, Sides(side, side), tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (0.2, 0.2)])
def test_the_legend_covers_no_bar(shape: tuple[float, float]) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    scores = np.random.default_rng(0).beta(*shape, size=(2, 3000))
    figure = Figure(layout="constrained")
    axes: Any = figure.subplots()
    draw_histogram(axes, Sides(as_side(scores[0]), as_side(scores[1])), None)
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    legend, box = axes.get_legend().get_window_extent(), axes.get_window_extent()
    assert legend.y1 < box.y0  # below the axis
    assert legend.y0 >= 0  # within the picture


def test_rates_alone() -> None:
    results = {
        "auroc": 0.5,
        "auroc_low": 0.25,
        "auroc_high": 0.75,
        "x_threshold": 1.0,
        "x": 0.5,
        "total": 3,
        "a": [1.0],
    }
    assert rates_of_results(results) == ["auroc", "x"]


def test_another_ending(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"x\.docx: expected a file ending in .*\.png"):
        draw("ood_bench", {}, None, tmp_path / "x.docx")
