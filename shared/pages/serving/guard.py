"""What reaches the server: no body above the limits of size, time and number, and no file that anybody uploaded leaves.

Bytes are counted as they come, whatever a request says of its length. An upload has a random address, but whoever
learns it could have the file; no page shows one, so none is served.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from starlette.formparsers import MultiPartException

from .limits import CALLS, SILENCE, UPLOADS, Allowance

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Guard:
    """ASGI middleware that refuses a request before anything of it is parsed, or as soon as too much of it has come."""

    def __init__(
        self,
        app: Callable[..., Awaitable[None]],
        uploads: Allowance = UPLOADS,
        calls: Allowance = CALLS,
        silence: float = SILENCE,
    ) -> None:
        """Stand before `app`; `silence` are the seconds that may pass before the next part of a body comes."""
        self.app, self.silence = app, silence
        self.uploads, self.calls = _Door(uploads), _Door(calls)

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer 403 to a request for a file, and to others what `_Exchange` refuses them with."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = unquote(scope["path"])
        if "/file=" in path or "/file/" in path:
            await _refuse(send, RefusedRequestError(403, "Files are not served."), "text/plain")
            return
        uploads = path.rstrip("/").endswith("/upload")
        exchange = _Exchange(receive, send, self.uploads if uploads else self.calls, self.silence)
        try:
            await exchange.admit(scope["headers"])
            await self.app(scope, exchange.receive, exchange.send)
        except Exception:
            if exchange.refusal is None:
                raise
        finally:
            exchange.leave()
        if exchange.refusal is not None and not exchange.answered:
            await exchange.drain()
            # a page shows the text of a refused upload, and of a refused call the detail
            await _refuse(send, exchange.refusal, "text/plain" if uploads else "application/json")


class RefusedRequestError(MultiPartException):  # gradio deletes what it has of an upload when its parser raises one
    """A request that is refused, with the status and the words of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class _Door:
    """What requests of one kind are allowed, and the places for bodies that are on their way at once."""

    def __init__(self, allowance: Allowance) -> None:
        self.allowance, self.places = allowance, asyncio.Semaphore(allowance.at_once)


class _Exchange:
    """A request and its answer. Its body is counted and timed, and has a place of its door until it is whole.

    Raises RefusedRequestError: 400 for two lengths and for a body that ends early, 413 for one of too many bytes, 408
    for one that takes too long, 503 where no place gets free. From then on the app's own answer is dropped.
    """

    def __init__(self, receive: Receive, send: Send, door: _Door, silence: float) -> None:
        self._receive, self._send, self.door, self.silence = receive, send, door, silence
        self.until = time.monotonic() + door.allowance.seconds
        self.size, self.stated, self.lists = 0, 0, 0
        self.whole = self.placed = self.answered = False
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
        if self.stated or chunked:
            try:
                await asyncio.wait_for(self.door.places.acquire(), self.silence)
            except asyncio.TimeoutError:
                raise self._refused(503, "Too many requests at once. Try again in a minute.") from None
            self.placed, self.until = True, time.monotonic() + self.door.allowance.seconds

    async def receive(self) -> Message:
        """The next part of the body; after the last one, whatever else the server says."""
        if self.refusal is not None and not self.answered:
            raise self.refusal
        if self.whole or self.answered:
            return await self._receive()
        try:
            message = await asyncio.wait_for(self._receive(), min(self.silence, self.until - time.monotonic()))
        except asyncio.TimeoutError:
            raise self._refused(408, "The request took too long to come.") from None
        part, allowance = message.get("body", b""), self.door.allowance
        self.whole = not message.get("more_body")
        self.size += len(part)
        self.lists += part.count(b"[") + part.count(b"{")
        if message["type"] == "http.disconnect":
            raise self._refused(400, "The request ended before it was whole.")
        if self.size > allowance.size:
            raise self._too_large(f"{allowance.size:,} bytes")
        if allowance.lists is not None and self.lists > allowance.lists:
            raise self._too_large(f"{allowance.lists:,} lists and objects")
        if self.whole:
            self.leave()
        return message

    async def send(self, message: Message) -> None:
        """Pass the app's answer on, unless the request was refused before it began."""
        if self.refusal is None or self.answered:
            self.answered = True
            await self._send(message)

    def leave(self) -> None:
        """Give the place back."""
        if self.placed:
            self.placed = False
            self.door.places.release()

    async def drain(self) -> None:
        """After 413 read on for a while: a client that is still sending would hear no answer."""
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


async def _refuse(send: Send, refusal: RefusedRequestError, kind: str) -> None:
    text = json.dumps({"detail": refusal.message}) if kind == "application/json" else refusal.message
    headers = [(b"content-type", f"{kind}; charset=utf-8".encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
