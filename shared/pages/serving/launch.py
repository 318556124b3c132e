"""Create an empty page, and serve it with its style and limits; files are never fetched from the web."""

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

QUEUE = 32  # the most visitors who may wait; two are served at a time
SESSIONS = 40  # sessions for which gradio keeps inputs, 1.2 MB each in the gallery; pages do not need them

# gradio would ask its own server for the page, and give up unless this answers within 3 s, which a busy machine may not
UNASKED: Mapping[str, Any] = {"_frontend": False}

# What gradio would switch on: tools that open the path of any file that a call names (by GRADIO_MCP_SERVER too), a
# history that is kept with the server's own token, the statistics of visitors.
OFF: Mapping[str, Any] = {"mcp_server": False, "run_history": False, "enable_monitoring": False}

# Settings of all events. `form.from_browser` reads values as the browser holds them: gradio would check them against
# the choices and bounds of its last answer in the session, but a quick visitor may act before that answer, and gradio
# forgets it.
QUIET: Mapping[str, Any] = {"api_visibility": "private", "preprocess": False, "show_progress": "hidden"}


def blocks(title: str) -> gr.Blocks:
    """Create an empty page. Uploads are deleted after an hour or two, or by the next page that starts."""
    own_folder()
    return gr.Blocks(title=title, analytics_enabled=False, delete_cache=(3600, 3600))


def launch(demo: gr.Blocks, silence: float = SILENCE, **kwargs: Any) -> Any:
    """Serve a page, or the gallery, with its style and limits; `silence` is for `Guard`, other arguments for gradio."""
    settings = dict(theme=THEME, css=CSS, head=HEAD, max_file_size=MAX_BYTES, ssr_mode=False, footer_links=["api"])
    settings |= {**OFF, **UNASKED}
    settings["state_session_capacity"] = SESSIONS
    before = [Middleware(Guard, silence=silence), Middleware(Routes), Middleware(GZipMiddleware, compresslevel=5)]
    demo.queue(max_size=QUEUE, default_concurrency_limit=2, api_open=False)
    for kind in {type(block) for block in demo.blocks.values()}:  # types, since answers replace the components
        if "async_move_resource_to_block_cache" not in vars(kind):
            kind.async_move_resource_to_block_cache = _nothing_fetched(kind.async_move_resource_to_block_cache)
    return demo.launch(**{**settings, "app_kwargs": {"middleware": before}, **kwargs})


def _nothing_fetched(move: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap gradio's handling of an uploaded path to refuse URLs, which gradio would fetch whatever their size."""

    async def move_file(block: Any, path: Any) -> Any:
        if "://" in str(path):
            raise gr.Error("Expected an uploaded file, got a URL; URLs are never opened.", print_exception=False)
        return await move(block, path)

    return move_file
