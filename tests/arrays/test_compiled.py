"""The compiled loops give what NumPy gives, to the bit, as plain Python and compiled."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite, true_class_ranks
from openworld_metrics.anomaly import aupro
from openworld_metrics.anomaly.regions import split_map, split_runs
from openworld_metrics.arrays import (
    exact,
    sorting,
    threads as compiled,
)
from openworld_metrics.classification.ranks import row_ranks, row_ranks_bfloat16
from openworld_metrics.detection import (
    curves,
    overlap,
)
from openworld_metrics.loading import metric_class
from openworld_metrics.open_set import sweep
from openworld_metrics.ranking import counts
from tests import cases
from tests.checking import BACKENDS, check

SPECIAL = np.asarray([0.0, -0.0, np.inf, -np.inf, 1e-45, -1e-45, 3e38, -3e38, 1.0, -1.0], dtype=np.float32)
seeds = pytest.mark.parametrize("seed", range(10))


@pytest.fixture(autouse=True)
def numpy_unless_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever ran before in this process, the kernel takes NumPy's side here; a loop is called by its name."""
    monkeypatch.setattr(compiled, "WORTHWHILE", math.inf)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


def by_numba(function: Callable[..., Any]) -> Callable[..., Any]:
    pytest.importorskip("numba")
    loop = compiled.compiled(function)
    assert loop is not None
    return loop


ways = pytest.mark.parametrize("way", [plain, by_numba])


NAN = {
    "float32": [0x7FC00000, 0xFFC00000, 0x7F800001, 0xFFFFFFFF],
    "float64": [0x7FF8 << 48, 0xFFF8 << 48, (0x7FF << 52) + 1, 2**64 - 1],
}
dtypes = pytest.mark.parametrize("dtype", NAN)


CLOSE = 1 - np.arange(300) * 2.0**-53  # equal in the upper half, in runs that are long
FEW = {
    "any": np.concatenate([SPECIAL.astype(float), [5e-324, -5e-324, 1.7e308, -1.7e308], np.linspace(-2, 2, 41) / 3]),
    "of float32": SPECIAL.astype(float),
    "close": CLOSE,
    "close, and two far away": np.concatenate([CLOSE, [-3e38, 3e38]]),  # the highest bytes order two of them
    "negative": -np.arange(1.0, 41.0) / 7,
    "one": np.asarray([-0.1]),
    "none": np.asarray([]),
}
counts_of_threads = pytest.mark.parametrize("threads", [1, 2, 3, 7])


@ways
@counts_of_threads
@pytest.mark.parametrize("bucket", [32, 1 << 13])
@pytest.mark.parametrize("name", FEW)
@dtypes
def test_radix_sorted(
    way: Callable[..., Any], threads: int, bucket: int, name: str, dtype: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sorting, "compiled", way)
    monkeypatch.setattr(sorting, "threads_for", lambda _: threads)
    monkeypatch.setattr(sorting, "_BUCKET", bucket)
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore"):
        scores = (rng.choice(FEW[name], 500) if len(FEW[name]) else FEW[name]).astype(dtype)
    before = scores.copy()
    kinds, payload = (rng.integers(0, most, len(scores)).astype(np.uint8) for most in (3, 256))
    (alone, *_), found = sorting.radix_sorted(scores), sorting.radix_sorted(scores, kinds, 3, payload)
    np.testing.assert_array_equal(alone, np.sort(scores))
    assert found.ends.tolist() == [0, *np.cumsum(np.bincount(kinds, minlength=3)).tolist()]
    order = np.lexsort((~np.signbit(scores), scores, kinds))  # −0.0 before 0.0
    np.testing.assert_array_equal(found.scores.view(f"u{scores.itemsize}"), scores[order].view(f"u{scores.itemsize}"))
    np.testing.assert_array_equal(found.payload, payload[order])  # equal scores stay in their order
    wide = payload.astype(np.uint64) + np.uint64(2**60 + 1)  # which float64 would round
    np.testing.assert_array_equal(sorting.radix_sorted(scores, kinds, 3, wide).payload, wide[order])
    np.testing.assert_array_equal(scores.view(f"u{scores.itemsize}"), before.view(f"u{scores.itemsize}"))
    sorting.radix_sorted(scores, in_place=True)
    np.testing.assert_array_equal(scores.view(f"u{scores.itemsize}"), alone.view(f"u{scores.itemsize}"))


