"""The one middleware of the pages: what they do not need is not answered, and no address is fetched."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse

from ...loading import METRICS

MAX_BODY = 1_000_000  # bytes of a call, which is parsed on the thread of all visitors
# [^/]+ is one part of a path; Gradio serves more, such as statistics, runs, a proxy, and components' functions
ROUTES = {
    "GET": (
        *("/", *(f"/{name}" for name in METRICS), "/config", "/theme.css", "/favicon.ico", "/robots.txt"),
        *("/assets/.+", "/static/.+", "/gradio_api/app_id", "/gradio_api/info", "/gradio_api/openapi.json"),
        *("/gradio_api/startup-events", "/gradio_api/heartbeat/[^/]+", "/gradio_api/upload_progress"),
        *("/gradio_api/queue/data", "/gradio_api/call/[^/]+/[^/]+", "/gradio_api/file=(?!https?:).+"),
    ),
    "POST": tuple(f"/gradio_api/{part}" for part in ("upload", "queue/join", "call/[^/]+", "cancel", "reset")),
}
_ALLOWED = {method: re.compile("|".join(routes)) for method, routes in ROUTES.items()}


class Gate:
    """ASGI middleware that answers only the requests of `ROUTES`, with bodies of calls that name no address."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answer 404 to other requests, 413 to a larger body, and 400 to a file that would be fetched."""
        if scope["type"] != "http":
            await (self.app(scope, receive, send) if scope["type"] == "lifespan" else send({"type": "websocket.close"}))
            return
        method, path = scope["method"].replace("HEAD", "GET"), scope["path"].rstrip("/") or "/"
        refusal = None if method in _ALLOWED and _ALLOWED[method].fullmatch(path) else (404, "Not Found")
        if refusal is None and method == "POST" and not path.endswith("/upload"):
            body = b""
            async for part in Request(scope, receive).stream():
                body += part
                if len(body) > MAX_BODY:
                    refusal = 413, f"Expected at most {MAX_BODY:,} bytes; larger data can be uploaded as a file."
                    break
            if refusal is None and names_address(body):
                refusal = 400, "Expected an uploaded file, got an address; addresses are never opened."
            message = {"type": "http.request", "body": body, "more_body": False}
            before, replay = receive, iter([message])
            receive = lambda: _next(replay, before)  # noqa: E731
        await (self.app if refusal is None else PlainTextResponse(refusal[1], refusal[0]))(scope, receive, send)


async def _next(replay: Any, receive: Any) -> Any:
    return next(replay, None) or await receive()


def names_address(body: bytes) -> bool:
    """Whether a body of JSON has a file that is an address, which Gradio would fetch; any other body has none.

    >>> names_address(b'{"data": [{"path": "http://a.b", "meta": {}}]}'), names_address(b'["http://a.b"]')
    (True, False)
    """
    try:
        waiting = [orjson.loads(body)]
    except ValueError:
        return False
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if "://" in str(one.get("path", "")):
                return True
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one
    return False
