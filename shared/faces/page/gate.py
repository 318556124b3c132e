"""The one middleware of the pages: it answers only requests that they need, and fetches no address."""

from __future__ import annotations

import json
import re

from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ...loading import METRICS
from .cards import FOLDER

MAX_BODY = 1_000_000  # bytes of a call, which is parsed on the thread of all visitors
# [^/]+ is one part of a path; Gradio serves more, such as statistics, runs, a proxy, and components' functions
_OWN = (
    "",
    *METRICS,
    *(f"{FOLDER}/{name}" for name in METRICS),
    "config",
    "theme.css",
    "favicon.ico",
    "robots.txt",
    "assets/.+",
    "static/.+",
)
_CALLS = ("app_id", "info", "openapi.json", "startup-events", "heartbeat/[^/]+", "upload_progress", "queue/data")
_READ = (*_CALLS, "call/[^/]+/[^/]+", "file=(?!https?:).+")
ROUTES = {
    "GET": (*(f"/{part}" for part in _OWN), *(f"/gradio_api/{part}" for part in _READ)),
    "POST": tuple(f"/gradio_api/{part}" for part in ("upload", "queue/join", "call/[^/]+", "cancel", "reset")),
}


def gate(app: ASGIApp) -> ASGIApp:
    """ASGI middleware that answers only requests of `ROUTES` (else 404), whose bodies name no address (else 400)."""

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        method, path = scope.get("method", "").replace("HEAD", "GET"), scope.get("path", "").rstrip("/") or "/"
        body, refusal, read = b"", None, list[Message]()
        if scope["type"] != "lifespan" and not re.fullmatch("|".join(ROUTES.get(method, "-")), path):
            refusal = PlainTextResponse("Not Found", 404)
        elif method == "POST" and not path.endswith("/upload"):
            async for part in Request(scope, receive).stream():
                body += part
                if len(body) > MAX_BODY:
                    refusal = PlainTextResponse(f"Expected at most {MAX_BODY:,} bytes; upload more as a file.", 413)
                    break
            if refusal is None and names_address(body):
                refusal = PlainTextResponse("Expected a file, got an address; addresses are never opened.", 400)
            read.append({"type": "http.request", "body": body, "more_body": False})

        async def replayed() -> Message:
            return read.pop() if read else await receive()

        await (refusal or app)(scope, replayed, send)

    return answer


def names_address(body: bytes) -> bool:
    """Whether a body of JSON has a file that is an address, which Gradio would fetch; any other body has none.

    >>> names_address(b'{"data": [{"path": "http://a.b", "meta": {}}]}'), names_address(b'["http://a.b"]')
    (True, False)
    """
    try:
        return re.search(r'"path": "[^"]*://', json.dumps(json.loads(body))) is not None
    except (ValueError, RecursionError) as error:
        return isinstance(error, RecursionError)
