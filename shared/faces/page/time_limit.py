"""Worker processes with a time limit: each visitor has at most one, and it ends when the visitor leaves."""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import CancelledError, Future
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from pebble import ProcessExpired, ProcessPool

from . import worker
from .worker import PageError

WORKERS = 2
SECONDS = 120.0
_POLL = 0.02  # seconds between two looks for a first result
MEMORY = 6_000_000_000  # bytes of addresses of a worker
T = TypeVar("T")
_TOO_LONG = f"Stopped after {SECONDS:g} seconds, the limit of a page. The package and the command line have no limit."
_running: dict[str, Future[Any]] = {}
_newest: dict[str, object] = {}  # requests, by session
_lock = threading.Lock()


class SupersededError(Exception):
    """Work that a newer request of the same visitor, or the visitor's leaving, has ended."""


@cache
def pool() -> ProcessPool:
    """The workers of this process; each starts afresh, since it must not share the server's memory."""
    return ProcessPool(WORKERS, initializer=_begin, context=multiprocessing.get_context("spawn"))


@cache
def start() -> None:
    """Start the workers, once, so that nobody waits for their imports later."""
    pool().schedule(worker.warm)


def begin(session: str) -> Callable[[], bool]:
    """Begin a request of a session, which ends earlier ones; returns a function that says if it is still the newest."""
    leave(session)
    request = _newest[session] = object()
    return lambda: _newest.get(session) is request


async def run(session: str, call: Callable[..., T], *values: Any) -> T:
    """Call a function of `worker` in a process, in place of any call that runs for this session.

    Raises PageError with a message for the visitor, and SupersededError where nobody waits for the result any more.
    """
    _end(session)
    future: Future[T] = pool().schedule(call, args=values, timeout=SECONDS)
    with _lock:
        _running[session] = future
    try:
        return await asyncio.wrap_future(future)
    except (CancelledError, asyncio.CancelledError):
        raise SupersededError from None
    except (TimeoutError, asyncio.TimeoutError):  # two types before Python 3.11
        raise PageError(_TOO_LONG) from None
    except ProcessExpired:
        raise PageError("There is not enough memory for this.") from None
    finally:
        with _lock:
            if _running.get(session) is future:
                del _running[session]


async def run_in_stages(session: str, call: Callable[..., T], *values: Any) -> AsyncIterator[tuple[T, bool]]:
    """As `run` of a function that may pickle an early result into its last argument: each, and if it is last."""
    with TemporaryDirectory() as folder:
        early = Path(folder, "early")
        running = asyncio.ensure_future(run(session, call, *values, early))
        try:
            while not running.done() and not early.exists():
                await asyncio.wait({running}, timeout=_POLL)
            if not running.done():
                yield pickle.loads(early.read_bytes()), False
            yield await running, True
        finally:
            running.cancel()


def leave(session: str) -> None:
    """End the requests of a session."""
    _newest.pop(session, None)
    _end(session)


def _end(session: str) -> None:
    with _lock:
        future = _running.pop(session, None)
    if future is not None:
        future.cancel()


def _begin() -> None:
    """Bound the memory of a worker, where the system can."""
    try:
        import resource
    except ImportError:  # Windows
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = MEMORY if hard == resource.RLIM_INFINITY else min(MEMORY, hard)
    resource.setrlimit(resource.RLIMIT_AS, (most, soft if hard == resource.RLIM_INFINITY else hard))
