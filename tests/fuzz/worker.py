"""A process that executes targets: one that hangs or dies is a finding too, and another takes its place."""

from __future__ import annotations

import contextlib
import faulthandler
import multiprocessing
import os
import signal
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from unittest import mock

from tests.fuzz.engine import Finding, calls, execute, memory
from tests.fuzz.table import find_target

MEMORY = 3 << 30  # bytes of addresses beyond those at the start: what asks for more gets a MemoryError
PATIENCE = 90.0  # seconds of a clock, on a machine that may be busy; processor time is bounded in engine.py
CONTEXT = multiprocessing.get_context("spawn")
ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "2",
    "MPLBACKEND": "Agg",
    "NUMBA_BOUNDSCHECK": "1",
    "NUMBA_OPT": "0",  # compiled sooner
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def serve(pipe: Connection, folder: Path) -> None:
    """In the process: do the tasks (target, first number, count, seconds) until None comes; prints go to the log."""
    import resource

    log = folder / "log"
    with log.open("ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a process that dies leaves no file of its memory
    compiled = set()
    while (task := pipe.recv()) is not None:
        name, first, count, seconds = task
        target = find_target(name)
        with contextlib.suppress(ValueError):  # another limit is lower
            resource.setrlimit(
                resource.RLIMIT_AS, (memory("VmSize") + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1])
            )
        if name not in compiled:  # its loops are, by the first input, whose own time and memory are judged after that
            pipe.send(first)
            execute(name, target, first, folder / "input")
            compiled.add(name)
        calls.update(taken=0, refused=0)
        index, deadline = first, time.monotonic() + seconds
        while index < first + count and time.monotonic() < deadline:
            pipe.send(index)
            printed = log.stat().st_size
            finding = execute(name, target, index, folder / "input")
            if finding is None and log.stat().st_size > printed:
                finding = Finding(name, index, "something is printed", _words(log.read_bytes()[printed:]))
            if finding is not None:
                pipe.send(finding)
            index += 1
        pipe.send({**calls, "index": index})


def _words(data: bytes) -> str:
    return data[-4000:].decode(errors="replace")


class Worker:
    """The process as another one sees it: started when it is needed, and anew as often as needed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.calls: dict[tuple[str, str], int] = {}  # of each target, those that were taken, and refused
        self.process: Any = None

    def run(self, target: str, first: int, count: int, seconds: float = 1e9) -> tuple[int, list[Finding]]:
        """Execute the inputs from `first` on, at most `count` and for `seconds`: how many were, and what came of it."""
        findings: list[Finding] = []
        index, deadline = first, time.monotonic() + seconds
        while index < first + count and (time.monotonic() < deadline or index == first):
            self._start()
            self.pipe.send((target, index, first + count - index, max(0.1, deadline - time.monotonic())))
            running = None
            while (report := self._report()) is not None:
                if isinstance(report, int):
                    running = report
                elif isinstance(report, Finding):
                    findings.append(report)
                else:
                    for key in calls:
                        self.calls[target, key] = self.calls.get((target, key), 0) + report[key]
                    return report["index"] - first, findings
            how, words = self._end(), _words((self.folder / "log").read_bytes())
            if running is None:
                raise RuntimeError(f"the fuzzing process does not begin with {target}: {how}\n{words}")
            findings.append(Finding(target, running, how, words))
            index = running + 1
        return index - first, findings

    def _start(self) -> None:
        if self.process is None:
            (self.folder / "log").write_bytes(b"")
            self.pipe, theirs = CONTEXT.Pipe()
            self.process = CONTEXT.Process(target=serve, args=(theirs, self.folder), daemon=True)
            # compiled loops are not those without checks
            with mock.patch.dict(os.environ, ENVIRONMENT, NUMBA_CACHE_DIR=str(self.folder / "numba")):
                self.process.start()
            theirs.close()

    def _report(self) -> Any:
        """The next report; None if the process has died or says nothing for too long."""
        with contextlib.suppress(EOFError, ConnectionResetError):
            return self.pipe.recv() if self.pipe.poll(PATIENCE) else None

    def _end(self) -> str:
        """End a process that hangs, or see how it died."""
        self.process.join(timeout=0.5)
        code = self.process.exitcode
        if code is None:
            log = self.folder / "log"
            printed, deadline = log.stat().st_size, time.monotonic() + 5
            os.kill(self.process.pid, signal.SIGUSR1)  # its stack goes to the log
            while log.stat().st_size == printed and time.monotonic() < deadline:
                time.sleep(0.01)
        self.stop()
        if code is None:
            return f"hangs for more than {PATIENCE:g} s"
        return f"the process dies: {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"

    def stop(self) -> None:
        if self.process is not None:
            with contextlib.suppress(OSError):  # it is no more
                self.pipe.send(None)
            self.process.join(timeout=1)
            self.process.kill()
            self.process.join()
            self.pipe.close()
            self.process = None


@contextlib.contextmanager
def started() -> Iterator[Worker]:
    """A worker, in a folder that goes with it."""
    # in memory, if that is there: some disks take a millisecond to remove a folder
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="openworld-fuzz-", dir=fast) as folder:
        worker = Worker(Path(folder))
        try:
            yield worker
        finally:
            worker.stop()
