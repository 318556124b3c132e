"""The samples that are ranked worst, as collapsed tables."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..figures.worst import Worst
from .number import number_html, save_rows


def worst_html(name: str, sides: Sequence[Worst]) -> str:
    """Collapsed tables of both sides, with a button that saves them as CSV; "" if there are none."""
    if not sides:
        return ""
    tables = "".join(_side_html(side) for side in sides)
    return (
        f'<details class="worst"><summary>Ranked worst</summary><div class="sides">{tables}</div>'
        f"{save_rows(f'{name}_worst')}</details>"
    )


def _side_html(side: Worst) -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in side.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{number_html(value)}</td>' for value in line)}</tr>"
        for line in zip(*side.columns.values())
    )
    title = html.escape(side.title)
    content = f"<caption>{title}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
    return f'{region}<table class="results samples">{content}</table></div>'
