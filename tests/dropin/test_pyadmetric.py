"""PyADMetric's functions: the formulas of its guide by scikit-learn, and its keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from openworld_metrics.dropin import pyadmetric
from openworld_metrics.dropin.pyadmetric import (
    cal_metric,
    calculate_AP,
    calculate_AUPR,
    calculate_AUROC,
    calculate_F1max,
    calculate_Pro,
)
from tests import cases

LIMITS = [0.3, 0.1, 0.05, 0.01]
KEYS = ["AUROC", "Average precision", "F1-maximum", "AUPR"]


def both_levels(seed: int) -> dict[str, np.ndarray]:
    """Labels and scores of images, masks and maps."""
    rng = np.random.default_rng(seed)
    columns, _ = cases.draw("anomaly_suite", seed)
    maps, masks = columns["predictions"], columns["references"]
    return {
        "gt_sp": np.r_[0, 1, rng.integers(0, 2, len(maps) - 2)],
        "gt_mask": masks,
        "pr_sp": rng.integers(0, 9, len(maps)) / 8,
        "pr_mask": maps,
    }


@pytest.mark.parametrize("seed", range(10))
def test_one_level(seed: int) -> None:
    sk = pytest.importorskip("sklearn.metrics")
    arrays = both_levels(seed)
    for gt, predict in ((arrays["gt_sp"], arrays["pr_sp"]), (arrays["gt_mask"].ravel(), arrays["pr_mask"].ravel())):
        precision, recall, thresholds = sk.precision_recall_curve(gt, predict)
        values = {
            "AUROC": sk.roc_auc_score(gt, predict),
            "AP": sk.average_precision_score(gt, predict),
            "AUPR": sk.auc(recall, precision),
            "F1max": max(sk.f1_score(gt, predict >= t) for t in thresholds),
        }
        for name, value in values.items():
            call = getattr(pyadmetric, f"calculate_{name}")
            exact = call(gt, predict, decimals=None)
            assert exact == pytest.approx(value, abs=1e-13)
            assert (call(gt, predict), call(gt, predict, 1)) == (round(exact, 3), round(exact, 1))
            assert call(gt.astype(np.float64), predict.tolist()) == call(gt, predict)


@pytest.mark.parametrize("num_thresholds", [None, 99])
@pytest.mark.parametrize("seed", range(10))
def test_pro(seed: int, num_thresholds: int | None) -> None:
    masks, maps = (both_levels(seed)[name] for name in ("gt_mask", "pr_mask"))
    shape = masks.shape[1:]
    options: dict[str, Any] = {"num_thresholds": num_thresholds, "shape": shape}
    areas, (fpr, pro, thresholds) = calculate_Pro(masks, maps, decimals=None, **options)
    suite = AnomalySuite(num_thresholds=num_thresholds, levels="pixel").compute(predictions=maps, references=masks)
    assert areas == [suite[f"aupro@{limit}"] for limit in LIMITS]
    flat = calculate_Pro(masks.ravel(), maps.ravel(), **options)
    assert flat == ([round(area, 3) for area in areas], (fpr, pro, thresholds))
    assert calculate_Pro(masks, maps, [0.05, 0.05, 1], **options)[0][:2] == [round(areas[2], 3)] * 2
    if num_thresholds is None:
        whole = calculate_Pro(masks, maps, 1.0, shape=shape, decimals=None)[0]
        assert whole == pytest.approx([np.trapezoid(pro, fpr)], abs=1e-13)


@pytest.mark.parametrize("seed", range(10))
def test_both_levels(seed: int) -> None:
    arrays = both_levels(seed)
    results = cal_metric(**arrays)
    assert [*results] == [
        *(f"{level}-{key}" for level in ("Image", "Pixel") for key in KEYS),
        *(f"Pixel-AUPRO@{percent}%" for percent in (30, 10, 5, 1)),
    ]
    for level, columns in {
        "Image": (arrays["gt_sp"], arrays["pr_sp"]),
        "Pixel": (arrays["gt_mask"].ravel(), arrays["pr_mask"].ravel()),
    }.items():
        calls = (calculate_AUROC, calculate_AP, calculate_F1max, calculate_AUPR)
        assert [results[f"{level}-{key}"] for key in KEYS] == [call(*columns, decimals=None) for call in calls]
    height, width = arrays["gt_mask"].shape[1:]
    areas, _ = calculate_Pro(arrays["gt_mask"], arrays["pr_mask"], shape=(height, width), decimals=None)
    assert [results[f"Pixel-AUPRO@{percent}%"] for percent in (30, 10, 5, 1)] == areas
    torch = pytest.importorskip("torch")
    flat = {name: torch.tensor(array) for name, array in arrays.items()}
    flat |= {name: flat[name].flatten() for name in ("gt_mask", "pr_mask")}
    assert cal_metric(*flat.values(), shape=(height, width)) == pytest.approx(results, abs=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: calculate_AUROC([0, 1, 2], [0.1, 0.2, 0.3]), ValueError, "gt: expected 0 or 1, got 2"),
        (lambda: calculate_AP([0.1, 0.2], [0, 1]), ValueError, "gt: expected integers, got 0.1"),
        (lambda: calculate_AUPR([0, 1], [0.1, np.nan]), ValueError, "predict: expected no NaN, got NaN at position 1"),
        (lambda: calculate_F1max([1, 1], [0.1, 0.2]), ValueError, "expected samples of both classes"),
        (lambda: calculate_AUROC([0, 1], [0.1]), ValueError, "got 1 predict, 2 gt"),
        (lambda: calculate_AUROC([0, 1], [0.1, 0.2], -1), ValueError, "decimals: expected an int of at least 0"),
        (lambda: calculate_Pro(np.eye(4), np.eye(4)), ValueError, "expected maps of shape 256 × 256, got 16 pixels"),
        (
            lambda: calculate_Pro(np.zeros((1, 2, 2)), np.eye(2)[None], shape=(2, 2)),
            ValueError,
            "got 0 anomalous and 4",
        ),
        (lambda: calculate_Pro(np.eye(2), np.eye(2), 30, shape=(2, 2)), ValueError, "integration_limit: .* got 30"),
        (lambda: cal_metric([0, 1], np.eye(2), [0, 1], np.eye(2)), ValueError, "expected"),
    ],
)
def test_what_is_wrong(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
