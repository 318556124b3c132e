"""combine(), evaluate's own and ours, of the open-set metrics and a stand-in of HF's accuracy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import evaluate
import numpy as np
import pytest

from openworld_metrics.integrations.combining import combine
from tests import cases
from tests.integrations.accuracy import Accuracy
from tests.splitting import rows

Load = Callable[..., Any]


def columns(seed: int, n: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "predictions": rng.integers(0, 3, n),
        "references": rng.integers(-1, 3, n),
        "open_scores": rng.integers(0, 9, n) / 8,
    }


def ours(load: Load) -> list[Any]:
    return [load("macro_open_f", t_list=(0.25, 0.5)), load("micro_open_f"), load("openauc", tpr=0.9)]


def expected(load: Load, whole: dict[str, Any]) -> dict[str, Any]:
    """Results of separate metrics, and of accuracy."""
    separate = [metric.compute(**whole) for metric in ours(load)]
    accuracy = float(np.mean(whole["predictions"] == whole["references"]))
    return {**{name: value for results in separate for name, value in results.items()}, "accuracy": accuracy}


@pytest.fixture
def accuracy(tmp_path: Path) -> Accuracy:
    return Accuracy(cache_dir=str(tmp_path))


def by_batches(combined: Any, whole: dict[str, Any]) -> dict[str, Any]:
    for part in (np.arange(15), np.arange(15, 40)):
        combined.add_batch(**rows(whole, part))
    return dict(combined.compute())


def by_samples(combined: Any, whole: dict[str, Any]) -> dict[str, Any]:
    for prediction, reference, score in zip(*whole.values()):
        combined.add(prediction=prediction, reference=reference, open_scores=score)
    return dict(combined.compute())


def at_once(combined: Any, whole: dict[str, Any]) -> dict[str, Any]:
    return dict(combined.compute(**whole))


@pytest.mark.parametrize(
    ("combine", "way"),
    [
        (evaluate.combine, by_batches),
        (evaluate.combine, by_samples),
        *((combine, way) for way in (by_batches, by_samples, at_once)),
    ],
)
def test_rounds_equal_separate_metrics(combine: Any, way: Any, load: Load, accuracy: Accuracy) -> None:
    combined = combine([*ours(load), accuracy])
    for seed in range(2):
        assert way(combined, columns(seed)) == expected(load, columns(seed))


def test_names(load: Load, accuracy: Accuracy) -> None:
    whole = columns(0)
    names = ("openauc", "macro_open_f")
    separate = {key: value for name in names for key, value in load(name).compute(**whole).items()}
    assert combine(names).compute(**whole) == combine(dict(zip("ab", names))).compute(**whole) == separate
    every = []
    for name in cases.METRICS:
        drawn, options = cases.draw(name, 2)
        every += [*load(name).compute(**drawn, **options)]
    assert len(every) == len(set(every)) > 40


@pytest.mark.parametrize("combine", [evaluate.combine, combine], ids=["evaluate", "ours"])
def test_names_that_collide_get_prefixes(combine: Any, load: Load, accuracy: Accuracy) -> None:
    closed = load("accuracyk")
    closed.add_batch(predictions=[[0], [1], [2]], references=[0, 1, 1])
    accuracy.add_batch(predictions=[0, 1, 1], references=[0, 1, 1])
    assert combine([closed, accuracy]).compute() == {"accuracyk_accuracy": 2 / 3, "accuracy_accuracy": 1.0}
    named = combine({"low": load("openauc", tpr=0.5), "high": load("openauc", tpr=0.9)}, force_prefix=True)
    results = named.compute(**columns(4))
    assert {"low_openauc", "high_openauc", "low_open_set_accuracy@tpr50"} <= results.keys()
    assert len(results) == 8


class Failing(Accuracy):
    """Fails once."""

    fails = True

    def _compute(self, *arguments: Any, **columns: Any) -> dict[str, float]:
        if self.fails:
            self.fails = False
            raise RuntimeError("as others do")
        return super()._compute(*arguments, **columns)


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize("fails", ["ours", "another"])
def test_the_round_after_a_failing_compute_is_clean(fails: str, place: int, load: Load, tmp_path: Path) -> None:
    failing = Failing(cache_dir=str(tmp_path))
    failing.fails = fails == "another"
    members = ours(load)
    members.insert(place, failing)
    combined, first = combine(members), columns(5)
    if fails == "ours":
        first["references"] = np.abs(first["references"])
    combined.add_batch(**first)
    with pytest.raises((ValueError, RuntimeError), match=r"expected samples of both classes|as others do"):
        combined.compute()
    assert list(tmp_path.rglob("*.arrow")) == []
    assert by_batches(combined, columns(6)) == expected(load, columns(6))


def test_the_round_after_a_failing_batch_is_clean(load: Load, accuracy: Accuracy) -> None:
    combined, whole = combine([accuracy, *ours(load)]), columns(11)
    for wrong, error, message in (
        ({"open_scores": np.full(40, np.nan)}, ValueError, "NaN"),
        ({"open_score": whole["open_scores"]}, TypeError, "none of accuracy, macro_open_f, .* takes a column 'open_sc"),
        ({"counts": np.ones(40, int)}, TypeError, "counts: expected all metrics to take counts, got accuracy, which"),
    ):
        combined.add_batch(**columns(9))
        with pytest.raises(error, match=message):
            combined.add_batch(**{**columns(10), **wrong})
        assert at_once(combined, whole) == expected(load, whole)


def test_optional_columns_and_aliases_arrive(load: Load) -> None:
    whole = {**columns(12), "open_labels": np.arange(40) % 2}
    whole["references"] = np.abs(whole["references"])
    combined = combine(ours(load))
    separate = {key: value for metric in ours(load) for key, value in metric.compute(**whole).items()}
    assert by_batches(combined, whole) == separate
    renamed = dict(zip(("close_pred", "close_labels", "open_pred", "open_labels"), whole.values()))
    assert combine([load("macro_open_f")]).compute(**renamed) == load("macro_open_f").compute(**whole)
