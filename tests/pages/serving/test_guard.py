"""What stands before the pages: bodies are counted, timed and given places, whatever the headers and the app say."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import pytest
from starlette.requests import Request

from openworld_metrics.pages.serving.guard import Guard
from openworld_metrics.pages.serving.limits import Allowance

Headers = Sequence[tuple[bytes, bytes]]
CHUNKED = [(b"transfer-encoding", b"chunked")]
CALL, UPLOAD = "/gradio_api/call/compute", "/gradio_api/upload"
SMALL = Allowance(100, 10, at_once=2, seconds=5.0)


def length(size: int) -> Headers:
    return [(b"content-length", b"%d" % size)]


async def sized(scope: Any, receive: Any, send: Any) -> None:
    """An app that reads its body and answers its size."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message["body"]), message.get("more_body")
    await respond(send, 200, str(size))


async def catching(scope: Any, receive: Any, send: Any) -> None:
    """An app that answers in its own words where its body cannot be read, as FastAPI does."""
    try:
        await sized(scope, receive, send)
    except Exception:
        await respond(send, 400, "There was an error parsing the body")


async def respond(send: Any, status: int, text: str) -> None:
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": text.encode()})


async def ask(
    guard: Guard, parts: Any, headers: Headers = (), path: str = CALL, client: str = "1.2.3.4"
) -> tuple[int, str]:
    """Send the parts of a body: a number is a pause in seconds, None a sender who hangs up, a tuple the last part."""
    sent: list[Any] = []
    waiting = _messages(parts)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": path, "headers": list(headers), "client": (client, 9)}
    await guard(scope, lambda: anext(waiting), send)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], sent[1]["body"].decode()


async def _messages(parts: Any) -> AsyncIterator[Any]:
    for part in parts:
        if isinstance(part, float):
            await asyncio.sleep(part)
        elif part is None:
            yield {"type": "http.disconnect"}
        else:
            last = isinstance(part, tuple)
            yield {"type": "http.request", "body": part[0] if last else part, "more_body": not last}
            if last:
                break
    else:
        yield {"type": "http.request", "body": b""}
    await asyncio.sleep(60)


def answered(parts: Any, headers: Headers = (), path: str = CALL, app: Any = sized, **limits: Any) -> tuple[int, str]:
    settings = {"uploads": SMALL._replace(lists=None), "calls": SMALL, "silence": 5.0, **limits}
    return asyncio.run(asyncio.wait_for(ask(Guard(app, **settings), parts, headers, path), 20))


@pytest.mark.parametrize("headers", [[], length(5), length(100), CHUNKED], ids=["none", "wrong", "right", "chunked"])
@pytest.mark.parametrize("path", [CALL, UPLOAD])
@pytest.mark.parametrize("app", [sized, catching])
def test_bytes_are_counted_whatever_the_headers(headers: Headers, path: str, app: Any) -> None:
    assert answered([b"x" * 60, b"x" * 40], headers, path, app) == (200, "100")
    status, text = answered([b"x" * 60, b"x" * 41], headers, path, app)
    assert (status, "Expected at most 100 bytes" in text) == (413, True)


@pytest.mark.parametrize(
    "headers",
    [
        [*length(5), *CHUNKED],
        [*CHUNKED, *length(0)],
        [*length(5), *length(5)],
        [(b"content-length", b"5, 5")],
        [(b"content-length", b"-1")],
        [(b"content-length", b"x")],
        [(b"content-length", b"9" * 5000)],
    ],
    ids=["both", "both-zero", "twice", "list", "negative", "word", "digits"],
)
def test_a_request_of_two_lengths_is_refused(headers: Headers) -> None:
    assert answered([b"xxxxx"], headers)[0] == 400


@pytest.mark.parametrize("headers", [[], length(0)], ids=["none", "zero"])
def test_a_body_that_no_header_announced_is_timed_too(headers: Headers) -> None:
    assert answered([b"xx", 60.0], headers, silence=0.1)[0] == 408