@dtypes
def test_sorted_with_compiled_or_not(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    scores = np.random.default_rng(0).permutation(2000).astype(dtype) / 7
    for payload in (np.arange(2000), np.arange(2000) + 2**32):
        expected = sorting.sorted_with(scores, payload)
        with monkeypatch.context() as patched:
            patched.setattr(compiled, "WORTHWHILE", 0)
            patched.setattr(sorting, "SMALL", 0)
            found = sorting.sorted_with(scores, payload)
        for one, other in zip(found, expected):
            np.testing.assert_array_equal(one, other)
        assert found[0].dtype == expected[0].dtype == scores.dtype


@pytest.mark.parametrize("kinds", ["int16", "int64"])
@dtypes
def test_sorted_by_kind_with(dtype: str, kinds: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    rng = np.random.default_rng(0)
    scores, of_kinds = rng.integers(0, 40, 500).astype(dtype) / 7, rng.choice([0, 1, 3, 400], 500).astype(kinds)
    for worthwhile in (0, math.inf):
        monkeypatch.setattr(compiled, "WORTHWHILE", worthwhile)
        monkeypatch.setattr(sorting, "SMALL", 0)
        parts = sorting.sorted_by_kind_with(scores, of_kinds, 401, np.arange(500, dtype=np.uint32))
        assert len(parts) == 401
        for kind, (ordered, payload) in enumerate(parts):
            assert sorted(payload.tolist()) == np.flatnonzero(of_kinds == kind).tolist()
            np.testing.assert_array_equal(ordered, np.sort(scores[of_kinds == kind]))
            np.testing.assert_array_equal(ordered, scores[payload])


SHAPES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "random": lambda rng, n: rng.random(n),
    "ascending": lambda rng, n: np.sort(rng.random(n)),
    "descending": lambda rng, n: np.sort(rng.random(n))[::-1],
    "few": lambda rng, n: rng.integers(0, 3, n) / 2,
    "one": lambda rng, n: np.full(n, 0.5),
    "higher first": lambda rng, n: np.where(np.arange(n) < n // 3, 1.0, rng.random(n)),
    "NaN": lambda rng, n: np.where(rng.random(n) < 0.4, np.nan, rng.random(n)),
    "nearly all NaN": lambda rng, n: np.where(rng.random(n) < 0.8, np.nan, -np.inf),
}


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("shape", SHAPES)
@dtypes
def test_sort_in_place(dtype: str, shape: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "threads_for", lambda _: threads)
    for length in (2, 3, 10, 1001):
        scores = SHAPES[shape](np.random.default_rng(length), length).astype(dtype)
        expected = np.sort(scores)
        sorting.sort_in_place(scores)
        np.testing.assert_array_equal(scores, expected)


@pytest.mark.parametrize(
    ("features", "processor", "slow"),
    [
        ({"AVX512_SKX": True, "AVX2": True}, "vendor_id : AuthenticAMD", True),
        ({"AVX512_SKX": True, "AVX2": True}, "vendor_id : GenuineIntel", False),
        ({"AVX512_SKX": False, "AVX2": True}, "vendor_id : AuthenticAMD", False),
        ({"ASIMD": True}, "arm", False),
        ({"AVX2": False}, "GenuineIntel", True),
    ],
    ids=["AMD with AVX-512", "Intel with AVX-512", "AMD with AVX2", "ARM", "neither"],
)
def test_the_sort_is_chosen_by_processor(
    features: dict[str, bool], processor: str, slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = "_core" if hasattr(np, "_core") else "core"  # of NumPy below 2
    monkeypatch.setattr(f"numpy.{core}._multiarray_umath.__cpu_features__", features)
    monkeypatch.setattr(sorting, "_processor", lambda: processor)
    sorting._is_slow_for_numpy.cache_clear()
    assert sorting._is_slow_for_numpy() is slow
    sorting._is_slow_for_numpy.cache_clear()
    assert not sorting.radix_wins(np.zeros(100))


@ways
@dtypes
def test_radix_sort_brings_nan_to_an_end(way: Callable[..., Any], dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "compiled", way)
    unsigned = dtype.replace("float", "uint")
    for nan in NAN[dtype]:
        scores = np.asarray([*SPECIAL.astype(dtype).view(unsigned), nan, 5], dtype=unsigned).view(dtype)
        scores = sorting.radix_sorted(scores).scores
        assert np.isnan(scores[[0, -1]]).sum() == 1


@ways
@seeds
def test_row_ranks_of_bfloat16(way: Callable[..., Any], seed: int) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    scores = torch.from_numpy(rng.choice(SPECIAL, (20, 7))).to(torch.bfloat16)
    labels = rng.integers(0, 7, 20)
    above, tied, correct = *np.empty((2, 20), np.int32), np.empty(20, bool)
    bits = scores.view(torch.int16).numpy()
    assert way(row_ranks_bfloat16)(bits, labels, above, tied, correct) == -1
    expected = true_class_ranks(scores.float().numpy(), labels)
    np.testing.assert_array_equal(above, expected[0])
    np.testing.assert_array_equal(tied, expected[1])
    np.testing.assert_array_equal(correct, expected[2])
    scores[3, 1] = float("nan")
    assert way(row_ranks_bfloat16)(scores.view(torch.int16).numpy(), labels, above, tied, correct) == 3


@ways
@seeds
@pytest.mark.parametrize(("dtype", "width"), [("float32", 7), ("float64", 7), ("float32", 768), ("float64", 384)])
def test_row_ranks(way: Callable[..., Any], seed: int, dtype: str, width: int) -> None:
    """Rows from 3 KiB on have their true scores read first."""
    rng = np.random.default_rng(seed)
    scores, labels = rng.choice(SPECIAL, (20, width)).astype(dtype), rng.integers(0, width, 20)
    above, tied, correct = *np.empty((2, 20), np.int32), np.empty(20, bool)
    assert way(row_ranks)(scores, labels, above, tied, correct) == -1
    true_scores = scores[range(20), labels][:, None]
    np.testing.assert_array_equal(above, (scores > true_scores).sum(axis=1))
    np.testing.assert_array_equal(tied, (scores == true_scores).sum(axis=1) - 1)
    np.testing.assert_array_equal(correct, scores.argmax(axis=1) == labels)
    for label in (-1, width):
        assert way(row_ranks)(scores, np.where(range(20) == np.int64(5), label, labels), above, tied, correct) == 5
    scores[13, 2] = scores[17, 0] = np.nan
    assert way(row_ranks)(scores, labels, above, tied, correct) == 13


@pytest.mark.parametrize("way", [None, plain, by_numba])
@pytest.mark.parametrize("seed", range(20))
@dtypes
def test_merge(way: Callable[..., Any] | None, seed: int, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs of both sides are the counts of each side at once, in runs of a few rows, and with counted rows."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(counts, "_RUN", int(rng.integers(1, 20)))
    values = np.append(SPECIAL, rng.normal(size=9 if seed % 2 else 60)).astype(dtype)
    lengths = rng.integers(1, 40), rng.integers(1, rng.choice([40, 400]))
    sides: Any = [counts.as_side(rng.choice(values, n)) for n in lengths]
    for i in range(2):
        if rng.random() < 0.3:
            sides[i] = counts.as_side(values, rng.integers(1, 5, len(values)))
    negated = [counts.Side(-side.repeated()[::-1]) for side in sides[::-1]]
    cuts = counts.cuts_of(*sides)
    expected = [counts.exceedance_counts(positives=one, negatives=other) for one, other in (sides, negated)]
    monkeypatch.setattr(counts, "worth_compiling", lambda function, *_: way and way(function))
    found = [*counts.runs_of_both(*sides, cuts)]
    both = [[run for run, _ in found if run is not None], [run for _, run in found[::-1] if run is not None]]
    both.append([*counts.runs(*sides)])  # of positives alone, which skips negatives where they are many
    for whole, some in zip((*expected, expected[0]), both):
        for name in ("thresholds", "sizes", "tp", "above", "fp"):
            np.testing.assert_array_equal(np.concatenate([getattr(run, name) for run in some]), getattr(whole, name))
            assert getattr(some[0], name).dtype == getattr(whole, name).dtype
        assert {(run.num_positives, run.num_negatives) for run in some} == {whole[5:]}


@pytest.mark.parametrize("number", [1, 2, 3])
@ways
@dtypes
def test_deal_kinds(way: Callable[..., Any], dtype: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "worth_compiling", lambda function, *_: way(function))
    monkeypatch.setattr(sorting, "radix_wins", lambda _: False)
    for threads in (1, 2, 3, 7):
        monkeypatch.setattr(sorting, "threads_for", lambda _, threads=threads: threads)
        for length in (0, 1, 2, 5, 101):
            rng = np.random.default_rng(length)
            scores, kinds = rng.normal(size=length).astype(dtype), rng.integers(0, number, length).astype(np.uint8)
            before = scores.copy()
            for kind, side in enumerate(sorting.sorted_by_kind(scores, kinds, number)):
                np.testing.assert_array_equal(side, np.sort(scores[kinds == kind]), strict=True)
            np.testing.assert_array_equal(scores, before)


@ways
@seeds
def test_sweep_loop(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 10, 60)
    counts = rng.integers(0, 9, 5), 9 + rng.integers(0, 9, 5)
    totals = counts[0] + 60 * 4 + rng.integers(0, 30, 5)  # at least as many as hits, so that no sum is above 5
    expected_counts = [x.copy() for x in counts]
    sizes = rng.integers(1, 4, 60)
    ratios = counts[0] / counts[1], counts[0] / np.clip(totals, 1, None)
    pieces = np.stack([np.stack(sweep._pieces(each, 50, 2), axis=-1) for each in ratios], axis=1)
    running = pieces.sum(axis=0)
    expected_running = running.copy()
    swept, expected = np.empty((3, 60)), np.empty((3, 60))
    sweep._sweep_block(outcomes, sizes, (*expected_counts, totals), 50, expected_running, (*expected,))
    way(sweep.sweep_loop)(pieces, outcomes, sizes, (*counts, totals), 50, running, (*swept,))
    np.testing.assert_array_equal(swept, expected)
    np.testing.assert_array_equal(running, expected_running)
    np.testing.assert_array_equal(running, pieces.sum(axis=0))
    np.testing.assert_array_equal(counts, expected_counts)


@ways
@seeds
def test_curve_points(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    for size in (0, 1, 12):
        confidence = np.sort(rng.integers(0, 6, size) / 8)
        tags, counts = (
            (256 * rng.integers(0, 4, size) + 16 * rng.integers(0, 3, size) + rng.integers(0, 16, size)).astype(
                np.uint32
            ),
            rng.integers(0, 2, 4),
        )
        points, corrected = np.empty((3, size + 2), np.int64), int(rng.integers(-1, 3))
        number = way(curves.curve_points)(confidence, tags, counts, corrected, points)
        points, ranked = points[:, :number], curves.RankedClass(confidence, tags)
        assert points.tolist() == [each.tolist() for each in ranked.curve(counts, corrected)]
        flags = [tags & 1, tags >> 1 & 1, tags >> 2 & 1]
        occurs = counts[tags >> 8] * ((tags >> 3 & 1 == 1) ^ (tags >> 4 & 15 == corrected))
        occurring = sorted(set(confidence[occurs > 0].tolist()), reverse=True)
        sums = [[int((flag * occurs)[confidence >= c].sum()) for flag in flags] for c in occurring]
        rising = [k for k, (tp, *_) in enumerate(sums) if k == 0 or tp > sums[k - 1][0]]
        assert points.T.tolist() == [sums[k] for k in sorted({*rising, *range(len(sums))[-1:]})]


@ways
@seeds
def test_split_runs(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    for density in (0.05, 0.2, 0.4, 0.6, 0.9, 1.0):
        scores, shape = rng.random((8, 9)), tuple(rng.integers(1, 9, 2).tolist())
        scores, mask, void = scores[: shape[0], : shape[1]], rng.random(shape) < density, rng.random(shape) < 0.2
        for left_out in (None, void):
            inside = mask if left_out is None else mask & ~left_out
            normal, anomalous, sizes = split_map(scores, inside, left_out, "components")
            parts = np.empty_like(normal), np.empty_like(anomalous)
            empty = np.zeros(0, dtype=bool) if left_out is None else left_out.ravel()
            found = way(split_runs)(scores.ravel(), np.flatnonzero(inside), shape[1], empty, *parts)
            for one, other in zip((*parts, found), (normal, anomalous, sizes)):
                np.testing.assert_array_equal(one, other)


@ways
@seeds
def test_region_sums(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 7, 5)
    steps, both, places = rng.integers(0, 9, sizes.sum()), rng.integers(0, 99, 9), [(2, 3), (7, 7), (0, 1)]
    sums = np.zeros((5, 9), np.int64)
    way(aupro.region_sums)(steps, sizes, *np.asarray(places).T, both, sums)
    assert sums.T.tolist() == aupro._running_sums(steps, both, places, np.cumsum(sizes))


@ways
@seeds
def test_add_ratios(way: Callable[..., Any], seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """In three pieces where they are exact; otherwise, for tiny ratios and many samples, as without numba."""
    rng = np.random.default_rng(seed)
    totals = rng.integers(1, 1 << rng.choice([3, 20, 40]), 70)
    counts = np.minimum(totals, (totals * rng.random(70) ** 30 if seed % 2 else totals * rng.integers(0, 2, 70)))
    sizes = rng.integers(0, 1 << 33, 70)
    expected = exact.sum_of_ratios(sizes, counts.astype(np.int64), totals, 1 << 40)
    monkeypatch.setattr(exact, "_AT_ONCE", 16)
    monkeypatch.setattr(exact, "worth_compiling", lambda function, *_: way(function))
    assert exact.sum_of_ratios(sizes, counts.astype(np.int64), totals, 1 << 40) == expected
    few = sizes >> 7, counts.astype(np.int64), totals
    expected = exact.sum_of_shares(few[0], exact.ratio_of(*few[1:]), 1 << 36)
    assert exact.sum_of_ratios(*few, 1 << 36) == expected
    assert sum(int(size) * Fraction(float(ratio)) for size, ratio in zip(few[0], exact.ratio_of(*few[1:]))) == Fraction(
        expected, 1 << exact.RATIO_UNIT
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint8"])
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_split(dtype: str, share: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sorting, "_SPLIT", 7)
    rng = np.random.default_rng(0)
    values, mask = rng.integers(0, 99, 50).astype(dtype), rng.random(50) < share
    for part, expected in zip(sorting.split(values, mask), (values[mask], values[~mask])):
        np.testing.assert_array_equal(part, expected, strict=True)


@pytest.mark.parametrize("backend", ["numpy-float32", "numpy-float64", "numpy-fortran", "torch-bfloat16"])
@pytest.mark.parametrize("name", cases.METRICS)
def test_metrics_with_every_loop_compiled(name: str, backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(compiled, "WORTHWHILE", 0)
    monkeypatch.setattr(sorting, "SMALL", 0)
    monkeypatch.setattr(sorting, "radix_wins", lambda _: True)
    for seed in range(200, 210):
        check(name, lambda _name, **options: metric_class(_name)(**options), seed, BACKENDS[backend])


@ways
@seeds
def test_pairs_above(way: Callable[..., Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    num_found, num_true = rng.integers(0, 6, 8), rng.integers(0, 6, 8)
    corners = [rng.integers(0, 5, (n.sum(), 2)) for n in (num_found, num_true)]
    found, true = (np.hstack([x, x + rng.integers(0, 5, x.shape), np.ones((len(x), 2))]) * 1.0 for x in corners)
    expected = overlap.overlaps((found, true), (num_found, num_true), 0.25).reaching(0.25)
    columns_of = [tuple(np.ascontiguousarray(table[:, :4].T)) for table in (found, true)]
    for length in (3, 200):  # those beyond the length are counted, not listed
        rows, columns, ious = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length)
        size = way(overlap.pairs_above)(*columns_of, num_found, num_true, 0.25, rows, columns, ious)
        assert size == len(expected.rows)
        for listed, whole in zip((rows, columns, ious), expected[:3]):
            np.testing.assert_array_equal(listed[: min(size, length)], whole[:length])


def test_work_of_small_calls_adds_up(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(compiled, "WORTHWHILE", 100)
    monkeypatch.setattr(compiled, "_work", {})
    chosen = [compiled.worth_compiling(counts.merge, 40, np.zeros(1)) is not None for _ in range(4)]
    assert chosen == [False, False, True, True]


@pytest.mark.parametrize("worthwhile", [0, math.inf])
def test_nan_is_found_in_large_inputs(worthwhile: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled, "WORTHWHILE", worthwhile)
    scores = np.zeros((4200, 1000), dtype=np.float32)
    scores[4100, 7] = np.nan
    with pytest.raises(ValueError, match=r"predictions: expected no NaN, got NaN at position \(4100, 7\)"):
        metric_class("accuracyk")().compute(predictions=scores, references=np.zeros(4200, dtype=int), k_list=1)
    flat = scores.reshape(-1)
    with pytest.raises(ValueError, match="predictions: expected no NaN"):
        metric_class("ood_bench")().compute(predictions=flat, references=np.arange(len(flat)) % 2)


def test_maps_of_integers_of_several_types(monkeypatch: pytest.MonkeyPatch) -> None:
    """Together they are of 32 bits, which are not sorted in place."""
    maps = [np.full((10, 10), 40_000, np.uint16), np.full((10, 10), -5, np.int16)]
    maps[0][5] = 50_000
    masks = [np.zeros((10, 10), int), np.zeros((10, 10), int)]
    masks[0][5, :9] = 1
    expected = AnomalySuite().compute(predictions=[one.astype(float) for one in maps], references=masks)
    monkeypatch.setattr(compiled, "WORTHWHILE", 0)
    monkeypatch.setattr(sorting, "SMALL", 0)
    assert AnomalySuite().compute(predictions=maps, references=masks) == expected
