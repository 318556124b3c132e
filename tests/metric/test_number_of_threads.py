"""Results have the same bits for any number of threads; and where there are workers already, there is one thread."""

from __future__ import annotations

import multiprocessing
import os
import sys
import threading
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import compare
from openworld_metrics.arrays import sorting, threads
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import bootstrap
from openworld_metrics.ranking import counts
from openworld_metrics.ranking.counts import as_side
from tests import cases

NUMBERS = (1, 2, 3, 7)


@pytest.fixture
def _as_if_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small inputs take the way of large ones, and few resamples that of many."""
    monkeypatch.setattr(threads, "GRAIN", 1)
    monkeypatch.setattr(bootstrap, "MANY_ROWS", 0)
    monkeypatch.setattr(bootstrap, "BLOCK", 2)
    monkeypatch.setattr(sorting, "SMALL", 0)


def computed(name: str, seed: int, number: int, monkeypatch: pytest.MonkeyPatch, **options: Any) -> dict[str, Any]:
    monkeypatch.setattr(threads, "num_threads", lambda: number)
    columns, own = cases.draw(name, seed)
    return metric_class(name)(**own, **options).compute(**columns)


@pytest.mark.usefixtures("_as_if_large")
@pytest.mark.parametrize("radix_wins", [True, False], ids=["radix", "np.sort"])
@pytest.mark.parametrize("name", cases.METRICS)
def test_bits_of_compiled_loops(name: str, radix_wins: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    monkeypatch.setattr(threads, "WORTHWHILE", 0)
    monkeypatch.setattr(sorting, "radix_wins", lambda _: radix_wins)
    for seed, options in ((300, {}), (301, {}), (302, {"confidence_level": 0.9, "n_resamples": 9})):
        first, *others = (repr(computed(name, seed, number, monkeypatch, **options)) for number in NUMBERS)
        assert others == [first] * 3


@pytest.mark.usefixtures("_as_if_large")
@pytest.mark.parametrize("name", cases.METRICS)
def test_bits_without_numba(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "WORTHWHILE", sys.maxsize)
    for seed, options in ((310, {}), (311, {"confidence_level": 0.9, "n_resamples": 9})):
        first, *others = (repr(computed(name, seed, number, monkeypatch, **options)) for number in NUMBERS)
        assert others == [first] * 3


@pytest.mark.usefixtures("_as_if_large")
@pytest.mark.parametrize("name", cases.METRICS)
def test_bits_of_groups_and_batches(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, options = cases.draw(name, 7)
    found = []
    for number in NUMBERS:
        monkeypatch.setattr(threads, "num_threads", partial(int, number))
        metric = metric_class(name)(**options, confidence_level=0.8, n_resamples=5)
        metric.add_batch(**cases.with_groups(columns, 7))
        metric.add_batch(**cases.with_groups(columns, 7))
        found.append(repr(metric.compute()))
    assert found[1:] == found[:1] * 3


@pytest.mark.usefixtures("_as_if_large")
@pytest.mark.parametrize("name", cases.METRICS)
def test_bits_of_comparisons(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    columns, options = cases.draw(name, 12)
    models = cases.with_groups(columns, 1), cases.with_groups(columns, 1)
    found = []
    for number in NUMBERS:
        monkeypatch.setattr(threads, "num_threads", partial(int, number))
        found.append(repr(compare(name, *models, n_resamples=9, **options)))
    assert found[1:] == found[:1] * 3


def test_number_of_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "num_cores", lambda: 4)
    monkeypatch.delenv(threads.VARIABLE, raising=False)
    assert threads.num_threads() == 4
    for most, expected in (("1", 1), ("3", 3), ("9", 4), ("", 4)):
        monkeypatch.setenv(threads.VARIABLE, most)
        assert threads.num_threads() == expected
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv(threads.VARIABLE, wrong)
        with pytest.raises(ValueError, match=f"OPENWORLD_METRICS_NUM_THREADS: expected an integer .* got '{wrong}'"):
            threads.num_threads()


def test_small_work_stays_on_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "num_threads", lambda: 8)
    assert [threads.threads_for(grains * threads.GRAIN) for grains in (0, 1, 2, 3, 99)] == [1, 1, 2, 3, 8]


def test_cores_are_those_of_the_affinity(monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("this system has no affinity")
    monkeypatch.setattr(threads, "_cores_of_cgroup", lambda: 64)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5})
    assert threads.num_cores() == 3
    monkeypatch.setattr(threads, "_cores_of_cgroup", lambda: 2)
    assert threads.num_cores() == 2


@pytest.mark.parametrize(("own", "above", "cores"), [("150000", "max", 1), ("max", "300000", 3)])
def test_quota_of_a_group(own: str, above: str, cores: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def read_text(path: Path) -> str:
        texts = {"/proc/self/cgroup": "0::/a/b", "/sys/fs/cgroup/a/b/cpu.max": f"{own} 100000"}
        texts["/sys/fs/cgroup/a/cpu.max"] = f"{above} 100000"
        if str(path) not in texts:
            raise FileNotFoundError(path)
        return f"{texts[str(path)]}\n"

    monkeypatch.setattr(Path, "read_text", read_text)
    assert threads._cores_of_cgroup.__wrapped__() == cores


def several(_: int = 0) -> int:
    """How many threads there are of 64 cores."""
    threads.num_cores = lambda: 64
    return threads.num_threads()


def test_other_threads_stay_on_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "num_cores", lambda: 64)
    monkeypatch.delenv(threads.VARIABLE, raising=False)
    with ThreadPoolExecutor(1) as pool:  # as workers of Dask are, and the threads of a server
        assert pool.submit(threads.num_threads).result() == 1
    assert threads.num_threads() == 64
    assert threading.current_thread() is threading.main_thread()


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_other_processes_stay_on_one(method: str) -> None:
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"this system cannot {method}")
    with ProcessPoolExecutor(1, multiprocessing.get_context(method)) as pool:  # as workers of a DataLoader are
        assert pool.submit(several).result() == 1


def test_a_fork_stays_on_one() -> None:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    child = os.fork()
    if not child:
        os._exit(several())
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1


def test_pieces_end_before_an_error_is_raised() -> None:
    begun: list[int] = []
    ended: list[int] = []
    raised = threading.Event()

    def piece(i: int) -> int:
        if i == 1:
            raised.set()
            raise ValueError(f"piece {i}")
        begun.append(i)
        assert raised.wait(60)
        ended.append(i)
        return i

    with pytest.raises(ValueError, match="piece 1"):
        threads.in_threads([partial(piece, i) for i in range(5)], 3)
    assert 0 in begun
    assert sorted(begun) == sorted(ended)
    assert threads.in_threads([lambda i=i: i for i in range(5)], 3) == [*range(5)]


def test_work_within_a_piece_stays_on_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "num_cores", lambda: 64)
    monkeypatch.delenv(threads.VARIABLE, raising=False)

    def within() -> int:
        assert threads.in_threads([threads.num_threads] * 2, 2) == [1, 1]
        return threads.num_threads()

    assert threads.in_threads([within] * 5, 3) == [1] * 5
    assert threads.num_threads() == 64


@pytest.mark.parametrize("number", NUMBERS)
def test_an_interrupt_leaves_out_what_has_not_begun(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[int] = []
    ended: list[int] = []
    left_out = threading.Event()
    cancel = Future.cancel

    def noted(future: Future[Any]) -> bool:
        cancelled = cancel(future)
        if cancelled:
            left_out.set()
        return cancelled

    def piece(i: int) -> None:
        if i == 0:
            raise KeyboardInterrupt
        begun.append(i)
        assert left_out.wait(60)
        ended.append(i)

    monkeypatch.setattr(Future, "cancel", noted)
    with pytest.raises(KeyboardInterrupt):
        threads.in_threads([partial(piece, i) for i in range(500)], number)
    assert len(begun) < 499
    assert sorted(begun) == sorted(ended)  # nothing goes on


def test_an_interrupt_while_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    begun, interrupted = threading.Barrier(3), threading.Event()

    def interrupt(*_: object) -> None:
        begun.wait(60)
        interrupted.set()
        raise KeyboardInterrupt

    def piece(i: int) -> None:
        begun.wait(60)
        assert interrupted.wait(60)
        done.append(i)

    monkeypatch.setattr(Future, "result", interrupt)
    with pytest.raises(KeyboardInterrupt):
        threads.in_threads([partial(piece, i) for i in range(2)], 2)
    assert sorted(done) == [0, 1]


@pytest.mark.usefixtures("_as_if_large")
@pytest.mark.parametrize("name", ["macro_open_f", "micro_open_f"])
@pytest.mark.parametrize("number", NUMBERS)
def test_f_of_0_at_every_threshold(name: str, number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The lowest threshold is returned, also where its samples are cut apart for threads."""
    monkeypatch.setattr(threads, "num_threads", lambda: number)
    scores = [0.5] * 20 + [0.75] * 3
    results = metric_class(name)().compute(predictions=[0] * 23, references=[1, -1] * 11 + [1], open_scores=scores)
    assert results == {name: 0.0, f"{name}_threshold": 0.5}


