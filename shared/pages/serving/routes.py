"""The routes that a page and its endpoint need; any other route of gradio, present or future, is answered with 404.

Gradio serves more: files by path, a proxy, components' functions, statistics of visitors, a history of runs that is
kept with the server's own token, an editor of the page's code. None of these can be reached.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from starlette.responses import PlainTextResponse

from ...loading import METRICS

# {} is one part of a path, {...} any number of them
ROUTES = {
    "GET": (
        "/",
        *(f"/{name}" for name in METRICS),  # of the gallery
        "/config",
        "/theme.css",
        "/favicon.ico",
        "/robots.txt",
        "/assets/{...}",
        "/static/{...}",
        "/gradio_api/app_id",
        "/gradio_api/info",
        "/gradio_api/openapi.json",
        "/gradio_api/startup-events",
        "/gradio_api/heartbeat/{}",
        "/gradio_api/upload_progress",
        "/gradio_api/queue/data",
        "/gradio_api/call/{}/{}",
    ),
    "POST": (
        "/gradio_api/upload",
        "/gradio_api/queue/join",
        "/gradio_api/call/{}",
        "/gradio_api/cancel",
        "/gradio_api/reset",
    ),
}


def _pattern(routes: Sequence[str]) -> re.Pattern[str]:
    listed = "|".join(map(re.escape, routes))
    return re.compile(listed.replace(re.escape("{...}"), ".+").replace(re.escape("{}"), "[^/]+"))


_ALLOWED = {method: _pattern(routes) for method, routes in ROUTES.items()}


class Routes:
    """ASGI middleware that passes only the requests of `ROUTES`."""

    def __init__(self, app: Callable[..., Awaitable[None]]) -> None:
        self.app = app

    async def __call__(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        """Answer 404 to any other request, and close connections other than HTTP."""
        if scope["type"] == "lifespan" or (scope["type"] == "http" and is_listed(scope["method"], scope["path"])):
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1000})


def is_listed(method: str, path: str) -> bool:
    """Whether a request is one of `ROUTES`; HEAD counts as GET, and a slash at the end is ignored.

    >>> is_listed("HEAD", "/config/"), is_listed("POST", "/gradio_api/run/compute")
    (True, False)
    """
    allowed = _ALLOWED.get("GET" if method == "HEAD" else method)
    return allowed is not None and allowed.fullmatch(path.rstrip("/") or "/") is not None
