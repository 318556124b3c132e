"""AUPIMO of anomaly_suite: worked examples, a slow reference along the curve, laws, and what it cannot be had of."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import AnomalySuite
from openworld_metrics.anomaly.aupimo import aupimo, pixel_weights
from openworld_metrics.metric import metric as metric_module
from tests.examples import many, seeds

NORMAL = np.arange(20).reshape(2, 2, 5) / 20
ANOMALOUS = np.full((2, 2, 5), 0.1)
ANOMALOUS[:, 0] = [0.97, 0.91, 0.86, 0.70, 0.2], [0.99, 0.99, 0.99, 0.2, 0.2]
MASKS = np.zeros((4, 2, 5), dtype=int)
MASKS[2, 0, :4] = MASKS[3, 0, :3] = 1
Images = list[Any]


def slow(maps: Images, masks: Images, labels: Images, low: float, high: float) -> float:
    """The mean over the images, along each curve, with the false-positive rates as fractions."""
    normal = [scores[mask == 0].tolist() for scores, mask, y in zip(maps, masks, labels) if not y]
    normal = [pixels for pixels in normal if pixels]
    found = []
    for scores, mask, y in zip(maps, masks, labels):
        pixels = scores[mask == 1].tolist()
        if not y or not pixels:
            continue
        points = [(Fraction(0), Fraction(0))]
        for t in sorted({*pixels, *(s for each in normal for s in each)}, reverse=True):
            f = sum((Fraction(sum(s >= t for s in each), len(each)) for each in normal), Fraction()) / len(normal)
            points.append((f, Fraction(sum(s >= t for s in pixels), len(pixels))))
        area = 0.0
        for (f0, t0), (f1, t1) in pairwise(points):
            x0, x1 = max(f0, Fraction(low)), min(f1, Fraction(high))
            if x0 >= x1:
                continue
            if f0 == 0:
                area += float(t0) * math.log(x1 / x0)
                continue
            slope = float(t1 - t0) / math.log(f1 / f0)
            ends = [float(t0) + slope * math.log(x / f0) for x in (x0, x1)]
            area += sum(ends) / 2 * math.log(x1 / x0)
        found.append(area / math.log(high / low))
    return math.fsum(found) / len(found)


def value(maps: Any, masks: Any, bounds: Any, **columns: Any) -> float:
    metric = AnomalySuite(levels="pixel", integration_limits=[1.0], pimo_bounds=bounds)
    return float(metric.compute(predictions=maps, references=masks, **columns)["aupimo"])


@pytest.mark.parametrize("transform", [lambda x: x, lambda x: np.exp(30 * x)], ids=["scores", "exp"])
@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        ((0.05, 0.5), 0.740102),
        ((0.1, 0.5), 0.843509),
        ((0.1, 0.4), 0.818319),
        ((0.08, 0.33), 0.743530),
        ((0.01, 0.5), 0.538470),
    ],
)
def test_worked_examples(bounds: tuple[float, float], expected: float, transform: Any) -> None:
    normal, maps = transform(NORMAL), transform(ANOMALOUS)
    first, second = aupimo(maps[MASKS[2:] == 1], np.asarray([4, 3]), normal.ravel(), bounds)
    assert (round(first, 6), second) == (expected, 1.0)
    if bounds[0] >= 0.05:
        assert value(np.concatenate([normal, maps]), MASKS, bounds) == (first + second) / 2


def drawn(seed: int, one_size: bool) -> tuple[Images, Images, Images, np.random.Generator]:
    rng = np.random.default_rng(seed)
    sizes = [(5, 8)] * 9 if one_size else [tuple(rng.integers(4, 9, 2).tolist()) for _ in range(9)]
    levels = int(rng.choice([6, 40, 10**6]))
    dtype = rng.choice(["float16", "float32", "float64"])
    maps = [(rng.integers(-levels, levels, size) / levels).astype(dtype) for size in sizes]
    masks = [rng.integers(0, 2, size) * (rng.random(size) < 0.4) for size in sizes]
    labels = [*(bool(i % 2) for i in range(9))]
    for i in range(0, 9, 2):
        masks[i] = masks[i] * int(i == 4)  # a normal image may have anomalous pixels, which do not count
    masks[1][0, 0] = 1
    for scores, mask in zip(maps, masks):
        scores[mask == 1] += np.asarray(rng.choice([0, 0.25, 0.5]), dtype)
    return maps, masks, labels, rng


@pytest.mark.parametrize("one_size", [True, False])
@many
@given(seed=seeds)
def test_against_the_curve(one_size: bool, seed: int) -> None:
    maps, masks, labels, rng = drawn(seed, one_size)
    low = float(rng.choice([0.05, 0.1, rng.uniform(0.03, 0.2)]))
    high = float(rng.choice([0.5, 1.0, rng.uniform(low + 0.01, 1)]))
    wide = [scores.astype(np.float64) for scores in maps]
    expected = slow(wide, masks, labels, low, high)
    found = value(maps, masks, (low, high), image_labels=labels)
    assert found == pytest.approx(expected, abs=1e-12)
    order = rng.permutation(9)
    shuffled, parts = ([column[i] for i in order] for column in (maps, masks))
    assert value(shuffled, parts, (low, high), image_labels=[labels[i] for i in order]) == found
    ranks = np.unique(np.concatenate([scores.ravel() for scores in wide]))
    ranked = [np.exp(np.searchsorted(ranks, scores) / len(ranks)) for scores in wide]
    assert value(ranked, masks, (low, high), image_labels=labels) == found


def test_weights_of_sizes() -> None:
    assert pixel_weights(np.asarray([65536] * 83)).tolist() == [1] * 83
    assert pixel_weights(np.asarray([4, 6, 10])).tolist() == [15, 10, 6]
    assert sum(pixel_weights(np.asarray([1, 1, 1, 2**52])).tolist()) <= 2**53
    sizes = np.random.default_rng(0).integers(10**5, 10**6, 1000)
    weights = [Fraction(weight) * size for weight, size in zip(pixel_weights(sizes).tolist(), sizes.tolist())]
    mean = sum(weights) / 1000
    assert all(abs(weight / mean - 1) <= Fraction(2 * 1000 * 10**6, 2**53) for weight in weights)


def test_batches_of_few_values_are_not_counted_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_module, "ROWS", 8)
    maps = np.concatenate([NORMAL, ANOMALOUS]).astype(np.float16)
    metric, late = AnomalySuite(pimo_bounds=(0.1, 0.5)), AnomalySuite()
    for i in (2, 0, 3, 1):
        metric.add_batch(predictions=maps[i : i + 1], references=MASKS[i : i + 1])
        late.add_batch(predictions=maps[i : i + 1], references=MASKS[i : i + 1])
    with pytest.raises(
        ValueError, match="pimo_bounds: pixels of several images have been counted together; give it at"
    ):
        late.compute(pimo_bounds=(0.1, 0.5))
    assert len(metric.states()) == 4
    assert metric.compute() == AnomalySuite(pimo_bounds=(0.1, 0.5)).compute(predictions=maps, references=MASKS)


def test_with_void_pixels_and_torch() -> None:
    torch = pytest.importorskip("torch")
    maps, masks = np.concatenate([NORMAL, ANOMALOUS]), MASKS.copy()
    expected = value(maps, masks, (0.1, 0.5))
    assert value(torch.asarray(maps), torch.asarray(masks), (0.1, 0.5)) == expected
    maps, masks = np.pad(maps, ((0, 0), (0, 1), (0, 0)), constant_values=9), np.pad(masks, ((0, 0), (0, 1), (0, 0)))
    masks[:, 2] = 255
    metric = AnomalySuite(pimo_bounds=(0.1, 0.5), ignore_value=255)
    assert metric.compute(predictions=maps, references=masks)["aupimo"] == expected


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        (
            (1e-5, 1e-4),
            "a lower bound of at least 0.05, the smallest .* 20 pixels of 2 normal images can give; got 1e-05",
        ),
        ((0.049, 0.5), "got 0.049"),
        ((0.5, 0.1), r"pimo_bounds: expected two numbers, the lower one first, got \[0.5, 0.1\]"),
        ((0.1, 0.1), "the lower one first"),
        (0.1, r"expected two numbers, the lower one first, got \[0.1\]"),
        ((0.0, 0.1), r"pimo_bounds: expected a number in \(0, 1\], got 0.0"),
        ((0.1, 2), r"pimo_bounds: expected a number in \(0, 1\], got 2"),
    ],
)
def test_bounds_that_are_none(bounds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        value(np.concatenate([NORMAL, ANOMALOUS]), MASKS, bounds)


def test_images_that_are_missing() -> None:
    maps = np.concatenate([NORMAL, ANOMALOUS])
    for labels, came in (([1, 1, 1, 1], "0 and 2"), ([1, 1, 0, 0], "2 and 0")):
        with pytest.raises(ValueError, match=f"for aupimo; got {came}; leave pimo_bounds out"):
            value(maps, MASKS, (0.1, 0.5), image_labels=labels)
    with pytest.raises(ValueError, match="pimo_bounds: expected None with significant_bits"):
        AnomalySuite(significant_bits=8, pimo_bounds=(0.1, 0.5)).compute(predictions=maps, references=MASKS)
    assert "aupimo" not in AnomalySuite(levels="image", pimo_bounds=(0.1, 0.5)).compute(
        predictions=maps, references=MASKS
    )
