"""What reports and pictures once said wrongly: each test has the case that showed it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics import reports
from openworld_metrics.faces.drawing import draw_histogram
from openworld_metrics.faces.numbers import number
from openworld_metrics.faces.plot import Sides, draw_differences, draw_oscr, marked_threshold
from openworld_metrics.faces.report.anomaly import write_anomaly_report
from openworld_metrics.faces.tables import escaped
from openworld_metrics.metric.bootstrap import Part
from openworld_metrics.ranking.counts import as_side
from openworld_metrics.reading.boxes.dataset import Dataset, Detections
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.reading.maps.planes import read_map
from openworld_metrics.reports.charts import histogram_svg
from openworld_metrics.reports.frame import stacked_bars
from openworld_metrics.reports.panels import draw_roc
from openworld_metrics.suites.anomaly import evaluate_maps
from openworld_metrics.suites.image_errors import detection_errors
from tests.suites.trees import write_map, write_tree

BOX = np.asarray([[0.0, 0, 20, 20], [40, 0, 60, 20], [0, 40, 20, 60]])


def boxes(labels: list[int], called: list[int]) -> Detections:
    """An image of three objects, each found at its place and called something."""
    true = {"boxes": BOX, "labels": np.asarray(labels), "ignored": np.zeros(3, np.int64)}
    found = {"boxes": BOX, "labels": np.asarray(called), "scores": np.asarray([0.9, 0.8, 0.7])}
    names = {1: "cat", 2: "dog", 3: "cow", 7: "zebra"}
    return Detections(Dataset(["a"], [true], names, [None], [(80, 80)], [0]), [found])


def test_classes_that_unknown_objects_are_called_have_their_own_names() -> None:
    errors = detection_errors(boxes([7, 7, 1], [3, 1, 1]), known_classes=[1, 2, 3], unknown_class_id=999)
    assert errors.confused == {(7, 3): 1, (7, 1): 1}


def test_false_boxes_are_errors_of_an_image(tmp_path: Path) -> None:
    made = boxes([1, 1, 1], [1, 1, 1])
    found = {key: np.concatenate([column, column[:1]]) for key, column in made.predictions[0].items()}
    found["boxes"][3] += 55
    found["scores"][3] = 0.99
    made = made._replace(predictions=[found])
    options: dict[str, Any] = {"unknown_class_id": 999}
    errors = detection_errors(made, known_classes=[1, 2, 3], **options)
    assert errors.errors.tolist() == [1]
    assert errors.worst(5) == [0]
    results = om.suites.evaluate_detections(made, [1, 2, 3], standard=False, **options)
    text = reports.write_report(made, results, tmp_path / "report", [1, 2, 3], **options).read_text()
    assert "No image has an error" not in text
    assert "<b>a · 1 error</b><small>1 background called known</small>" in text


def test_columns_of_models_and_of_differences_stay_apart(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    runs = []
    for name, turn in (("low", 1), ("key", -1)):
        for path in [*(tmp_path / "maps").rglob("*.tiff")]:
            write_map(tmp_path / name / path.relative_to(tmp_path / "maps"), read_map(path)[::turn])
        runs.append(evaluate_maps(list_anomaly_maps(tmp_path / name, tmp_path / "data"), curves=True))
    page = write_anomaly_report(runs[0], tmp_path / "report", other=runs[1], images=1).read_text()
    table = page.partition("All numbers")[2]
    head = re.findall(r'<th scope="col"[^>]*>(.*?)</th>', table)[:3]
    assert head == ["key", "low", "key (model)"]
    key = "image_auroc"
    row = table.partition(f'<th scope="row">{key}</th>')[2].partition("</tr>")[0]
    cells = re.findall(r"<td[^>]*>([^<]*)", row)
    assert [float(cell) for cell in cells[:2]] == [round(run.results[key], 6) for run in runs]


@pytest.fixture
def axes() -> Any:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    return figure.subplots()


def test_a_roc_curve_keeps_its_corners(axes: Any) -> None:
    rng = np.random.default_rng(0)
    unknown = np.concatenate([np.full(100_000, 2.0), rng.uniform(0, 0.9, 5_000)])
    known = np.concatenate([np.full(100_000, 1.0), rng.uniform(0, 0.9, 100)])
    draw_roc(axes, Sides(as_side(unknown), as_side(known)), None)
    x, y = axes.get_lines()[1].get_data()
    corner = 100_000 / 105_000
    assert np.hypot(x, y - corner).min() < 1e-3


def test_infinite_scores_are_named(axes: Any) -> None:
    sides = Sides(as_side(np.asarray([1.0, np.inf, np.inf])), as_side(np.asarray([-np.inf, 0.0])))
    draw_histogram(axes, sides, None)
    labels = axes.get_legend_handles_labels()[1]
    assert {*labels} == {"unknown, 3, 2 infinite ones not drawn", "known, 2, 1 infinite ones not drawn"}
    drawn = histogram_svg("Scores", {"a": [1.0, np.inf], "b": [0.0]}, None, unit="sample", said="Scores of samples")
    assert "1 infinite ones are not drawn" in drawn


def test_huge_and_close_scores_are_drawn(axes: Any) -> None:
    draw_histogram(axes, Sides(as_side(np.asarray([-1e307, 1e307])), as_side(np.asarray([0.0]))), None)
    assert histogram_svg("", {"a": [-1e308], "b": [1e308]}, 0.0, unit="image").count("<rect") == 2
    labels = re.findall(
        r">(10000\d\d[^<]*)</text>", histogram_svg("", {"a": [1e6], "b": [1e6 + 3]}, None, unit="image")
    )
    assert len({*labels}) == 3
    assert 'aria-label="Scores of images"' in histogram_svg(
        "", {"a": [1.0]}, None, unit="image", said="Scores of images"
    )


def test_a_threshold_of_pixels_is_none_of_images() -> None:
    sides = Sides(as_side(np.asarray([9.0, 8.0])), as_side(np.asarray([1.0, 7.0])), level="image_")
    marked = marked_threshold({"pixel_f1_max_threshold": 2.0}, sides)
    assert marked is not None
    assert (marked.name, marked.threshold) == ("95 % TPR", 7.0)


def test_small_numbers_and_long_counts() -> None:
    assert number(5.359e-9, 6) == "5.36e−09"
    bars = stacked_bars({"known": [Part("a", 83_930, "known"), Part("b", 916_070, "unknown")]}, unit="samples")
    assert ">83,930</i>" not in bars
    assert ">916,070</i>" in bars


def test_names_with_signs_of_other_languages(tmp_path: Path) -> None:
    assert escaped("<img src=x>\nx", "html") == "&lt;img src=x&gt; x"
    assert escaped("__a__ &lt; ~~b~~", "markdown") == r"\_\_a\_\_ \&lt; \~\~b\~\~"
    curve = om.oscr_curve(unknown=[0.3, 0.5], correct_known=[0.1, 0.4], num_known=4)
    draw_oscr({"_m$5$": curve}, tmp_path / "oscr.svg", title=r"n$\q$")
    table = om.compare("ood_bench", [0.1, 0.4, 0.3, 0.9], [0.2, 0.1, 0.4, 0.3], references=[0, 0, 1, 1], n_resamples=5)
    draw_differences(table, tmp_path / "forest.svg", title="a$1 − b$2", models=(r"$\q$", "_b"))
    assert (tmp_path / "forest.svg").exists()
