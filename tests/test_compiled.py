"""The compiled loops give what NumPy gives, to the bit, as plain Python and compiled."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from openworld_metrics import _compiled, _open_f_sweep, _sorting, _topk, exceedance_counts, load
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


NAN = {
    "float32": [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF],
    "float64": [0x7FF8 << 48, 0xFFF8 << 48, (0x7FF << 52) + 1, 2**64 - 1],
}
dtypes = pytest.mark.parametrize("dtype", NAN)


@ways
@seeds
@dtypes
def test_radix_sort(way: Callable[..., Any], seed: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sorting, "compiled", way)
    rng = np.random.default_rng(seed)
    close = 1e12 + np.arange(40) * np.spacing(1e12)  # equal in the upper half of float64
    scores = rng.choice(np.concatenate([SPECIAL, rng.standard_normal(50), close]).astype(dtype), 500)
    expected = np.sort(scores)
    _sorting.radix_sort(scores)
    np.testing.assert_array_equal(scores, expected)


@ways
@dtypes
def test_radix_sort_brings_nan_to_an_end(way: Callable[..., Any], dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sorting, "compiled", way)
    unsigned = dtype.replace("float", "uint")
    for nan in NAN[dtype]:
        scores = np.asarray([*SPECIAL.astype(dtype).view(unsigned), nan, 5], dtype=unsigned).view(dtype)
        _sorting.radix_sort(scores)
        assert np.isnan(scores[[0, -1]]).sum() == 1


@ways
@seeds
def test_row_ranks_of_bfloat16(way: Callable[..., Any], seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    scores = torch.from_numpy(rng.choice(SPECIAL, (20, 7))).to(torch.bfloat16)
    labels = rng.integers(0, 7, 20)
    above, tied = np.empty((2, 20), np.int32)
    bits = scores.view(torch.int16).numpy()
    assert way(_compiled.row_ranks_bfloat16)(bits, labels, above, tied) == -1
    expected = _topk.true_class_ranks(scores.float().numpy(), labels)
    np.testing.assert_array_equal(above, expected[0])
    np.testing.assert_array_equal(tied, expected[1])
    scores[3, 1] = float("nan")
    assert way(_compiled.row_ranks_bfloat16)(scores.view(torch.int16).numpy(), labels, above, tied) == 3


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
    expected = exceedance_counts(positives, negatives)
    stop, higher, found = len(positives), 0, []
    while stop:  # in runs of at most three thresholds
        first, above, fp = np.empty((3, 3), np.int64)
        groups = way(_compiled.merge_counts)(positives[:stop], negatives, higher, first, above, fp)
        found += [*zip(positives[first[:groups]], len(positives) - first[:groups], above[:groups], fp[:groups])]
        stop, higher = first[groups - 1], fp[groups - 1]
    columns = [expected.thresholds, expected.tp, expected.above, expected.fp]
    np.testing.assert_array_equal(found, np.stack(columns, axis=1))


@ways
@seeds
def test_sweep_loop(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    ids, flags, totals = rng.integers(0, 5, 60), rng.random(60) < 0.5, rng.integers(0, 30, 5)
    counts = rng.integers(0, 9, 5), 9 + rng.integers(0, 9, 5)
    expected_counts = [x.copy() for x in counts]
    expected = _open_f_sweep._changes(ids, flags, *expected_counts, totals, 2.0**52)
    precision, recall = np.empty((2, 60), np.int64)
    way(_compiled.sweep_loop)(ids, flags, *counts, totals, 2.0**52, precision, recall)
    np.testing.assert_array_equal([precision, recall], expected)
    np.testing.assert_array_equal(counts, expected_counts)


@ways
@seeds
def test_split_loop(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    values, mask = rng.random(50).astype(np.float32), rng.random(50) < rng.choice([0.0, 0.3, 1.0])
    chosen, others = np.empty(mask.sum(), np.float32), np.empty((~mask).sum(), np.float32)
    way(_compiled.split_loop)(values, mask, chosen, others)
    np.testing.assert_array_equal(chosen, values[mask])
    np.testing.assert_array_equal(others, values[~mask])


@pytest.mark.parametrize("backend", ["numpy-float32", "numpy-float64", "numpy-fortran", "torch-bfloat16"])
@pytest.mark.parametrize("name", cases.METRICS)
def test_metrics_with_every_loop_compiled(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    metric = type(load(name))
    package = metric.__module__.rpartition(".")[0]
    monkeypatch.setattr(sys.modules[f"{package}._compiled"], "WORTHWHILE", 0)
    if f"{package}._sorting" in sys.modules:
        monkeypatch.setattr(sys.modules[f"{package}._sorting"], "SMALL", 0)
        monkeypatch.setattr(sys.modules[f"{package}._sorting"], "_radix_wins", lambda _: True)
    for seed in range(200, 210):
        check(name, lambda _name, **options: metric(**options), seed, BACKENDS[backend])


def test_nan_is_found_in_large_inputs() -> None:
    scores = np.zeros((4200, 1000), dtype=np.float32)
    scores[4100, 7] = np.nan
    with pytest.raises(ValueError, match=r"predictions: expected no NaN, got NaN at position \(4100, 7\)"):
        load("accuracyk").compute(predictions=scores, references=np.zeros(4200, dtype=int), k_list=1)
    flat = scores.reshape(-1)
    with pytest.raises(ValueError, match="predictions: expected no NaN"):
        load("ood_bench").compute(predictions=flat, references=np.arange(len(flat)) % 2)
