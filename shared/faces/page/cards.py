"""The card of each metric as a page, to which the page of the metric links: formulas, options, limits, sources."""

from __future__ import annotations

import re
from functools import cache

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from ...loading import METRICS, script
from ..html import rendered
from ..palette import css

FOLDER = "card"


@cache
def card_html(name: str) -> str:
    """The card of a metric, without the lines above it that a Space reads."""
    text = script(name).with_name("README.md").read_text(encoding="utf-8")
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    body = parser.render(re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL))
    body = re.sub(r"<p>\$\$\s*(.*?)\s*\$\$</p>", r"<pre>\1</pre>", body, flags=re.DOTALL)  # formulas, as TeX
    body = body.replace("<pre>", '<pre tabindex="0">').replace("<table>", '<div class="scroll" tabindex="0"><table>')
    return rendered("metric_card", name=name, css=css(), body=body.replace("</table>", "</table></div>"))


def _answer(request: Request) -> HTMLResponse:
    return HTMLResponse(card_html(request.url.path.rstrip("/").rpartition("/")[2]))


ROUTES = [Route(f"/{FOLDER}/{name}", _answer) for name in METRICS]
