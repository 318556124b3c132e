"""The cards and tables of numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import openworld_metrics
from openworld_metrics.metric.results import Rate, Summary
from openworld_metrics.pages.results.numbers import numbers_html, result_help
from tests.pages.figures.test_figures import page as page_of

Load = Any


def test_numbers_are_grouped_and_say_which_way_is_better(root: Path) -> None:
    page = page_of("ood_bench")
    results = {
        "auroc": Rate(0.5, True, interval=(0.25, 0.75)),
        "aupr_in": Rate(0.25, True),
        "fpr95tpr": Rate(1e-7, False, threshold=2.0),
        "f1_score": Rate(1.0, True),
    }
    said = result_help("Returns:\n    auroc: an area. More.\n\nRaises:")
    shown = "".join(numbers_html(page, Summary(results), said))
    assert re.findall(r'data-key="(\w+)"', shown) == ["auroc", "fpr95tpr", "fpr95tpr_threshold", "aupr_in", "f1_score"]
    assert re.findall(r"<caption>(.*?)</caption>", shown) == ["Areas", "At the threshold"]
    assert "An area." in shown
    assert shown.count("higher is better") == 2 * 3
    assert shown.count("lower is better") == 2 * 1
    assert '<span class="rate" title="1e-07" data-full="1e-07">1.00e-07</span>' in shown
    assert '>[<span class="rate" title="0.25" data-full="0.25">0.250</span>, ' in shown
    groups = {"a": {"auroc": Rate(0.5, True, interval=(0.25, 0.75))}, "b": {"auroc": Rate(0.1, True)}}
    _, shown = numbers_html(page, Summary(results, groups), said)
    assert re.findall(r"<th scope=\"col\"[^>]*>(\w+)", shown) == ["group", "auroc"]
    low_and_high = r"<small class=\"interval\">\[[^,]*>0\.250</span>, [^,]*>0\.750</span>\]</small>"
    assert re.search(rf"a</td><td>.*>0\.500</span> {low_and_high}</td></tr><tr><td>b</td><td>[^\[]*</td>", shown)
    table = {"image": [0, 1], "U-Recall": [0.5, None]}
    _, shown = numbers_html(
        page_of("openset_detection"),
        Summary({"WI": Rate(0.1, False), "total": 3, "per_image": table}),
        {},
        ["1 · a<b>", "2 · c"],
    )
    assert 'data-image="1">2 · c</button>' in shown
    assert "a&lt;b&gt;" in shown


def test_a_threshold_in_a_table_can_be_copied_whole() -> None:
    metric = openworld_metrics.OODBench(metrics=["fpr95tpr"], thresholds=True)
    metric.add_batch(predictions=[0.1234567, 0.6, 0.123, 0.6], references=[0, 1, 0, 1], groups=["a", "a", "b", "b"])
    shown = numbers_html(page_of("ood_bench"), metric.summary(), {})
    assert re.findall(r'data-do="whole"[^>]*><span[^>]*data-full="([^"]+)"', shown.others) == ["0.1234567"]


def test_results_of_anomaly_maps_say_what_they_mean() -> None:
    keys = ("image_auroc", "pixel_fpr95tpr", "pixel_iou_max", "sample_auroc", "siou", "segment_f1", "aupro@0.3")
    shown = "".join(numbers_html(page_of("anomaly_suite"), Summary({key: Rate(0.5, True) for key in keys}), {}))
    captions = ["Samples of several images", "Pixels", "Objects, at the pixel threshold"]
    assert re.findall(r"<caption>(.*?)</caption>", shown) == captions
    meanings = dict(re.findall(r'data-key="([^"]*)" title="([^"]*)"', shown))
    assert {*meanings} == {*keys}
    assert meanings["pixel_fpr95tpr"].startswith("lowest share of normal pixels called anomalous where at least 95 %")
