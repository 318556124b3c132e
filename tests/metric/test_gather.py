"""Processes that meet through a folder, as threads of one: no batch is lost, and none counts twice."""

from __future__ import annotations

import errno
import functools
import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics.metric import evaluate_adapter as processes_module
from openworld_metrics.metric.evaluate_adapter import receive, run_key, send
from tests.waiting import until

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
    own = dict(num_process=count, cache_dir=str(folder), timeout=10, experiment_id="a run") | options
    return [load(name, process_id=i, **own) for i in range(count)]


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_process_0_keeps_all_batches_if_it_fails(load: Load, tmp_path: Path) -> None:
    metrics = processes(load, "ood_bench", tmp_path, 3)
    for i, metric in enumerate(metrics):
        metric.add_batch(predictions=[0.1 + i, 0.3], references=[0, 1])
    failed = together([functools.partial(m.compute, metrics=["tpr"]) for m in metrics])
    assert failed[0].startswith("ValueError: threshold: expected a number, since 'tpr' judges scores > threshold")
    assert failed[1:] == [None, None]
    assert [len(metric) for metric in metrics] == [6, 0, 0]
    whole = load("ood_bench").compute(predictions=[0.1, 0.3, 1.1, 0.3, 2.1, 0.3], references=[0, 1] * 3)
    assert together([m.compute for m in metrics]) == [whole, None, None]
    assert [len(metric) for metric in metrics] == [0, 0, 0]
    assert files(tmp_path) == []


def test_shards_that_do_not_fit_each_other(load: Load, tmp_path: Path) -> None:
    metrics = processes(load, "accuracyk", tmp_path, 2, k_list=1, timeout=1)
    metrics[0].add_batch(predictions=np.eye(3), references=[0, 1, 2])
    metrics[1].add_batch(predictions=np.eye(5), references=[0, 1, 2, 3, 4])
    first, second = together([m.compute for m in metrics])
    assert first == "ValueError: predictions_width: expected 3 as in the batches before, got 5"
    assert second.startswith("TimeoutError: process 1 waited 1 s")
    assert [len(metric) for metric in metrics] == [3, 5]  # each keeps its own
    assert files(tmp_path) == []


def test_rounds_in_a_row(load: Load, tmp_path: Path) -> None:
    metrics = processes(load, "ood_bench", tmp_path, 2, metrics="auroc")
    for score in (0.2, 0.6, 0.4) * 10:
        expected = load("ood_bench", metrics="auroc").compute(predictions=[score, 0.5] * 2, references=[0, 1] * 2)
        columns = dict(predictions=[score, 0.5], references=[0, 1])
        assert together([functools.partial(m.compute, **columns) for m in metrics]) == [expected, None]


def test_no_samples_in_any_process(load: Load, tmp_path: Path) -> None:
    first, second = together([m.compute for m in processes(load, "ood_bench", tmp_path, 2)])
    assert first.startswith("ValueError: expected at least one sample, got none")
    assert second is None


@pytest.mark.parametrize("missing", [0, 1])
def test_a_process_that_never_comes(missing: int, load: Load, tmp_path: Path) -> None:
    own = dict(num_process=2, cache_dir=str(tmp_path), timeout=0.2, experiment_id="a run")
    metric = load("ood_bench", process_id=1 - missing, **own)
    metric.add_batch(predictions=[0.1, 0.3], references=[0, 1])
    with pytest.raises(TimeoutError, match=f"process {1 - missing} waited 0.2 s .* for process {missing}"):
        metric.compute()
    assert len(metric) == 2
    assert files(tmp_path) == []


def test_a_run_needs_a_name_of_its_own(load: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = dict(num_process=2, cache_dir=str(tmp_path))
    with pytest.raises(ValueError, match="experiment_id: expected a name that all 2 processes of this run share"):
        load("ood_bench", **own)
    with pytest.raises(ValueError, match="experiment_id: expected a name, got the path"):
        load("ood_bench", **own, experiment_id="../elsewhere")
    assert run_key("mine", 2) != run_key("mine", 3)
    by_hand = run_key("mine", 2)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "4711")
    load("ood_bench", **own)
    assert run_key("mine", 2) != by_hand


@pytest.mark.parametrize("timeout", [0, -1.0, math.inf, math.nan])
def test_a_timeout_is_a_number_of_seconds(timeout: float, load: Load, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="timeout: expected"):
        load("ood_bench", num_process=2, cache_dir=str(tmp_path), experiment_id="a run", timeout=timeout)


@pytest.mark.parametrize("timeout", [None, "x"])
def test_a_timeout_of_another_type(timeout: Any, load: Load, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="timeout: expected a number"):
        load("ood_bench", num_process=2, cache_dir=str(tmp_path), experiment_id="a run", timeout=timeout)


