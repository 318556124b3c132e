"""F1, precision and recall of anomaly_suite at thresholds that were chosen before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite
from tests import cases
from tests.examples import many, seeds

RATES = ("f1", "precision", "recall")
LEVELS = ("image", "pixel")
MAPS = dict(
    predictions=[[[0.1, 0.2], [0.3, 0.9]], [[0.1, 0.4], [0.0, 0.2]]], references=[[[0, 0], [1, 1]], [[0, 0], [0, 0]]]
)


def drawn(seed: int) -> tuple[dict[str, Any], np.random.Generator]:
    rng = np.random.default_rng(seed)
    maps = rng.integers(-8, 9, (9, 7, 6)).astype(rng.choice(["float16", "float32", "float64"])) / 10
    masks = np.zeros(maps.shape, dtype=int)
    masks[:4, 2:5, 1:4] = rng.integers(0, 2, (4, 3, 3))
    masks[:4, 6, 5] = 1
    return {"predictions": maps, "references": masks}, rng


def counted(scores: np.ndarray, labels: np.ndarray, t: float) -> dict[str, float]:
    called, labels = scores.astype(np.float64) > np.float64(t), labels.astype(bool)
    tp, fp, fn = int((called & labels).sum()), int((called & ~labels).sum()), int((~called & labels).sum())
    precision, recall = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn)
    return {"f1": 2 * tp / (2 * tp + fp + fn), "precision": precision, "recall": recall}


@many
@given(seed=seeds)
def test_the_fitted_threshold_gives_the_best_f1_to_the_bit(seed: int) -> None:
    columns, options = cases.draw("anomaly_suite", seed)
    best = AnomalySuite(**options).compute(**columns)
    fitted = {f"{level}_threshold": best[f"{level}_f1_max_threshold"] for level in LEVELS}
    found = AnomalySuite(**fitted, **options).compute(**columns)
    assert {key: found[key] for key in best} == best
    assert found.keys() - best.keys() == {f"{level}_{rate}" for level in LEVELS for rate in RATES}
    for level in LEVELS:
        assert found[f"{level}_f1"] == best[f"{level}_f1_max"]


@many
@given(seed=seeds)
def test_rates_against_a_count_of_each_pixel(seed: int) -> None:
    columns, rng = drawn(seed)
    maps, masks = columns.values()
    for t in (0.0, 0.3, float(rng.normal()), -np.inf, np.inf, 1e300, -1e300):
        found = AnomalySuite(image_threshold=t, pixel_threshold=t).compute(**columns)
        sides = {"image": (maps.max(axis=(1, 2)), masks.any(axis=(1, 2))), "pixel": (maps, masks)}
        for level, (scores, labels) in sides.items():
            assert {rate: found[f"{level}_{rate}"] for rate in RATES} == counted(scores, labels, t)


@many
@given(seed=seeds)
def test_rates_of_cut_scores_are_within_their_errors(seed: int) -> None:
    columns, rng = drawn(seed)
    bits, t = int(rng.integers(4, 30)), float(rng.choice([0.0, 0.5, rng.normal() / 2, 0.3]))
    exact = AnomalySuite(image_threshold=t, pixel_threshold=t).compute(**columns)
    found = AnomalySuite(image_threshold=t, pixel_threshold=t, significant_bits=bits).compute(**columns)
    for rate in RATES:
        assert found[f"image_{rate}"] == exact[f"image_{rate}"]
        assert abs(found[f"pixel_{rate}"] - exact[f"pixel_{rate}"]) <= found[f"pixel_{rate}_error"]
        if t in (0.0, 0.5):  # which has no more bits
            assert found[f"pixel_{rate}_error"] == 0.0


@pytest.mark.parametrize("level", LEVELS)
def test_thresholds_that_are_none(level: str) -> None:
    with pytest.raises(ValueError, match=f"{level}_threshold: expected a number, got nan"):
        AnomalySuite(**{f"{level}_threshold": float("nan")}).compute(**MAPS)
    with pytest.raises(TypeError, match=f"{level}_threshold: expected a number, got 'high'"):
        AnomalySuite(**{f"{level}_threshold": "high"}).compute(**MAPS)


def test_pixels_that_were_counted_have_no_intervals_even_if_all_differ() -> None:
    metric = AnomalySuite(significant_bits=52)
    rng = np.random.default_rng(0)
    for _ in range(2):
        metric.add_batch(predictions=rng.random((2, 200, 200)), references=[np.eye(200), np.zeros((200, 200))])
    with pytest.raises(ValueError, match="have been counted together; give it at load"):
        metric.compute(confidence_level=0.9)