def test_a_stated_length_is_refused_before_anything_comes() -> None:
    begun = time.monotonic()
    advised = SMALL._replace(advice="; a file may be larger")
    status, text = answered([60.0], length(1_000_000_000), calls=advised)
    assert (status, json.loads(text)) == (413, {"detail": "Expected at most 100 bytes; a file may be larger."})
    assert answered([60.0], length(1_000_000_000), UPLOAD) == (413, "Expected at most 100 bytes.")
    assert time.monotonic() - begun < 5


def test_who_is_still_sending_hears_the_answer() -> None:
    """What is too much is read and dropped first: a server that hangs up is a reset connection for most clients."""
    read: list[int] = []

    class Parts:
        def __iter__(self) -> Any:
            for i in range(10):
                read.append(i)
                yield b"x" * 30

    assert answered(Parts(), CHUNKED)[0] == 413
    assert read == [*range(10)]


@pytest.mark.parametrize("parts", [[(b"x" * 101,)], [b"x" * 60, (b"x" * 41,)]], ids=["one", "two"])
def test_a_whole_body_is_answered_at_once(parts: Any) -> None:
    begun = time.monotonic()
    assert answered(parts, length(50))[0] == 413
    assert time.monotonic() - begun < 2


def test_opening_brackets_are_counted_in_calls_alone() -> None:
    assert answered([b"[" * 6, b"{" * 4]) == (200, "10")
    status, text = answered([b"[" * 6, b"{" * 5])
    assert (status, "at most 10 lists and objects" in text) == (413, True)
    assert answered([b"[" * 6, b"{" * 5], path=UPLOAD) == (200, "11")


@pytest.mark.parametrize("parts", [[60.0], [b"x", 60.0]], ids=["nothing", "half"])
@pytest.mark.parametrize("app", [sized, catching])
def test_a_body_that_does_not_come(parts: Any, app: Any) -> None:
    assert answered(parts, length(50), app=app, silence=0.1)[0] == 408


def test_a_body_that_trickles() -> None:
    limits = SMALL._replace(seconds=0.3)
    begun = time.monotonic()
    assert answered([b"x", 0.5] * 90, length(90), uploads=limits, path=UPLOAD, silence=1.0)[0] == 408
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("app", [sized, catching])
def test_a_sender_who_hangs_up(app: Any) -> None:
    assert answered([b"x", None], length(50), UPLOAD, app)[0] == 400


