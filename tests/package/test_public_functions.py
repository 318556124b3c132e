"""The kernel's public functions on arrays that a metric would have converted or refused, or must not touch."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import openworld_metrics as om

LARGE = 600_000  # scores, from which compiled loops are taken


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("scores", ["float32", "float64"])
def test_macro_open_f_of_small_ids(dtype: str, scores: str) -> None:
    t = np.asarray([0.1, 0.2, 0.9], dtype=scores)
    best, threshold, _ = om.macro_open_f(np.asarray([0, 1, 1], dtype), np.asarray([0, 1, -1]), t, 2)
    assert (best, threshold) == (1.0, float(t[1]))


@pytest.mark.parametrize("num_classes", [2, 100, 10**6, 2**50, 2**61])
def test_the_number_of_classes_scales_macro_f_only(num_classes: int) -> None:
    predicted, classes = np.asarray([0, 1, 0, 0, 1, 0, 0, 0]), np.asarray([0, -1, -1, -1, 1, 1, 1, 1])
    best, threshold, _ = om.macro_open_f(predicted, classes, np.arange(8.0), num_classes)
    assert threshold == 0.0
    assert best == pytest.approx(0.5 * 2 / num_classes, rel=1e-15)


@pytest.mark.parametrize("size", [10, LARGE])
@pytest.mark.parametrize(("name", "label"), [("predicted", -1), ("predicted", 9), ("classes", -2), ("classes", 9)])
def test_macro_open_f_of_ids_out_of_range(name: str, label: int, size: int) -> None:
    columns = {"predicted": np.zeros(size, int), "classes": np.zeros(size, int)}
    columns[name][7] = label
    with pytest.raises(ValueError, match=f"{name}: expected class ids .*, got {label}"):
        om.macro_open_f(**columns, scores=np.zeros(size), num_classes=9)


@pytest.mark.parametrize("label", [-1, 600])
def test_ranks_of_labels_out_of_range(label: int) -> None:
    labels = np.zeros(1000, dtype=int)
    labels[7] = label
    with pytest.raises(ValueError, match="labels: expected class ids"):
        om.true_class_ranks(np.zeros((1000, 600), np.float32), labels)


@pytest.mark.parametrize("dtype", ["float16", "int16", "int64", "float32"])
def test_sides_of_any_type(dtype: str) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(-50, 50, LARGE).astype(dtype), rng.integers(0, 2, LARGE)
    out, inside = om.split_ood(scores, labels)
    assert np.array_equal(out, np.sort(scores[labels == 1].astype(np.float64)))
    assert np.array_equal(inside, np.sort(scores[labels == 0].astype(np.float64)))
    expected = om.accuracy_at_tpr(
        positives=scores[labels == 1].astype(np.float64), negatives=scores[labels == 0].astype(np.float64)
    )
    assert om.accuracy_at_tpr(positives=out, negatives=inside) == expected


def test_a_state_is_not_reordered() -> None:
    masks = np.zeros((2, 4, 4), dtype=np.uint8)
    masks[0, 1:3, 1:3] = 1
    state = om.reduce_maps(np.random.default_rng(0).random((2, 4, 4)), masks)
    before = {name: array.copy() for name, array in state.items()}
    for array in state.values():
        array.setflags(write=False)
    assert om.anomaly_metrics(state, integration_limits=[0.3]) == om.anomaly_metrics(before, integration_limits=[0.3])
    assert all(np.array_equal(state[name], before[name]) for name in state)


def test_maps_that_are_not_there() -> None:
    assert len(om.reduce_maps(np.zeros(0), np.zeros(0))["image_scores"]) == 0
    with pytest.raises(ValueError, match="expected maps with pixels"):
        om.reduce_maps(np.zeros((2, 0, 5), dtype=np.int64), np.zeros((2, 0, 5), dtype=bool))


def test_regions_of_a_mask_of_numbers() -> None:
    scores, mask = np.arange(6.0).reshape(2, 3), np.asarray([[1, 0, 1], [0, 0, 1]], dtype=np.uint8)
    normal, anomalous, sizes = om.split_regions(scores, mask)
    assert (normal.tolist(), anomalous.tolist(), sizes.tolist()) == ([1, 3, 4], [0, 2, 5], [1, 2])


def test_nan_is_named_by_its_place() -> None:
    with pytest.raises(ValueError, match="positives: expected no NaN, got NaN at position 1"):
        om.exceedance_counts(positives=np.asarray([1.0, np.nan, 0.0]), negatives=np.asarray([0.0]))
    with pytest.raises(ValueError, match="negatives: expected no NaN"):
        om.bench_metrics(
            positives=np.asarray([1.0]), negatives=np.asarray([np.nan]), metrics=["f1_score"], threshold=0.5
        )


def test_public_names_come_when_they_are_asked_for() -> None:
    code = """
import sys
import openworld_metrics
assert "numpy" not in sys.modules
assert openworld_metrics.auroc is openworld_metrics.public.auroc
assert openworld_metrics.scores.msp([[0.0, 0.0]]) == 0.5
assert {"auroc", "OpenAUC"} <= set(dir(openworld_metrics)) and "auroc" in openworld_metrics.__all__
for name in ("nothing", "_nothing"):
    try:
        getattr(openworld_metrics, name)
    except AttributeError as error:
        assert str(error) == f"module 'openworld_metrics' has no attribute '{name}'"
from openworld_metrics import *
assert OpenAUC is openworld_metrics.OpenAUC
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
