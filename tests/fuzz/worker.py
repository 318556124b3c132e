"""The process that executions run in: tasks come on standard input, reports go to standard output, as JSON by line."""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import resource
import signal
import sys
import time
from pathlib import Path
from typing import Any

from tests.fuzz.engine import Finding, calls, execute, memory
from tests.fuzz.table import target

MEMORY = 3 << 30  # bytes of addresses beyond those at the start: what asks for more gets a MemoryError


def serve(log: Path) -> None:
    """Do the tasks, each [target, first number, count, seconds]; `log`, beside their folder, is for what is printed."""
    reports = os.fdopen(os.dup(1), "w", buffering=1)
    with log.open("ab") as file:
        for stream in (1, 2):
            os.dup2(file.fileno(), stream)
    faulthandler.enable(2)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))  # a process that dies leaves no file of its memory
    faulthandler.register(signal.SIGUSR1, 2)

    def report(*words: Any) -> None:
        reports.write(json.dumps(words) + "\n")

    report("ready")
    folder = log.with_name("input")
    folder.mkdir(exist_ok=True)
    compiled = set()
    for line in sys.stdin:
        name, first, count, seconds = json.loads(line)
        chosen = target(name)
        _bound_memory()
        if name not in compiled:  # its loops are, by the first input, whose own time and memory are judged after that
            report("begin", first)
            execute(chosen, first, folder)
            compiled.add(name)
        calls.update(taken=0, refused=0)
        deadline = time.monotonic() + seconds
        index = first
        while index < first + count and time.monotonic() < deadline:
            report("begin", index)
            printed = os.fstat(2).st_size
            finding = execute(chosen, index, folder)
            if finding is None and os.fstat(2).st_size > printed:
                finding = Finding(name, index, "something is printed", _tail(log, printed))
            if finding is not None:
                report("found", *finding)
            index += 1
        report("done", index, dict(calls))


def _bound_memory() -> None:
    soft = memory("VmSize") + MEMORY
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    with contextlib.suppress(ValueError):  # another limit is lower
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _tail(log: Path, start: int) -> str:
    return log.read_bytes()[start:][-2000:].decode(errors="replace")


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
