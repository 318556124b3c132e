"""Open-set F-scores to the last digit: small ones, large counts, and which of two nearly equal ones is the best."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import MacroOpenF, MicroOpenF
from openworld_metrics.arrays import threads
from openworld_metrics.open_set import open_f as f_scores, sweep
from openworld_metrics.open_set.open_f import Samples, best_f, exact_macro_f, macro_f_after, macro_open_f, micro_open_f
from tests.examples import many, seeds
from tests.hardest import ulps, worst_of

MACRO_ULP = 3
Class = tuple[int, int, int]


def macro(classes: list[Class], num_classes: int) -> Fraction:
    """Macro F of classes of so many hits, wrongly accepted, and rejected samples."""
    precision = sum((Fraction(hits, hits + wrong) for hits, wrong, _ in classes if hits), Fraction())
    recall = sum((Fraction(hits, hits + missed) for hits, _, missed in classes if hits), Fraction())
    return 2 * precision * recall / (precision + recall) / num_classes if precision else Fraction()


def rows(classes: list[Class]) -> dict[str, np.ndarray]:
    """The same as rows with counts; accepted at a threshold of 0."""
    entries = [
        (c, label, score, count)
        for c, counts in enumerate(classes)
        for count, label, score in zip(counts, (c, -1, c), (0.0, 0.0, 1.0))
        if count
    ]
    columns = [np.asarray(column) for column in zip(*entries)]
    return dict(zip(("predicted", "classes", "scores", "counts"), columns))


def f_at_zero(classes: list[Class], num_classes: int) -> float:
    samples = Samples(**rows(classes))  # of more than 2^40 samples
    curve = best_f(*macro_f_after(samples, num_classes), np.zeros(1))[2]
    assert curve is not None
    return curve[0]


def test_a_small_f_of_one_class() -> None:
    n = 1000
    columns: dict[str, Any] = dict(predictions=[0] * n, references=[0] * n, open_scores=[0.0] + [1.0] * (n - 1))
    assert MacroOpenF(t_list=[0.0, 1.0]).compute(**columns)["macro_open_f_curve"][0] == 2 / 1001
    columns = dict(predictions=[0] + [1] * 9, references=[0] * 10, open_scores=[0.5] * 10)
    assert ulps(MacroOpenF(num_classes=2).compute(**columns)["macro_open_f"], Fraction(1, 11)) <= MACRO_ULP


@pytest.mark.parametrize("num_classes", [2, 3, 7, 100])
def test_macro_f_of_all_small_counts(num_classes: int) -> None:
    worst = 0.0
    for one, other in product(product(range(1, 6), range(5), range(5)), product(range(3), range(4), (0, 1, 7))):
        classes = [one, other]
        worst = max(worst, ulps(f_at_zero(classes, num_classes), macro(classes, num_classes)))
    assert 0 < worst <= MACRO_ULP


@pytest.mark.parametrize("most", [20, 100, 2**20, 2**36])
@pytest.mark.parametrize("occurring", [1, 2, 5, 40])
def test_macro_f_where_it_is_hardest(occurring: int, most: int) -> None:
    rng = np.random.default_rng([occurring, most])

    def error(counts: np.ndarray) -> float:
        classes: Any = counts.tolist()
        return ulps(f_at_zero(classes, occurring + 1), macro(classes, occurring + 1))

    assert max(worst_of(error, (occurring, 3), [1, 0, 0], most, rng) for _ in range(4)) <= MACRO_ULP


@many
@given(seed=seeds)
def test_thresholds_are_those_of_the_exact_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, num_classes = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    predicted, scores = rng.integers(0, num_classes, size), rng.integers(0, 6, size) / 4
    classes = np.where(rng.random(size) < 0.5, predicted, rng.integers(-1, num_classes, size))
    counts = np.where(rng.random(size) < 0.3, 2 ** rng.integers(20, 37, size), rng.integers(1, 3, size))
    thresholds = np.unique(scores)
    of_class = [int(counts[classes == c].sum()) for c in range(num_classes)]
    table = []
    for t in thresholds:
        here = scores <= t
        accepted = [int(counts[here & (predicted == c)].sum()) for c in range(num_classes)]
        hits = [int(counts[here & (predicted == c) & (classes == c)].sum()) for c in range(num_classes)]
        table.append([(h, a - h, n - h) for h, a, n in zip(hits, accepted, of_class)])
    exact: dict[Callable[..., Any], list[Fraction]] = {
        macro_open_f: [macro(row, num_classes) for row in table],
        micro_open_f: [
            Fraction(2 * sum(h for h, _, _ in row), sum(2 * h + w + m for h, w, m in row) or 1) for row in table
        ],
    }
    for function, values in exact.items():
        more: list[Any] = [num_classes] if function is macro_open_f else []
        best, threshold, _ = function(predicted, classes, scores, *more, counts=counts)
        assert threshold == thresholds[values.index(max(values))]
        again, first, curve = function(predicted, classes, scores, *more, thresholds, counts=counts)
        assert (again, first) == (best, threshold)
        assert curve is not None
        ulp = MACRO_ULP if function is macro_open_f else 0.5
        assert max(map(ulps, curve, values)) <= ulp
        # a list in another order: the first of those that attain it
        order = rng.permutation(len(thresholds))
        of_list = function(predicted, classes, scores, *more, thresholds[order], counts=counts)
        assert of_list[1] == thresholds[order][[values[i] for i in order].index(max(values))]


def test_the_best_of_values_that_round_to_one_number() -> None:
    predicted, classes = np.asarray([0, 0, 1, 0, 0, 0]), np.asarray([1, -1, -1, 0, -1, 0])
    scores, counts = np.asarray([3.0, 2.0, 3.0, 3.0, 2.75, 2.75]), np.asarray([1, 1, 1, 1, 1, 2**36])
    assert macro_open_f(predicted, classes, scores, 2, counts=counts)[1] == 3.0
    known, found = np.asarray([0, -1, 1, 0]), np.zeros(4, np.int64)
    best, threshold, _ = micro_open_f(found, known, np.arange(4.0), counts=np.asarray([2**36, 2, 1, 3]))
    assert threshold == 3.0
    assert best == micro_open_f(found, known, np.arange(4.0), [0.0], counts=np.asarray([2**36, 2, 1, 3]))[0]


def test_many_equal_thresholds_are_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Samples of a class without a hit change nothing, so that their thresholds need no fractions of their own."""
    calls: list[int] = []

    def counted(*counts: np.ndarray) -> Fraction:
        calls.append(1)
        return exact_macro_f(*counts)

    monkeypatch.setattr(f_scores, "exact_macro_f", counted)
    n = 5000
    columns: dict[str, Any] = dict(predictions=[0] + [1] * n, references=[0] + [-1] * n, open_scores=np.arange(n + 1.0))
    assert MacroOpenF(num_classes=2).compute(**columns)["macro_open_f_threshold"] == 0.0
    assert len(calls) == 1
    assert MicroOpenF(num_classes=2).compute(**columns)["micro_open_f"] == 1.0


