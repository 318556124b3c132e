"""The compiled loops give what NumPy gives, to the bit, as plain Python and compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openworld_metrics import _compiled, _curves, _topk, load
from tests import cases
from tests.test_references import BACKENDS, check

SPECIAL = np.asarray([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3e38, -3e38, 1.0, -1.0], dtype=np.float32)
seeds = pytest.mark.parametrize("seed", range(10))


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def by_numba(function: Callable[..., Any]) -> Callable[..., Any]:
    pytest.importorskip("numba")
    loop = _compiled.compiled(function)
    assert loop is not None
    return loop


ways = pytest.mark.parametrize("way", [plain, by_numba])


@ways
@seeds
def test_radix_sort(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.choice(np.concatenate([SPECIAL, rng.standard_normal(50).astype(np.float32)]), 200)
    keys, spare = scores.view(np.uint32).copy(), np.empty(200, np.uint32)
    way(_compiled.radix_sort)(keys, spare)
    np.testing.assert_array_equal(spare.view(np.float32), np.sort(scores))


@ways
def test_radix_sort_brings_nan_to_an_end(way: Callable[..., Any]) -> None:
    for nan in (0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF):
        keys = np.asarray([*SPECIAL.view(np.uint32), nan, 5], dtype=np.uint32)
        spare = np.empty_like(keys)
        way(_compiled.radix_sort)(keys, spare)
        assert np.isnan(spare.view(np.float32)[[0, -1]]).sum() == 1


@ways
@seeds
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_row_ranks(way: Callable[..., Any], seed: int, dtype: str) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = rng.choice(SPECIAL, (20, 7)).astype(dtype), rng.integers(0, 7, 20)
    above, tied = np.empty((2, 20), np.int32)
    assert way(_compiled.row_ranks)(scores, labels, above, tied) == -1
    expected = _topk.true_class_ranks(scores, labels)
    np.testing.assert_array_equal(above, expected[0])
    np.testing.assert_array_equal(tied, expected[1])
    scores[13, 2] = scores[17, 0] = np.nan
    assert way(_compiled.row_ranks)(scores, labels, above, tied) == 13


@ways
@seeds
def test_merge_counts(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    positives, negatives = (np.sort(rng.integers(0, 12, n) / 8) for n in rng.integers(1, 40, 2))
    first, above, fp = np.empty((3, len(positives)), np.int32)
    groups = way(_compiled.merge_counts)(positives, negatives, first, above, fp)
    expected = _curves.counts_of_sorted(positives, negatives)
    np.testing.assert_array_equal(positives[first[:groups]], expected.thresholds)
    np.testing.assert_array_equal(len(positives) - first[:groups], expected.tp)
    np.testing.assert_array_equal(above[:groups], expected.above)
    np.testing.assert_array_equal(fp[:groups], expected.fp)


@pytest.mark.parametrize("backend", ["numpy-float32", "numpy-float64", "numpy-fortran", "torch-float32"])
@pytest.mark.parametrize("name", cases.METRICS)
def test_metrics_with_every_loop_compiled(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    metric = type(load(name))
    module = sys.modules[metric.__module__.rpartition(".")[0] + "._compiled"] if name in COMPILED else None
    if module is not None:
        monkeypatch.setattr(module, "WORTHWHILE", 0)
        monkeypatch.setattr(module, "_radix_wins", lambda: True)
    for seed in range(200, 210):
        check(name, lambda _name, **options: metric(**options), seed, BACKENDS[backend])


COMPILED = ("accuracyk", "autkc", "openauc", "ood_bench", "openset_detection", "anomaly_suite")


def test_nan_is_found_in_large_inputs() -> None:
    scores = np.zeros((4200, 1000), dtype=np.float32)
    scores[4100, 7] = np.nan
    with pytest.raises(ValueError, match=r"predictions: expected no NaN, got NaN at position \(4100, 7\)"):
        load("accuracyk").compute(predictions=scores, references=np.zeros(4200, dtype=int), k_list=1)
    flat = scores.reshape(-1)
    with pytest.raises(ValueError, match="predictions: expected no NaN"):
        load("ood_bench").compute(predictions=flat, references=np.arange(len(flat)) % 2)