def test_no_time_is_counted_once_the_body_is_whole() -> None:
    """An app may then listen for a sender who hangs up, for as long as it computes."""

    async def listening(scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["more_body"] is True
        assert "more_body" not in await receive()
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(receive(), 0.5)
        await respond(send, 200, "computed")

    assert answered([b"x"], length(1), app=listening, silence=0.1) == (200, "computed")


def test_an_error_of_the_app_is_its_own() -> None:
    async def failing(scope: Any, receive: Any, send: Any) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        answered([b"x"], app=failing)


def test_an_answer_that_has_begun_is_not_followed_by_another() -> None:
    async def early(scope: Any, receive: Any, send: Any) -> None:
        await respond(send, 404, "Not Found")
        while (await receive()).get("more_body"):
            pass

    assert answered([b"x" * 101], CHUNKED, app=early) == (404, "Not Found")


def test_a_stream_goes_on_whoever_asks_for_its_reader() -> None:
    """gradio asks whether a visitor is still there, while starlette waits for the visitor to leave."""
    empty = [{"type": "http.request", "body": b""}]

    async def receive() -> Any:
        return empty.pop() if empty else await asyncio.sleep(60)

    async def streaming(scope: Any, receive: Any, send: Any) -> None:
        left = asyncio.create_task(receive())
        await asyncio.sleep(0)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        assert not await Request(scope, receive).is_disconnected()
        await asyncio.wait([left], timeout=0.5)
        assert not left.done() or left.result()["type"] == "http.request"
        await send({"type": "http.response.body", "body": b"streamed"})

    async def send(message: Any) -> None:
        sent.append(message)

    sent: list[Any] = []
    scope = {"type": "http", "path": "/gradio_api/queue/data", "headers": []}
    asyncio.run(Guard(streaming, silence=0.1)(scope, receive, send))
    assert sent[1]["body"] == b"streamed"


def run(requests: Callable[[Guard], Any], app: Any = sized, silence: float = 0.3, **limits: Any) -> Any:
    allowed = SMALL._replace(**limits)
    guard = Guard(app, uploads=allowed, calls=allowed, silence=silence)
    return asyncio.run(asyncio.wait_for(requests(guard), 20))


def test_unfinished_bodies_are_bounded_in_number() -> None:
    async def requests(guard: Guard) -> None:
        slow = [asyncio.create_task(ask(guard, [b"x", 0.25, b"x", 0.25], CHUNKED, UPLOAD)) for _ in range(2)]
        await asyncio.sleep(0.05)
        assert (await ask(guard, [b"x"], CHUNKED, UPLOAD))[0] == 503
        assert (await ask(guard, [b"x"], CHUNKED, CALL))[0] == 200  # they have places of their own
        assert (await ask(guard, [], (), UPLOAD))[0] == 200  # nothing to wait for
        assert [await task for task in slow] == [(200, "2")] * 2
        assert (await ask(guard, [b"x"], CHUNKED, UPLOAD))[0] == 200

    run(requests)


def test_one_client_does_not_hold_the_places_of_others() -> None:
    async def requests(guard: Guard) -> None:
        slow = [asyncio.create_task(ask(guard, [b"x", 60.0], CHUNKED)) for _ in range(4)]
        await asyncio.sleep(0.05)
        assert (await ask(guard, [b"x"], CHUNKED, client="5.6.7.8")) == (200, "1")
        assert not any(task.done() for task in slow)
        assert {(await task)[0] for task in slow} <= {408, 503}
        assert (await ask(guard, [b"x"], CHUNKED)) == (200, "1")

    run(requests, of_each=1)


def test_uploads_have_a_total() -> None:
    async def requests(guard: Guard) -> None:
        for client in ("a", "b", "c", "d", "e"):
            assert (await ask(guard, [b"x" * 90], length(90), UPLOAD, client))[0] == 200
            status, text = await ask(guard, [b"x" * 90], length(90), UPLOAD, client)
            assert (status, text) == (503, "Too many uploads are kept. Try again in two hours.")
        assert (await ask(guard, [b"x" * 90], length(90), UPLOAD, "f"))[0] == 503
        await asyncio.sleep(0.5)
        assert (await ask(guard, [b"x" * 90], length(90), UPLOAD, "f"))[0] == 200

    run(requests, kept=480, kept_seconds=0.4)


def test_a_place_is_waited_for() -> None:
    async def requests(guard: Guard) -> None:
        tasks = [asyncio.create_task(ask(guard, [b"x", 0.05], CHUNKED)) for _ in range(8)]
        assert [(await task)[0] for task in tasks] == [200] * 8

    run(requests, silence=5.0)


@pytest.mark.parametrize(
    ("parts", "status"), [([b"x" * 101], 413), ([b"x", 60.0], 408), ([b"x", None], 400), ([b"x"], 200)]
)
def test_every_end_gives_the_place_back(parts: Any, status: int) -> None:
    async def requests(guard: Guard) -> None:
        for _ in range(5):
            assert (await ask(guard, parts, CHUNKED))[0] == status
        assert (await ask(guard, [b"xyz"], CHUNKED)) == (200, "3")

    run(requests, silence=0.1)


def test_a_whole_body_needs_no_place_while_it_is_computed() -> None:
    computed = asyncio.Event()

    async def computing(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await computed.wait()
        await respond(send, 200, "")

    async def requests(guard: Guard) -> None:
        tasks = [asyncio.create_task(ask(guard, [b"x"], CHUNKED)) for _ in range(6)]
        await asyncio.sleep(0.5)
        computed.set()
        assert [(await task)[0] for task in tasks] == [200] * 6

    run(requests, app=computing)
