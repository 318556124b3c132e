"""The one middleware of the pages: what they do not need is not answered, and no address is fetched."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

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


def gate(app: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    """ASGI middleware that answers only the requests of `ROUTES`, with bodies of calls that name no address.

    Other requests have the status 404, a larger body 413, and a file that would be fetched 400.
    """

    async def answer(scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        method, path = scope.get("method", "").replace("HEAD", "GET"), scope.get("path", "").rstrip("/") or "/"
        body, refusal, read = b"", None, list[dict[str, Any]]()
        if scope["type"] != "lifespan" and not (method in _ALLOWED and _ALLOWED[method].fullmatch(path)):
            refusal = 404, "Not Found"
        elif method == "POST" and not path.endswith("/upload"):
            async for part in Request(scope, receive).stream():
                body += part
                if len(body) > MAX_BODY:
                    refusal = 413, f"Expected at most {MAX_BODY:,} bytes; larger data can be uploaded as a file."
                    break
            if refusal is None and names_address(body):
                refusal = 400, "Expected an uploaded file, got an address; addresses are never opened."
            read.append({"type": "http.request", "body": body, "more_body": False})

        async def replayed() -> Any:
            return read.pop() if read else await receive()

        await (app if refusal is None else PlainTextResponse(refusal[1], refusal[0]))(scope, replayed, send)

    return answer


def names_address(body: bytes) -> bool:
    """Whether a body of JSON has a file that is an address, which Gradio would fetch; any other body has none.

    >>> names_address(b'{"data": [{"path": "http://a.b", "meta": {}}]}'), names_address(b'["http://a.b"]')
    (True, False)
    """
    are_addresses: list[bool] = []
    try:
        json.loads(body, object_hook=lambda file: are_addresses.append("://" in str(file.get("path", ""))))
    except RecursionError:
        return True
    except ValueError:
        return False
    return any(are_addresses)
