"""Pictures of intervals, of differences of two models, and of OSCR curves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import OODBench, compare, oscr_curve
from openworld_metrics.faces.plot import draw_differences, draw_intervals, draw_oscr
from openworld_metrics.reports import forest, plots
from tests.conftest import Run

FIRST, SECOND, LABELS = [0.1, 0.3, 0.2, 0.8, 0.9, 0.7], [0.4, 0.9, 0.2, 0.3, 0.5, 0.6], [0, 0, 0, 1, 1, 1]
BLUE, ORANGE, GREY = "#7a3e9d", "#00866b", "#52525b"


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn, in place of their files."""
    drawn: list[Any] = []
    for module in (forest, plots):
        monkeypatch.setattr(module, "save_figure", lambda figure, path: drawn.append(figure))
    return drawn


def lines(axes: Any) -> list[tuple[list[float], str]]:
    """The intervals of a panel and their colours."""
    return [(list(line.get_xdata()), line.get_color()) for line in axes.get_lines() if line.get_linewidth() == 2]


def test_differences_with_the_better_model(figures: list[Any]) -> None:
    table = {
        "key": ["auroc", "fpr95tpr", "U-Recall", "A-OSE", "total"],
        "difference": [0.02, 0.03, 0.05, -300.0, 2.0],
        "low": [0.01, 0.02, -0.01, -410.0, 1.0],
        "high": [0.03, 0.04, 0.11, -190.0, 3.0],
        "better": ["first", "second", None, "first", None],
    }
    draw_differences(table, "x.svg", title="ours")
    rates, others = figures[0].axes
    assert [text.get_text() for text in rates.get_yticklabels()] == ["auroc ↑", "fpr95tpr ↓", "U-Recall ↑"]
    assert [text.get_text() for text in others.get_yticklabels()] == ["A-OSE ↓", "total"]
    assert lines(rates) == [([0.01, 0.03], BLUE), ([0.02, 0.04], ORANGE), ([-0.01, 0.11], GREY)]
    assert lines(others) == [([-410.0, -190.0], BLUE), ([1.0, 3.0], GREY)]
    assert [text.get_text() for text in rates.texts][2] == "+0.0500 [−0.0100, +0.1100]"
    said = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert said == ["the first is better", "the second is better", "no clear difference"]
    assert rates.get_title() == "ours"
    draw_differences({"group": [None, "far", "near/a", None, None], **table}, "x.svg")
    names = [text.get_text() for text in figures[1].axes[0].get_yticklabels()]
    assert names == ["auroc ↑", "far · fpr95tpr ↓", "near/a · U-Recall ↑"]


def test_intervals_of_results(figures: list[Any]) -> None:
    metric = OODBench(confidence_level=0.9, n_resamples=9, thresholds=True)
    results = metric.compute(predictions=SECOND, references=LABELS)
    draw_intervals(results, Path("x.png"))
    [axes] = figures[0].axes
    expected = [[results[f"{key}_low"], results[f"{key}_high"]] for key in ("auroc", "fpr95tpr")]
    assert [ends for ends, _ in lines(axes)] == expected
    with pytest.raises(
        ValueError, match=r"^results: expected intervals, got none; compute them with a confidence_level$"
    ):
        draw_intervals({"auroc": 0.5}, "x.png")


def test_oscr_curves(figures: list[Any]) -> None:
    curve = oscr_curve(unknown=[0.3, 0.5], correct_known=[0.1, 0.4], num_known=4)
    draw_oscr({"ours": curve, "theirs": curve}, "x.png")
    [axes] = figures[0].axes
    for line in axes.get_lines():
        assert (list(line.get_xdata()), list(line.get_ydata())) == (curve["fpr"], curve["ccr"])
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ours: 0.375", "theirs: 0.375"]
    with pytest.raises(ValueError, match=r"^curves: expected at least one, got none$"):
        draw_oscr({}, "x.png")


def test_the_command_draws_what_compare_gives(run: Run, tmp_path: Path) -> None:
    for name, column in (("a", FIRST), ("b", SECOND), ("y", LABELS)):
        np.save(tmp_path / f"{name}.npy", column)
    call = ["compare", "ood_bench", "--first-predictions", "a.npy", "--second-predictions", "b.npy"]
    call += ["--references", "y.npy", "--n-resamples", "9"]
    code, output, errors = run(*call, "--plot", "forest.svg")
    assert (code, errors) == (0, "")
    table = compare("ood_bench", FIRST, SECOND, references=LABELS, n_resamples=9)
    assert json.loads(output) == table
    draw_differences(table, "same.svg", title="ood_bench: a − b", models=("a", "b"))
    drawn = Path("forest.svg").read_bytes()
    assert drawn.startswith(b"<?xml")
    assert drawn == Path("same.svg").read_bytes()
    code, output, errors = run(*call, "--plot", "forest.xyz")
    assert (code, output) == (2, "")
    assert "forest.xyz: expected a file ending in " in errors
    code, output, errors = run(*call, "--plot", "no/forest.svg")
    assert (code, output) == (2, "")
    assert "no: No such file or directory" in errors
