"""Computations that end: after some time, or when the visitor whom they are for has left.

Nothing outside a thread can end it, so CPython raises an exception in it, at the next line of Python that it runs. What
one such line takes is bounded by `costs`.
"""

from __future__ import annotations

import ctypes
import functools
import os
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from gradio.context import LocalContext

from .limits import RefusedError

MAX_SECONDS = 120.0
_TOO_LONG = "stopped after {:g} seconds, the limit of a page; the package and the command line have no such limit"
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
T = TypeVar("T")


class EndedError(BaseException):  # no `except Exception` on its way takes it for an error of its own
    """Raised in a computation that is to end."""


class _Run:
    """A computation of this thread, started by a visitor's event."""

    def __init__(self, seconds: float) -> None:
        session = getattr(LocalContext.request.get(None), "session_hash", None)
        self.listeners = {session, LocalContext.event_id.get(None)} - {None, ""}
        self.until, self.too_long = time.monotonic() + seconds, _TOO_LONG.format(seconds)
        self.reason, self.open, self._lock = "", True, threading.Lock()
        self._thread = ctypes.c_ulong(threading.get_ident())

    def end(self, reason: str) -> None:
        """Raise EndedError in the thread, unless the computation is over or was ended before."""
        _await_starting_threads()
        with self._lock:
            if self.open and not self.reason:
                self.reason = reason
                _raise_in(self._thread, ctypes.py_object(EndedError))

    def close(self) -> None:
        """From here on nothing is raised, not even what `end` has asked for already."""
        with self._lock:
            self.open = False
            _raise_in(self._thread, None)


def _await_starting_threads() -> None:
    """Wait until no thread is about to start: before Python 3.12 it has the identifier of the thread that starts it.

    It would take the exception, and die before it says that it has started, for which the other waits forever.
    """
    until = time.monotonic() + 1
    while any(thread.ident is None for thread in threading.enumerate()) and time.monotonic() < until:
        time.sleep(0.001)


# Computations that begin, and listeners who leave, in the order in which they do. One thread watches all computations:
# a timer for each would be a thread that the computation starts, and an exception may be raised in it while it does.
_news: SimpleQueue[_Run | str] = SimpleQueue()


def _watch() -> None:
    runs: list[_Run] = []
    while True:
        runs = [run for run in runs if run.open]
        left = [max(0.0, run.until - time.monotonic()) for run in runs]
        try:
            news = _news.get(timeout=min(left, default=None))
        except Empty:
            news = ""
        if isinstance(news, _Run):
            runs.append(news)
        for run in runs:
            if news in run.listeners:
                run.end("The visitor has left.")
            elif run.until <= time.monotonic():
                run.end(run.too_long)


_starting = threading.Lock()


@functools.cache
def _watching(process: int) -> None:
    """Start the thread that watches, once in a process."""
    threading.Thread(target=_watch, name="ending", daemon=True).start()


def bounded(call: Callable[..., T], *values: Any, seconds: float | None = None) -> T:
    """Run a call; raise RefusedError if it takes more than `MAX_SECONDS` or its visitor leaves."""
    with _starting:
        _watching(os.getpid())
    run = _Run(MAX_SECONDS if seconds is None else seconds)
    try:
        try:
            _news.put(run)
            return call(*values)
        finally:
            run.close()
    except EndedError:
        run.close()  # it may have been raised before
        if not run.reason:
            raise
        raise RefusedError(run.reason) from None


def leave(listener: str) -> None:
    """End what is computed for a visitor who has left: for a session, or for a call that only listens to its own."""
    if listener:
        _news.put(listener)
