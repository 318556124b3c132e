"""A process whose disk is full at the n-th write of a round, and one that is killed at the n-th step.

For every n no files are left; no batch counts twice, and none is lost but those of the process that died.
"""

from __future__ import annotations

import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.fuzz.disk import Disk, failing, full
from tests.fuzz.rounds import RANKS, Process, boxes, new_process


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


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
    some = 12  # scenarios at once, since all of them wait
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
