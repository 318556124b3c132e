"""Build pages, and serve them with their style and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import gradio as gr
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware

from ...loading import metric_class
from ...reading.limits import PAGES
from ..moving import theme_css
from ..palette import css
from . import time_limit, worker
from .cards import ROUTES
from .gate import gate
from .page import Page
from .worker import PageError

QUEUE = 32  # the most visitors who may wait
SESSIONS = 60  # whose answers are kept
# What Gradio would switch on: tools that open the path of any file that a call names (by GRADIO_MCP_SERVER too), a
# history that is kept with the server's own token, the statistics of visitors.
OFF: Mapping[str, Any] = {"mcp_server": False, "run_history": False, "enable_monitoring": False}
# system fonts: nothing is fetched from elsewhere; colour belongs to data, so buttons and tabs are neutral
THEME = gr.themes.Default(
    primary_hue="zinc",
    neutral_hue="zinc",
    font=["system-ui", "sans-serif"],
    font_mono=["ui-monospace", "monospace"],
).set(
    body_text_color_subdued="*neutral_600",
    body_text_color_subdued_dark="*neutral_300",
    block_info_text_color="*neutral_600",
    block_info_text_color_dark="*neutral_300",
    block_label_text_color="*neutral_700",
    block_label_text_color_dark="*neutral_200",
    checkbox_border_color="*neutral_400",
    checkbox_border_color_dark="*neutral_400",
    slider_color="*neutral_700",
    slider_color_dark="*neutral_200",
    button_primary_background_fill="*neutral_900",
    button_primary_background_fill_hover="*neutral_700",
    button_primary_text_color="white",
    button_primary_background_fill_dark="*neutral_100",
    button_primary_background_fill_hover_dark="*neutral_300",
    button_primary_text_color_dark="*neutral_900",
)


def build(metric: str, *, local: bool = False) -> gr.Blocks:
    """The page of a metric; `local`, whether it is served on the user's own machine, which the page then says."""
    with blocks(metric) as demo:
        fill(metric, demo, local=local)
    return demo


def blocks(title: str) -> gr.Blocks:
    """An empty page, whose uploads are deleted after an hour or two."""
    return gr.Blocks(title=title, analytics_enabled=False, delete_cache=(3600, 3600))


def fill(metric: str, demo: gr.Blocks, *, local: bool = False, endpoint: str = "compute") -> None:
    """Add a metric's page and its endpoint to `demo`, or to the page of `demo` that is being built."""
    metric_class(metric)
    Page(metric, local).connect(demo)

    async def compute(
        request: gr.Request, columns: dict[str, Any], options: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            return await time_limit.run(f"call {request.session_hash}", worker.results, metric, columns, options or {})
        except (PageError, time_limit.SupersededError) as error:
            raise gr.Error(str(error), print_exception=False) from None

    gr.api(compute, api_name=endpoint, api_description=f"The results of {metric}, of columns and options by name.")
    demo.unload(left)


def left(request: gr.Request) -> None:
    """End the work of a visitor who has left."""
    time_limit.leave(request.session_hash or "")


def launch(demo: gr.Blocks, **settings: Any) -> Any:
    """Serve a page, or all of them, with its style and bounds; other arguments are Gradio's."""
    here = files(__package__)
    names = ("../parts.css", "layout.css", "nav.css", "../filters.js", "page.js")
    parts, layout, nav, filters, script = (here.joinpath(name).read_text(encoding="utf-8") for name in names)
    style = css(system=False) + theme_css() + parts + layout
    head = f"<script>window.openworldLimit = {PAGES.size};\n{filters}{script}</script><style>{nav}</style>"
    options: dict[str, Any] = {"theme": THEME, "css": style, "head": head, "ssr_mode": False, "footer_links": ["api"]}
    options |= {**OFF, "max_file_size": PAGES.size, "state_session_capacity": SESSIONS}
    middleware = [Middleware(gate), Middleware(GZipMiddleware, compresslevel=5)]
    options["app_kwargs"] = {"middleware": middleware, "routes": ROUTES}
    demo.queue(max_size=QUEUE, default_concurrency_limit=2, api_open=False)
    return demo.launch(**{**options, **settings})
