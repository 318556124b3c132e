"""Samples as tables: those ranked worst, collapsed, and those that a visitor asks for."""

from __future__ import annotations

import html
from collections.abc import Sequence

from ..figures.ranked import Listed
from .number import number_html, save_rows
from .numbers import image_button


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
        f'<details class="listed" data-name="{name}" open><summary>{title}</summary>{_table_html(listed)}'
        f"{save_rows(f'{name}_samples')}</details>"
    )


def _table_html(side: Listed, caption: str = "") -> str:
    head = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in side.columns)
    lines = [[number_html(value) for value in line] for line in zip(*side.columns.values())]
    for line, image in zip(lines, side.images):
        line[0] = image_button(image, str(side.columns[next(iter(side.columns))][side.images.index(image)]))
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in line)}</tr>" for line in lines)
    title = html.escape(side.title)
    content = f"{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
    region = f'<div class="wide" tabindex="0" role="region" aria-label="{title}">'
    return f'{region}<table class="results samples">{content}</table></div>'
