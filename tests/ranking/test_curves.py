"""Curves as tables: areas under them, rates at their thresholds, what thinning drops, and rates at a bound."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from scipy.integrate import trapezoid

import openworld_metrics as om
from openworld_metrics.ranking import counts, roc as core_roc, roc as vertices
from tests import cases
from tests.examples import many, seeds

Table = dict[str, list[float]]


def area(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum(((b - a) * (c + d) / 2 for (a, b), (c, d) in zip(pairwise(x), pairwise(y))), Fraction())


def shares(values: Sequence[float], total: int) -> list[Fraction]:
    """The fractions that these floats are rounded from."""
    found = [Fraction(round(value * total), total) for value in values]
    assert [float(share) for share in found] == list(values)
    return found


def sides(seed: int, most: int = 25) -> tuple[np.random.Generator, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    levels = int(rng.choice([2, 6, 10**6]))
    positives, negatives = (rng.integers(0, levels, rng.integers(1, most)) / 4 for _ in range(2))
    if rng.random() < 0.2:
        positives[0], negatives[-1] = -math.inf, -0.0
    return rng, positives, negatives


@many
@given(seed=seeds)
def test_the_roc_curve(seed: int) -> None:
    rng, positives, negatives = sides(seed)
    found = om.roc_curve(positives=positives, negatives=negatives)
    fpr, tpr = shares(found["fpr"], len(negatives)), shares(found["tpr"], len(positives))
    assert float(area(fpr, tpr)) == om.auroc(positives=positives, negatives=negatives)
    ends = [column[at] for column in found.values() for at in (0, -1)]
    assert ends == [max(*positives, *negatives), -math.inf, 0.0, 1.0, 0.0, 1.0]
    for t, x, y in [*zip(*found.values())][:-1]:  # at the last one, scores of -inf are detected as well
        assert (np.mean(negatives > t), np.mean(positives > t)) == (x, y)
    assert len(set(zip(fpr, tpr))) == len(fpr)
    assert {*found["threshold"]} <= {-math.inf, *positives, *negatives}
    assert (
        om.roc_curve(positives=rng.permutation(positives).tolist(), negatives=rng.permutation(negatives).tolist())
        == found
    )


@many
@given(seed=seeds)
def test_the_precision_recall_curve(seed: int) -> None:
    _, positives, negatives = sides(seed)
    found = om.precision_recall_curve(positives=positives, negatives=negatives)
    assert om.aupr(positives=positives, negatives=negatives) == pytest.approx(
        trapezoid(found["precision"], found["recall"]), abs=1e-14
    )
    assert [column[0] for column in found.values()] == [max(*positives, *negatives), 0.0, 1.0]
    for t, recall, precision in [*zip(*found.values())][1:-1]:
        tp, fp = np.sum(positives > t), np.sum(negatives > t)
        assert (tp / len(positives), tp / (tp + fp)) == (recall, precision)


@many
@given(seed=seeds)
def test_openauc_is_the_area_under_the_oscr_curve(seed: int) -> None:
    columns, _ = cases.draw("openauc", seed)
    metric = om.OpenAUC(fpr_list=[0, 0.001, 0.1, 0.25, 0.5, 1 / 3, 1])
    unknown, correct, wrong = (side.repeated() for side in metric.prepare(metric.reduce(**columns)).sides)
    num_known = len(correct) + len(wrong)
    found = om.oscr_curve(unknown=unknown, correct_known=correct, num_known=num_known)
    fpr, ccr = shares(found["fpr"], len(unknown)), shares(found["ccr"], num_known)
    results = metric.compute(**columns)
    assert float(area(fpr, ccr)) == results["openauc"]
    ends = [found[key][at] for key in ("fpr", "ccr") for at in (0, -1)]
    assert ends == [0.0, 1.0, 0.0, results["closed_set_accuracy"]]
    for t, x, y in [*zip(*found.values())][1:]:
        assert (np.mean(unknown <= t), np.sum(correct <= t) / num_known) == (x, y)
    # the rate at a bound, which is a decimal as it is written, is that of the curve's highest vertex within it
    bounds = {"0": 0, "0.1": 0.001, "10": 0.1, "25": 0.25, "33.33333333333333": 1 / 3, "50": 0.5, "100": 1}
    for name, bound in bounds.items():
        assert results[f"ccr@fpr{name}"] == max(y for x, y in zip(fpr, found["ccr"]) if x <= Fraction(str(bound)))


A = ([0.3, 0.5, 0.8], [0.1, 0.4, 0.7], 4)  # unknown, rightly classified, known


@pytest.mark.parametrize(
    ("fpr", "expected"), [(0, 0.25), (0.01, 0.25), (1 / 3, 0.25), (0.34, 0.5), (2 / 3, 0.5), (0.67, 0.75), (1, 0.75)]
)
def test_the_rate_at_a_bound(fpr: float, expected: float) -> None:
    unknown, correct, num_known = np.asarray(A[0]), np.asarray(A[1]), A[2]
    assert om.ccr_at_fpr(unknown=unknown, correct_known=correct, num_known=num_known, fpr=fpr) == expected


def test_bounds_that_will_not_do() -> None:
    columns: dict[str, Any] = {"predictions": [0, 0], "references": [0, -1], "open_scores": [0.1, 0.2]}
    assert om.OpenAUC(fpr_list=0.1).compute(**columns)["ccr@fpr10"] == 1.0
    for wrong in (1.5, -0.1, math.nan):
        with pytest.raises(ValueError, match=r"fpr_list: expected a number in \[0, 1\]"):
            om.OpenAUC(fpr_list=[0.1, wrong]).compute(**columns)
    with pytest.raises(TypeError, match="fpr_list: expected a number or a list of numbers, got '1%'"):
        om.OpenAUC(fpr_list="1%").compute(**columns)
    with pytest.raises(ValueError, match="references: expected samples of both classes"):
        om.ccr_at_fpr(unknown=np.asarray([]), correct_known=np.asarray([0.1]), num_known=1, fpr=0.1)


@pytest.mark.parametrize(
    ("unknown", "known", "correct", "exact", "script"),
    [
        ([0.3, 0.5, 0.8], [0.1, 0.4, 0.2, 0.7], [1, 1, 0, 1], 1 / 2, 0.41666),
        ([0.6], [0.1, 0.4, 0.2], [1, 1, 0], 2 / 3, 0.5),
        ([2, 3, 3], [1, 2, 2, 3], [1, 1, 0, 1], 13 / 24, None),  # there the order of equal scores decides
        ([1, 1], [1, 1, 1, 1], [1, 1, 0, 1], 3 / 8, 0.0),
        ([4, 5], [1, 2, 3], [1, 1, 1], 1.0, 0.91667),
    ],
    ids=["A", "B", "ties", "constant", "perfect"],
)
def test_a_widely_copied_script_is_off_by_one(
    unknown: list[float], known: list[float], correct: list[int], exact: float, script: float | None
) -> None:
    """compute_oscr of ARPL and of Vaze et al.: 0.917 for a perfect detector and classifier on five samples."""
    samples = [(-u, c, 0) for u, c in zip(known, correct)] + [(-u, 0, 1) for u in unknown]
    samples.sort(key=lambda sample: sample[0])  # from the least confident on; in ties the known come first
    points = [(1.0, 1.0), (0.0, 0.0)]  # the upper corner is not at the accuracy, but at 1
    for k in range(len(samples) - 1):
        right = sum(c for _, c, _ in samples[k + 1 :])  # the known from the next sample on,
        false = sum(u for _, _, u in samples[k:])  # but the unknown from this one on
        points.append((false / len(unknown), right / len(known)))
    points.sort(reverse=True)
    theirs = sum((x0 - x1) * (y0 + y1) / 2 for (x0, y0), (x1, y1) in pairwise(points))
    assert script is None or theirs == pytest.approx(script, abs=1e-5)
    hits = np.asarray([u for u, c in zip(known, correct) if c], float)
    assert om.openauc(unknown=np.asarray(unknown, float), correct_known=hits, num_known=len(known)) == exact
    found = om.oscr_curve(unknown=unknown, correct_known=hits, num_known=len(known))
    assert float(area(shares(found["fpr"], len(unknown)), shares(found["ccr"], len(known)))) == exact


@many
@given(seed=seeds)
def test_the_pro_curve(seed: int) -> None:
    rng, pixels, normal = sides(seed)
    cuts = np.unique(rng.integers(0, len(pixels), 4))
    sizes = np.diff(cuts, prepend=0, append=len(pixels))
    sizes = sizes[sizes > 0]
    found = om.pro_curve(pixels, sizes, normal)
    assert om.aupro(pixels, sizes, normal, 1.0) == pytest.approx([trapezoid(found["pro"], found["fpr"])], abs=1e-13)
    assert [found[key][at] for key in ("fpr", "pro") for at in (0, -1)] == [0.0, 1.0, 0.0, 1.0]
    regions = np.split(pixels, np.cumsum(sizes)[:-1])
    for t, x, y in [*zip(*found.values())][:-1]:
        exact = sum((Fraction(int(np.sum(r > t)), len(r)) for r in regions), Fraction()) / len(regions)
        assert y == pytest.approx(float(exact), abs=2e-16)
        assert np.mean(normal > t) == x
    # the order of regions and of their pixels changes no bit
    order = rng.permutation(len(regions))
    moved = [rng.permutation(regions[k]) for k in order]
    assert om.pro_curve(np.concatenate(moved), sizes[order], rng.permutation(normal)) == found


def test_sizes_that_do_not_add_up() -> None:
    for sizes in ([1], [2, 1], [0, 2], []):
        with pytest.raises(ValueError, match="region_sizes: expected sizes of at least 1 that add up to 2 pixels"):
            om.pro_curve([0.1, 0.2], sizes, [0.1])


@many
@given(seed=seeds)
def test_the_open_f_curve(seed: int) -> None:
    columns, _ = cases.draw("openauc", seed)
    state = om.OpenAUC().reduce(**columns)
    ids, true, scores = state["predicted"], state["classes"], state["scores"]
    total = int(max(ids.max(), true.max())) + 1
    for average, best in (
        ("macro", om.macro_open_f(ids, true, scores, total)),
        ("micro", om.micro_open_f(ids, true, scores)),
    ):
        found = om.open_f_curve(ids, true, scores, average=average)
        assert found["threshold"] == np.unique(scores.astype(np.float64)).tolist()
        assert found["accepted"] == [float(np.mean(scores <= t)) for t in np.unique(scores)]
        assert found["open_f"][found["threshold"].index(best[1])] == best[0]
        assert max(found["open_f"]) == pytest.approx(best[0], rel=1e-14)  # macro F is compared exactly, then rounded


def test_an_open_f_curve_of_many_thresholds(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    ids, true, scores = rng.integers(0, 3, 200), rng.integers(-1, 3, 200), rng.integers(0, 99, 200)
    whole = om.open_f_curve(ids, true, scores)
    monkeypatch.setattr("openworld_metrics.open_set.open_f._AT_A_TIME", 7)
    assert om.open_f_curve(ids, true, scores) == whole
    with pytest.raises(ValueError, match="average: expected one of 'macro', 'micro', got 'mean'"):
        om.open_f_curve(ids, true, scores, average="mean")
    with pytest.raises(ValueError, match="predicted: expected class ids below 2, got 2"):
        om.open_f_curve(ids, true, scores, 2)
    with pytest.raises(ValueError, match="scores: expected at least one sample, got none"):
        om.open_f_curve([], [], [])


def roc(rng: np.random.Generator, **options: Any) -> Table:
    return om.roc_curve(positives=rng.normal(3, 1, 700), negatives=rng.normal(0, 1, 900).round(1), **options)


def precision_recall(rng: np.random.Generator, **options: Any) -> Table:
    return om.precision_recall_curve(
        positives=rng.normal(1, 1, 300), negatives=rng.normal(0, 1, 900).round(2), **options
    )


def oscr(rng: np.random.Generator, **options: Any) -> Table:
    return om.oscr_curve(unknown=rng.normal(2, 1, 900), correct_known=rng.normal(0, 1, 500), num_known=800, **options)


def pro(rng: np.random.Generator, **options: Any) -> Table:
    return om.pro_curve(rng.normal(2, 1, 400), [100, 5, 295], rng.normal(0, 1, 2000), **options)


def open_f(rng: np.random.Generator, **options: Any) -> Table:
    true = rng.integers(-1, 4, 600)
    return om.open_f_curve(rng.integers(0, 4, 600), true, rng.normal(0, 1, 600) - true, **options)


def distance(point: np.ndarray, line: np.ndarray) -> float:
    """From a point to a line of points."""
    ends, starts = line[1:], line[:-1]
    along = ((point - starts) * (ends - starts)).sum(axis=1) / np.maximum(((ends - starts) ** 2).sum(axis=1), 1e-300)
    nearest = starts + np.clip(along, 0, 1)[:, None] * (ends - starts)
    return float(np.sqrt(((point - nearest) ** 2).sum(axis=1)).min())


def run_to(point: np.ndarray, line: np.ndarray) -> float:
    """From a point to where a line is as high."""
    gaps = []
    for (x0, y0), (x1, y1) in pairwise(line):
        if min(y0, y1) <= point[1] <= max(y0, y1):
            gaps += [
                abs(point[0] - (x0 + (x1 - x0) * ((point[1] - y0) / (y1 - y0) if y1 != y0 else s))) for s in (0, 1)
            ]
    return float(min(gaps))


@pytest.mark.parametrize("max_points", [4, 9, 40, 200])
@pytest.mark.parametrize("curve", [roc, precision_recall, oscr, pro, open_f], ids=lambda curve: curve.__name__)
def test_what_thinning_drops(curve: Callable[..., Table], max_points: int) -> None:
    whole = curve(np.random.default_rng(7), max_points=None)
    few = curve(np.random.default_rng(7), max_points=max_points)
    assert {len(column) for column in few.values()} == {len(few["threshold"])}
    assert len(few["threshold"]) <= max_points < len(whole["threshold"])
    points, kept = [*zip(*whole.values())], [*zip(*few.values())]
    assert (kept[0], kept[-1]) == (points[0], points[-1])
    assert set(kept) <= set(points)
    line, width = np.asarray(kept)[:, 1:], 1 / (max_points // 4)
    far = run_to if curve in (precision_recall, open_f) else distance
    limit = width if far is run_to else width / math.sqrt(2)
    assert max(far(np.asarray(point)[1:], line) for point in points) <= limit + 1e-12
    assert curve(np.random.default_rng(7), max_points=len(points)) == whole


def test_where_runs_end_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [curve(np.random.default_rng(3), max_points=40) for curve in (roc, precision_recall, oscr, pro)]
    for length in (1, 2, 37):
        monkeypatch.setattr(counts, "_RUN", length)
        assert [
            curve(np.random.default_rng(3), max_points=40) for curve in (roc, precision_recall, oscr, pro)
        ] == expected


@many
@given(seed=seeds)
def test_rows_with_counts_have_the_vertices_of_the_rows_repeated(seed: int) -> None:
    rng, positives, negatives = sides(seed)
    sizes = [rng.integers(1, 5, len(side)) for side in (positives, negatives)]
    rows = [counts.as_side(side, size) for side, size in zip((positives, negatives), sizes)]
    repeated = [counts.as_side(np.repeat(side, size)) for side, size in zip((positives, negatives), sizes)]
    place = core_roc.rising(*(int(size.sum()) for size in sizes))
    first, second = (vertices.curve_vertices(*both, place, None) for both in (rows, repeated))
    assert all(np.array_equal(one, other) for one, other in zip(first, second))


def test_tensors_and_other_types() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    positives, negatives = rng.integers(0, 50, 300), rng.integers(-20, 30, 200)
    expected = om.roc_curve(positives=positives, negatives=negatives)
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        one, other = (torch.from_numpy(side).to(dtype) for side in (positives, negatives))
        assert om.roc_curve(positives=one, negatives=other) == expected
        ours, theirs = ({"unknown": a, "correct_known": b} for a, b in ((one, other), (positives, negatives)))
        assert om.oscr_curve(**ours, num_known=999) == om.oscr_curve(**theirs, num_known=999)
    assert all(type(value) is float for column in expected.values() for value in column)


def test_sides_that_will_not_do() -> None:
    for curve in (om.roc_curve, om.precision_recall_curve):
        with pytest.raises(ValueError, match="references: expected samples of both classes, got 0 unknown"):
            curve(positives=[], negatives=[1.0])
        with pytest.raises(ValueError, match="negatives: expected no NaN, got NaN at position 1"):
            curve(positives=[1.0], negatives=[0.0, math.nan])
        with pytest.raises(ValueError, match="max_points: expected an int of at least 4, got 3"):
            curve(positives=[1.0], negatives=[0.0], max_points=3)
    with pytest.raises(ValueError, match="num_known: expected an int of at least 2, got 1"):
        om.oscr_curve(unknown=[1.0], correct_known=[0.0, 0.1], num_known=1)
    assert om.oscr_curve(unknown=[0.5, 1.0], correct_known=[], num_known=3)["ccr"] == [0.0, 0.0, 0.0]


def test_no_more_than_a_run_is_held() -> None:
    given = {name: np.random.default_rng(k).random(1 << 18) for k, name in enumerate(("positives", "negatives"))}
    om.roc_curve(**given)  # a loop may be compiled
    tracemalloc.start()
    try:
        found = om.roc_curve(**given)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(found["fpr"]) <= vertices.MAX_POINTS
    assert peak < 2 * given["positives"].nbytes + (16 << 20)  # both sides sorted, and the arrays of a run
