"""Preview data as HTML: the first rows, and the role of each column above it."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

from ...reading.places import unsigned
from ...reading.rows.cells import num_dimensions, runs
from ...reading.rows.kinds import FLIPPED
from ...reading.rows.metrics import MadeOf, table_of
from ...reading.tables.files import Table
from ..page import Page

ROWS = 5  # of a single source; each further source reduces it by one
MAX_SHOWN = 9  # columns


def preview(page: Page, sources: Sequence[Table], made_of: MadeOf, rows: bool = True) -> str:
    """The data of each source as HTML; without `rows` if an editable table shows the rows already."""
    roles = _roles(page, sources, made_of)
    return "".join(_source_html(page, i, data, roles[i], rows) for i, data in enumerate(sources) if data.arrays)


def contents(sentences: Sequence[str]) -> str:
    """The contents of each input, in words, as HTML."""
    return "".join(f'<div class="preview"><p>{html.escape(text)}</p></div>' for text in sentences)


def _roles(page: Page, sources: Sequence[Table], made_of: MadeOf) -> list[dict[str, list[str]]]:
    """The roles of each array, for each source."""
    roles: list[dict[str, list[str]]] = [{} for _ in sources]
    for column in page.columns:
        names = made_of.get(column.name, ())
        place = next(i for i, data in enumerate(sources) if data is table_of(column, names, sources))
        numbered = runs(sources[place])
        for name in names:
            plain_name = name if name in sources[place].arrays else unsigned(name).partition("[:,")[0]
            sign = "minus " if name[:1] == FLIPPED and name != plain_name else ""
            role = sign + column.role(sources[place].arrays.get(plain_name))
            for member in numbered.get(plain_name, [plain_name]):
                roles[place].setdefault(member, []).append(role)
    return roles


def _source_html(page: Page, place: int, data: Table, roles: Mapping[str, list[str]], rows: bool) -> str:
    one = {name: array for name, array in data.arrays.items() if num_dimensions(array) == 1}
    wide = {name: array for name, array in data.arrays.items() if name not in one}
    first = [name for name in one if name in roles] + [name for name in one if name not in roles]
    names = [name for name in one if name in first[:MAX_SHOWN]]
    title = f"<strong>{html.escape(page.sources[place].label)}</strong> " if len(page.sources) > 1 else ""
    lengths = sorted({len(array) for array in one.values()})
    size = f"{lengths[-1]:,} rows, {len(one):,} column{'s' * (len(one) != 1)}" if one else ""
    parts = [f"<p>{title}{size}</p>"] if title or size else []
    if one:
        alike = [(chips, len([*same])) for chips, same in groupby(_chips(name, roles) for name in names)]
        chips = "".join(f'<th colspan="{number}">{each}</th>' for each, number in alike)
        heads = "".join(f'<th scope="col">{html.escape(name)}</th>' for name in names)
        cells = (
            "".join(_row_html(data, names, row) for row in range(min(ROWS + 1 - len(page.sources), lengths[-1])))
            if rows
            else ""
        )
        more = f"<p>and {len(one) - len(names):,} more columns</p>" if len(one) > len(names) else ""
        table = f'<table><thead><tr class="chips">{chips}</tr><tr>{heads}</tr></thead><tbody>{cells}</tbody></table>'
        label = html.escape(f"First rows, {page.sources[place].label}" if len(page.sources) > 1 else "First rows")
        parts.append(f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">{table}</div>{more}')
    for name, array in wide.items():
        shape = _shape(array)
        parts.append(f"<p>{_chips(name, roles)} {html.escape(name)}: {html.escape(shape)}</p>")
    return f'<div class="preview">{"".join(parts)}</div>'


def _row_html(data: Table, names: Sequence[str], row: int) -> str:
    cells = ("" if row >= len(data.arrays[name]) else _shown_cell(data.arrays[name][row]) for name in names)
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"


def _shown_cell(value: Any) -> str:
    text = f"{value:.5g}" if isinstance(value, (float, np.floating)) else str(value)
    return html.escape(text if len(text) <= 24 else f"{text[:23]}…")


def _chips(name: str, roles: Mapping[str, list[str]]) -> str:
    own = roles.get(name)
    if not own:
        return '<span class="chip unused">not used</span>'
    return "".join(f'<span class="chip">{html.escape(role)}</span>' for role in own)


def _shape(array: Any) -> str:
    if isinstance(array, np.ndarray):
        return " × ".join(f"{size:,}" for size in array.shape)
    sizes = {np.shape(image) for image in array}
    each = f" of {' × '.join(map(str, next(iter(sizes))))}" if len(sizes) == 1 else ""
    return f"{len(array):,} images{each}"
