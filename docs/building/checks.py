"""Check the built site: no page loads files of another host, and llms.txt links to existing pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.exceptions import PluginError

LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video)\b[^>]*?\ssrc=["']?(?:https?:)?//|url\(["']?(?:https?:)?//"""
)
LINKED = re.compile(r"""<link\b[^>]*?\shref=["']?(?:https?:)?//""")


def on_post_build(config: Any) -> None:
    """Raise PluginError for a page that loads a file of another host, and for a broken link in llms.txt."""
    site = Path(config.site_dir)
    for file in [*site.rglob("*.html"), *site.rglob("*.css")]:
        text = file.read_text("utf-8")
        loading = LOADED.search(text) or LINKED.search(text)
        if loading:
            raise PluginError(f"{file}: loads a file of another host: {loading[0][-80:]}")
    for target in re.findall(r"\]\(([^)]+)\)", (site / "llms.txt").read_text("utf-8")):
        if not (site / target).is_file():
            raise PluginError(f"llms.txt: there is no {target}")
