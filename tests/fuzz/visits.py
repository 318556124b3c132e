"""Visitors of a page who wait for their answers, and leave: only their own computation ends, and all places get free.

A server is imitated, as in `guard`: each visitor listens on a request of its own while a thread computes for it.
"""

from __future__ import annotations

import asyncio
import threading
import time
import traceback
from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any, NamedTuple
from urllib.parse import quote

from gradio.context import LocalContext

from openworld_metrics.pages.serving.ending import bounded
from openworld_metrics.pages.serving.guard import Guard
from openworld_metrics.pages.serving.limits import CALLS, UPLOADS, RefusedError
from tests.fuzz.engine import BrokenError, Case, Target

PATIENCE = 30.0  # seconds, of what is over in some milliseconds
LISTENING = ("/gradio_api/queue/data", "/queue/data", "/gradio_api/call/compute/{}", "/gradio_api/call/compute/{}/")


class Visit(NamedTuple):
    """A session or call, the path and query of the request that listens to it, and whether its visitor stays.

    A stranger has no computation of its own.
    """

    session: str
    path: str
    query: bytes
    stays: bool
    stranger: bool = False


def make(rng: Random) -> list[Visit]:
    """Some visitors at once, each with a session or call of its own."""
    return [_visit(rng, f"{number}{rng.randrange(16**8):08x}") for number in range(rng.choice((1, 2, 5)))]


def _visit(rng: Random, session: str) -> Visit:
    path, stays = rng.choice(LISTENING), rng.random() < 0.5
    query = b"" if "{}" in path else b"session_hash=" + quote(session).encode()
    return Visit(session, path.format(quote(session, safe="")), query, stays)


def damage(rng: Random, visits: list[Visit]) -> list[Visit]:
    """Strangers come and go who state another session, none or several, or ask for something else."""
    known = rng.choice(visits).session
    query = rng.choice(
        (b"", b"session_hash=", b"session_hash", b"session_hash=a&session_hash=b", b"\xff=%ff&%", b"=&=")
    )
    path = rng.choice((*LISTENING, "/", "/gradio_api/call/", "/gradio_api/call//", "/queue/data/x", "/\ud800", "*"))
    odd = rng.choice(("", known[:-1], known + "0", known.upper() + "G", "../" + known, "x" * 10_000, "\0", "é"))
    strangers = [Visit(odd, path.format(odd), query, False, True) for _ in range(rng.choice((1, 3)))]
    return [*strangers, *visits] if rng.random() < 0.5 else [*visits, *strangers]


def run(case: Case) -> None:
    """Let them all come, some leave, and see which computations end."""
    asyncio.run(_all(case.value))


async def _all(visits: list[Visit]) -> None:
    begun: list[str] = []
    guard, stop = Guard(_listen, UPLOADS, CALLS, silence=PATIENCE), threading.Event()
    left = {visit.session for visit in visits if not visit.stays}
    ends = [asyncio.Event() for _ in visits]
    requests = [asyncio.create_task(_request(guard, visit, end)) for visit, end in zip(visits, ends)]
    own = [visit for visit in visits if not visit.stranger]
    computing = {visit.session: asyncio.create_task(asyncio.to_thread(_compute, visit, begun, stop)) for visit in own}
    try:
        await _until(lambda: len(begun) == len(own), "a computation does not begin")
        for visit, end in zip(visits, ends):
            if not visit.stays:
                end.set()
        await _until(lambda: all(computing[session].done() for session in left & computing.keys()), "one goes on")
    finally:
        stop.set()
        answers = dict(zip(computing, await asyncio.gather(*computing.values())))
        for end in ends:
            end.set()
        await asyncio.gather(*requests)
    for session, answer in answers.items():
        if (answer == "whole") == (session in left):
            raise BrokenError("a visitor who stays has no answer, or one who left has", (session, answer))
    if guard.calls._places._value != CALLS.at_once:
        raise BrokenError("a place was not given back", guard.calls._places._value)


async def _until(holds: Callable[[], bool], otherwise: str) -> None:
    until = time.monotonic() + PATIENCE
    while not holds():
        if time.monotonic() > until:
            raise BrokenError(otherwise)
        await asyncio.sleep(0.001)


async def _listen(scope: Any, receive: Any, send: Any) -> None:
    """The server: an answer that begins at once, and ends when the visitor leaves."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while (await receive())["type"] != "http.disconnect":
        pass


async def _request(guard: Guard, visit: Visit, end: asyncio.Event) -> None:
    """Listen until the end; a visitor who leaves does so in the middle of the answer."""
    first = True

    async def receive() -> Any:
        nonlocal first
        if first:
            first = False
            return {"type": "http.request", "body": b"", "more_body": False}
        await end.wait()
        return {"type": "http.disconnect"}

    async def send(_: Any) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": visit.path, "query_string": visit.query, "headers": []}
    try:
        await guard(scope, receive, send)
    except Exception as error:
        raise BrokenError(f"the guard raises {type(error).__name__}", traceback.format_exc()) from None


def _compute(visit: Visit, begun: list[str], stop: threading.Event) -> str:
    """What the page computes for a visitor: done when all are told to stop, or ended before."""
    LocalContext.request.set(SimpleNamespace(session_hash=visit.session))
    try:
        return bounded(_work, visit, begun, stop, seconds=10 * PATIENCE)
    except RefusedError as error:
        return str(error)


def _work(visit: Visit, begun: list[str], stop: threading.Event) -> str:
    begun.append(visit.session)
    while not stop.is_set():
        time.sleep(0.0005)
    return "whole"


TARGETS = [Target("page visits", make, damage, run)]
