"""Several detectors, or several data sets, as one table: on the page, and to take away."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, NamedTuple

from ...formats.written.flat import KINDS
from ...metric.groups import prefixes
from ...metric.results import Summary
from ...reports.rendering import render
from ...reports.tables import OVERALL, Cell, ResultTable, make_table
from ..figures.digits import short
from .kinds import Kinds, direction
from .numbers import way

TEXT_FORMS = {"markdown": "Markdown", "latex": "LaTeX", "csv": "CSV"}


class Compared(NamedTuple):
    """A table as HTML, and as text in each of `TEXT_FORMS`."""

    shown: str
    texts: dict[str, str]


def compared(summaries: Mapping[str, Summary]) -> Compared | None:
    """The results of detectors by name, a row each; of a single one its groups. None where there is one of neither.

    The means over all groups, and over those of a common beginning (near, far), come first. Rates are percent where
    all of them can be.
    """
    results = {name: summary.as_dict() for name, summary in summaries.items()}
    kinds = {key: kind for summary in summaries.values() for key, kind in summary.kinds().items()}
    if len(results) == 1 and not _groups(results):
        return None
    scalars = {name: _with_direction(found, kinds) for name, found in results.items()}
    groups = _groups(results)
    wanted = [*sorted(prefixes(groups)), OVERALL] if groups and len(results) > 1 else None
    table = make_table(scalars, groups=wanted)
    percent = all(cell is None or not _is_rate(cell) or cell.value <= 1 for _, cells in table.rows for cell in cells)
    texts = {form: render(table, form, percent=percent) for form in TEXT_FORMS}
    return Compared(_html(table, percent), texts)


def _groups(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    table = next(iter(results.values())).get("groups")
    return list(table["group"]) if isinstance(table, Mapping) and "group" in table else []


def _with_direction(found: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    """The numbers that can be better or worse, with their intervals; all where none can."""
    numbers = {key: value for key, value in found.items() if isinstance(value, (int, float))}
    kept = {key for key in numbers if direction(key, kinds) is not None} or {*numbers}
    ends = {f"{key}_{end}" for key in kept for end in ("low", "high")}
    chosen: dict[str, Any] = {key: value for key, value in numbers.items() if key in kept | ends}
    chosen[KINDS] = kinds
    groups = found.get("groups")
    if isinstance(groups, Mapping):
        chosen["groups"] = {key: value for key, value in groups.items() if key in {"group", *kept, *ends}}
    return chosen


def _is_rate(cell: Cell) -> bool:
    return cell.direction is not None and cell.direction.rate


def _html(table: ResultTable, percent: bool) -> str:
    columns = zip(*(cells for _, cells in table.rows))
    known = [next((cell.direction for cell in column if cell is not None), None) for column in columns]
    heads = zip(table.columns, (None if each is None else each.higher for each in known))
    head = "".join(f'<th scope="col">{html.escape(column)}{way(higher)}</th>' for column, higher in heads)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(_cell_html(cell, percent) for cell in cells)}</tr>'
        for name, cells in table.rows
    )
    best = any(cell is not None and cell.best for _, cells in table.rows for cell in cells)
    words = "; ".join(["rates in percent"] * percent + ["the best in bold"] * best)
    content = f"<thead><tr><td>{html.escape(table.corner)}</td>{head}</tr></thead><tbody>{body}</tbody>"
    label = 'tabindex="0" role="region" aria-label="All results side by side"'
    hint = f'<p class="hint">{words[0].upper()}{words[1:]}.</p>' if words else ""
    return f'<div class="wide" {label}><table class="results compared">{content}</table></div>{hint}'


def _cell_html(cell: Cell | None, percent: bool) -> str:
    if cell is None:
        return "<td>–</td>"
    scale = 100 if percent and _is_rate(cell) else 1

    def number(value: float) -> str:
        return f"{scale * value:.2f}" if scale == 100 else short(value)

    text = f"<b class='best'>{number(cell.value)}</b>" if cell.best else number(cell.value)
    if cell.low is not None and cell.high is not None:
        text += f" <small>[{number(cell.low)}, {number(cell.high)}]</small>"
    return f"<td>{text}</td>"
