"""Samples as tables: those ranked worst, collapsed, and those that a visitor asks for."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..figures.ranked import Listed
from .number import number_html, save_rows


def worst_html(name: str, sides: Sequence[Listed]) -> str:
    """Collapsed tables of both sides, with a button that saves them as CSV; "" if there are none."""
    if not sides:
        return ""
    tables = "".join(_table_html(side, f"<caption>{html.escape(side.title)}</caption>") for side in sides)
    return (
        f'<details class="worst"><summary>Ranked worst</summary><div class="sides">{tables}</div>'
        f"{save_rows(f'{name}_worst')}</details>"
    )


def listed_html(name: str, listed: Listed) -> str:
    """An open table of some samples, with a button that saves it as CSV."""
    title = html.escape(listed.title)
    return (
        f'<details class="listed" open><summary>{title}</summary>{_table_html(listed)}'
        f"{save_rows(f'{name}_samples')}</details>"
    )


def _table_html(side: Listed, caption: str = "") -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in side.columns)
    body = "".join(
        f"<tr>{''.join(f'<td>{number_html(value)}</td>' for value in line)}</tr>"
        for line in zip(*side.columns.values())
    )
    title = html.escape(side.title)
    content = f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
    return f'{region}<table class="results samples">{content}</table></div>'
