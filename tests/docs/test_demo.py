"""The demo: its numbers make sense, agree with scikit-learn's, and its pictures and the pages' figures are of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from matplotlib.image import imread
from PIL import Image
from sklearn.metrics import average_precision_score, roc_auc_score

import openworld_metrics
from demo import compute, detection, report, table
from docs.building import figures
from openworld_metrics.answers import pictures
from openworld_metrics.answers.credits import DIGITS


@pytest.fixture(scope="module")
def results() -> compute.Results:
    return figures.results()


def test_every_metric_has_results_in_the_table(results: compute.Results) -> None:
    assert tuple(sorted(results.metrics)) == tuple(sorted(openworld_metrics.METRICS))
    printed = table.table(results.metrics)
    for name, values in results.metrics.items():
        assert name in printed
        for key, value in values.items():
            assert isinstance(value, (float, int)), key
            assert key in printed
    assert len(printed.splitlines()) == 2 + sum(map(len, results.metrics.values()))
    assert len(table.describe(results).splitlines()) == 3
    assert (printed + table.describe(results)).isascii()  # prints on any terminal


def test_the_split_keeps_training_and_test_digits_apart(results: compute.Results) -> None:
    digits = results.digits
    assert digits.num_training + len(digits.images) == 1797
    assert abs(digits.num_training - np.sum(digits.is_unknown == 0)) <= 1
    assert set(digits.references.tolist()) == {-1, 0, 1, 2, 3, 4, 5}


def test_digits_are_recognised(results: compute.Results) -> None:
    accuracy, autkc = results.metrics["accuracyk"], results.metrics["autkc"]
    open_set, bench = results.metrics["openauc"], results.metrics["ood_bench"]
    assert 0.9 < accuracy["accuracy@1"] < accuracy["accuracy@2"] <= accuracy["accuracy@3"] <= 1
    assert autkc["autkc@3"] == pytest.approx(np.mean(list(accuracy.values())))
    assert open_set["closed_set_accuracy"] == accuracy["accuracy@1"] == autkc["autkc@1"]
    assert 0.8 < open_set["openauc"] < open_set["open_set_auroc"] < 1
    assert open_set["open_set_auroc"] == bench["auroc"]
    assert 0.8 < open_set["open_set_accuracy@tpr95"] <= bench["detect_acc"] < 1
    assert 0 < bench["fpr95tpr"] < 0.3
    for name in ("macro_open_f", "micro_open_f"):
        assert 0.8 < results.metrics[name][name] < 1


def test_scikit_learn_agrees(results: compute.Results) -> None:
    digits, bench = results.digits, results.metrics["ood_bench"]
    assert bench["auroc"] == pytest.approx(roc_auc_score(digits.is_unknown, digits.open_scores))
    assert bench["aupr_out"] == pytest.approx(average_precision_score(digits.is_unknown, digits.open_scores))
    assert bench["aupr_in"] == pytest.approx(average_precision_score(1 - digits.is_unknown, -digits.open_scores))
    values, anomalies = results.metrics["anomaly_suite"], results.anomalies
    pixels = anomalies.masks.ravel(), anomalies.maps.ravel()
    assert values["pixel_auroc"] == pytest.approx(roc_auc_score(*pixels))
    assert values["pixel_ap"] == pytest.approx(average_precision_score(*pixels))
    images = anomalies.masks.any(axis=(1, 2)), anomalies.maps.max(axis=(1, 2))
    assert values["image_auroc"] == pytest.approx(roc_auc_score(*images))


def test_anomalies_are_found(results: compute.Results) -> None:
    values = results.metrics["anomaly_suite"]
    assert 0.8 < values["pixel_auroc"] < 1
    assert 0.7 < values["image_auroc"] < 1
    assert values["pixel_ap"] > 3 * results.anomalies.masks.mean()
    assert 0 < values["aupro@0.01"] < values["aupro@0.05"] < values["aupro@0.1"] < values["aupro@0.3"] < 1
    assert values["aupro@0.3"] > 0.6
    assert results.anomalies.masks.any(axis=(1, 2)).mean() == 0.5


def test_objects_are_detected(results: compute.Results) -> None:
    values, data = results.metrics["openset_detection"], results.detections
    named = [outcomes for boxes in zip(data.predictions, data.references) for outcomes in detection.outcomes(*boxes)]
    counts = Counter(outcome for _, outcome in named)
    total = values["total_known"] + values["total_unknown"]
    assert total == sum(map(len, data.references)) == 480
    assert counts["missed object"] < 0.1 * total
    assert values["U-Recall"] > 0.5
    assert values["Recall(Known)"] > 0.7
    assert 0 < values["WI"] < 0.3
    # the boxes that the figure colours are those that the metric counts
    assert values["TP_known"] == counts["known, right class"]
    assert values["TP_unknown"] == counts["unknown, called unknown"]
    assert values["FP_unknown"] == counts["known, called unknown"]
    assert set(counts) <= set(detection.OUTCOMES)


def test_true_boxes_do_not_overlap(results: compute.Results) -> None:
    for boxes in results.detections.references:
        first, second = np.triu_indices(len(boxes), 1)
        assert not openworld_metrics.box_iou(boxes[first, :4], boxes[second, :4]).any()


def test_the_pictures(results: compute.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the metrics are of the same numbers; faces/test_plot.py looks at how they are drawn."""
    drawn = {}
    monkeypatch.setattr(pictures, "draw_map", lambda *_, **__: Image.new("RGB", (1, 1)))  # which only reports show
    monkeypatch.setattr(report, "draw_answer", lambda answer, path: drawn.update({path.name: answer}))
    monkeypatch.setattr(report, "_DPI", 40)
    report.draw(results, tmp_path)
    assert [*drawn] == [f"{name}.png" for name in results.metrics]
    for name, values in results.metrics.items():
        answer = drawn[f"{name}.png"]
        assert answer.figures
        numbers = {each.key: each.value for each in answer.numbers[""]}
        averages = {"mAP50", "mAP50-95", "recall", "precision"} if name == "openset_detection" else set()
        assert {key: value for key, value in numbers.items() if key not in averages}.items() <= values.items()
    pixels = imread(tmp_path / "examples.png")
    assert pixels.shape[:2] == tuple(int(40 * side) for side in reversed(report._SIZE))
    assert pixels[..., :3].std() > 0.1  # not blank


def test_a_figure_shows_its_credits() -> None:
    assert DIGITS.html in figures.html("oscr")
    assert "credits" not in figures.html("law")
