"""A disk that is full at the n-th write, a process that is killed at the n-th step of a round, a Dask worker that dies.

For every n: old files stay as they are or become the new ones, whole; no drafts are left; the error is one line; no
batch counts twice, and none is lost but those of the process that died.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from openworld_metrics import Metric, reading, written
from openworld_metrics.cluster import compute_parquet
from openworld_metrics.loading import metric_class
from tests import cases
from tests.conftest import Run
from tests.detection import scenes
from tests.fuzz.disk import Disk, failing, full
from tests.fuzz.rounds import RANKS, Process, boxes, new_process

OLD = b"what was there before"


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files(folder)}


def full_disks(folder: Path) -> Iterator[Disk]:
    """Disks that are full at the first step, the second, and so on, until there is no such step."""
    for at in itertools.count(1):
        disk = Disk(folder, at, full)
        yield disk
        if not disk.reached:
            assert at > 2
            return


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Columns of ood_bench, and boxes as COCO has them, beside the folder that is written to."""
    np.save(tmp_path / "scores.npy", [0.1, 0.6, 0.4, 0.9])
    np.save(tmp_path / "labels.npy", [0, 0, 1, 1])
    scenes.write_as_coco(scenes.scene(0, 3), tmp_path)
    (tmp_path / "out").mkdir()
    return tmp_path


OOD = ["compute", "ood_bench", "--predictions", "scores.npy", "--references", "labels.npy"]
COCO = ["detect", "--predictions", "results.json", "--references", "instances.json", "--known-classes", "0", "1", "2"]
COCO += ["--unknown-id", "999"]
COMMANDS = {
    "svg": ([*OOD, "--plot", "out/old.svg"], ["old.svg"]),
    "save and plot": ([*OOD, "--save", "out/old.json", "--plot", "out/old.png"], ["old.json", "old.png"]),
    "save": ([*OOD, "--save", "out/old.json"], ["old.json"]),
    "two results": ([*COCO, "--save", "out/old.json", "--save", "out/old.txt"], ["old.json", "old.txt"]),
    "report": ([*COCO, "--report", "out"], ["index.html", "of another kind"]),
}


@pytest.mark.parametrize("name", [*(name for name in COMMANDS if name != "save"), "save, anew", "report, anew"])
def test_a_command_on_a_full_disk(name: str, inputs: Path, run: Run) -> None:
    name, _, anew = name.partition(", ")
    arguments, names = COMMANDS[name]
    out = inputs / "out"
    before = {} if anew else dict.fromkeys(names, OLD)
    pytest.importorskip("matplotlib")

    def begin() -> None:
        for path in files(out):
            path.unlink()
        for file, content in before.items():
            (out / file).write_bytes(content)

    begin()
    assert run(*arguments)[0] == 0
    after = contents(out)
    assert all(after[file] != OLD for file in before if file != "of another kind")
    for disk in full_disks(out):
        begin()
        with failing(disk):
            code, _, errors = run(*arguments)
        found = contents(out)
        if disk.reached:
            assert (code, errors.count("\n")) == (2, 1), errors
            assert errors.startswith("openworld-metrics: ")
            assert "No space left on device" in errors
            assert found.keys() <= after.keys()
            assert [file for file, content in found.items() if content not in (before.get(file), after[file])] == []
            assert before.keys() <= found.keys()
        else:
            assert found.keys() == after.keys()
            assert code == 0


WRITERS: dict[str, Callable[[reading.Detections, Path], None]] = {
    "YOLO": lambda scene, out: written.write_yolo(scene.dataset, out / "labels"),
    "YOLO predictions": lambda scene, out: written.write_yolo_predictions(scene, out / "labels"),
    "COCO": lambda scene, out: written.write_coco(scene.dataset, out / "x.json"),
    "COCO results": lambda scene, out: written.write_coco_results(scene, out / "x.json"),
}


@pytest.mark.parametrize("name", WRITERS)
def test_boxes_on_a_full_disk(name: str, tmp_path: Path) -> None:
    old, new = scenes.scene(1, 3), scenes.scene(2, 3)
    WRITERS[name](old, tmp_path)
    before = contents(tmp_path)
    WRITERS[name](new, tmp_path)
    after = contents(tmp_path)
    for disk in full_disks(tmp_path):
        WRITERS[name](old, tmp_path)
        said = None
        with failing(disk):
            try:
                WRITERS[name](new, tmp_path)
            except OSError as error:
                said = str(error)
        assert (said is not None) == disk.reached
        assert said is None or str(tmp_path) in said  # the file that cannot be written
        found = contents(tmp_path)
        assert found.keys() == after.keys() == before.keys()
        assert [file for file, content in found.items() if content not in (before[file], after[file])] == []
        if not disk.reached:
            assert found == after


