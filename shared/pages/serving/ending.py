"""Computations that end: after some time, or when the visitor whom they are for has left.

Nothing outside a thread can end it, so CPython raises an exception in it, at the next line of Python that it runs. What
one such line takes is bounded by `costs`.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from gradio.context import LocalContext

from .limits import RefusedError

MAX_SECONDS = 120.0
_TOO_LONG = "expected at most {:g} seconds of computing on a page; the package and the command line have no such limit"
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
T = TypeVar("T")


class EndedError(BaseException):  # no `except Exception` on its way takes it for an error of its own
    """Raised in a computation that is to end."""


class _Run:
    """A computation of this thread, for the visitor whose event it is."""

    def __init__(self, seconds: float) -> None:
        session = getattr(LocalContext.request.get(None), "session_hash", None)
        self.listeners = {session, LocalContext.event_id.get(None)} - {None}
        self.reason, self._lock, self._open = "", threading.Lock(), True
        self._thread = ctypes.c_ulong(threading.get_ident())
        self._timer = threading.Timer(seconds, self.end, [_TOO_LONG.format(seconds)])
        self._timer.daemon = True

    def begin(self) -> None:
        _running.add(self)
        self._timer.start()

    def end(self, reason: str) -> None:
        with self._lock:
            if self._open and not self.reason:
                self.reason = reason
                _raise_in(self._thread, ctypes.py_object(EndedError))

    def close(self) -> None:
        """From here on nothing is raised, not even what `end` has asked for already."""
        with self._lock:
            self._open = False
            _raise_in(self._thread, None)
        self._timer.cancel()
        _running.discard(self)


_running: set[_Run] = set()


def bounded(call: Callable[..., T], *values: Any, seconds: float | None = None) -> T:
    """What a call returns; RefusedError where it takes more than `MAX_SECONDS`, or its visitor leaves."""
    run = _Run(MAX_SECONDS if seconds is None else seconds)
    try:
        try:
            run.begin()
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
    for run in [*_running]:
        if listener in run.listeners:
            run.end("The visitor has left.")
