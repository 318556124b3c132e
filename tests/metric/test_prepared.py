"""A state is read once: sorted, matched or counted by `prepare`, and every number comes from its `rates`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS, Metric, OODBench, OpenAUC, compare
from openworld_metrics.arrays.checks import as_numbers, check_lengths
from openworld_metrics.loading import metric_class
from openworld_metrics.metric.prepared import Drawn, PreparedTable
from openworld_metrics.metric.results import Count, Rate, Results, kind_of, rates_of
from openworld_metrics.written.results import direction
from tests import cases

every_metric = pytest.mark.parametrize("name", METRICS)
INTERVALS: dict[str, Any] = dict(confidence_level=0.9, n_resamples=3)


def counted(monkeypatch: pytest.MonkeyPatch, place: str) -> list[Any]:
    """The calls of a function from now on, which goes on as before."""
    module, _, name = place.rpartition(".")
    calls: list[Any] = []
    original: Callable[..., Any] = getattr(__import__(module, fromlist=[name]), name)

    def count(*arguments: Any, **options: Any) -> Any:
        calls.append(arguments)
        return original(*arguments, **options)

    monkeypatch.setattr(place, count)
    return calls


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("openauc", "openworld_metrics.open_set.openauc.sides_of_kinds"),
        ("ood_bench", "openworld_metrics.ood.ood_bench.sides_of_kinds"),
    ],
)
def test_sides_are_sorted_once_with_a_confidence_level_too(
    name: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns, options = cases.draw(name, 0)
    calls = counted(monkeypatch, place)
    metric_class(name)(**options).compute(**columns)
    without = len(calls)
    metric_class(name)(**options, **INTERVALS).compute(**columns)
    assert len(calls) == 2 * without == 2


@every_metric
def test_a_state_is_prepared_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, options = cases.draw(name, 4)
    metric, calls = metric_class(name), []
    original = metric.prepare

    def prepare(self: Metric, state: Any) -> Any:
        calls.append(state)
        return original(self, state)

    monkeypatch.setattr(metric, "prepare", prepare)
    metric(**options, **INTERVALS).compute(**columns)
    assert len(calls) == 1
    own = {key: columns[key] for key in columns if key not in ("references", "open_labels", "image_labels")}
    compare(name, own, own, **{key: columns[key] for key in columns if key not in own}, **options, n_resamples=2)
    assert len(calls) == 3


@every_metric
@pytest.mark.parametrize("seed", range(6))
def test_rates_from_sums_are_those_of_the_drawn_rows(name: str, seed: int) -> None:
    """Computed for all resamples at once, each has the bits that it has alone; of images, also where clusters are."""
    columns, options = cases.draw(name, seed)
    for batch in (columns, cases.with_clusters(columns, seed)):
        metric = metric_class(name)(**options)
        metric.add_batch(**batch)
        for part in metric.prepared_parts():
            prepared, rng = part.prepared, np.random.default_rng(seed)
            keys = [*rates_of(prepared.rates(prepared.counts))]
            drawn = [prepared.counts * times for times in (1, 2, 3)]
            if name == "openset_detection" and options.get("protocol") != "owod":  # whatever is drawn has rates
                drawn += [rng.integers(0, 3, len(prepared.counts)) + (batch is not columns) for _ in range(5)]
            values = prepared.values_of(np.asarray([[*prepared.sums(counts, keys)] for counts in drawn]), keys)
            alone = [[rates_of(prepared.rates(counts))[key].value for key in keys] for counts in drawn]
            np.testing.assert_array_equal(values, np.reshape(alone, values.shape))


def test_what_has_no_error_bound_has_no_interval_either() -> None:
    """Cut scores leave these results out; resamples, whose scores are not cut, still have them."""
    columns, _ = cases.draw("openauc", 1)
    results = OpenAUC(significant_bits=6, risk_metrics=["aurc", "coverage@risk5"], **INTERVALS).compute(**columns)
    assert {"aurc", "aurc_error", "aurc_low"} <= results.keys()
    assert "coverage@risk5" not in results
    pytest.importorskip("sklearn")
    scores, _ = cases.draw("ood_bench", 1)
    chosen = OODBench(significant_bits=6, metrics=["auroc", "f1_score"], threshold=0.5, **INTERVALS)
    assert {*chosen.compute(**scores)} == {"auroc", "auroc_low", "auroc_high", "auroc_error"}
    models = [{"predictions": scores["predictions"]}] * 2
    table = compare(chosen, *models, references=scores["references"], n_resamples=3)
    assert table["key"] == ["auroc"]


@every_metric
@pytest.mark.parametrize("seed", range(6))
def test_results_know_what_they_are(name: str, seed: int) -> None:
    """A rate says which way it is better, as reports guess it of files that other programs wrote."""
    columns, options = cases.draw(name, seed)
    summary = metric_class(name)(**options, **INTERVALS).summary(**cases.with_groups(columns, seed))
    plain = summary.as_dict()
    for key, result in summary.results.items():
        known = direction(key)
        if isinstance(result, (Rate, Count)) and result.higher is not None:
            assert plain[key] == result.value
            assert known is not None, f"{key}: expected its direction in _NAMES of shared/written/results.py, got none"
            assert known.higher is result.higher
            in_percent = options.get("percent", False)  # of which a key says nothing
            assert known.rate is (isinstance(result, Rate) and (result.share or in_percent))
        else:
            assert known is None
    kinds = summary.kinds()
    assert kinds.keys() >= summary.results.keys()
    assert {kind["kind"] for kind in kinds.values()} <= {"rate", "count", "table", "threshold"}


def test_kinds_in_words() -> None:
    described = [kind_of(result) for result in (Rate(0.5, False), 3, [0.1], 0.25)]
    rate = {"kind": "rate", "higher": False, "share": True}
    assert described == [rate, {"kind": "count"}, {"kind": "table"}, {"kind": "threshold"}]


# a metric that is written as CONTRIBUTING says: how many of the values are above a threshold


@dataclass(kw_only=True, eq=False, repr=False)
class ShareAbove(Metric):
    """The share of values above a threshold."""

    name = "share_above"
    countable_tables = {"counts": ("values",)}

    threshold: float = 0.5

    def reduce(self, predictions: Any) -> Mapping[str, Any]:
        values = as_numbers(predictions, "predictions")
        check_lengths(predictions=values)
        return {"values": values}

    def prepare(self, state: Any) -> PreparedTable:
        return PreparedTable(self, state, ("values",))

    def drawn(self, state: Any) -> Drawn:
        return Drawn(state)

    def rates(self, state: Any) -> Results:
        counts = state.get("counts", np.ones(len(state["values"]), np.int64))
        above = int(counts[state["values"] > self.threshold].sum())
        return {"share_above": Rate(above / int(counts.sum()), True), "above": above}

    def tables(self, prepared: PreparedTable, results: Results) -> dict[str, Any]:
        return {}


def test_a_metric_by_contributing_has_intervals_groups_and_comparisons() -> None:
    values, groups = np.asarray([0.1, 0.6, 0.7, 0.9, 0.2, 0.8]), ["a", "a", "b", "b", "b", "a"]
    results = ShareAbove(**INTERVALS).compute(predictions=values, groups=groups)
    assert results["share_above"] == pytest.approx(2 / 3)
    assert results["above"] == 4
    assert 0 <= results["share_above_low"] <= results["share_above_high"] <= 1
    assert results["groups"]["share_above"] == [2 / 3, 2 / 3]
    table = compare(ShareAbove(), values, 1 - values, n_resamples=9)
    assert (table["key"], table["difference"]) == (["share_above"], [pytest.approx(1 / 3)])
    streamed = ShareAbove(threshold=0.75)
    for value in values:
        streamed.add(prediction=value)
    assert streamed.compute() == {"share_above": 1 / 3, "above": 2}


def test_a_metric_without_prepare_is_told_so() -> None:
    @dataclass(kw_only=True, eq=False, repr=False)
    class Unfinished(Metric):
        """A metric that cannot compute yet."""

        name = "unfinished"

        def reduce(self, predictions: Any) -> Mapping[str, Any]:
            return {"values": np.asarray(predictions)}

    with pytest.raises(NotImplementedError, match="Unfinished: expected a method `prepare`, from a state"):
        Unfinished().compute(predictions=[0.5])
