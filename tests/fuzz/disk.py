"""A disk that fails, or a process that is killed, at the n-th step of what is written."""

from __future__ import annotations

import builtins
import errno
import io
import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock


class Disk:
    """Counts the steps of this thread that change files in a folder, and does something at the n-th.

    Steps are to open a file for writing, each write, to make a file or a folder, to rename, and to change permissions;
    for a process that is killed also to remove, and to read.
    """

    def __init__(self, folder: Path, at: int, fail: Callable[[str, Any], None], *, all_steps: bool = False) -> None:
        self.folder, self.at, self.fail, self.all_steps = os.path.realpath(folder), at, fail, all_steps
        self.steps, self.last, self.thread = 0, ("", ""), threading.get_ident()

    @property
    def reached(self) -> bool:
        """Whether there was an n-th step."""
        return 0 < self.at <= self.steps

    def step(self, what: str, path: Any) -> None:
        """Count a step, unless it repeats the last one, as waiting does."""
        if threading.get_ident() != self.thread or not isinstance(path, (str, os.PathLike)):
            return
        if what == "mkdir" and os.path.isdir(path):
            return  # it writes nothing
        place = os.path.realpath(os.path.dirname(os.fspath(path)) or ".")
        this = (what, os.path.basename(os.fspath(path))[-8:])
        if not (place + os.sep).startswith(self.folder + os.sep) or (self.all_steps and this == self.last):
            return
        self.last = this
        self.steps += 1
        if self.steps == self.at:
            self.fail(what, path)


def full(what: str, path: Any) -> None:
    """No space is left."""
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def killed(what: str, path: Any) -> None:
    """The process is no more."""
    os._exit(9)


@contextmanager
def failing(disk: Disk) -> Iterator[None]:
    """Let everything that is written go over a disk."""
    opened = builtins.open

    class Raw(io.FileIO):
        """A file whose writes are steps; one that fails has written half of what it should."""

        def write(self, data: Any) -> int:
            try:
                disk.step("write", self.name)
            except OSError:
                super().write(bytes(data)[: len(data) // 2])
                raise
            return super().write(data)

        def fileno(self) -> int:
            # Pillow writes past Python where it can
            if sys._getframe(1).f_globals["__name__"].startswith("PIL."):
                raise io.UnsupportedOperation
            return super().fileno()

    def open_(file: Any, mode: str = "r", buffering: int = -1, *text: Any, **more: Any) -> Any:
        if not set(mode) & set("wax+"):
            if disk.all_steps:
                disk.step("read", file)
            return opened(file, mode, buffering, *text, **more)
        disk.step("open", file)
        raw = Raw(
            file, mode.replace("b", "").replace("t", ""), **{k: more.pop(k) for k in ("closefd", "opener") if k in more}
        )
        buffer = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffer if "b" in mode else io.TextIOWrapper(buffer, *text, **more)

    def stepping(what: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **more: Any) -> Any:
            disk.step(what, path)
            return function(path, *rest, **more)

        return call

    def os_open(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            disk.step("make", path)
        return real_open(path, flags, *rest, **more)

    real_open = os.open
    names = ["replace", "rename", "mkdir", "chmod", "fsync", *(["unlink", "remove"] if disk.all_steps else [])]
    # before 3.11 a Path does not look in os for what it does
    patches = [
        mock.patch.object(Path, name, stepping(name, getattr(Path, name))) for name in names if hasattr(Path, name)
    ]
    patches += [mock.patch.object(os, name, stepping(name, getattr(os, name))) for name in names]
    patches += [
        mock.patch.object(os, "open", os_open),
        mock.patch("builtins.open", open_),
        mock.patch.object(io, "open", open_),
    ]
    try:
        for patch in patches:
            patch.start()
        yield
    finally:
        for patch in reversed(patches):
            patch.stop()
