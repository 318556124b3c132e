"""Processes that meet in rounds, one of which dies; they load little, since there are many of them."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import openworld_metrics
from openworld_metrics.metric.evaluate_adapter import Evaluated
from tests.fuzz.disk import Disk, failing, killed

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload([__name__])


RANKS = 3


def compute_rounds(pipe: Connection, rank: int, folder: str, at: int, first: int) -> None:
    """Compute round after round, of a batch of its own each; die at a step of the first. Sends what came, or "kept"."""
    metric = new_process(rank, Path(folder), RANKS)
    for number in range(first, 2):
        pipe.recv()
        metric.add_batch(**boxes(3 ** (RANKS * number + rank)))
        metric.timeout = 60 if number else 1.0
        disk = Disk(Path(folder), at if number == 0 else 0, killed, all_steps=True)
        try:
            with failing(disk):
                results = metric.compute()
            pipe.send((results and results["TP_known"], disk.reached))
        except TimeoutError:
            pipe.send(("kept", disk.reached))


class Process:
    """One of the processes of a scenario."""

    def __init__(self, rank: int, folder: Path, at: int, first: int = 0) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=compute_rounds, args=(theirs, rank, str(folder), at, first))
        self.process.start()
        theirs.close()

    def received(self) -> Any:
        """What it sent; "dead" if it died."""
        try:
            return self.pipe.recv() if self.pipe.poll(120) else ("nothing in 120 s", False)
        except EOFError:
            return "dead", True


class _Stub:
    """What evaluate.Metric keeps of its own arguments; the real one takes a while to load in so many processes."""

    def __init__(
        self, config_name: str | None, *, num_process: int, process_id: int, cache_dir: str, timeout: float
    ) -> None:
        self.num_process, self.process_id, self.data_dir, self.timeout = num_process, process_id, cache_dir, timeout
        self.experiment_id = "x"


class Gathered(Evaluated, openworld_metrics.OpenSetDetection, _Stub):
    """A metric of several processes."""


def new_process(rank: int, folder: Path, number: int = 2) -> Gathered:
    folder.mkdir(exist_ok=True)
    own: Any = dict(num_process=number, process_id=rank, cache_dir=str(folder), timeout=1.0, known_classes=[0])
    return Gathered(**own)


def boxes(number: int) -> dict[str, Any]:
    """A batch of so many images, with an object each that is found: few boxes, for which no loop is compiled."""
    return {"predictions": [[[0, 0, 5, 5, 0.5, 0]]] * number, "references": [[[0, 0, 5, 5, 0]]] * number}


def _warm() -> None:
    """Compute once before processes are forked, so that none of them imports what this needs."""
    metric = openworld_metrics.OpenSetDetection(known_classes=[0])
    metric.add_batch(**boxes(1))
    metric.compute()


_warm()
