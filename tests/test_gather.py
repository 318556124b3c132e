"""What one process meets, all processes learn, and none loses its batches."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Load = Callable[..., Any]


def together(calls: list[Callable[[], Any]]) -> list[Any]:
    """Run the processes' calls at the same time; an exception is a result."""

    def outcome(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(outcome, calls))


def processes(load: Load, name: str, folder: Path, count: int, **options: Any) -> list[Any]:
    own = dict(num_process=count, cache_dir=str(folder), timeout=10)
    return [load(name, process_id=i, **own, **options) for i in range(count)]


def test_a_failure_of_process_0_leaves_all_their_batches(load: Load, tmp_path: Path) -> None:
    metrics = processes(load, "ood_bench", tmp_path, 3)
    for i, metric in enumerate(metrics):
        metric.add_batch(predictions=[0.1 + i, 0.3], references=[0, 1])
    failed = together([functools.partial(m.compute, metrics=["auc"]) for m in metrics])
    assert failed[0].startswith("ValueError: metrics: unknown metric 'auc'")
    assert all(other.startswith("ValueError: process 0 failed: metrics: unknown metric 'auc'") for other in failed[1:])
    assert [len(metric) for metric in metrics] == [2, 2, 2]
    whole = load("ood_bench").compute(predictions=[0.1, 0.3, 1.1, 0.3, 2.1, 0.3], references=[0, 1] * 3)
    assert together([m.compute for m in metrics]) == [whole, None, None]
    assert [len(metric) for metric in metrics] == [0, 0, 0]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_shards_that_do_not_fit_each_other(load: Load, tmp_path: Path) -> None:
    metrics = processes(load, "accuracyk", tmp_path, 2, k_list=1)
    metrics[0].add_batch(predictions=np.eye(3), references=[0, 1, 2])
    metrics[1].add_batch(predictions=np.eye(5), references=[0, 1, 2, 3, 4])
    first, second = together([m.compute for m in metrics])
    message = "predictions_width: expected 3 as in the batches before, got 5"
    assert first == f"ValueError: {message}"
    assert second == f"ValueError: process 0 failed: {message}"


def test_rounds_in_a_row(load: Load, tmp_path: Path) -> None:
    metrics = processes(load, "ood_bench", tmp_path, 2, metrics="auroc")
    for score in (0.2, 0.6, 0.4):
        expected = load("ood_bench", metrics="auroc").compute(predictions=[score, 0.5] * 2, references=[0, 1] * 2)
        columns = dict(predictions=[score, 0.5], references=[0, 1])
        assert together([functools.partial(m.compute, **columns) for m in metrics]) == [expected, None]


def test_no_samples_in_any_process(load: Load, tmp_path: Path) -> None:
    first, second = together([m.compute for m in processes(load, "ood_bench", tmp_path, 2)])
    assert first.startswith("ValueError: expected at least one sample, got none")
    assert second.startswith("ValueError: process 0 failed: expected at least one sample")


@pytest.mark.parametrize("missing", [0, 1])
def test_a_process_that_never_comes(missing: int, load: Load, tmp_path: Path) -> None:
    own = dict(num_process=2, cache_dir=str(tmp_path), timeout=0.2)
    metric = load("ood_bench", process_id=1 - missing, **own)
    metric.add_batch(predictions=[0.1, 0.3], references=[0, 1])
    with pytest.raises(TimeoutError, match=f"process {1 - missing} waited 0.2 s .* for process {missing}"):
        metric.compute()
    assert len(metric) == 2
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
