"""An empty page, and how it is served: with its style, its limits and no address of the web."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from ..browser.layout import CSS, HEAD, THEME
from .folder import own_folder
from .guard import Guard
from .limits import MAX_BYTES, SILENCE
from .routes import Routes

QUEUE = 32  # visitors who may wait; two are served at a time
SESSIONS = 40  # whose inputs gradio keeps: of the gallery, 1.2 MB each. A page needs none of them

# What gradio would switch on: tools that open the path of any file that a call names (by GRADIO_MCP_SERVER too), a
# history that is kept with the server's own token, the statistics of visitors.
OFF: Mapping[str, Any] = {"mcp_server": False, "run_history": False, "enable_monitoring": False}

# How a page listens. Values come as the browser holds them (`form.from_browser` reads them): gradio would check them
# against the choices and bounds of its last answer in the session, before which a quick visitor may act, and which it
# forgets.
QUIET: Mapping[str, Any] = {"api_visibility": "private", "preprocess": False, "show_progress": "hidden"}
VISIBLE: Mapping[str, Any] = {**QUIET, "show_progress": "full"}


def blocks(title: str) -> gr.Blocks:
    """An empty page. What visitors upload is deleted after an hour or two, or by the next page that starts."""
    own_folder()
    return gr.Blocks(title=title, analytics_enabled=False, delete_cache=(3600, 3600))


def launch(demo: gr.Blocks, silence: float = SILENCE, **kwargs: Any) -> Any:
    """Serve a page, or the gallery, with its style and limits; `silence` as of the guard, and the rest as of gradio."""
    settings = dict(theme=THEME, css=CSS, head=HEAD, max_file_size=MAX_BYTES, ssr_mode=False, footer_links=["api"])
    settings |= OFF
    settings["state_session_capacity"] = SESSIONS
    before = [Middleware(Guard, silence=silence), Middleware(Routes), Middleware(GZipMiddleware, compresslevel=5)]
    demo.queue(max_size=QUEUE, default_concurrency_limit=2, api_open=False)
    for kind in {type(block) for block in demo.blocks.values()}:  # an answer puts new components in place of these
        if "async_move_resource_to_block_cache" not in vars(kind):
            kind.async_move_resource_to_block_cache = _nothing_fetched(kind.async_move_resource_to_block_cache)
    return demo.launch(**{**settings, "app_kwargs": {"middleware": before}, **kwargs})


def _nothing_fetched(move: Callable[..., Any]) -> Callable[..., Any]:
    """As gradio takes the path of an upload; refused is an address of the web, which it would fetch, however large."""

    async def taken(block: Any, path: Any) -> Any:
        if "://" in str(path):
            raise gr.Error("Expected an uploaded file, got an address; none is opened.", print_exception=False)
        return await move(block, path)

    return taken
