"""The two average precisions of papers, and precision and F1 of "unknown", by hand and against fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import OpenSetDetection
from openworld_metrics.detection.curves import AVERAGE_PRECISIONS
from tests import cases
from tests.detection import slow_errors as slow
from tests.detection.test_protocols import as_lists
from tests.examples import many, seeds


def metric(**options: Any) -> OpenSetDetection:
    return OpenSetDetection(known_classes=[0], protocol="owod", recall_level=None, **options)


def of_outcomes(outcomes: str, objects: int, **options: Any) -> dict[str, Any]:
    """Results of predictions in the order of their confidence, T on an object and F beside all."""
    true = [[20 * i, 0, 20 * i + 10, 10, 0] for i in range(objects)]
    right = iter(range(objects))
    places = [next(right) if outcome == "T" else -1 - i for i, outcome in enumerate(outcomes)]
    found = [[20 * x, 0, 20 * x + 10, 10, 1 - i / 100, 0] for i, x in enumerate(places)]
    return metric(**options).compute(predictions=[found], references=[true])


@pytest.mark.parametrize(
    ("outcomes", "objects", "exact", "of_steps"),
    [
        # all points; eleven points; and what the references' float steps of 0.1 give
        ("TFT", 3, (Fraction(5, 9), Fraction(6, 11)), 0.545454),
        ("TTT", 10, (Fraction(3, 10), Fraction(4, 11)), 3 / 11),
        ("TTTTTT", 10, (Fraction(3, 5), Fraction(7, 11)), 6 / 11),
        ("TTTTTTT", 10, (Fraction(7, 10), Fraction(8, 11)), 7 / 11),
        ("TFTTFT", 5, (Fraction(19, 30), Fraction(2, 3)), 0.659091),
    ],
)
def test_literals(outcomes: str, objects: int, exact: tuple[Fraction, Fraction], of_steps: float) -> None:
    for rule, value in zip(AVERAGE_PRECISIONS, exact):
        assert of_outcomes(outcomes, objects, average_precision=rule)["mAP"] == pytest.approx(float(value), abs=1e-15)
    assert by_steps_of_floats(outcomes, objects) == pytest.approx(of_steps, abs=1e-6)


def by_steps_of_floats(outcomes: str, objects: int) -> float:
    """As the code of OW-DETR and PROB does it: a recall of exactly 3/10, 6/10 or 7/10 is missed."""
    tp = np.cumsum([outcome == "T" for outcome in outcomes])
    recall, precision = tp / objects, tp / np.arange(1, len(outcomes) + 1)
    return sum(max(precision[recall >= t], default=0.0) / 11.0 for t in np.arange(0.0, 1.1, 0.1))


@many
@given(seed=seeds)
def test_eleven_points_equal_the_slow_reference(seed: int) -> None:
    columns, options = cases.draw("openset_detection", seed)
    options = {name: options[name] for name in ("known_classes", "unknown_class_id", "iou_threshold", "conf_threshold")}
    options |= {"protocol": "owod", "recall_level": None, "average_precision": "11-point"}
    scene = slow.matched_scene(*as_lists(columns), **options)
    expected = slow.rates(scene, scene.counted(), "11-point")
    results = OpenSetDetection(**options).compute(**columns)
    for name, value in zip(("mAP", "U-AP", "U-Recall"), expected):
        assert results.get(name) == (None if value is None else pytest.approx(float(value), abs=1e-14))


@many
@given(seed=seeds)
def test_unsure_predictions_say_unknown(seed: int) -> None:
    columns, options = cases.draw("openset_detection", seed)
    below = float(np.random.default_rng(seed).choice([-1.0, 0.0, 0.5, 2.0]))
    relabelled = [
        np.column_stack([found[:, :5], np.where((found[:, 4] < below) & (found[:, 5] < 2), 9, found[:, 5])])
        for found in columns["predictions"]
    ]
    expected = OpenSetDetection(**options).compute(predictions=relabelled, references=columns["references"])
    assert OpenSetDetection(**options, unknown_below=below).compute(**columns) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"average_precision": "12-point"}, "average_precision: expected one of 'all', '11-point', got '12-point'"),
        ({"average_precision": "11-point", "protocol": "ow-dln"}, "average_precision: expected 'all', since mAP is"),
        ({"unknown_below": float("nan")}, "unknown_below: expected a number, got nan"),
    ],
    ids=str,
)
def test_options_that_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpenSetDetection(**{"known_classes": [0], "protocol": "owod", **options}).compute(
            predictions=[[]], references=[[]]
        )
