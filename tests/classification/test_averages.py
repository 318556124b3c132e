"""Top-k rates as means over the classes, and their table: against a slow reference, by laws and by hand."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from tests import cases, references
from tests.checking import BACKENDS, convert
from tests.examples import many, seeds
from tests.splitting import length, rows

Load = Callable[..., Any]
names = pytest.mark.parametrize("name", ["accuracyk", "autkc"])
BOTH = {"average": "macro", "per_class": True}


def by_class(name: str, columns: cases.Columns, options: cases.Options) -> references.Results:
    """The results of the samples of each class that occurs."""
    one = getattr(references, name)
    pairs = list(zip(columns["predictions"].tolist(), columns["references"].tolist()))
    found: dict[str, list[Any]] = {"class": [], "count": []}
    for label in sorted({y for _, y in pairs if y >= 0}):
        samples, labels = zip(*(pair for pair in pairs if pair[1] == label))
        found["class"].append(label)
        found["count"].append(len(labels))
        for key, value in one(samples, labels, **options).items():
            found.setdefault(key, []).append(value)
    return found


@names
@pytest.mark.parametrize("seed", range(60))
def test_means_over_classes_and_their_table(name: str, seed: int, load: Load) -> None:
    columns, options = cases.draw(name, seed)
    wanted = by_class(name, columns, options)
    keys = [key for key in wanted if key not in ("class", "count")]
    results = load(name).compute(**columns, **options, **BOTH)
    assert list(results) == [*keys, "per_class"]
    table = results["per_class"]
    assert list(table) == list(wanted)
    assert {name: table[name] for name in ("class", "count")} == {name: wanted[name] for name in ("class", "count")}
    assert all(type(value) is int for key in ("class", "count") for value in table[key])
    for key in keys:
        assert all(type(value) is float for value in table[key])
        for value, exact in zip(table[key], wanted[key], strict=True):
            assert value == float(exact), key
        mean = sum(wanted[key], Fraction()) / len(wanted[key])
        assert type(results[key]) is float
        assert results[key] == float(mean), key


@names
@pytest.mark.parametrize("backend", BACKENDS)
def test_every_type_of_input(name: str, backend: str, load: Load) -> None:
    for seed in range(100, 105):
        columns, options = cases.draw(name, seed)
        given_ = {key: convert(column, BACKENDS[backend]) for key, column in columns.items()}
        options |= BOTH
        assert load(name).compute(**given_, **options) == load(name).compute(**columns, **options)


@names
@many
@given(seed=seeds)
def test_no_order_and_no_count_changes_a_bit(name: str, seed: int) -> None:
    columns, options = cases.draw(name, seed)
    options |= {**BOTH, "confidence_level": 0.9, "n_resamples": 20}
    results = metric_class(name)(**options).compute(**columns)
    order = np.random.default_rng(seed).permutation(length(columns))
    for most in (2, 1 << 16):  # rows with counts, and without
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(metric_module, "ROWS", most)
            other, merged = metric_class(name)(**options), metric_class(name)(**options)
            for part in np.array_split(order, 3):
                other.add_batch(**rows(columns, part))
            for state in other.states():
                merged.merge(state)
            assert other.compute() == merged.compute() == results


def test_by_hand(load: Load) -> None:
    # class 0: ranks 1, 1, 2; class 2: rank 3; class 1 does not occur, and the unknown sample has no part
    columns = dict(
        predictions=[[0.9, 0.1, 0.0], [0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7]],
        references=[0, 0, 0, 2, -1],
    )
    options = dict(k_list=(1, 2), ignore_unknown=True)
    table = {"class": [0, 2], "count": [3, 1], "accuracy@1": [2 / 3, 0.0], "accuracy@2": [1.0, 0.0]}
    assert load("accuracyk").compute(**columns, **options, per_class=True) == {
        "accuracy@1": 0.5,
        "accuracy@2": 0.75,
        "per_class": table,
    }
    assert load("accuracyk").compute(**columns, **options, **BOTH) == {
        "accuracy@1": 1 / 3,
        "accuracy@2": 0.5,
        "per_class": table,
    }
    assert load("accuracyk").compute(**columns, ignore_unknown=True, average="macro") == {"accuracy": 1 / 3}
    assert load("autkc").compute(**columns, **options, **BOTH) == {
        "autkc@1": 1 / 3,
        "autkc@2": (5 / 6) / 2,
        "per_class": {"class": [0, 2], "count": [3, 1], "autkc@1": [2 / 3, 0.0], "autkc@2": [5 / 6, 0.0]},
    }
    ids = dict(predictions=[[4, 7], [7, 4], [5, 9]], references=[7, 7, 2**40])
    assert load("accuracyk").compute(**ids, k_list=1, **BOTH) == {
        "accuracy@1": 0.25,
        "per_class": {"class": [7, 2**40], "count": [2, 1], "accuracy@1": [0.5, 0.0]},
    }


def test_a_class_that_a_resample_lacks_has_no_part_in_its_mean() -> None:
    metric = metric_class("accuracyk")(average="macro", per_class=True)
    (part,) = metric.prepared_parts(predictions=[[0], [0], [0]], references=[0, 0, 1])
    assert part.prepared.counts.tolist() == [2, 1]
    assert part.prepared.strata.tolist() == [0, 0]
    drawn = [part.prepared.rates(np.asarray(counts)) for counts in ([3, 0], [2, 1], [1, 2], [0, 3])]
    assert [rates["accuracy"].value for rates in drawn] == [1.0, 0.5, 0.5, 0.0]


@names
def test_classes_have_no_part_in_the_average_over_samples(name: str) -> None:
    rng = np.random.default_rng(4)
    metric = metric_class(name)(k_list=(1, 3), confidence_level=0.9, n_resamples=40)
    metric.add_batch(predictions=rng.integers(0, 9, (80, 9)) / 8, references=rng.integers(0, 9, 80))
    state = metric.state()
    other = metric_class(name)(k_list=(1, 3), confidence_level=0.9, n_resamples=40, per_class=True)
    other.merge({**state, "classes": state["classes"] * 0})
    results = other.compute()
    assert results.pop("per_class")["count"] == [80]
    assert results == metric.compute()


@names
def test_tensors_on_a_device(name: str, load: Load) -> None:
    torch = pytest.importorskip("torch")
    from tests.emulated_cuda import EmulatedCuda, EmulatedCudaTensor

    for seed in range(300, 320):
        columns, options = cases.draw(name, seed)
        expected = load(name).compute(**columns, **options, **BOTH)
        with EmulatedCuda():
            on_device = {key: EmulatedCudaTensor(torch.from_numpy(column)) for key, column in columns.items()}
            metric = load(name)
            state = metric_class(name)(ignore_unknown=options.get("ignore_unknown", False)).reduce(**on_device)
            assert isinstance(state["classes"], EmulatedCudaTensor)
            assert metric.compute(**on_device, **options, **BOTH) == expected


def test_class_ids_of_a_state_are_checked() -> None:
    def state(**columns: Any) -> dict[str, Any]:
        metric = metric_class("accuracyk")(ignore_unknown=True)
        metric.add_batch(**columns)
        return metric.state()

    scores = state(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, -5])
    ids = state(predictions=[[1, 2], [3, 4]], references=[2**40, -5])
    assert (scores["classes"].dtype, scores["classes"].tolist()) == (np.int32, [1, -1])
    assert (ids["classes"].dtype, ids["classes"].tolist()) == (np.int64, [2**40, -1])
    lacking = {name: array for name, array in scores.items() if name != "classes"}
    for wrong, message in (
        (lacking, "state: expected the arrays above, tied, correct, classes"),
        ({**scores, "classes": [3, -1]}, r"state\['classes'\]: expected integers in \[-1, 2\], got -1 to 3"),
        ({**ids, "classes": [1, -2]}, r"state\['classes'\]: expected integers in \[-1, .*got -2 to 1"),
        ({**scores, "classes": [1, 1]}, "expected the same samples to be unknown in `above` and in `classes`"),
        ({**scores, "classes": [1]}, "expected arrays of one length, got 2 above, .* 1 classes"),
    ):
        with pytest.raises(ValueError, match=message):
            metric_class("accuracyk")(ignore_unknown=True).merge(wrong)
    with pytest.raises(ValueError, match=r"expected integers in \[0"):
        metric_class("accuracyk")().merge(scores)


@names
def test_options_that_are_none(name: str, load: Load) -> None:
    columns = dict(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    with pytest.raises(ValueError, match="average: expected one of 'micro', 'macro', got 'weighted'"):
        load(name).compute(**columns, average="weighted")
    with pytest.raises(TypeError, match="per_class: expected True or False, got 1"):
        load(name).compute(**columns, per_class=1)
