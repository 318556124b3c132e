"""IoUs that rounding makes doubtful are decided and ranked by fractions, at any scale."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests.detection_references import openset_detection as slow
from tests.examples import many, seeds

Load = Callable[..., Any]
DETECTION = "openset_detection"
Box = list[float]
PROTOCOLS: list[dict[str, Any]] = [
    {"matching": "confidence"},
    {"matching": "iou"},
    {"protocol": "owod", "recall_level": None},
]


def true_positives(load: Load, found: list[Any], true: list[Any], **options: Any) -> int:
    results = load(DETECTION, **{"known_classes": [0, 1], **options}).compute(predictions=[found], references=[true])
    count: int = results["TP_known"]
    return count


@pytest.mark.parametrize(
    ("box", "options"),
    [
        ([1e9, 0.0, 0.01, 0.01], {"box_format": "xywh"}),
        ([1e7, 1e7, 1.1e-4, 1.1e-4], {"box_format": "xywh"}),
        ([1e12, 0.0, 10.3, 10.3], {"box_format": "cxcywh"}),
        ([5e9, 0, 5e9, 2], {"plus_one": True}),
        ([5e9, 0, 5e9, 2], {"plus_one": True, "protocol": "owod", "recall_level": None}),
        ([0, 0, 1e-300, 1e-300], {}),
        ([-1e-300, 1e-300, 1e-300, 1e-300], {"box_format": "cxcywh"}),
    ],
)
def test_equal_boxes_match_wherever_they_lie(box: Box, options: dict[str, Any], load: Load) -> None:
    assert true_positives(load, [[*box, 0.9, 0]], [[*box, 0]], **options) == 1
    assert true_positives(load, [[*box, 0.9, 0]], [[*box, 0]], **options, iou_threshold=1.0) == 1


def test_small_boxes_far_away(load: Load) -> None:
    box, other = [1000000.0000003, 1000000.0000004, 4e-7, 4e-7], [1000000.0000004, 1000000.0000007, 6e-7, 2e-7]
    boxes = [[*box, 0.9, 0]], [[*other, 0]]  # an IoU of 0.11999
    assert true_positives(load, *boxes, box_format="xywh", iou_threshold=0.1) == 1
    assert true_positives(load, *boxes, box_format="xywh", iou_threshold=0.12) == 0


@pytest.mark.parametrize("threshold", [1e-13, 1e-16, 1e-20, 1e-300])
def test_thresholds_near_zero(threshold: float, load: Load) -> None:
    # the doubles on either side of the decimal
    for width, reached in ((np.nextafter(threshold, 1), 1), (np.nextafter(threshold, 0), 0)):
        boxes = [[0, 0, float(width), 1, 0.9, 0]], [[0, 0, 1, 1, 0]]
        assert true_positives(load, *boxes, iou_threshold=threshold) == reached


def reaching_exactly(rng: np.random.Generator, percent: int) -> tuple[Box, Box, Box]:
    """An object of 100 equal stripes, a box of `percent` of them, and the largest box that is smaller in float64."""
    corner, width, unit = rng.integers(0, 9, 2) * 1.0, float(rng.integers(1, 60)), 2.0 ** rng.integers(-3, 4)
    rows = [[*corner, corner[0] + width, corner[1] + height * unit] for height in (100, percent, percent)]
    rows[2][3] = np.nextafter(rows[2][3], 0)
    if rng.random() < 0.5:  # stripes side by side
        rows = [[row[1], row[0], row[3], row[2]] for row in rows]
    whole, box, smaller = ([float(x) for x in row] for row in rows)
    return whole, box, smaller


@pytest.mark.parametrize("options", PROTOCOLS, ids=str)
def test_a_threshold_is_a_decimal(options: dict[str, Any], load: Load) -> None:
    for percent, swapped in product(range(5, 96), (False, True)):
        rng = np.random.default_rng(percent + 100 * swapped)
        whole, box, smaller = reaching_exactly(rng, percent)
        for row, reached in ((box, 1), (smaller, 0)):
            first, second = (whole, row) if swapped else (row, whole)
            boxes = [[*first, 0.9, 0]], [[*second, 0]]
            assert true_positives(load, *boxes, **options, iou_threshold=percent / 100) == reached


@pytest.mark.parametrize("options", PROTOCOLS, ids=str)
@pytest.mark.parametrize("percent", range(10, 96))
def test_the_thresholds_of_errors_are_decimals(percent: int, options: dict[str, Any], load: Load) -> None:
    whole, box, smaller = reaching_exactly(np.random.default_rng(percent), percent)
    metric = load(DETECTION, known_classes=[0, 1], errors=True, iou_threshold=percent / 100, **options)
    below = "badly placed" if percent > 10 else "background called known"
    for row, label, kind in (
        (box, 0, "duplicate"),
        (box, 1, "known called another known"),
        (smaller, 0, below),
        (smaller, 1, "both, known called another known" if percent > 10 else below),
    ):
        errors = metric.compute(predictions=[[[*whole, 0.9, 0], [*row, 0.5, label]]], references=[[[*whole, 0]]])
        table = errors["errors"]
        assert dict(zip(table["error"], table["count"])) == {**dict.fromkeys(table["error"], 0), kind: 1}


@pytest.mark.parametrize("twentieths", range(10, 20))
def test_recalls_at_a_budget_count_exact_ious(twentieths: int, load: Load) -> None:
    whole, box, smaller = reaching_exactly(np.random.default_rng(twentieths), 5 * twentieths)
    for row, reached in ((box, twentieths - 9), (smaller, twentieths - 10)):
        for budget in ("unknown", "all", "called unknown"):
            metric = load(DETECTION, known_classes=[0], recall_budgets=[1], budget=budget)
            results = metric.compute(predictions=[[[*row, 0.9, -1]]], references=[[[*whole, 7]]])
            assert results["AR@1"] == reached / 10


def test_equal_ious_go_to_the_more_confident(load: Load) -> None:
    w, h = 271493.8896484375, 1012363.3115234375
    found = [[0, 0, 9 * w, 6 * h, 0.9, 0], [0, 0, 4 * w, 6 * h, 0.1, 1]]
    assert true_positives(load, found, [[0, 0, 6 * w, 6 * h, 0]]) == 1  # IoUs of exactly 2/3


def test_ious_that_round_to_one_float_are_ranked_exactly(load: Load) -> None:
    n = 2**28
    found = [[0, 0, n - 1, 1, 0.9, 1], [0, 0, n + 1, 1, 0.1, 0]]
    assert (n - 1) / n == n / (n + 1)  # as floats
    assert true_positives(load, found, [[0, 0, n, 1, 0]]) == 1


def exact(box: Box, box_format: str) -> list[Any]:
    a, b, c, d = map(Fraction, box)
    return {
        "xyxy": [a, b, c, d],
        "xywh": [a, b, a + c, b + d],
        "cxcywh": [a - c / 2, b - d / 2, a + c / 2, b + d / 2],
    }[box_format]


def draw(rng: np.random.Generator, box_format: str, count: int) -> list[Box]:
    """Boxes on a grid of any scale, so that many IoUs are equal, and some of which lie far away."""
    unit = rng.random(2) * 10.0 ** rng.integers(-9, 9) + 1e-12
    far = float(rng.choice([0, 0, 1e3, 1e6, 1e9, 1e15])) * float(np.max(unit))
    boxes = []
    for _ in range(count):
        start, size = rng.integers(0, 3, 2) * unit, rng.integers(1, 7, 2) * unit
        if box_format == "xyxy":
            start, size = start + far, np.maximum(start + far, start + far + size)
        else:
            start = start + far
        boxes.append([*map(float, start), *map(float, size)])
    return boxes


@many
@given(seed=seeds)
def test_boxes_of_any_scale_equal_the_slow_reference(seed: int, load: Load) -> None:
    rng = np.random.default_rng(seed)
    box_format = str(rng.choice(["xyxy", "xywh", "cxcywh"]))
    known, plus_one = [0, 1], bool(rng.random() < 0.3)
    found, true, exactly_found, exactly_true = [], [], [], []
    for _ in range(2):
        boxes = draw(rng, box_format, 7)
        shares, labels = rng.permutation(16)[:4] / 16, rng.integers(-1, 3, 7).tolist()
        found.append([[*box, float(c), label] for box, c, label in zip(boxes[:4], shares, labels)])
        true.append([[*box, label] for box, label in zip(boxes[4:], labels[4:])])
        exactly_found.append([[*exact(row[:4], box_format), *row[4:]] for row in found[-1]])
        exactly_true.append([[*exact(row[:4], box_format), *row[4:]] for row in true[-1]])
    options: dict[str, Any] = {
        "known_classes": known,
        "plus_one": plus_one,
        "iou_threshold": float(rng.choice([0.25, 0.5, 0.2, 1 / 3, 0.75, 0.8, 0.55, 0.6])),
        **PROTOCOLS[seed % 3],
    }
    expected = slow(exactly_found, exactly_true, **options)
    results = load(DETECTION, box_format=box_format).compute(predictions=found, references=true, **options)
    for name, value in results.items():
        want = expected[name]
        assert value == pytest.approx([float(x) for x in want] if isinstance(want, list) else float(want), abs=1e-14)
