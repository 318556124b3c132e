"""The picture of a metric: which panels it has, and that its threshold and counts are those of the samples."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS, OODBench, compare, oscr_curve
from openworld_metrics.answers.answer import Answer, Curves, Histogram, Number
from openworld_metrics.answers.answers import answers_of
from openworld_metrics.answers.decisions import number_at
from openworld_metrics.faces import plot
from openworld_metrics.faces.plot import draw_answer, draw_differences, draw_intervals, draw_oscr
from openworld_metrics.reading.reading import Reading
from tests import cases
from tests.conftest import Run
from tests.faces.sample import sample

pytest.importorskip("matplotlib")


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The figures that are drawn, in place of their files."""
    drawn: list[Any] = []
    monkeypatch.setattr(plot, "save_figure", lambda figure, path: drawn.append(figure))
    return drawn


def answer_of(name: str, columns: dict[str, Any], **options: Any) -> Answer:
    return answers_of(name, Reading(name, {"": columns}), options, intervals=False)[""]


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_is_drawn(name: str, tmp_path: Path) -> None:
    columns, options = cases.draw(name, 0)
    answer = answer_of(name, columns, **options)
    for i in range(2):
        draw_answer(answer, tmp_path / f"{i}.svg")
    first, second = ((tmp_path / f"{i}.svg").read_bytes() for i in range(2))
    assert first == second
    rates = [each for each in answer.numbers[""] if each.share and each.value == each.value]
    assert all(each.key.encode() in first for each in rates)
    assert all(figure.title.split()[0].encode() in first for figure in answer.figures)


@pytest.mark.parametrize("seed", range(4))
def test_sides_are_those_of_the_samples(seed: int, figures: list[Any]) -> None:
    """The shares of each side's samples by bin, and the threshold that is a line and in the title."""
    rng = np.random.default_rng(seed)
    scores, labels = np.round(rng.normal(size=30), 1), np.arange(30) % 3 == 0
    bench = {"predictions": scores, "references": (~labels).astype(int)}
    kinds = {"predictions": rng.integers(0, 2, 30), "references": np.where(labels, -1, 0), "open_scores": scores}
    for answer in (answer_of("ood_bench", bench, in_value=1, out_value=0), answer_of("openauc", kinds)):
        histogram, decisions = answer.figures[0], answer.decisions
        assert isinstance(histogram, Histogram)
        assert decisions is not None
        assert histogram.of_all == (answer.metric == "openauc")
        edges = np.append(histogram.series[0].x, scores.max())
        for series in histogram.series:
            right = kinds["predictions"] == (0 if series.role == "known" else 1)
            sides = {"OOD": labels, "unknown": labels, "in-distribution": ~labels}
            side = sides.get(series.name, ~labels & right)
            of = len(scores) if histogram.of_all else side.sum()
            expected = np.histogram(scores[side], edges)[0] / max(1, of)
            np.testing.assert_allclose(series.y, expected, atol=1e-12)
        draw_answer(answer, Path("x.svg"))
        axes = figures[-1].axes[0]
        text = decisions.thresholds[next(iter(decisions.presets.values()))]
        assert axes.get_lines()[0].get_xdata()[0] == float(text)
        assert f"score > {text.replace('-', '−')}" in axes.get_title(loc="left").replace("\n", " ")


@pytest.mark.parametrize(
    "scores", [[1.0, 1.0], [-np.inf, np.inf], [np.inf, np.inf], [1e-300, 1e300], [-1.7e308, 1.7e308], [-1e299, 1e299]]
)
def test_odd_scores(scores: list[float], tmp_path: Path) -> None:
    answer = answer_of("ood_bench", {"predictions": 2 * scores, "references": [0, 0, 1, 1]})
    draw_answer(answer, tmp_path / "x.png")
    assert (tmp_path / "x.png").stat().st_size > 1000


def test_a_histogram_has_the_shares_of_each_side_and_names_infinite_scores(figures: list[Any]) -> None:
    scores, labels = [1.0, 3.0, np.inf, np.inf, -np.inf, 1.0], [1, 1, 1, 1, 0, 0]
    answer = answer_of("ood_bench", {"predictions": scores, "references": labels})
    drawn = answer.figures[0]
    assert isinstance(drawn, Histogram)
    assert [(series.name, series.role, sum(series.y)) for series in drawn.series] == [
        ("in-distribution", "known", 0.5),
        ("OOD", "unknown", 0.5),
    ]
    note = "1 of 2 in-distribution scores lie beyond the axis; 2 of 4 OOD scores lie beyond the axis"
    assert drawn.note == note
    draw_answer(answer, Path("x.svg"))
    assert note in figures[0].axes[0].get_title(loc="left").replace("\n", " ")


