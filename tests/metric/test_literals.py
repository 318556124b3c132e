"""Cases worked by hand, one or more per metric, and the inputs that look odd but are legal."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from math import inf, nextafter
from typing import Any

import numpy as np
import pytest

from openworld_metrics import OpenSetDetection
from tests import references

Load = Callable[..., Any]


def test_k_may_be_the_number_of_classes(load: Load) -> None:
    columns = dict(predictions=[[0.2, 0.8], [0.6, 0.4]], references=[0, 0])
    assert load("accuracyk").compute(**columns, k_list=(1, 2)) == {"accuracy@1": 0.5, "accuracy@2": 1.0}
    assert load("autkc").compute(**columns, k_list=(1, 2)) == {"autkc@1": 0.5, "autkc@2": 0.75}


def test_open_set_f_of_four_samples(load: Load) -> None:
    # at t = 0.4 class 0 has TP 1, FP 0, FN 1 and class 1 has TP 1, FP 1, FN 0; the unknown is rejected
    columns = dict(predictions=[0, 1, 1, 0], references=[0, 1, 0, -1], open_scores=[0.1, 0.4, 0.2, 0.6])
    macro, micro = load("macro_open_f").compute(**columns), load("micro_open_f").compute(**columns)
    assert macro == {"macro_open_f": 0.75, "macro_open_f_threshold": 0.4}
    assert micro == {"micro_open_f": 2 / 3, "micro_open_f_threshold": 0.4}


def test_a_known_class_without_samples_counts_in_the_macro_average(load: Load) -> None:
    columns = dict(predictions=[0, 0], references=[0, -1], open_scores=[0.1, 0.9])
    assert load("macro_open_f").compute(**columns)["macro_open_f"] == 1.0
    assert load("macro_open_f", num_classes=2).compute(**columns)["macro_open_f"] == 0.5


def test_equal_fs_that_floats_part_count_as_equal(load: Load) -> None:
    # F is 2/9 at −0.3502 and, by other counts, at 1.0055, where floating sums give a little more
    results = load("macro_open_f", num_classes=3).compute(
        predictions=[0, 0, 0, 0, 2, 1, 0, 1, 1, 0, 1],
        references=[2, 0, 0, 0, -1, -2, -1, 2, -2, 2, -1],
        open_scores=[0.0098, -0.6913, 1.0055, -0.3502, -1.7595, 0.6859, 0.1762, -1.9765, -0.4593, -0.5709, -0.2272],
    )
    assert results == {"macro_open_f": pytest.approx(2 / 9, abs=1e-15), "macro_open_f_threshold": -0.3502}


def test_a_threshold_of_zero_has_no_sign(load: Load) -> None:
    for scores in ([0.0, -0.0], [-0.0, 0.0]):
        results = load("micro_open_f").compute(predictions=[0, 1], references=[0, 1], open_scores=scores)
        assert repr(results["micro_open_f_threshold"]) == "0.0"


def test_identical_boxes_are_matched_in_short_time() -> None:
    boxes = np.tile([[0.0, 0, 1, 1, 0.9, 0]], (1000, 1))
    results = OpenSetDetection(known_classes=[0]).compute(predictions=[boxes], references=[boxes[:, [0, 1, 2, 3, 5]]])
    assert results["TP_known"] == 1000


def test_f_without_known_or_unknown_samples(load: Load) -> None:
    for name in ("macro_open_f", "micro_open_f"):
        no_known = load(name).compute(predictions=[0, 1], references=[-1, -1], open_scores=[0.1, 0.9])
        no_unknown = load(name).compute(predictions=[0, 1], references=[0, 1], open_scores=[0.1, 0.9])
        assert no_known[name] == 0.0
        assert no_unknown == {name: 1.0, f"{name}_threshold": 0.9}


def test_openauc_of_three_known_and_two_unknown(load: Load) -> None:
    # the right ones score 0.1 and 0.4, the unknown 0.4 and 0.3: wins 1 + 1 + ½ + 0 of 3 · 2 pairs
    results = load("openauc").compute(
        predictions=[0, 1, 1, 0, 0], references=[0, 1, 0, -1, -1], open_scores=[0.1, 0.4, 0.2, 0.4, 0.3]
    )
    assert results == {
        "openauc": 2.5 / 6,
        "closed_set_accuracy": 2 / 3,
        "open_set_auroc": 4.5 / 6,
        "open_set_accuracy@tpr95": 4 / 5,
    }


def test_ood_bench_when_all_scores_tie(load: Load) -> None:
    names = ["auroc", "fpr95tpr", "tpr5fpr", "detect_acc", "aupr_out", "aupr_in"]
    results = load("ood_bench").compute(predictions=[1.0] * 4, references=[0, 0, 0, 1], metrics=names)
    assert list(results.values()) == [0.5, 1.0, 0.0, 0.75, 0.25, 0.75]


def test_operating_points_meet_bounds_exactly(load: Load) -> None:
    # 19 of 20 is a TPR of 0.95 to the last bit
    scores = np.concatenate([np.arange(20.0) + 1, [0.5, 1.5, 2.5]])
    labels = [1] * 20 + [0] * 3
    names = ["fpr95tpr", "fpr96tpr", "fnr34fpr", "tnr95tpr"]
    results = load("ood_bench").compute(predictions=scores, references=labels, metrics=names)
    assert results == {"fpr95tpr": 1 / 3, "fpr96tpr": 2 / 3, "fnr34fpr": 0.05, "tnr95tpr": 2 / 3}


EXTREMES = [-inf, -1e300, -1e12, -1.0, -5e-324, 0.0, 5e-324, 1.0, 1e12, nextafter(1e12, inf), 1e300, inf]


def test_extreme_scores_are_ranked_exactly(load: Load) -> None:
    for cut in range(1, len(EXTREMES)):
        labels = [0] * cut + [1] * (len(EXTREMES) - cut)
        results = load("ood_bench").compute(predictions=EXTREMES, references=labels, metrics=["auroc", "fpr95tpr"])
        assert results == {"auroc": 1.0, "fpr95tpr": 0.0}
    rows = [[EXTREMES[i], EXTREMES[i + 1]] for i in range(len(EXTREMES) - 1)]
    assert load("accuracyk").compute(predictions=rows, references=[1] * len(rows), k_list=1) == {"accuracy@1": 1.0}


def test_negative_zero_equals_zero(load: Load) -> None:
    assert load("ood_bench").compute(predictions=[-0.0, 0.0], references=[0, 1], metrics="auroc") == {"auroc": 0.5}
    columns = dict(predictions=[[-0.0, 0.0]], references=[1], k_list=1)
    assert load("accuracyk").compute(**columns) == {"accuracy@1": 0.0}


def test_integer_scores_rank(load: Load) -> None:
    for dtype in ("uint8", "int16", "int32", "int64", "bool"):
        scores = np.asarray([0, 1, 0, 1], dtype=dtype)
        assert load("ood_bench").compute(predictions=scores, references=[0, 1, 1, 1])["auroc"] == 5 / 6


def test_large_integers_are_compared_as_they_are(load: Load) -> None:
    scores = np.asarray([2**53 - 1, 2**53])
    assert load("ood_bench").compute(predictions=scores, references=[0, 1])["auroc"] == 1.0
    with pytest.raises(ValueError, match="predictions: expected integers within"):
        load("ood_bench").compute(predictions=scores + 1, references=[0, 1])


def box(x: float, *rest: float) -> list[float]:
    return [x, 0, x + 10, 10, *rest]


def test_each_cell_of_the_detection_table(load: Load) -> None:
    known = [box(0, 0), box(20, 0), box(40, 0), box(60, 0)]
    unknown = [box(80, 7), box(100, 7), box(120, 7)]
    found = [box(0, 0.9, 0), box(20, 0.9, 1), box(40, 0.9, -1), box(80, 0.9, 0), box(100, 0.9, -1), box(200, 0.9, 1)]
    found.append(box(220, 0.9, -1))
    metric = load("openset_detection", known_classes=[0, 1])
    results = metric.compute(predictions=[found], references=[known + unknown])
    assert results == {
        "U-Recall": 1 / 3,
        "WI": 1 / 4,
        "A-OSE": (3 + 3 + 1 + 2) / 7,
        "Precision(Known)": 1 / 4,
        "Recall(Known)": 1 / 4,
        "TP_known": 1,
        "FP_known": 3,
        "FN_known": 3,
        "TP_unknown": 1,
        "FP_unknown": 1,
        "FN_unknown": 2,
        "total_known": 4,
        "total_unknown": 3,
    }
    background = metric.compute(predictions=[found], references=[known + unknown], count_background=True)
    assert background["FP_unknown"] == 2


def test_an_iou_of_exactly_the_threshold_matches(load: Load) -> None:
    metric = load("openset_detection", known_classes=[0])
    columns = dict(predictions=[[[0, 0, 2, 2, 0.9, 0]]], references=[[[0, 0, 2, 1, 0]]])
    assert metric.compute(**columns)["TP_known"] == 1
    assert metric.compute(**columns, iou_threshold=0.51)["TP_known"] == 0


def test_images_without_objects_or_predictions(load: Load) -> None:
    metric = load("openset_detection", known_classes=[0])
    empty = metric.compute(predictions=[[], np.zeros((0, 6))], references=[np.zeros((0, 5)), []])
    assert set(empty.values()) == {0}
    results = metric.compute(
        predictions=[[], [[0, 0, 1, 1, 0.5, 0]], {"boxes": [], "scores": [], "labels": []}],
        references=[[[0, 0, 1, 1, 0]], {"boxes": [], "labels": []}, []],
    )
    assert (results["FN_known"], results["FP_known"]) == (1, 1)


@pytest.mark.parametrize("box_format", ["xywh", "cxcywh"])
def test_box_formats(box_format: str, load: Load) -> None:
    shift = 0.5 if box_format == "cxcywh" else 0
    found, true = [[1 + 2 * shift, 1 + 2 * shift, 2, 2, 0.9, 0]], [[1 + 2 * shift, 1 + shift, 2, 1, 0]]
    metric = load("openset_detection", known_classes=[0], box_format=box_format, iou_threshold=0.5)
    assert metric.compute(predictions=[found], references=[true])["TP_known"] == 1


def test_dicts_equal_tables(load: Load) -> None:
    torch = pytest.importorskip("torch")
    found = {"boxes": torch.tensor([[0.0, 0, 1, 1]]), "scores": torch.tensor([0.5]), "labels": torch.tensor([0])}
    true = {"boxes": torch.tensor([[0.0, 0, 1, 1]]), "labels": torch.tensor([0]), "image_id": torch.tensor(3)}
    metric = load("openset_detection", known_classes=[0])
    by_dict = metric.compute(predictions=[found], references=[true])
    by_table = metric.compute(predictions=[[[0, 0, 1, 1, 0.5, 0]]], references=[[[0, 0, 1, 1, 0]]])
    assert by_dict == by_table


def test_aupro_of_two_regions_by_hand(load: Load) -> None:
    maps, masks = [[[0.9, 0.5, 0.4], [0.1, 0.0, 0.2]]], [[[1, 0, 1], [0, 0, 1]]]
    results = load("anomaly_suite", integration_limits=(1.0, 0.3), levels="pixel").compute(
        predictions=maps, references=masks
    )
    # regions {0.9} and {0.4, 0.2}, normal 0.5, 0.1 and 0.0: PRO is ½ up to an FPR of ⅓, then 1
    assert results["aupro@1.0"] == pytest.approx(1 / 3 * 1 / 2 + 2 / 3, abs=1e-15)
    assert results["aupro@0.3"] == 0.5


def test_maps_may_differ_in_shape(load: Load) -> None:
    maps = [np.asarray([[0.9, 0.1]]), np.asarray([[0.2], [0.3], [0.4]])]
    masks = [np.asarray([[True, False]]), np.zeros((3, 1), dtype=bool)]
    assert load("anomaly_suite").compute(predictions=maps, references=masks)["pixel_auroc"] == 1.0


def test_a_level_may_be_left_out(load: Load) -> None:
    columns = dict(predictions=[[[0.9, 0.1]]], references=[[[1, 0]]])
    assert "aupro@0.3" in load("anomaly_suite", levels=["pixel"]).compute(**columns)
    columns = dict(predictions=[[[0.9]], [[0.1]]], references=[[[0]], [[0]]], image_labels=[1, 0])
    assert load("anomaly_suite", levels="image").compute(**columns)["image_auroc"] == 1.0


def sampled_pro(maps: np.ndarray, masks: np.ndarray, limit: float, num_thresholds: int) -> float:
    """Area under PRO at ranks of the normal pixels, in plain loops."""
    regions = [[m[i][j] for i, j in region] for m, mask in zip(maps, masks) for region in references.components(mask)]
    normal = np.sort(maps[masks == 0])
    points = [(1.0, 1.0)]
    for rank in np.linspace(0, len(normal) - 1, num=num_thresholds, dtype=int):
        overlap = np.mean([np.mean([s > normal[rank] for s in region]) for region in regions])
        points.append((1 - (rank + 1) / len(normal), float(overlap)))
    points.reverse()
    area = 0.0
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if x0 < limit:
            end = min(x1, limit)
            y_end = y0 + (y1 - y0) * (end - x0) / (x1 - x0) if x1 > x0 else y1
            area += (end - x0) * (y0 + y_end) / 2
    return area / limit


@pytest.mark.parametrize("num_thresholds", [2, 10, 99])
@pytest.mark.parametrize("seed", range(5))
def test_sampled_pro_against_plain_loops(seed: int, num_thresholds: int, load: Load) -> None:
    rng = np.random.default_rng(seed)
    masks = rng.random((3, 9, 8)) < 0.2
    maps = rng.integers(0, 30, (3, 9, 8)) / 30
    limits = [0.3, 0.05, 1.0]
    results = load("anomaly_suite", integration_limits=limits, num_thresholds=num_thresholds, levels="pixel").compute(
        predictions=maps, references=masks
    )
    for limit in limits:
        expected = sampled_pro(maps, masks.astype(int), limit, num_thresholds)
        assert results[f"aupro@{limit}"] == pytest.approx(expected, abs=1e-14)
