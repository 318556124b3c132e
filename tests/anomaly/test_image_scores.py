"""Scores of images from their maps: exact means, whatever the order and the size."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from openworld_metrics.anomaly.masks import exact_mean

Load = Callable[..., Any]
SCALES = {"float32": [1.0, 3e38, 1e-20, 2.0**-140], "float64": [1.0, 1e308, 1e-20, 2.0**-1000, 2.0**-1060]}


@pytest.mark.parametrize(("dtype", "scale"), [(dtype, scale) for dtype in SCALES for scale in SCALES[dtype]])
def test_exact_mean(dtype: str, scale: float) -> None:
    rng = np.random.default_rng(0)
    for size in (1, 2, 77, 4096):
        values = (rng.uniform(-1, 1, size) * 2.0 ** rng.integers(-40, 1, size) * scale).astype(dtype)
        assert exact_mean(values) == float(sum(map(Fraction, values.tolist())) / size)


def test_equal_means_tie(load: Load) -> None:
    one = np.full((1, 1), 0.1)
    for shape in ((7, 11), (256, 256)):
        columns = dict(predictions=[one, np.full(shape, 0.1)], references=[np.ones((1, 1)), np.zeros(shape)])
        metric = load("anomaly_suite", levels="image", image_reduction="mean")
        assert metric.compute(**columns)["image_auroc"] == 0.5


@pytest.mark.parametrize("image_reduction", ["mean", 20])
def test_the_order_of_pixels_does_not_matter(image_reduction: str | int, load: Load) -> None:
    for seed in range(20):
        pixels = np.random.default_rng(seed).random((7, 9))
        columns = dict(predictions=[pixels, pixels[:, ::-1]], references=[np.ones((7, 9)), np.zeros((7, 9))])
        metric = load("anomaly_suite", levels="image", image_reduction=image_reduction)
        assert metric.compute(**columns)["image_auroc"] == 0.5


def test_means_do_not_overflow(load: Load) -> None:
    metric = load("anomaly_suite", levels="image", image_reduction="mean")
    maps, masks = [np.full((2, 2), 1e308), np.full((2, 2), 0.9e308)], [np.ones((2, 2)), np.zeros((2, 2))]
    assert metric.compute(predictions=maps, references=masks)["image_auroc"] == 1.0


def test_infinite_pixels(load: Load) -> None:
    metric = load("anomaly_suite", levels="image", image_reduction="mean")
    maps = np.asarray([[[np.inf, 1.0]], [[-np.inf, 1e308]]])
    assert metric.compute(predictions=maps, references=np.asarray([[[0, 1]], [[0, 0]]]))["image_auroc"] == 1.0
    maps[1, 0, 1] = np.inf
    with pytest.raises(ValueError, match=r"expected maps with a mean .*, got \+inf and -inf"):
        metric.compute(predictions=maps, references=np.asarray([[[0, 1]], [[0, 0]]]))
