"""Several processes on a shared folder, through evaluate's own num_process and process_id."""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics
from tests import cases
from tests.splitting import length, rows, split_options
from tests.waiting import PATIENCE, until

# a clean process that has imported everything once, from which the processes of a test are forked
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__, "tests.metric.loaded"])
Started = tuple[Any, Connection]


def clustered(name: str) -> tuple[cases.Columns, cases.Options]:
    """A random case with clusters, and options of intervals."""
    columns, options = cases.draw(name, 3)
    return cases.with_clusters(columns, 3), {**options, "confidence_level": 0.9, "n_resamples": 9}


def shard(name: str, process_id: int, num_process: int) -> tuple[cases.Options, cases.Options, cases.Columns]:
    """Uneven shards of a random case with clusters, which several processes share; that of the last one is empty."""
    columns, options = clustered(name)
    n = length(columns)
    cuts = [0, *sorted(np.random.default_rng(0).integers(1, n, num_process - 2).tolist()), n, n]
    return *split_options(name, options), rows(columns, np.arange(cuts[process_id], cuts[process_id + 1]))


def compute_all(pipe: Connection, process_id: int, num_process: int, folder: str) -> None:
    """Compute every metric on this process's shard, two rounds each, and send what compute returned."""
    own = dict(num_process=num_process, process_id=process_id, cache_dir=folder, experiment_id="run 1.0", timeout=60)
    results = []
    for name in openworld_metrics.METRICS:
        at_load, at_compute, columns = shard(name, process_id, num_process)
        metric = openworld_metrics.load(name, **own, **at_load)
        for _ in range(2):
            metric.add_batch(**columns)
            results.append(metric.compute(**at_compute))
    pipe.send(results)


def compute_one(pipe: Connection, process_id: int, num_process: int, folder: str, timeout: float, dies: str) -> None:
    """Compute one metric; the last process dies before compute, or while it waits for process 0."""
    own = dict(num_process=num_process, process_id=process_id, cache_dir=folder, timeout=timeout, experiment_id="x")
    metric = openworld_metrics.load("ood_bench", **own)
    metric.add_batch(predictions=[0.1 * process_id, 0.2], references=[0, 1])
    if process_id == num_process - 1 and dies == "before":
        os._exit(9)
    if process_id == num_process - 1 and dies == "waiting":
        threading.Timer(0.5, lambda: os._exit(9)).start()
    try:
        pipe.send(metric.compute())
    except TimeoutError as error:
        pipe.send(f"{error} | kept {len(metric)}")


def start(function: Callable[..., None], process_id: int, *arguments: Any) -> Started:
    ours, theirs = CONTEXT.Pipe()
    process = CONTEXT.Process(target=function, args=(theirs, process_id, *arguments))
    process.start()
    theirs.close()
    return process, ours


def sent(started: Started) -> Any:
    """What a process sent; None too if it died."""
    process, pipe = started
    try:
        return pipe.recv() if pipe.poll(PATIENCE) else "nothing"
    except EOFError:
        return None
    finally:
        process.join()


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_processes_equal_one(tmp_path: Path, load: Callable[..., Any]) -> None:
    started = [start(compute_all, i, 3, str(tmp_path)) for i in range(3)]
    first, *others = [sent(process) for process in started]
    expected = []
    for name in cases.METRICS:
        columns, options = clustered(name)
        expected += 2 * [load(name).compute(**columns, **options)]
    assert sum(key.endswith("_low") for results in expected for key in results) > 2 * len(cases.METRICS)
    assert first == expected
    assert others == 2 * [[None] * len(expected)]
    assert files(tmp_path) == []


@pytest.mark.parametrize("dies", ["before", "waiting"])
def test_a_process_that_dies(dies: str, tmp_path: Path) -> None:
    last = start(compute_one, 2, 3, str(tmp_path), 600, dies)
    assert sent(last) is None
    second, zero = (start(compute_one, i, 3, str(tmp_path), timeout, dies) for i, timeout in ((1, 5), (0, 2)))
    first = sent(zero)
    assert first.startswith("process 0 waited 2 s (timeout=) for process 2 of 3 to call compute().")
    assert str(tmp_path) in first
    assert first.endswith("| kept 2")
    other = sent(second)
    assert other.startswith("process 1 waited 5 s (timeout=) for process 0 to call compute().")
    assert other.endswith("| kept 2")
    assert files(tmp_path) == []


def test_process_0_dies(tmp_path: Path) -> None:
    other = sent(start(compute_one, 1, 2, str(tmp_path), 0.5, "never"))
    assert other.startswith("process 1 waited 0.5 s (timeout=) for process 0 to call compute().")
    assert other.endswith("| kept 2")
    assert files(tmp_path) == []


def test_what_a_killed_run_left_does_not_matter(tmp_path: Path) -> None:
    killed = start(compute_one, 0, 2, str(tmp_path), 60, "never")
    assert until(lambda: list(tmp_path.rglob("*.round")))
    killed[0].kill()
    assert sent(killed) is None
    second = start(compute_one, 1, 2, str(tmp_path), 20, "never")  # answers the dead run first
    assert until(lambda: list(tmp_path.rglob("*.1")))
    first = start(compute_one, 0, 2, str(tmp_path), 20, "never")
    assert [sent(first), sent(second)] == [{"auroc": 1.0, "fpr95tpr": 0.0}, None]
    assert files(tmp_path) == []
