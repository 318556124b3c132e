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

Load = Callable[..., Any]
OPEN_SET = ("macro_open_f", "micro_open_f", "openauc")
either = pytest.mark.parametrize("combine", [evaluate.combine, combine], ids=["evaluate", "ours"])


def columns(seed: int, n: int = 40) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "predictions": rng.integers(0, 3, n),
        "references": rng.integers(-1, 3, n),
        "open_scores": rng.integers(0, 9, n) / 8,
    }


def halves(whole: dict[str, Any]) -> list[dict[str, Any]]:
    n = len(whole["references"])
    return [{name: column[part] for name, column in whole.items()} for part in (slice(0, n // 2), slice(n // 2, n))]


def ours(load: Load) -> list[Any]:
    return [load("macro_open_f", t_list=(0.25, 0.5)), load("micro_open_f"), load("openauc", tpr=0.9)]


def expected(load: Load, whole: dict[str, Any]) -> dict[str, Any]:
    separate = [metric.compute(**whole) for metric in ours(load)]
    names = [name for results in separate for name in results]
    assert len(names) == len(set(names)), "no two metrics use one name"
    return {name: value for results in separate for name, value in results.items()}


@pytest.fixture
def accuracy(tmp_path: Path) -> Accuracy:
    return Accuracy(cache_dir=str(tmp_path))


def hits(whole: dict[str, Any]) -> float:
    return float(np.mean(whole["predictions"] == whole["references"]))


@either
def test_batches_with_accuracy(combine: Any, load: Load, accuracy: Accuracy) -> None:
    whole = columns(0)
    combined = combine([*ours(load), accuracy])
    for _ in range(2):
        for batch in halves(whole):
            combined.add_batch(**batch)
        assert combined.compute() == {**expected(load, whole), "accuracy": hits(whole)}


def test_names(load: Load) -> None:
    columns = {"predictions": [0, 1], "references": [0, -1], "open_scores": [0.1, 0.2]}
    for evaluations in (["openauc", "macro_open_f"], {"a": "openauc", "b": "macro_open_f"}):
        found = combine(evaluations).compute(**columns)
        assert found is not None
        assert found["openauc"] == load("openauc").compute(**columns)["openauc"]
        assert found["macro_open_f"] == load("macro_open_f").compute(**columns)["macro_open_f"]


def test_no_two_metrics_use_one_name(load: Load) -> None:
    results = []
    for name in cases.METRICS:
        drawn, options = cases.draw(name, 2)
        results += [*load(name).compute(**drawn, **options)]
    assert len(results) == len(set(results)) > 40


@either
def test_samples_with_accuracy(combine: Any, load: Load, accuracy: Accuracy) -> None:
    whole = columns(1)
    combined = combine([accuracy, *ours(load)])
    for prediction, reference, score in zip(*whole.values()):
        combined.add(prediction=prediction, reference=reference, open_scores=score)
    assert combined.compute() == {**expected(load, whole), "accuracy": hits(whole)}


@either
def test_one_call_of_ours(combine: Any, load: Load) -> None:
    whole = columns(2)
    assert combine(ours(load)).compute(**whole) == expected(load, whole)


def test_one_call_with_accuracy(load: Load, accuracy: Accuracy) -> None:
    whole = columns(3)
    combined = combine([*ours(load), accuracy])
    assert combined.compute(**whole) == {**expected(load, whole), "accuracy": hits(whole)}


@either
def test_names_that_collide_get_prefixes(combine: Any, load: Load, accuracy: Accuracy) -> None:
    closed = load("accuracyk")
    rows = {"predictions": [[0], [1], [2]], "references": [0, 1, 1]}
    closed.add_batch(**rows)
    accuracy.add_batch(predictions=[0, 1, 1], references=[0, 1, 1])
    assert combine([closed, accuracy]).compute() == {"accuracyk_accuracy": 2 / 3, "accuracy_accuracy": 1.0}
    named = combine({"low": load("openauc", tpr=0.5), "high": load("openauc", tpr=0.9)}, force_prefix=True)
    results = named.compute(**columns(4))
    assert {"low_openauc", "high_openauc", "low_open_set_accuracy@tpr50"} <= results.keys()
    assert len(results) == 8


def known_only(whole: dict[str, Any]) -> dict[str, Any]:
    return {**whole, "references": np.abs(whole["references"])}


@pytest.mark.parametrize("place", range(4))
def test_the_round_after_a_failing_compute_is_clean(place: int, load: Load, accuracy: Accuracy, tmp_path: Path) -> None:
    members = [*ours(load)[:2], accuracy]
    members.insert(place, load("openauc", tpr=0.9))
    combined = combine(members)
    combined.add_batch(**known_only(columns(5)))
    with pytest.raises(ValueError, match="expected samples of both classes"):
        combined.compute()
    assert list(tmp_path.rglob("*.arrow")) == []
    whole = columns(6)
    for batch in halves(whole):
        combined.add_batch(**batch)
    assert combined.compute() == {**expected(load, whole), "accuracy": hits(whole)}


def test_the_round_after_others_fail_is_clean(load: Load, accuracy: Accuracy, tmp_path: Path) -> None:
    class Failing(Accuracy):
        fails = True

        def _compute(self, *arguments: Any, **columns: Any) -> dict[str, float]:
            if self.fails:
                raise RuntimeError("as others do")
            return super()._compute(*arguments, **columns)

    failing = Failing(cache_dir=str(tmp_path))
    combined = combine([failing, *ours(load), accuracy])
    combined.add_batch(**columns(7))
    with pytest.raises(RuntimeError, match="as others do"):
        combined.compute()
    assert list(tmp_path.rglob("*.arrow")) == []
    failing.fails = False
    whole = columns(8)
    results = combined.compute(**whole)
    assert results == {
        **expected(load, whole),
        "failing_accuracy": hits(whole),
        "accuracy_accuracy": hits(whole),
    }


def test_the_round_after_a_failing_batch_is_clean(load: Load, accuracy: Accuracy) -> None:
    combined = combine([accuracy, *ours(load)])
    combined.add_batch(**columns(9))
    with pytest.raises(ValueError, match="NaN"):
        combined.add_batch(**{**columns(10), "open_scores": np.full(40, np.nan)})
    whole = columns(11)
    assert combined.compute(**whole) == {**expected(load, whole), "accuracy": hits(whole)}
    combined.add_batch(**whole)
    with pytest.raises(TypeError, match=r"none of accuracy, macro_open_f, .* takes a column 'open_score'"):
        combined.add_batch(**whole, open_score=whole["open_scores"])
    assert combined.compute(**whole) == {**expected(load, whole), "accuracy": hits(whole)}


def test_optional_columns_and_aliases_arrive(load: Load) -> None:
    whole = {**columns(12), "open_labels": np.arange(40) % 2}
    whole["references"] = np.abs(whole["references"])
    combined = combine(ours(load))
    combined.add_batch(**whole)
    assert combined.compute() == expected(load, whole)
    renamed = dict(zip(("close_pred", "close_labels", "open_pred", "open_labels"), whole.values()))
    assert combine([load("macro_open_f")]).compute(**renamed) == load("macro_open_f").compute(**whole)


def test_a_member_alone_keeps_its_batches_and_reset_drops_them(load: Load) -> None:
    metric = load("openauc")
    metric.add_batch(**known_only(columns(13)))
    with pytest.raises(ValueError, match="expected samples of both classes"):
        metric.compute()
    assert len(metric) == 40
    metric.reset()
    assert len(metric) == 0
    assert metric.compute(**columns(14)) == load("openauc").compute(**columns(14))