def test_a_roc_curve_keeps_its_corners() -> None:
    rng = np.random.default_rng(0)
    unknown = np.concatenate([np.full(100_000, 2.0), rng.uniform(0, 0.9, 5_000)])
    known = np.concatenate([np.full(100_000, 1.0), rng.uniform(0, 0.9, 100)])
    labels = np.repeat([1, 0], [len(unknown), len(known)])
    answer = answer_of("ood_bench", {"predictions": np.concatenate([unknown, known]), "references": labels})
    curves = answer.figures[1]
    assert isinstance(curves, Curves)
    [series] = curves.series
    x, y = np.asarray(series.x), np.asarray(series.y)
    assert np.hypot(x, y - 100_000 / 105_000).min() < 1e-3


def test_a_threshold_of_pixels_is_none_of_images(figures: list[Any]) -> None:
    columns, options = cases.draw("anomaly_suite", 0)
    answer = answer_of("anomaly_suite", columns, **{**options, "levels": ["pixel", "image"]})
    draw_answer(answer, Path("x.svg"))
    [axes] = [each for each in figures[0].axes if each.get_title(loc="left").startswith("Scores of images")]
    assert "score >" not in axes.get_title(loc="left")
    assert not axes.get_lines()


def test_rates_alone(figures: list[Any]) -> None:
    numbers = [
        Number("auroc", 0.5, (0.25, 0.75), True, True),
        Number("x_threshold", 1.0),
        Number("x", 0.25, None, None, True),
        Number("total", 3),
        Number("y", np.nan, None, True, True),
    ]
    draw_answer(replace(sample(), model="", numbers={"": numbers}, figures=[]), Path("x.png"))
    [axes] = figures[0].axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["auroc ↑", "x"]
    assert [text.get_text() for text in axes.texts] == ["0.500  [0.250, 0.750]", "0.250"]


def test_endings(tmp_path: Path) -> None:
    for ending in ("png", "pdf"):
        draw_answer(sample(), tmp_path / f"x.{ending}")
        assert (tmp_path / f"x.{ending}").stat().st_size > 1000
    with pytest.raises(ValueError, match=r"x\.docx: expected a file ending in .*\.png"):
        draw_answer(sample(), tmp_path / "x.docx")


FIRST, SECOND, LABELS = [0.1, 0.3, 0.2, 0.8, 0.9, 0.7], [0.4, 0.9, 0.2, 0.3, 0.5, 0.6], [0, 0, 0, 1, 1, 1]
BLUE, ORANGE, GREY = "#7a3e9d", "#00866b", "#52525b"


def lines(axes: Any) -> list[tuple[list[float], str]]:
    """The intervals of a panel and their colours."""
    return [(list(line.get_xdata()), line.get_color()) for line in axes.get_lines() if line.get_linewidth() == 2.5]


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
    assert [text.get_text() for text in rates.texts][2] == "+0.050  [−0.010, 0.110]"
    said = [text.get_text() for text in figures[0].legends[0].get_texts()]
    assert said == ["the first is better", "the second is better", "no clear difference"]
    assert rates.get_title(loc="left") == "ours"
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
    call += ["--references", "y.npy", "--n-resamples", "39"]
    code, output, errors = run(*call, "--plot", "forest.svg")
    assert (code, errors) == (0, "")
    table = compare("ood_bench", FIRST, SECOND, references=LABELS, n_resamples=39)
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


def test_names_are_drawn_as_they_are(tmp_path: Path) -> None:
    curve = oscr_curve(unknown=[0.3, 0.5], correct_known=[0.1, 0.4], num_known=4)
    draw_oscr({"_m$5$": curve}, tmp_path / "oscr.svg", title=r"n$\q$")
    table = compare("ood_bench", [0.1, 0.4, 0.3, 0.9], [0.2, 0.1, 0.4, 0.3], references=[0, 0, 1, 1], n_resamples=5)
    draw_differences(table, tmp_path / "forest.svg", title="a$1 − b$2", models=(r"$\q$", "_b"))
    assert (tmp_path / "forest.svg").exists()


def test_an_answer_is_drawn(figures: list[Any]) -> None:
    answer = sample()
    assert answer.decisions is not None
    plot.draw_answer(answer, Path("x.svg"))
    *drawn, rates = figures[0].axes
    at = answer.decisions.thresholds[answer.decisions.presets["95 % TPR"]]
    assert [axes.get_title(loc="left").replace("\n", " ") for axes in drawn] == [
        f"Scores of both sides · 95 % TPR: score > {at.replace('-', '−')} · all sets pooled",
        *("ROC", "Fates of objects", "Called"),
    ]
    assert [text.get_text() for text in rates.get_yticklabels()] == ["auroc ↑", "fpr95tpr ↓", "aupr_out ↑", "f1_max ↑"]
    assert [text.get_text() for text in rates.texts][::3] == ["0.820  [0.801, 0.839]", "0.613"]
    assert drawn[0].get_lines()[0].get_xdata()[0] == float(at)  # the first of the common thresholds
    point = [number_at(answer.decisions, name, answer.decisions.presets["95 % TPR"]) for name in ("FPR", "TPR")]
    assert drawn[1].get_lines()[-1].get_xydata().tolist() == [point]
