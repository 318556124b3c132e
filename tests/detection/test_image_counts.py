"""The law of counts of images: the results of images that stand for several are, to the bit, those of them repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from openworld_metrics import OpenSetDetection
from openworld_metrics.arrays import threads
from tests import cases
from tests.examples import many, seeds

State = dict[str, Any]
Options = dict[str, Any]
DETECTION = "openset_detection"
CONFIDENCES = [0.5, -1.0, 0.0, 0.5, 1.25, 3.0]
VARIANTS: dict[str, Options] = {
    "ow-dln": {"protocol": "ow-dln"},
    "ow-dln by confidence": {"protocol": "ow-dln", "matching": "confidence", "conf_list": CONFIDENCES},
    "owod": {"protocol": "owod", "previously_known": [1], "conf_list": CONFIDENCES},
    "ow-dln with errors": {"protocol": "ow-dln", "errors": True, "recall_budgets": [1, 3], "unknown_below": 0.5},
    "owod with errors": {"protocol": "owod", "errors": True, "recall_budgets": 2, "average_precision": "11-point"},
}
some = settings(many, max_examples=15)  # of each variant
each_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=[*VARIANTS])


def draw(seed: int, variant: Options) -> tuple[cases.Columns, Options]:
    """Images, of which objects may be ignored, and options."""
    rng = np.random.default_rng(seed)
    columns, options = cases.draw(DETECTION, seed)
    given = {name: options[name] for name in ("known_classes", "unknown_class_id", "iou_threshold", "plus_one")}
    given |= {"conf_threshold": -2.0 if rng.random() < 0.7 else 0.5, **variant}
    given["box_format"] = str(rng.choice(["xyxy", "xywh", "cxcywh"]))
    if variant["protocol"] == "owod":
        given["recall_level"] = float(rng.choice([0.01, 0.1, 0.25])) if rng.random() < 0.7 else None
    else:
        given["count_background"] = bool(rng.random() < 0.5)
    objects = [
        {"boxes": true[:, :4], "labels": true[:, 4], "ignored": (rng.random(len(true)) < 0.2).astype(int)}
        for true in columns["references"]
    ]
    return {"predictions": columns["predictions"], "references": objects}, given


def added(columns: cases.Columns, images: Any, options: Options) -> OpenSetDetection:
    metric = OpenSetDetection(**options)
    metric.add_batch(**{name: cases.take(column, images) for name, column in columns.items()})
    return metric


def merged(states: list[State], options: Options) -> OpenSetDetection:
    metric = OpenSetDetection(**options)
    for state in states:
        metric.merge(state)
    return metric


def outcome(metric: OpenSetDetection, **options: Any) -> Any:
    """The results, or the words of the error."""
    try:
        return metric.compute(**options)
    except ValueError as error:
        return str(error)


def check(seed: int, variant: Options) -> None:
    columns, options = draw(seed, variant)
    rng = np.random.default_rng(seed)
    images = np.arange(len(columns["predictions"]))
    counts = rng.integers(1, 5, len(images))
    tables = {"per_class": True, "per_image": True}
    expected = added(columns, np.repeat(images, counts), options)
    assert len(expected) == counts.sum()
    results = outcome(expected, **tables)
    state = {**added(columns, images, options).state(), "counts": counts}
    counted = merged([state], options)
    assert len(counted) == counts.sum()
    assert outcome(counted, **tables) == results
    # a part with counts and one without, in another order: all but the table by image
    some, rest = np.split(rng.permutation(images), [len(images) // 2])
    parts = [
        {**added(columns, some, options).state(), "counts": counts[some]},
        added(columns, np.repeat(rest, counts[rest]), options).state(),
    ]
    if isinstance(results, dict):
        del results["per_image"]
    for order in (parts, parts[::-1]):
        mixed = merged(order, options)
        assert len(mixed) == counts.sum()
        joined = mixed.state()
        assert outcome(mixed, per_class=True) == results
        assert outcome(merged([joined], options), per_class=True) == results


@each_variant
@some
@given(seed=seeds)
def test_images_with_counts_are_the_images_repeated(variant: Options, seed: int) -> None:
    check(seed, variant)


@each_variant
def test_the_law_holds_in_compiled_loops(variant: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    for seed in range(5):
        check(seed, variant)


FOUND = [[0, 0, 10, 10, 0.9, 0], [20, 0, 30, 10, 0.8, 1]]
TRUE = [[0, 0, 10, 10, 0], [20, 0, 30, 10, 5], [40, 0, 50, 10, 1]]


def counted(*counts: int, **options: Any) -> OpenSetDetection:
    """An image with a right, a wrong and a missing box, and one without predictions, so often."""
    metric = OpenSetDetection(known_classes=[0, 1], **options)
    metric.add_batch(predictions=[FOUND, []], references=[TRUE, TRUE[:1]])
    state = metric.state()
    metric.reset()
    metric.merge({**state, "counts": counts})
    return metric


def test_a_trillion_images() -> None:
    metric = counted(2**39, 2**39)
    assert len(metric) == 2**40
    results = metric.compute()
    assert results["total_known"] == 3 * 2**39
    assert results["Recall(Known)"] == 1 / 3
    results = counted(2**39, 2**39, protocol="owod", recall_level=None).compute()
    assert results["A-OSE"] == results["A-OSE(detections)"] == 2**39
    assert results["mAP"] == (0.5 + 0) / 2
    with pytest.raises(ValueError, match="expected at most 1099511627776 samples in all"):
        counted(2**40, 2**40)


@pytest.mark.parametrize("counts", [[0, 1], [1], [1, 2, 3], [1.5, 1], [-1, 1], [[1, 1]], None, "x"], ids=str)
def test_counts_that_are_none(counts: Any) -> None:
    metric = OpenSetDetection(known_classes=[0, 1])
    metric.add_batch(predictions=[FOUND, []], references=[TRUE, TRUE[:1]])
    with pytest.raises((ValueError, TypeError), match="state"):
        metric.merge({**metric.state(), "counts": counts})
    assert len(metric) == 2