@pytest.mark.parametrize("worthwhile", [0, sys.maxsize], ids=["loop", "NumPy"])
@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"predicted": 3}, "predicted: expected class ids below 3, got 3"),
        ({"predicted": -1}, "predicted: expected class ids of at least 0, got -1"),
        ({"classes": 2**40}, f"classes: expected class ids below 3, got {2**40}"),
    ],
    ids=str,
)
def test_ids_out_of_range(
    wrong: dict[str, int], message: str, worthwhile: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "WORTHWHILE", worthwhile)
    columns = {"predicted": np.asarray([0, 1, 2, 0]), "classes": np.asarray([0, -1, 2, 1])}
    scores = np.asarray([0.1, 0.2, 0.3, 0.4])
    assert macro_open_f(**columns, scores=scores, num_classes=3)[0] > 0
    for name, number in wrong.items():
        columns[name][2] = number
    with pytest.raises(ValueError, match=message):
        macro_open_f(**columns, scores=scores, num_classes=3)


@pytest.mark.parametrize("metric", [MacroOpenF, MicroOpenF])
def test_there_may_be_one_known_class(metric: Callable[..., Any]) -> None:
    columns = {"predictions": [0, 0, 0], "references": [0, 0, -1], "open_scores": [0.1, 0.4, 0.3]}
    results = metric(num_classes=1).compute(**columns)
    assert {**results, "signature": ""} == {**metric().compute(**columns), "signature": ""}


def test_blocks_of_samples_change_no_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    columns = dict(predictions=rng.integers(0, 3, 40), references=rng.integers(-1, 3, 40), open_scores=rng.random(40))
    expected = MacroOpenF(decisions=True).compute(**columns)
    monkeypatch.setattr(sweep, "_SWEPT", 7)
    assert MacroOpenF(decisions=True).compute(**columns) == expected
