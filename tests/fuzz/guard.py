"""The guard before a page's server: whatever a request says and however it comes, no body is larger than allowed.

A server is imitated that hands a request over in parts, with silence between them or an early end.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from random import Random
from typing import Any, NamedTuple

from openworld_metrics.pages.serving.guard import Guard
from openworld_metrics.pages.serving.limits import Allowance
from tests.fuzz.engine import BrokenError, Case, Target

SIZE, LISTS, AT_ONCE, SILENCE = 1000, 20, 2, 0.25
PATIENCE = 30.0  # seconds for all requests of an execution, which take some milliseconds on a quiet machine
STATUS = (200, 400, 403, 408, 413, 503)
Header = tuple[bytes, bytes]


class Request(NamedTuple):
    """A request: its path, headers, the parts of its body, after which part nothing comes any more, and how it ends.

    ends: "whole", "silence" or "disconnect"; honest: whether it has to be let through as it is
    """

    path: str
    headers: list[Header]
    parts: list[bytes]
    ends: str
    honest: bool


def make(rng: Random) -> list[Request]:
    """Requests that come at the same time, each within the limits."""
    return [_honest(rng) for _ in range(rng.choice((1, 1, 3)))]


def _honest(rng: Random) -> Request:
    upload = rng.random() < 0.3
    size = rng.choice((0, 1, 10, SIZE - 1, SIZE))
    body = (
        rng.randbytes(size).replace(b"[", b" ").replace(b"{", b" ") if rng.random() < 0.8 else b"[" * min(size, LISTS)
    )
    parts = [*_cut(rng, body)]
    way = rng.random()
    headers: list[Header] = [(b"host", b"x"), (b"accept", b"*/*")]
    if way < 0.6:
        headers.append((b"content-length", str(len(body)).encode()))
    elif body or way < 0.8:
        headers.append((b"transfer-encoding", b"chunked"))
    path = (
        rng.choice(("/upload", "/gradio_api/upload/", "/upload"))
        if upload
        else rng.choice(("/", "/gradio_api/call/compute", "/a%20b"))
    )
    return Request(path, headers, parts, "whole", True)


def _cut(rng: Random, body: bytes) -> Iterator[bytes]:
    while body:
        size = rng.choice((1, 7, 300, SIZE)) if len(body) < 50 else rng.choice((100, 300, SIZE))
        yield body[:size]
        body = body[size:]


def damage(rng: Random, requests: list[Request]) -> list[Request]:
    """One of them is no longer honest."""
    i = rng.randrange(len(requests))
    request = requests[i]
    for _ in range(rng.choice((1, 1, 2))):
        request = rng.choice((_headers, _body, _end, _path))(rng, request)._replace(honest=False)
    return [*requests[:i], request, *requests[i + 1 :]]


_LENGTHS = (
    b"",
    b"0",
    b"5",
    b"-1",
    b"+5",
    b" 5",
    b"5 ",
    b"1e3",
    b"5,5",
    b"\xd9\xa3",
    b"9" * 30,
    b"1001",
    b"1000",
    b"0x10",
    b"nan",
)


def _headers(rng: Random, request: Request) -> Request:
    odd: Header = rng.choice(
        (
            (b"content-length", rng.choice(_LENGTHS)),
            (b"transfer-encoding", rng.choice((b"chunked", b"gzip, chunked", b"identity", b""))),
            (b"x" * 3000, b"\xff"),
        )
    )
    headers = [header for header in request.headers if rng.random() < 0.7]
    headers.insert(rng.randrange(len(headers) + 1), odd)
    return request._replace(headers=headers)


def _body(rng: Random, request: Request) -> Request:
    more = rng.choice((b"", b"x", b"[" * 30, b"x" * SIZE, b"{}" * 600, b"x" * 50_000))
    parts = [*request.parts]
    for _ in range(rng.choice((1, 1, 20))):
        parts.insert(rng.randrange(len(parts) + 1), more)
    return request._replace(parts=parts)


def _end(rng: Random, request: Request) -> Request:
    # silence costs its time
    return request._replace(ends=rng.choice(("disconnect", "disconnect", "disconnect", "silence")))


def _path(rng: Random, request: Request) -> Request:
    paths = (
        "/file=/etc/passwd",
        "/gradio_api/file=x",
        "/file%3Dx",
        "/%66ile/x",
        "//file=x",
        "/\ud800",
        "",
        "*",
        "/upload?x",
        "/x" * 5000,
    )
    return request._replace(path=rng.choice(paths))


def run(case: Case) -> None:
    """Send all of them at once, and after them one more, which must find a place."""
    asyncio.run(_all(case.value))


async def _all(requests: list[Request]) -> None:
    limits = dict(at_once=AT_ONCE, seconds=10 * SILENCE)
    received: dict[int, int] = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        """Reads the body, counts it and answers."""
        size = 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return
            size += len(message.get("body", b""))
            received[scope["number"]] = size
            if not message.get("more_body"):
                break
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": str(size).encode()})

    guard = Guard(app, Allowance(SIZE, None, **limits), Allowance(SIZE, LISTS, **limits), SILENCE)
    last = Request("/", [(b"content-length", b"3")], [b"abc"], "whole", True)
    for group in (requests, [last]):
        calls = [_request(guard, number, request) for number, request in enumerate(group)]
        try:
            answers = await asyncio.wait_for(asyncio.gather(*calls), PATIENCE)
        except asyncio.TimeoutError:
            raise BrokenError("a request is not answered in time") from None
        for number, (request, answer) in enumerate(zip(group, answers)):
            _check(request, answer, received.get(number, 0))
        received.clear()


async def _request(guard: Guard, number: int, request: Request) -> list[Any]:
    """What is sent in answer to a request."""
    messages = _messages(request)
    answer: list[Any] = []

    async def receive() -> Any:
        message = next(messages)
        if message is None:
            await asyncio.sleep(PATIENCE)
            return {"type": "http.disconnect"}
        await asyncio.sleep(0)
        return message

    async def send(message: Any) -> None:
        answer.append(message)

    scope = {"type": "http", "method": "POST", "path": request.path, "headers": request.headers, "number": number}
    try:
        await guard(scope, receive, send)
    except Exception as error:
        raise BrokenError(f"the guard raises {type(error).__name__}", traceback.format_exc()) from None
    return answer


def _messages(request: Request) -> Iterator[Any]:
    """What a server hands over; None for silence."""
    parts = request.parts or [b""]
    for i, part in enumerate(parts):
        last = i == len(parts) - 1 and request.ends == "whole"
        yield {"type": "http.request", "body": part, "more_body": not last}
    while request.ends == "silence":
        yield None
    while True:
        yield {"type": "http.disconnect"}


def _check(request: Request, answer: list[Any], received: int) -> None:
    starts = [message for message in answer if message["type"] == "http.response.start"]
    status = starts[0]["status"] if starts else None
    if received > SIZE:
        raise BrokenError("the app got more than is allowed", received)
    if len(starts) > 1 or (status is not None and status not in STATUS):
        raise BrokenError("no answer, or an odd one", answer)
    if not starts and request.ends == "whole":
        raise BrokenError("no answer", request)
    if "file=" in request.path and status != 403:
        raise BrokenError("a file may be served", answer)
    if request.honest and (status != 200 or received != sum(map(len, request.parts))):
        raise BrokenError(f"an honest request is answered {status}", (request, answer))


TARGETS = [Target("page guard", make, damage, run)]
