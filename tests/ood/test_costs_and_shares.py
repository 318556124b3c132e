"""Costs with a prior, abstention, shares, and precision at n: worked numbers, slow references, laws, and errors."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics as om
from tests import cases, references
from tests.checking import ulps
from tests.examples import seeds
from tests.splitting import batches, rows

COSTS: dict[str, Any] = dict(predictions=([0.7, 0.3, 0.2, 0.1], [0.9, 0.8, 0.4]))
ANSWERS: dict[str, Any] = dict(predictions=[0.1, 0.2, 0.3, 0.4, 0.5], references=[0, 0, 1, 0, 1])
SEVERAL = ["mindcf@p1", "mindcf@p30", "detection_error", "best_balanced_accuracy", "eer", "eer_hull", "reliability@c2"]
SHARES = ["aupr_out@share5", "precision@n", "precision@top20", "recall@top20", "risk@cov30", "coverage@risk30"]
AT_THRESHOLD = ["dcf@p1", "reliability@c1", "answered", "accuracy_given_answered", "f_answered"]


def values(columns: Any, *names: str, **options: Any) -> list[float]:
    return [*om.OODBench(metrics=names, **options).compute(**columns).values()]


def drawn(seed: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 60))
    scores, labels = rng.integers(0, rng.integers(1, 40), number) / 8, rng.integers(0, 2, number)
    labels[:2] = 0, 1
    return dict(predictions=scores, references=labels)


def test_costs_by_hand() -> None:
    names = ["mindcf@p1", "mindcf@p50", "detection_error", "best_balanced_accuracy", "eer", "eer_hull"]
    assert values(COSTS, *names) == [1 / 3, 1 / 4, 1 / 8, 7 / 8, 1 / 4, 1 / 7]
    assert values(COSTS, "dcf@p50", threshold=0.5) == [7 / 12]
    constant = dict(predictions=[0.5] * 4, references=[0, 1, 0, 1])
    assert values(constant, "mindcf@p1", "mindcf@p90", "detection_error", "eer_hull") == [1.0, 1.0, 0.5, 0.5]
    # a miss that costs ten times as much is one of a higher prior: 10π/(1 − π) = π'/(1 − π') of 1/2 and 10/11
    assert values(COSTS, "mindcf@p50", cost_miss=10) == [1 / 4]
    assert values(COSTS, "dcf@p50", cost_miss=0.1, cost_false_alarm=0.1, threshold=0.5) == [7 / 12]


def test_abstention_by_hand() -> None:
    names = ["coverage@risk30", "risk@cov80", "reliability@c0.5", "reliability@c1", "reliability@c9"]
    assert values(ANSWERS, *names) == [4 / 5, 1 / 4, 1 / 2, 2 / 5, 2 / 5]
    at = ["answered", "accuracy_given_answered", "f_answered", "reliability@c1"]
    assert values(ANSWERS, *at, threshold=0.4) == [4 / 5, 3 / 4, 2 / 3, 2 / 5]
    answered, accuracy, f, reliability = values(ANSWERS, *at, threshold=0)
    assert (answered, f, reliability) == (0.0, 0.0, 0.0)
    assert math.isnan(accuracy)
    assert values(ANSWERS, "reliability@c9", threshold=1) == [(3 - 18) / 5]


def test_shares_by_hand() -> None:
    assert values(COSTS, "aupr_out", "aupr_out@share50", "aupr_out@share1") == [11 / 12, 14 / 15, 70 / 103]
    ties = dict(predictions=[0.5, 0.5, 0.5, 0.9, 0.1], references=[1, 0, 0, 1, 0])
    assert values(ties, "precision@n", "precision@top40", "recall@top40", "precision@top1") == [
        2 / 3,
        2 / 3,
        2 / 3,
        1.0,
    ]


@pytest.mark.parametrize("seed", range(400))
def test_tied_sets_equal_slow_references(seed: int) -> None:
    columns = drawn(seed)
    rng = np.random.default_rng(seed)
    names = [*dict.fromkeys(["eer", *AT_THRESHOLD[2:], "dcf@p1", "dcf@p60", *cases.costs_and_shares(rng)])]
    options: Any = {
        "threshold": float(rng.choice([*columns["predictions"], -1, 9])),
        "positive": str(rng.choice(["in", "out"])),
    }
    options |= {"cost_miss": float(rng.choice([1, 0.1, 3])), "cost_false_alarm": float(rng.choice([1, 2.5]))}
    lists = {key: column.tolist() for key, column in columns.items()}
    exact = references.ood_bench(**lists, metrics=names, **options)
    found = om.OODBench(metrics=names, **options).compute(**columns)
    for name in names:
        if name == "accuracy_given_answered" and found["answered"] == 0:
            assert math.isnan(found[name])
        elif name.startswith("aupr_out@"):
            assert ulps(found[name], exact[name]) <= 3
        else:
            assert found[name] == float(exact[name]), name
    without = {**options, "threshold": None}
    best = [name for name in names if name not in AT_THRESHOLD and not name.startswith("dcf")]
    assert om.OODBench(metrics=best, **without).compute(**columns) == {
        name: found[name] if not name.startswith("reliability") else float(
            references.ood_bench(**lists, metrics=[name], **without)[name]
        )
        for name in best
    }  # fmt: skip


@given(seed=seeds)
def test_laws(seed: int) -> None:
    columns = drawn(seed)
    scores, labels = columns.values()
    names = [*SEVERAL, *SHARES]
    found = om.OODBench(metrics=names).compute(**columns)
    # monotone scores, counted rows, and batches
    assert om.OODBench(metrics=names).compute(predictions=np.exp(scores), references=labels) == found
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, len(labels))
    counted = om.OODBench(metrics=names).compute(**columns, counts=counts)
    repeated = {key: np.repeat(column, counts) for key, column in columns.items()}
    assert om.OODBench(metrics=names).compute(**repeated) == counted
    metric = om.OODBench(metrics=names)
    for batch in batches(rows(columns, rng.permutation(len(labels)).tolist()), rng):
        metric.add_batch(**batch)
    assert pickle.loads(pickle.dumps(metric)).compute() == found
    # the share at hand weighs all samples alike; the hull is never above the curve, nor below half the least error
    number, positives = len(labels), int(labels.sum())
    if Fraction(str(100 * positives / number)) == Fraction(100 * positives, number) and positives < number:
        assert values(columns, f"aupr_out@share{100 * positives / number:g}", "aupr_out")[0] == pytest.approx(
            values(columns, "aupr_out")[0], rel=1e-15
        )
    assert found["eer_hull"] <= found["eer"]
    assert found["detection_error"] <= found["eer_hull"]
    assert found["best_balanced_accuracy"] == pytest.approx(1 - found["detection_error"], abs=1e-15)
    assert 0 <= found["mindcf@p1"] <= 1
    # either class as positives
    assert values(columns, "mindcf@p1", "detection_error", "eer_hull", positive="in") == values(
        columns, "mindcf@p99", "detection_error", "eer_hull"
    )
    # precision at n is recall at n
    n = f"recall@top{100 * positives / number:g}"
    if math.ceil(Fraction(n[10:]) / 100 * number) == positives and positives < number:
        assert values(columns, n) == [found["precision@n"]]


@given(seed=seeds)
def test_thresholds_give_the_values(seed: int) -> None:
    columns = drawn(seed)
    names = ["mindcf@p1", "mindcf@p70", "detection_error", "best_balanced_accuracy", "reliability@c2", "eer"]
    for positive in ("out", "in"):
        metric = om.OODBench(metrics=names, thresholds=True, positive=positive, cost_miss=3)
        found = metric.compute(**columns)
        for name in names:
            at = {"threshold": found[f"{name}_threshold"], "positive": positive, "cost_miss": 3}
            if "dcf" in name:
                assert values(columns, name.removeprefix("min"), **at) == [found[name]]
            elif name.startswith("reliability"):
                assert values(columns, name, **at) == [found[name]]
            fpr, fnr = values(columns, "fpr", "fnr", **at)
            if name == "detection_error":
                assert (fpr + fnr) / 2 == pytest.approx(found[name], abs=1e-15)
            if name == "eer":
                others = [-math.inf, math.inf, *columns["predictions"]]
                pairs = [values(columns, "fpr", "fnr", threshold=t) for t in others]
                gaps = [abs(one - other) for one, other in pairs]
                assert abs(fpr - fnr) <= min(gaps) + 1e-12
                assert min(fpr, fnr) - 1e-12 <= found[name] <= max(fpr, fnr) + 1e-12


@pytest.mark.parametrize("options", [{}, {"threshold": 1.0}])
def test_intervals_comparisons_and_groups(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(60) % 2
    scores, other = labels + rng.normal(size=60).round(1), labels + rng.normal(size=60).round(1)
    names = [*SEVERAL, *SHARES, *(AT_THRESHOLD if options else [])]
    names = [*dict.fromkeys(names)]
    metric = om.OODBench(metrics=names, confidence_level=0.9, n_resamples=40, **options)
    found = metric.compute(predictions=scores, references=labels)
    assert all(found[f"{name}_low"] <= found[f"{name}_high"] for name in names)
    assert sum(found[f"{name}_low"] <= found[name] <= found[f"{name}_high"] for name in names) >= len(names) - 2
    table = om.compare(om.OODBench(metrics=names, **options), scores, other, references=labels, n_resamples=40)
    assert table["key"] == names
    grouped = metric.compute(predictions=scores, references=labels, groups=np.arange(60) // 30)
    assert [*grouped["groups"]][1] == names[0]
    kinds = metric.summary(predictions=scores, references=labels).kinds()
    assert all(kinds[name]["kind"] == "rate" for name in names)


def test_signatures() -> None:
    assert om.OODBench(metrics="mindcf@p1", cost_miss=10).signature == "ood_bench|cost_miss:10|v0.2.0"
    assert om.OODBench(metrics="mindcf@p1", cost_miss=1).signature == "ood_bench|v0.2.0"


def test_a_missing_class() -> None:
    for name in (*SEVERAL, *SHARES):
        with pytest.raises(ValueError, match="references: expected samples of both classes"):
            om.OODBench(metrics=name).compute(predictions=[0.1, 0.2], references=[1, 1])


def test_bits_bound_the_best_values_and_refuse_those_at_a_threshold() -> None:
    columns = dict(predictions=np.random.default_rng(0).normal(size=40), references=np.arange(40) % 2)
    found = om.OODBench(metrics=[*SEVERAL, *SHARES, "answered"], threshold=0, significant_bits=4).compute(**columns)
    there = {name for name in (*SEVERAL, *SHARES) if name not in ("coverage@risk30", "reliability@c2")}
    assert {*found} == {key for name in there for key in (name, f"{name}_error")}
    with pytest.raises(ValueError, match=r"metrics: expected at least one that has an error bound.*; got dcf@p1"):
        om.OODBench(metrics="dcf@p1", threshold=0, significant_bits=4).compute(**columns)


@pytest.mark.parametrize(
    "name",
    ["mindcf@p0", "mindcf@p100", "mindcf@p101", "dcf@p0", "aupr_out@share0", "aupr_out@share100", "precision@top0",
     "aupr_out@share0.000001", "precision@top100", "recall@top101", "reliability@c-1", "reliability@c", "risk@cov0",
     "coverage@risk101", "mindcf@p-1", "precision@5"],
)  # fmt: skip
def test_numbers_out_of_range(name: str) -> None:
    with pytest.raises(ValueError, match=f"metrics: unknown metric '{name}'; known are .*mindcf@p1"):
        om.OODBench(metrics=name)


@pytest.mark.parametrize(
    ("name", "hint"),
    [("mindcf@1", "mindcf@p1"), ("eerhull", "eer_hull"), ("precision@N", "precision@n"), ("f_answer", "f_answered"),
     ("reliability@1", "reliability@c1"), ("aupr_out@shar50", "aupr_out@share50")],
)  # fmt: skip
def test_the_nearest_name(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"unknown metric '{name}'.*; did you mean '{hint}"):
        om.OODBench(metrics=name)


@pytest.mark.parametrize("option", ["cost_miss", "cost_false_alarm"])
def test_costs_are_above_0(option: str) -> None:
    for value in (-1, 0, math.inf, math.nan):
        with pytest.raises(ValueError, match=f"{option}: expected a finite number above 0, got {float(value)}"):
            om.OODBench(metrics="mindcf@p1", **{option: value})
    with pytest.raises(TypeError, match=f"{option}: expected a finite number above 0, got 'x'"):
        om.OODBench(metrics="mindcf@p1", **{option: "x"})
    with pytest.raises(ValueError, match="threshold: expected a number, since 'dcf@p1' judges"):
        om.OODBench(metrics="dcf@p1").compute(**COSTS)


@pytest.mark.parametrize("counts", [(10**3, 3), (2**37, 2**36)])
def test_large_counts(counts: tuple[int, int]) -> None:
    """Products of counts that int64 does not hold."""
    scores, labels = [3.0, 3.0, 2.0, 1.0, 1.0], [1, 0, 1, 1, 0]
    many = [counts[0], counts[1], counts[1], counts[0], counts[0]]
    names = ["mindcf@p1", "detection_error", "eer_hull", "precision@n", "precision@top50", "eer", "reliability@c3"]
    found = om.OODBench(metrics=names).compute(predictions=scores, references=labels, counts=many)
    p, n = 2 * counts[0] + counts[1], counts[0] + counts[1]
    points = [(0, 0), (counts[0], counts[1]), (counts[0] + counts[1], counts[1]), (p, n)]
    errors = [(Fraction(p - tp, p), Fraction(fp, n)) for tp, fp in points]
    assert found["detection_error"] == float(min(fnr + fpr for fnr, fpr in errors) / 2)
    assert found["mindcf@p1"] == float(min(fnr + 99 * fpr for fnr, fpr in errors))
    assert found["reliability@c3"] == max(0, float(max(Fraction(n - fp - 3 * (p - tp), p + n) for tp, fp in points)))
