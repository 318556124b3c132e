"""The law of counts: the results of rows that stand for several samples are, to the bit, those of the rows repeated."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import METRICS
from openworld_metrics.arrays import threads
from openworld_metrics.loading import metric_class
from openworld_metrics.ranking.auroc import AUROC
from openworld_metrics.ranking.counts import as_side, exceedance_counts
from openworld_metrics.ranking.curves import AVERAGE_PRECISION
from tests import cases
from tests.examples import many, seeds

State = dict[str, Any]
# of each metric whose states carry counts, the arrays of the table that they belong to
TABLES = {name: columns for name in METRICS for columns in metric_class(name).countable_tables.values()}


def counted(name: str, state: State, counts: np.ndarray) -> tuple[State, State]:
    """A state whose rows stand for so many samples, and that of the samples."""
    table = TABLES[name]
    key = "normal_counts" if name == "anomaly_suite" else "counts"
    repeated = {**state, **{column: np.repeat(state[column], counts) for column in table if column in state}}
    if "num_normal" in state:  # which pixels are whose
        image = np.repeat(np.arange(len(state["num_normal"])), state["num_normal"])
        repeated["num_normal"] = np.bincount(image, counts, len(state["num_normal"])).astype(np.int64)
    return {**state, key: counts}, repeated


def check(name: str, seed: int) -> None:
    columns, options = cases.draw(name, seed)
    metric = metric_class(name)(**options)
    metric.add_batch(**columns)
    state = metric.state()
    if "counts" in state:  # as with a t_list
        given = state.pop("counts")
        state = {**state, **{column: np.repeat(state[column], given) for column in TABLES[name]}}
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 5, len(state[TABLES[name][0]]))
    results = []
    for one in counted(name, state, counts):
        other = metric_class(name)(**options)
        other.merge(one)
        if name != "anomaly_suite":
            assert len(other) == counts.sum()
        results.append(other.compute())
    assert results[0] == results[1]
    # a part with counts, and one without
    half = np.arange(len(counts)) < len(counts) // 2
    mixed = metric_class(name)(**options)
    if name != "anomaly_suite" and half.any():
        rows = {key: array[half] if key in TABLES[name] else array for key, array in state.items()}
        rest = {key: array[~half] if key in TABLES[name] else array for key, array in state.items()}
        mixed.merge({**rows, "counts": counts[half]})
        mixed.merge(counted(name, rest, counts[~half])[1])
        assert mixed.compute() == results[0]


@pytest.mark.parametrize("name", TABLES)
@many
@given(seed=seeds)
def test_rows_with_counts_are_the_rows_repeated(name: str, seed: int) -> None:
    check(name, seed)


@pytest.mark.parametrize("name", TABLES)
def test_the_law_holds_in_compiled_loops(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    for seed in range(900, 910):
        check(name, seed)


def test_a_trillion_samples() -> None:
    each = np.full(4, 2**38)
    counts = exceedance_counts(positives=as_side(np.arange(4.0), each), negatives=as_side(np.arange(4.0) - 0.5, each))
    assert counts.num_positives == counts.num_negatives == 2**40
    assert AUROC.of([counts]) == (1 + 2 + 3 + 4) / 16
    assert AVERAGE_PRECISION.of([counts]) == pytest.approx((1 + 2 / 3 + 3 / 5 + 4 / 7) / 4, abs=1e-15)
