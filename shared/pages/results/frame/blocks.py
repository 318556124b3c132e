"""Small blocks of a report: cards, grids, lists of facts, and legends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape


def card(*html: str, title: str = "", note: str = "") -> str:
    """The HTML of a framed figure, with a title and a grey note after it."""
    head = f'<h3>{escape(title)} <span class="quiet">{escape(note)}</span></h3>' if title else ""
    return f'<figure class="card">{head}{"".join(html)}</figure>'


def grid(*html: str, columns: int = 2) -> str:
    """Cards side by side, up to `columns` (1 to 4) if there is room."""
    return f'<div class="grid{columns}">{"".join(html)}</div>'


def facts_html(facts: Mapping[str, str]) -> str:
    """A list of names with their values, such as options and versions."""
    rows = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in facts.items())
    return f'<dl class="facts">{rows}</dl>'


def keys_html(keys: Sequence[tuple[str, str, str]]) -> str:
    """A legend: for each colour its token, its name, and a number or ""."""
    said = (
        f'<span><i class="box {token}"></i>{escape(name)}{f" <b>{escape(value)}</b>" if value else ""}</span>'
        for token, name, value in keys
    )
    return f'<p class="keys">{"".join(said)}</p>'


def region(html: str, name: str, classes: str = "scroll") -> str:
    """A part of the page that scrolls on its own, also with the keyboard."""
    return f'<div class="{classes}" tabindex="0" role="region" aria-label="{escape(name)}">{html}</div>'
