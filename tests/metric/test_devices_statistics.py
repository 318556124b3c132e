"""Intervals, curves and thresholds of tensors on a device, emulated where there is none: see test_devices.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics import OpenAUC
from openworld_metrics.dropin.oodeel import get_curve
from openworld_metrics.ood.ood_bench import split_ood
from openworld_metrics.open_set.openauc import split_open_set

To = Callable[[Any], Any]
POINTS = ["fpr95tpr", "tpr0.5fpr", "detect_acc", "tpr", "aupr_in_trapezoid"]


def results(send: To) -> list[Any]:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    positives, negatives = (
        send(torch.from_numpy(rng.integers(0, 30, size) + shift)) for size, shift in ((40, 9), (50, 0))
    )
    other = send(torch.from_numpy(rng.random(40).astype(np.float32)))
    labels = send(torch.from_numpy(rng.integers(-1, 3, 40)))
    bench = om.OODBench(in_value="rest", out_value=-1, ignore_value=2, thresholds=True, threshold=0.5, metrics=POINTS)
    return [
        om.delong(positives=positives, negatives=negatives),
        om.delong_test(
            first_positives=positives, first_negatives=negatives, second_positives=other, second_negatives=negatives
        ),
        om.roc_curve(positives=positives, negatives=negatives),
        om.precision_recall_curve(positives=positives, negatives=negatives, max_points=20),
        om.oscr_curve(unknown=positives, correct_known=negatives, num_known=60),
        om.pro_curve(positives, [15, 25], negatives),
        om.open_f_curve(abs(labels), labels, other),
        om.threshold_at_fpr(other, 0.1),
        [side.tolist() for side in split_ood(positives, positives % 2)],
        [side.tolist() for side in split_open_set(OpenAUC().reduce(abs(labels), labels, positives % 5))],
        [side.tolist() for side in get_curve(positives, positives % 2, 3)],
        om.ccr_at_fpr(unknown=positives, correct_known=negatives, num_known=60, fpr=0.1),
        bench.compute(predictions=other, references=labels),
    ]


def test_a_device_changes_no_bit(to_cuda: To) -> None:
    assert results(to_cuda) == results(lambda tensor: tensor)
