"""The other side of the worker: executions are asked for, and one that hangs or dies is a finding too."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fuzz.engine import Finding

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 90.0  # seconds of a clock, on a machine that may be busy; processor time is bounded in engine.py
START = 120.0
_END = ["end"]


class Worker:
    """A process that executes targets, started anew as often as needed."""

    def __init__(self) -> None:
        # in memory, if that is there: some disks take a millisecond to remove a folder
        fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self._folder = tempfile.TemporaryDirectory(prefix="openworld-fuzz-", dir=fast)
        self._log = Path(self._folder.name) / "log"
        self._process: subprocess.Popen[str] | None = None
        self.calls: dict[tuple[str, str], int] = {}  # of each target, those that were taken, and refused

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
        self._folder.cleanup()

    def run(self, target: str, first: int, count: int, seconds: float = 1e9) -> tuple[int, list[Finding]]:
        """Execute the inputs from `first` on, at most `count` and for `seconds`: how many were, and what was found."""
        findings: list[Finding] = []
        index, deadline = first, time.monotonic() + seconds
        while index < first + count and (time.monotonic() < deadline or index == first):
            self._start()
            self._ask([target, index, first + count - index, max(0.1, deadline - time.monotonic())])
            running = None
            for report in self._reports():
                if report[0] == "begin":
                    running = report[1]
                elif report[0] == "found":
                    findings.append(Finding(*report[1:]))
                elif report[0] == "done":
                    for key, number in report[2].items():
                        self.calls[target, key] = self.calls.get((target, key), 0) + number
                    return report[1] - first, findings
            how = self._end()
            if running is None:
                raise RuntimeError(f"the fuzzing process does not begin with {target}: {how}\n{self._said()}")
            findings.append(Finding(target, running, how, self._said()))
            index = running + 1
        return index - first, findings

    def _start(self) -> None:
        if self._process is not None:
            return
        self._log.write_bytes(b"")
        environment = {
            **os.environ,
            "MALLOC_ARENA_MAX": "2",
            "MPLBACKEND": "Agg",
            "NUMBA_BOUNDSCHECK": "1",
            "NUMBA_CACHE_DIR": str(Path(self._folder.name) / "numba"),  # its loops are not those without checks
            "NUMBA_OPT": "0",  # compiled sooner
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker", str(self._log)],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._lines: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()
        self._reader = threading.Thread(target=_pass_on, args=(self._process, self._lines), daemon=True)
        self._reader.start()
        if self._lines.get(timeout=START) != ["ready"]:
            raise RuntimeError(f"the fuzzing process does not start:\n{self._said()}")

    def _ask(self, task: list[Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(task) + "\n")
        self._process.stdin.flush()

    def _reports(self) -> Iterator[list[Any]]:
        """Reports, until the process dies or says nothing for too long."""
        while True:
            try:
                report = self._lines.get(timeout=PATIENCE)
            except queue.Empty:
                return
            if report == _END:
                return
            yield report

    def _end(self) -> str:
        """End a process that hangs, or see how it died."""
        assert self._process is not None
        try:
            code = self._process.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self._process.send_signal(signal.SIGUSR1)  # its stack goes to the log
            time.sleep(0.5)
            self._stop()
            return f"hangs for more than {PATIENCE:g} s"
        self._stop()
        return f"the process dies: {signal.Signals(-code).name if code < 0 else f'exit code {code}'}"

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._reader.join()
            with self._process:  # closes its pipes, and waits
                self._process = None

    def _said(self) -> str:
        return self._log.read_bytes()[-4000:].decode(errors="replace")


def _pass_on(process: subprocess.Popen[str], lines: queue.SimpleQueue[list[Any]]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        lines.put(json.loads(line))
    lines.put(_END)
