"""What reaches the server: no request above the limits, and no file that anybody uploaded leaves it.

An upload has a random address, but whoever learns it could have the file; no page shows one, so none is served.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import unquote

from .limits import MAX_BODY, MAX_BYTES

MAX_UPLOAD = MAX_BYTES + 1_000_000  # what separates the files of a form comes on top
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class Guard:
    """ASGI middleware that refuses a request before anything of it is parsed."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        """Stand before `app`."""
        self.app = app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Answer 403 to a request for a file, 413 to a body that is too large, stated or as it comes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        path = unquote(scope["path"])
        if "/file=" in path or "/file/" in path:
            await _refuse(send, 403, "Files are not served.")
            return
        limit = MAX_UPLOAD if path.rstrip("/").endswith("/upload") else MAX_BODY
        headers = dict(scope["headers"])
        stated = headers.get(b"content-length")
        begun: list[Message] | None = []
        if stated is not None:
            begun = [] if int(stated) <= limit else None
        elif b"transfer-encoding" in headers:
            begun = await _within(receive, limit)
        if begun is None:
            if stated is not None and int(stated) <= 3 * limit:  # a client that is still sending hears no answer
                while (await receive()).get("more_body"):
                    pass
            await _refuse(send, 413, f"Expected at most {limit:,} bytes.")
            return
        await self.app(scope, _replay(begun, receive), send)


async def _within(receive: Receive, limit: int) -> list[Message] | None:
    """The messages of a body of unknown length, None as soon as there is too much."""
    messages: list[Message] = []
    size = 0
    while not messages or messages[-1].get("more_body"):
        messages.append(await receive())
        size += len(messages[-1].get("body", b""))
        if size > limit:
            return None
    return messages


def _replay(messages: list[Message], receive: Receive) -> Receive:
    waiting = iter(messages)

    async def next_message() -> Message:
        for message in waiting:
            return message
        return await receive()

    return next_message


async def _refuse(send: Send, status: int, text: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})
