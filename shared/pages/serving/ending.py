"""Stop computations after a time limit, or when their visitor has left.

A thread cannot be stopped from outside, so CPython raises an exception in it, at the next line of Python that it runs.
The time of one such line is bounded by `costs`. Modules are imported and loops compiled to the end first: a half of
either would stay, and break the computations of all visitors.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from gradio.context import LocalContext

from ...reading.limits import RefusedError

MAX_SECONDS = 120.0
_TOO_LONG = "stopped after {:g} seconds, the limit of a page; the package and the command line have no such limit"
_PATIENCE = 5.0  # for threads that start, in seconds; one that was ended itself may never report its start
_AGAIN = 1.0  # in seconds: what is raised in a callback of the garbage collector is lost
_STARTING = vars(threading)["_limbo"]
_IMPORTING = vars(sys.modules["_frozen_importlib"])["_module_locks"]
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
T = TypeVar("T")


class EndedError(BaseException):  # so that no `except Exception` catches it
    """Raised in a computation to stop it."""


_ENDED = ctypes.py_object(EndedError)


class _Run:
    """A computation in the current thread, started by a visitor's event."""

    def __init__(self, seconds: float) -> None:
        session = getattr(LocalContext.request.get(None), "session_hash", None)
        self.listeners = {session, LocalContext.event_id.get(None)} - {None, ""}
        self.until, self.too_long = time.monotonic() + seconds, _TOO_LONG.format(seconds)
        self.reason, self.open, self._lock = "", True, threading.Lock()
        self._thread = ctypes.c_ulong(threading.get_ident())

    def end(self, reason: str) -> None:
        """Raise EndedError in the thread, unless the computation is over; again a second later, if it is not yet."""
        until = time.monotonic() + _PATIENCE
        while not self._ends(reason, time.monotonic() >= until):
            time.sleep(0.001)

    def _ends(self, reason: str, started: bool) -> bool:
        """Do so now, unless this would break something that has begun.

        A thread that starts has the identifier of its parent before Python 3.12: it would receive the exception and die
        before it reports its start, for which its parent would wait forever. `started`: wait for threads no longer.
        """
        with self._lock:
            if not self.open:
                return True
            self.reason = self.reason or reason
            self.until = time.monotonic() + _AGAIN
            if self._compiles():
                return False
            # no thread runs between the look at what has begun and the call: CPython switches at a call or a jump
            if not _IMPORTING and (started or not _STARTING):
                _raise_in(self._thread, _ENDED)
                return True
            return False

    def _compiles(self) -> bool:
        """Whether the thread is in numba's compiler; compiled loops have no frames."""
        frame = sys._current_frames().get(self._thread.value)
        while frame is not None:
            if str(frame.f_globals.get("__name__")).startswith("numba."):
                return True
            frame = frame.f_back
        return False

    def close(self) -> None:
        """Raise nothing from now on, not even an exception that `end` has scheduled."""
        with self._lock:
            self.open = False
            _raise_in(self._thread, None)


# Computations that begin, and visitors who leave, in order. One thread watches all computations: a timer for each would
# be a thread that the computation starts, and the exception might be raised while it starts.
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
            if news in run.listeners and not run.reason:
                run.end("The visitor has left.")
            elif run.until <= time.monotonic():
                run.end(run.too_long)


_starting = threading.Lock()


@functools.cache
def _watching(process: int) -> None:
    """Start the watching thread, once in each process."""
    threading.Thread(target=_watch, name="ending", daemon=True).start()


def bounded(call: Callable[..., T], *values: Any, seconds: float | None = None) -> T:
    """Call a function. Raises RefusedError if it takes longer than `MAX_SECONDS` or its visitor leaves."""
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
    """Stop the computations of a visitor who has left, by the identifier of a session or of a call."""
    if listener:
        _news.put(listener)