def test_what_a_killed_run_left(tmp_path: Path) -> None:
    state = {"scores": np.zeros(3)}
    for name in (
        "run.round",
        "run.dead.1",
        "run.dead.2",
        "run.dead.1.taken",
        "run.dead.2.taken",
        "run.dead.2.1f",
        "run.round.77",
    ):
        (tmp_path / name).write_bytes(b"\xff\xfe" if name == "run.round" else b"not a state")
    states: list[Any] = []
    calls = [functools.partial(send, state, tmp_path, "run", rank, 60) for rank in (1, 2)]

    def late() -> None:
        """After the others, each of which first removes what its dead predecessor left."""
        assert until(lambda: not list(tmp_path.glob("*.taken")))
        receive(tmp_path, "run", 3, 60, states, dict)

    assert together([*calls, late]) == [None, None, None]
    assert [len(found["scores"]) for found in states] == [3, 3]
    assert files(tmp_path) == []


def test_two_processes_of_one_number(tmp_path: Path) -> None:
    first, second = {"scores": np.zeros(3)}, {"scores": np.zeros(5)}
    states: list[Any] = []
    calls = [functools.partial(send, state, tmp_path, "run", 1, 1.0) for state in (first, second)]
    outcomes = together([*calls, functools.partial(receive, tmp_path, "run", 2, 1.0, states, dict)])
    assert outcomes[2] is None
    assert sorted(str(outcome)[:12] for outcome in outcomes[:2]) == ["None", "TimeoutError"]  # its batches are kept
    assert len(states) == 1
    assert files(tmp_path) == []


def test_two_processes_0(tmp_path: Path) -> None:
    outcomes = sorted(together([functools.partial(receive, tmp_path, "run", 2, 0.5, [], dict) for _ in range(2)]))
    assert outcomes[0].startswith("TimeoutError: process 0 waited 0.5 s")
    assert outcomes[1].startswith("ValueError: expected one process 0, another one uses")
    assert files(tmp_path) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write_half(path: Path, content: bytes) -> int:
        with path.open("wb") as file:
            file.write(content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "run.round").write_text("token")
    monkeypatch.setattr(Path, "write_bytes", write_half)
    with pytest.raises(OSError, match="No space left"):
        send({"scores": np.zeros(3)}, tmp_path, "run", 1, 1.0)
    with pytest.raises(OSError, match="No space left"):
        receive(tmp_path, "run", 2, 1.0, [], dict)
    assert files(tmp_path) == [tmp_path / "run.round"]


@pytest.mark.parametrize("address", ["127.0.0.1", "localhost", "::1"])
def test_runs_on_two_machines_with_one_folder(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`accelerate launch` and `torchrun --master-port` set the same on every machine."""
    for name, value in {"TORCHELASTIC_RUN_ID": "none", "MASTER_ADDR": address, "MASTER_PORT": "29500"}.items():
        monkeypatch.setenv(name, value)
    keys = set()
    for host in ("here", "there"):
        monkeypatch.setattr(processes_module.platform, "node", lambda host=host: host)
        for run in ("none_a1", "none_b2"):  # one after the other, with a process of the first still waiting
            of_run = set()
            for rank in (0, 1):
                monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", f"/tmp/torchelastic/{run}/attempt_0/{rank}/error.json")
                of_run.add(run_key("default_experiment", 2))
            assert len(of_run) == 1
            keys |= of_run
    assert len(keys) == 4
    monkeypatch.setenv("MASTER_ADDR", "node17")
    assert run_key("default_experiment", 2) not in keys


def test_who_is_missing_when_another_has_given_up(load: Load, tmp_path: Path) -> None:
    own = dict(num_process=3, cache_dir=str(tmp_path), experiment_id="a run")
    first, second = (load("ood_bench", process_id=i, timeout=t, **own) for i, t in ((0, 4.0), (1, 1.0)))
    for metric in (first, second):
        metric.add_batch(predictions=[0.1, 0.3], references=[0, 1])
    outcomes = together([first.compute, second.compute])
    assert outcomes[0].startswith("TimeoutError: process 0 waited 4 s (timeout=) for process 2 of 3 to call compute().")
    assert outcomes[1].startswith("TimeoutError: process 1 waited 1 s (timeout=) for process 0 to call compute().")
    assert len(first) == len(second) == 2
    assert files(tmp_path) == []


@pytest.mark.parametrize("content", [b"", b"no state", b"PK\x03\x04 half of one"])
def test_a_broken_answer_is_named_and_removed(content: bytes, tmp_path: Path) -> None:
    states: list[Any] = []

    def answer() -> None:
        assert until((tmp_path / "run.round").exists)
        token = (tmp_path / "run.round").read_text()
        (tmp_path / "draft").write_bytes(content)
        (tmp_path / "draft").replace(tmp_path / f"run.{token}.1")

    outcome, _ = together([functools.partial(receive, tmp_path, "run", 2, 5.0, states, dict), answer])
    assert outcome.startswith(f"ValueError: process 1: expected a state in {tmp_path}")
    assert "run." in outcome
    assert states == []
    assert files(tmp_path) == []
