"""Middleware that limits the size, time and number of request bodies, and serves no uploaded file.

Bytes are counted as they arrive, whatever length a request declares. An upload has a random address, but anyone who
learns it could get the file; since no page shows uploads, none is served.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, unquote

from starlette.formparsers import MultiPartException

from .doors import Door
from .ending import leave
from .limits import CALLS, SILENCE, UPLOADS, Allowance

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Guard:
    """ASGI middleware that refuses a request before it is parsed, or as soon as too much of it has arrived."""

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        uploads: Allowance = UPLOADS,
        calls: Allowance = CALLS,
        silence: float = SILENCE,
    ) -> None:
        """Wrap `app`; `silence` is the longest wait for the next part of a body, in seconds."""
        self.app, self.silence = app, silence
        self.uploads, self.calls = Door(uploads), Door(calls)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer 403 to a request for a file, and answer other requests unless `_Exchange` refuses them."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = unquote(scope["path"])
        if "/file=" in path or "/file/" in path:
            await _refuse(send, RefusedRequestError(403, "Files are not served."), "text/plain")
            return
        uploads, client = path.rstrip("/").endswith("/upload"), (scope.get("client") or ("",))[0]
        exchange = _Exchange(receive, send, self.uploads if uploads else self.calls, self.silence, client)
        try:
            await exchange.admit(scope["headers"])
            await self.app(scope, exchange.receive, exchange.send)
        except Exception:
            if exchange.refusal is None:
                raise
        finally:
            exchange.leave()
            if not exchange.complete:
                leave(listener(path, scope.get("query_string", b"")))
        if exchange.refusal is not None and not exchange.answered:
            await exchange.drain()
            # a page shows the text of a refused upload, but the JSON detail of a refused call
            await _refuse(send, exchange.refusal, "text/plain" if uploads else "application/json")


class RefusedRequestError(MultiPartException):  # gradio deletes the received part of an upload when its parser raises
    """A refused request, with the status and message of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Exchange:
    """A request and its answer. The body is counted and timed, and holds a place of its door until it is complete.

    Raises RefusedRequestError: 400 for two lengths and for a body that ends early, 413 for too many bytes, 408 for a
    body that takes too long, 503 if no place becomes free. After that the app's own answer is dropped.
    """

    def __init__(self, receive: Receive, send: Send, door: Door, silence: float, client: str) -> None:
        self._receive, self._send, self.door, self.silence, self.client = receive, send, door, silence, client
        self.until = time.monotonic() + door.allowance.seconds
        self.size, self.stated, self.lists = 0, 0, 0
        self.expected = self.whole = self.answered = self.complete = False
        self._leave: Callable[[], None] | None = None
        self._reading = asyncio.Lock()
        self.refusal: RefusedRequestError | None = None

    async def admit(self, headers: list[tuple[bytes, bytes]]) -> None:
        """Check the headers, and wait for a place."""
        lengths = [value for name, value in headers if name == b"content-length"]
        chunked = any(name == b"transfer-encoding" for name, _ in headers)
        if len(lengths) + chunked > 1 or not all(length.isdigit() and len(length) < 20 for length in lengths):
            # two readers of such a request may disagree on where it ends
            raise self._refused(400, "Expected one length, Content-Length or Transfer-Encoding.")
        self.stated = sum(map(int, lengths))
        if self.stated > self.door.allowance.size:
            raise self._too_large(f"{self.door.allowance.size:,} bytes")
        self.expected = bool(self.stated or chunked)
        if self.expected:
            if self.door.is_full(self.client, self.stated):
                raise self._refused(503, "Too many uploads are kept. Try again in two hours.")
            try:
                self._leave = await asyncio.wait_for(self.door.enter(self.client), self.silence)
            except asyncio.TimeoutError:
                raise self._refused(503, "Too many requests at once. Try again in a minute.") from None
            self.until = time.monotonic() + self.door.allowance.seconds

    async def receive(self) -> Message:
        """The next part of the body; after the last part, any later message of the server, without a time limit.

        One reader at a time, so that a check for disconnection cannot take a part from the reader of the body.
        """
        async with self._reading:
            if self.refusal is not None and not self.answered:
                raise self.refusal
            return await self._next()

    async def _next(self) -> Message:
        timed = self.expected and not self.whole and not self.answered
        try:
            left = min(self.silence, self.until - time.monotonic()) if timed else None
            message = await asyncio.wait_for(self._receive(), left)
        except asyncio.TimeoutError:
            if self.answered:  # meanwhile
                return await self._next()
            raise self._refused(408, "The request took too long to arrive.") from None
        if self.whole or self.answered:
            return message
        part, allowance = message.get("body", b""), self.door.allowance
        self.whole = not message.get("more_body")
        self.expected = self.expected or not self.whole  # more follows, whatever the headers declared
        self.size += len(part)
        self.lists += part.count(b"[") + part.count(b"{")
        if message["type"] == "http.disconnect":
            raise self._refused(400, "The request ended before it was complete.")
        if self.size > allowance.size:
            raise self._too_large(f"{allowance.size:,} bytes")
        if allowance.lists is not None and self.lists > allowance.lists:
            raise self._too_large(f"{allowance.lists:,} lists and objects")
        if self.whole:
            self.door.keep(self.client, self.size)
            self.leave()
        return message

    async def send(self, message: Message) -> None:
        """Forward the app's answer, unless the request was refused before the answer began."""
        if self.refusal is None or self.answered:
            self.answered = True
            await self._send(message)
            self.complete = message["type"] == "http.response.body" and not message.get("more_body")

    def leave(self) -> None:
        """Give the place back."""
        leave, self._leave = self._leave, None
        if leave is not None:
            leave()

    async def drain(self) -> None:
        """After 413, keep reading for a while: a client that is still sending would not see the answer."""
        most, until, size = 3 * UPLOADS.size, time.monotonic() + self.silence, self.stated
        while self.refusal is not None and self.refusal.status == 413 and size <= most and not self.whole:
            try:
                message = await asyncio.wait_for(self._receive(), until - time.monotonic())
            except asyncio.TimeoutError:
                return
            self.whole = not message.get("more_body")
            size += 0 if self.stated else len(message.get("body", b""))

    def _too_large(self, most: str) -> RefusedRequestError:
        return self._refused(413, f"Expected at most {most}{self.door.allowance.advice}.")

    def _refused(self, status: int, text: str) -> RefusedRequestError:
        self.refusal = RefusedRequestError(status, text)
        return self.refusal


def listener(path: str, query: bytes) -> str:
    """The session or call that a request listens to; "" for any other request.

    >>> listener("/gradio_api/queue/data", b"session_hash=abc"), listener("/gradio_api/call/compute/7f", b"")
    ('abc', '7f')
    """
    call = re.search(r"/call/[^/]+/([^/]+)/?$", path)
    session = parse_qs(query.decode("latin-1")).get("session_hash", [""]) if path.endswith("/queue/data") else [""]
    return call[1] if call else session[0]


async def _refuse(send: Send, refusal: RefusedRequestError, kind: str) -> None:
    text = json.dumps({"detail": refusal.message}) if kind == "application/json" else refusal.message
    headers = [(b"content-type", f"{kind}; charset=utf-8".encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
