"""Bring the states of several processes to process 0, through files in a folder that all of them see.

evaluate's own gathering is not used: two of its processes that look whether a third holds a lock take each other for
it, a process that dies leaves its file, and an error in process 0 leaves the others without their batches.

Process 0 opens a round by writing a random id to the round file; each of the others answers with a file that is named
after the id, so that what a dead run left is never taken for an answer. When all have answered, process 0 computes,
and says "done" or, if that raises, "failed" and why. A round file that is gone without either says that process 0
gave up.
"""

from __future__ import annotations

import io
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .arrays import State, to_numpy

_POLL = 0.01  # seconds
_LATE = (
    "process {} waited {:g} s (timeout=) for {} to call compute(). All need the same cache_dir and experiment_id, "
    "which here give {}"
)


@contextmanager
def receive(round_file: Path, num_process: int, timeout: float) -> Iterator[list[State]]:
    """As process 0, hand the states of the others to the block, and tell them how it ended.

    Raises TimeoutError if one does not answer within `timeout` seconds, ValueError if there is another process 0.
    """
    token = uuid.uuid4().hex
    answers = {i: _answer_file(round_file, i, token) for i in range(1, num_process)}
    _write(round_file, f"open {token}".encode())
    try:
        _await_all(answers, round_file, token, num_process, timeout)
        yield [_from_bytes(answer.read_bytes()) for answer in answers.values()]
        _write(round_file, f"done {token}".encode())
    except (ValueError, TypeError) as error:
        if _read(round_file) == f"open {token}":
            _write(round_file, f"failed {token} {error}".encode())
        raise
    finally:
        if not _read(round_file).startswith("open"):
            _await_departure(answers, timeout)
        if _read(round_file).partition(" ")[2].startswith(token):
            round_file.unlink()


def _await_all(answers: dict[int, Path], round_file: Path, token: str, num_process: int, timeout: float) -> None:
    deadline = time.monotonic() + timeout
    while missing := [i for i, answer in answers.items() if not answer.exists()]:
        if _read(round_file) != f"open {token}":
            raise ValueError(f"expected one process 0, another one uses {round_file}; give each run an experiment_id")
        if time.monotonic() > deadline:
            late = f"process {', '.join(map(str, missing))} of {num_process}"
            raise TimeoutError(_LATE.format(0, timeout, late, round_file))
        time.sleep(_POLL)


def _await_departure(answers: dict[int, Path], timeout: float) -> None:
    """Wait until the others have read how the round ended: each takes its answer away then."""
    deadline = time.monotonic() + timeout
    while any(answer.exists() for answer in answers.values()) and time.monotonic() < deadline:
        time.sleep(_POLL)
    for answer in answers.values():
        answer.unlink(missing_ok=True)


def send(state: State, round_file: Path, process_id: int, timeout: float) -> None:
    """As a process other than 0, answer the open round and return when process 0 has its results.

    Raises TimeoutError if process 0 does not come or gives up, ValueError for what made it fail.
    """
    answer, answered = None, ""
    deadline = time.monotonic() + timeout
    try:
        while True:
            status, token, *reason = [*_read(round_file).split(" ", 2), "", ""][:3]
            if token == answered and status == "done":
                return
            if token == answered and status == "failed":
                raise ValueError(f"process 0 failed: {reason[0]}")
            if not status and answer is not None:
                raise TimeoutError(f"process 0 gave up on the other processes; they met at {round_file}")
            if status == "open" and token != answered:
                if answer is not None:
                    answer.unlink(missing_ok=True)
                answer, answered = _answer_file(round_file, process_id, token), token
                if answer.exists():
                    raise ValueError(f"expected one process {process_id}, another one wrote {answer}")
                _write(answer, _to_bytes(state))
                deadline = time.monotonic() + 2 * timeout  # process 0 waits for the others, and computes
            if time.monotonic() > deadline:
                raise TimeoutError(_LATE.format(process_id, timeout, "process 0", round_file))
            time.sleep(_POLL)
    finally:
        if answer is not None:
            answer.unlink(missing_ok=True)


def _answer_file(round_file: Path, process_id: int, token: str) -> Path:
    return round_file.with_suffix(f".{process_id}-{token}.npz")


def _write(path: Path, content: bytes) -> None:
    """Write a file that others see whole or not at all."""
    draft = path.with_suffix(f".{uuid.uuid4().hex}.tmp")
    draft.write_bytes(content)
    draft.replace(path)


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except FileNotFoundError:
        return ""


def _to_bytes(state: State) -> bytes:
    buffer = io.BytesIO()
    arrays: dict[str, np.ndarray] = {name: to_numpy(array) for name, array in state.items()}
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # no array is named allow_pickle
    return buffer.getvalue()


def _from_bytes(data: bytes) -> State:
    with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
