"""States from elsewhere are checked as columns are: what `reduce` cannot have made is refused, and harms nothing."""

from __future__ import annotations

import copy
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import METRICS
from openworld_metrics.loading import metric_class
from tests import cases

every_metric = pytest.mark.parametrize("name", METRICS)
State = dict[str, np.ndarray]


def batch(name: str) -> tuple[Any, State, dict[str, Any]]:
    """A metric with a batch, its state, and its results."""
    columns, options = cases.draw(name, 5)
    metric = metric_class(name)(**options)
    metric.add_batch(**columns)
    return metric, metric.state(), copy.deepcopy(metric).compute()


def malformed(state: State) -> Iterator[tuple[str, Any]]:
    """States that no batch of columns gives, each with what is wrong."""
    for name, array in state.items():
        if name == "metric":
            continue
        if array.dtype.kind == "U":  # a text may be missing, and is then that of any options
            yield f"{name}: text", {**state, name: "x"}
            yield f"{name}: a dimension more", {**state, name: array[None]}
            continue
        wrong: dict[str, Any] = {
            "a dimension more": array[None],
            "None": None,
            "text": "x",
            "objects": np.full(max(1, array.size), None),
            "complex": array + 1j,
            **({} if name.endswith("counts") else {"missing": ...}),
        }
        if array.dtype.kind == "f" or array.size:
            wrong["NaN"] = np.full(np.maximum(array.shape, 1), np.nan) if array.ndim else np.nan
        if array.dtype.kind in "iub" and array.size:
            wrong |= {"far below": array.astype(np.int64) * 0 - 10**12, "fractions": array + 0.5}
        if array.ndim and array.dtype.kind != "f":
            wrong["shorter"] = array[:-1] if len(array) else np.ones(1, array.dtype)
        for label, value in wrong.items():
            left = {key: column for key, column in state.items() if key != name}
            yield f"{name}: {label}", left if value is ... else {**left, name: value}
    yield "an array more", {**state, "more": np.zeros(2)}
    yield "counts of nothing", {**state, "counts": np.zeros(len(next(iter(state.values()))), np.int64)}


@every_metric
def test_a_malformed_state_is_refused_and_harms_nothing(name: str) -> None:
    metric, state, expected = batch(name)
    size = len(metric)
    for wrong, content in malformed(state):
        for target in (metric, metric_class(name)(**metric.loaded_options)):
            before = len(target)
            with pytest.raises((ValueError, TypeError), match=r"state|references|expected"):
                target.merge(content)
            assert len(target) == before, wrong
    assert len(metric) == size
    assert metric.compute() == expected


@every_metric
def test_a_state_survives_json_and_pickle(name: str) -> None:
    metric, state, expected = batch(name)
    for carried in (
        json.loads(json.dumps({key: array.tolist() for key, array in state.items()})),
        pickle.loads(pickle.dumps(state)),
    ):
        other = metric_class(name)(**metric.loaded_options)
        other.merge(carried)
        assert other.state().keys() == state.keys()
        assert all(array.dtype.kind == state[key].dtype.kind for key, array in other.state().items() if key != "metric")
        assert other.compute() == expected
    assert pickle.loads(pickle.dumps(metric)).compute() == expected


@every_metric
def test_a_metric_is_not_unpickled_with_a_malformed_state(name: str) -> None:
    metric, state, _ = batch(name)
    wrong, content = next(malformed(state))
    metric._batches = [{"": {key: array for key, array in content.items() if key != "metric"}}]
    with pytest.raises((ValueError, TypeError)):
        pickle.loads(pickle.dumps(metric))
    assert wrong


@pytest.mark.parametrize("name", ["anomaly_suite", "openset_detection"])
def test_empty_arrays_of_json_keep_their_types(name: str) -> None:
    columns: dict[str, Any] = {
        "anomaly_suite": dict(predictions=[[[0.1, 0.2]]], references=[[[0, 0]]]),
        "openset_detection": dict(predictions=[[]], references=[[[0, 0, 1, 1, 0]]]),
    }[name]
    added, state, _ = batch(name)
    options: dict[str, Any] = {"openset_detection": dict(known_classes=[0])}.get(name, added.loaded_options)
    empty = metric_class(name)(**options)
    empty.add_batch(**columns)
    carried = json.loads(json.dumps({key: array.tolist() for key, array in empty.state().items()}))
    for order in ((carried, state), (state, carried)):
        metric = metric_class(name)(**options)
        for part in order:
            metric.merge(part)
        assert metric.compute()


def test_no_compiled_loop_leaves_its_arrays(root: Path, tmp_path: Path) -> None:
    """The malformed states again, in a process whose loops are all compiled, with numba's checks of bounds."""
    pytest.importorskip("numba")
    code = (
        "from openworld_metrics.arrays import sorting, threads\n"
        "threads.WORTHWHILE, sorting.SMALL, sorting.radix_wins = 0, 0, lambda _: True\n"
        "from tests.metric import test_states\n"
        "for name in test_states.METRICS:\n"
        "    test_states.test_a_malformed_state_is_refused_and_harms_nothing(name)\n"
        "    test_states.test_a_state_survives_json_and_pickle(name)\n"
        "print(len(threads._work))\n"
    )
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 5  # loops that were compiled


def test_ranks_and_hits_must_agree() -> None:
    metric = metric_class("accuracyk")()
    metric.add_batch(predictions=[[0.1, 0.7, 0.2], [0.5, 0.5, 0.2]], references=[1, 1])
    state = metric.state()
    for wrong in ({"correct": ~state["correct"]}, {"above": state["above"] + 1}, {"tied": state["tied"] + 5}):
        with pytest.raises(ValueError, match="state"):
            metric_class("accuracyk")().merge({**state, **wrong})


@pytest.mark.parametrize("rows", [2**12, 2**21])
def test_more_samples_than_are_counted_exactly(rows: int) -> None:
    state = {"scores": np.zeros(rows), "labels": np.arange(rows) % 2, "counts": np.full(rows, 2**40)}
    with pytest.raises(ValueError, match="expected at most 1099511627776 samples in all"):
        metric_class("ood_bench")().merge({**state, "metric": "ood_bench"})


def test_remainders_beyond_rounding() -> None:
    metric = metric_class("openset_detection")(known_classes=[0])
    metric.add_batch(predictions=[[[0, 0, 4, 4, 0.9, 0]]], references=[[[0, 0, 4, 4, 0]]])
    with pytest.raises(ValueError, match="remainders of predictions within rounding"):
        metric.merge({**metric.state(), "prediction_remainders": np.full((1, 4), 100.0)})
