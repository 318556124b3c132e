"""Ranked worst, as folded tables."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

from ..figures.digits import short
from ..figures.worst import Worst


def worst_html(name: str, sides: Sequence[Worst]) -> str:
    """Folded tables of the sides, with a button that saves both as CSV; nothing for none."""
    if not sides:
        return ""
    tables = "".join(_side_html(side) for side in sides)
    save = f'<button type="button" data-do="rows" data-file="{name}_worst">CSV</button>'
    return (
        f'<details class="worst"><summary>Ranked worst</summary><div class="sides">{tables}</div>'
        f'<div class="switch">{save}</div></details>'
    )


def _side_html(side: Worst) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in side.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{_plain(value)}</td>' for value in line)}</tr>" for line in zip(*side.columns.values())
    )
    title = html.escape(side.title)
    content = f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
    return f'{region}<table class="results samples">{content}</table></div>'


def _plain(value: Any) -> str:
    return short(value) if isinstance(value, (int, float)) else html.escape(str(value))