@pytest.mark.parametrize("length", [1, 2, 7, 30, 100])
def test_cuts_leave_groups_of_equal_scores_whole(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "_RUN", length)
    rng = np.random.default_rng(length)
    for ties in (1, 3, 40, 10_000):
        sides = [as_side(rng.integers(0, ties, n) / 8) for n in (400, 30)]
        cuts = counts.cuts_of(*sides)
        assert (cuts[0], cuts[-1]) == ((0, 0), (400, 30))
        for low, high in pairwise(cuts):
            block = np.concatenate([side.scores[i:j] for side, i, j in zip(sides, low, high)])
            others = np.concatenate([np.delete(side.scores, np.s_[i:j]) for side, i, j in zip(sides, low, high)])
            assert len(block)
            assert not np.isin(block, others).any()
            assert len({*block.tolist()}) <= max(1, 1.125 * length + 2)


@pytest.mark.parametrize(("length", "number"), [(10, 3), (2, 5), (0, 2)])
def test_parts(length: int, number: int) -> None:
    parts = threads.parts_of(length, number)
    assert len(parts) == number
    assert np.concatenate([np.arange(length)[part] for part in parts]).tolist() == [*range(length)]


@pytest.mark.parametrize("work", [[1, 1, 4, 1, 1], [0, 0, 0], [9, 1, 1, 1], [1] * 10, []])
@pytest.mark.parametrize("number", NUMBERS)
def test_runs_of_work(work: list[int], number: int) -> None:
    runs = threads.runs_of_work(work, number)
    assert len(runs) == (number if work else 1)
    assert [i for run in runs for i in range(len(work))[run]] == [*range(len(work))]
    most = max(sum(work[run]) for run in runs)
    assert most <= sum(work) / number + max(work, default=0)
    assert threads.each_in_threads(str, work, work, number) == [*map(str, work)]