@pytest.mark.parametrize("rank", [0, 1])
def test_a_round_on_a_full_disk(rank: int, tmp_path: Path) -> None:
    """The process whose disk is full raises OSError or goes on without; the next round has every batch once."""
    for at in itertools.count(1):
        folder = tmp_path / str(at)
        metrics = [new_process(i, folder) for i in range(2)]
        disk = Disk(folder, at, full)
        for i, metric in enumerate(metrics):
            metric.add_batch(**boxes(3**i))
        with failing(disk):
            first = together(metrics, disk, rank)
        assert files(folder) == []
        assert first[1] in (None, "one line")
        assert first[0] in ("one line", 4)
        if not disk.reached:
            assert first == [4, None]
            return
        for i, metric in enumerate(metrics):
            metric.timeout = 30
            metric.add_batch(**boxes(9 * 3**i))
        second = together(metrics)
        assert sum(count for count in (first[0], second[0]) if isinstance(count, int)) == 40
        assert files(folder) == []


def together(metrics: list[Any], disk: Disk | None = None, rank: int = 0) -> list[Any]:
    """What the processes' compute gives at the same time: a count, nothing, or one line; `disk` is that of one."""

    def compute(i: int) -> Any:
        if disk is not None and i == rank:
            disk.thread = threading.get_ident()
        try:
            results = metrics[i].compute()
        except OSError as error:  # TimeoutError is one
            return "one line" if len(str(error).splitlines()) == 1 else repr(error)
        return results and results["TP_known"]

    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(compute, range(2)))


def digits(number: int) -> list[int]:
    """How often each batch counts: those of the first round by rank, then those of the second."""
    return [number // 3**i % 3 for i in range(2 * RANKS)]


@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_that_is_killed_at_each_step(victim: int, tmp_path: Path) -> None:
    some = 8  # scenarios at once, since all of them wait
    for start in itertools.count(1, some):
        scenarios = [Killed(victim, at, tmp_path / str(at)) for at in range(start, start + some)]
        for follow in (Killed.first_round, Killed.second_round):
            for scenario in scenarios:
                follow(scenario)
        reached = [scenario.check() for scenario in scenarios]
        if not all(reached):
            assert start > 1 or sum(reached) > 3
            return


class Killed:
    """Two rounds of three processes, one of which dies at a step of the first round and is started again."""

    def __init__(self, victim: int, at: int, folder: Path) -> None:
        folder.mkdir()
        self.victim, self.folder = victim, folder
        self.processes = [Process(rank, folder, at if rank == victim else 0) for rank in range(RANKS)]
        for process in self.processes:
            process.pipe.send("go")

    def first_round(self) -> None:
        """Wait for it, and start the next one."""
        self.came, self.reached = zip(*(process.received() for process in self.processes))
        if self.came[self.victim] == "dead":
            self.processes[self.victim].process.join()
            self.processes[self.victim] = Process(self.victim, self.folder, 0, first=1)
        for process in self.processes:
            process.pipe.send("go")

    def second_round(self) -> None:
        """Wait for it."""
        self.second, *self.others = (process.received()[0] for process in self.processes)
        for process in self.processes:
            process.process.join()

    def check(self) -> bool:
        """Hold what came to the rule; whether there was such a step."""
        came = self.came
        one, two = digits(came[0] if isinstance(came[0], int) else 0), digits(self.second)
        assert self.others == [None] * (RANKS - 1), (came, self.others)
        assert isinstance(came[0], str) or one == [1] * RANKS + [0] * RANKS, came
        assert two[RANKS:] == [1] * RANKS
        for rank in range(RANKS):
            total = one[rank] + two[rank]
            assert total <= 1
            # lost is at most what the dead process had: its own, and what process 0 had taken
            if rank != self.victim and (came[rank] == "kept" or self.victim != 0):
                assert total == 1, (rank, came)
        assert files(self.folder) == []
        return any(self.reached)


def die_at_the_second_batch() -> None:
    """In a Dask worker: the process ends in the middle of its work."""
    add_batch, count = Metric.add_batch, itertools.count()

    def dies(*arguments: Any, **columns: Any) -> None:
        if next(count) == 1:
            os._exit(9)
        add_batch(*arguments, **columns)

    Metric.add_batch = dies


def test_a_dask_worker_that_dies(tmp_path: Path) -> None:
    """Another does its work, and the result has the same bits."""
    pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    columns, options = cases.draw("ood_bench", 9)
    table = pa.table({key: pa.array(column) for key, column in columns.items()})
    pq.write_table(table, tmp_path / "scores.parquet", row_group_size=2)
    own = dict(n_workers=2, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0")
    with distributed.LocalCluster(**own) as cluster, distributed.Client(cluster) as client:
        first, *_ = client.nthreads()
        process = client.run(os.getpid, workers=[first])[first]
        client.run(die_at_the_second_batch, workers=[first])
        computed = compute_parquet("ood_bench", tmp_path / "scores.parquet", **options)
        assert process not in client.run(os.getpid).values()
    assert computed == metric_class("ood_bench")().compute(**columns, **options)
