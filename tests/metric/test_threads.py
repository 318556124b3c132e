"""One metric that several threads feed, merge into, read and compute: nothing is lost, and nothing counts twice."""

from __future__ import annotations

import pickle
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AccuracyK, OODBench, OpenSetDetection
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from tests import cases
from tests.splitting import length, rows

THREADS = 4
EMPTY = "expected at least one sample, got none"


@pytest.fixture(autouse=True)
def _busy_threads() -> Iterator[None]:
    """Threads that change over as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(call: Callable[[int], Any], count: int = THREADS) -> list[Any]:
    """What `call` returns in each of some threads, which begin at once."""
    gate = threading.Barrier(count)

    def begin(i: int) -> Any:
        gate.wait()
        return call(i)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(begin, range(count)))


@pytest.mark.parametrize("rows_kept", [64, 1 << 16])
@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_batches_added_by_threads(dtype: str, rows_kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_module, "ROWS", rows_kept)  # float16 scores are counted again and again
    rng = np.random.default_rng(0)
    scores, labels = rng.random(20_000).astype(dtype), rng.integers(0, 2, 20_000)
    parts = np.array_split(np.arange(20_000), 200)
    metric = OODBench()

    def add(i: int) -> None:
        for part in parts[i::THREADS]:
            metric.add_batch(predictions=scores[part], references=labels[part])

    together(add)
    assert len(metric) == 20_000
    assert metric.compute() == OODBench().compute(predictions=scores, references=labels)
    assert len(metric) == 0


@pytest.mark.parametrize("name", cases.METRICS)
def test_every_metric_fed_and_merged_by_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_module, "ROWS", 16)
    columns, options = cases.draw(name, 5)
    every = length(columns)
    pieces = [rows(columns, np.asarray([i])) for i in range(every)]
    metric = metric_class(name)(**options)

    def feed(i: int) -> None:
        for k, piece in enumerate(pieces[i::THREADS]):
            if k % 2:
                metric.add_batch(**piece)
                continue
            other = metric_class(name)(**options)
            other.add_batch(**piece)
            metric.merge(other.state())
            metric.states()
            pickle.loads(pickle.dumps(metric))

    together(feed)
    assert len(metric) == every
    assert metric.compute() == metric_class(name)(**options).compute(**columns)


def computed(metric: OpenSetDetection) -> int:
    """True positives of the batches at this moment, none of which are left."""
    try:
        return int(metric.compute()["TP_known"])
    except ValueError as error:
        if EMPTY not in str(error):
            raise
        return 0


def test_computes_between_batches_take_each_sample_once() -> None:
    metric = OpenSetDetection(known_classes=[0])
    box = [[0, 0, 1, 1, 0.9, 0]], [[0, 0, 1, 1, 0]]
    left = threading.Semaphore(0)

    def work(i: int) -> int:
        if i:
            for _ in range(150):
                metric.add_batch(predictions=[box[0]], references=[box[1]])
            left.release()
            return 0
        found, done = 0, 0
        while done < THREADS - 1:
            done += left.acquire(blocking=False)
            found += computed(metric)
        return found

    found = sum(together(work))
    assert found + computed(metric) == 150 * (THREADS - 1)


def test_computes_by_threads_at_once_take_the_batches_once() -> None:
    for _ in range(20):
        metric = OODBench()
        metric.add_batch(predictions=[0.1, 0.9], references=[0, 1])

        def compute(_: int, metric: OODBench = metric) -> Any:
            try:
                return metric.compute()["auroc"]
            except ValueError as error:
                return str(error)[: len(EMPTY)]

        assert sorted(map(str, together(compute))) == ["1.0", *[EMPTY] * (THREADS - 1)]


def test_a_batch_that_is_refused_by_one_thread_harms_no_other() -> None:
    metric = AccuracyK()

    def add(i: int) -> int:
        refused = 0
        for _ in range(60):
            width = 5 if i == 0 else 3
            try:
                metric.add_batch(predictions=np.eye(width), references=np.arange(width))
            except ValueError:
                refused += 1
        return refused

    metric.add_batch(predictions=np.eye(3), references=[0, 1, 2])
    assert together(add) == [60, 0, 0, 0]
    assert len(metric) == 3 + 3 * 60 * 3
    assert metric.compute() == {"accuracy": 1.0}


def test_a_lock_costs_next_to_nothing() -> None:
    """A batch of 100 × 1,000 takes it once or twice; a microsecond is more than a hundredth of what the batch takes."""
    taken = 0

    class Counted:
        def __init__(self, lock: Any) -> None:
            self.lock = lock

        def __enter__(self) -> None:
            nonlocal taken
            taken += 1
            self.lock.__enter__()

        def __exit__(self, *error: Any) -> None:
            self.lock.__exit__(*error)

    scores, labels = np.random.default_rng(0).random((100, 1000)), np.arange(100)
    metric = AccuracyK()
    lock: Any = metric._lock
    metric._lock = Counted(lock)
    metric.add_batch(predictions=scores, references=labels)
    assert 1 <= taken <= 2

    def seconds(call: Callable[[], Any]) -> float:
        times = []
        for _ in range(50):
            begin = time.perf_counter()
            call()
            times.append(time.perf_counter() - begin)
        return min(times)

    def thousand_times() -> None:
        for _ in range(1000):
            with lock:
                pass

    metric._lock = lock
    of_batch = seconds(lambda: metric.add_batch(predictions=scores, references=labels))
    assert taken * seconds(thousand_times) / 1000 < of_batch / 100
