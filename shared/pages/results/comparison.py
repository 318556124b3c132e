"""Tables of several detectors or data sets, for the page and for export."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...faces.tables import OVERALL, Cell, ResultTable, make_table, render
from ...metric.groups import prefixes
from ...metric.results import Summary
from ...written.results import KINDS
from ..page import Page
from .kinds import Kinds, direction
from .number import number_html, way
from .pairs import Pairs, marks, pairs_html

TEXT_FORMS = {"markdown": "Markdown", "latex": "LaTeX", "csv": "CSV"}

PERCENT_FORMS = ("markdown", "latex")  # which follow the switch of the page; CSV keeps all digits of fractions


class Compared(NamedTuple):
    """A table as HTML, as text in each of `TEXT_FORMS`, and as text with rates in percent."""

    shown: str
    texts: dict[str, str]
    in_percent: dict[str, str]


def compared(page: Page, summaries: Mapping[str, Summary], pairs: Pairs) -> Compared | None:
    """The results of several detectors as rows, or of a single detector's groups; None if there is only one row.

    Means over all groups, and over groups with a common prefix (near, far), come first. If all pairs of detectors were
    compared, the best of each number is marked, together with all that do not differ from it significantly.
    """
    results = {name: summary.as_dict() for name, summary in summaries.items()}
    kinds = {key: kind for summary in summaries.values() for key, kind in summary.kinds().items()}
    if len(results) == 1 and not _groups(results):
        return None
    scalars = {name: _with_direction(numbers, kinds) for name, numbers in results.items()}
    groups = _groups(results)
    wanted = [*sorted(prefixes(groups)), OVERALL] if groups and len(results) > 1 else None
    marked = marks(summaries, pairs) if pairs else frozenset()
    table = make_table(scalars, groups=wanted, marked=lambda *place: place in marked)
    texts = {form: render(table, form, digits=None if form == "csv" else 3) for form in TEXT_FORMS}
    title = f"{len(results)} detectors" if len(results) > 1 else "By group"
    note = f"mean of {_leaves(groups)} groups" if groups and len(results) > 1 else ""
    in_percent = {form: render(table, form, percent=True, digits=1) for form in PERCENT_FORMS}
    return Compared(_html(title, note, table) + pairs_html(page, summaries, pairs), texts, in_percent)


def _leaves(groups: Sequence[str]) -> int:
    return len({*groups} - {*prefixes(groups)})


def _groups(results: Mapping[str, Mapping[str, Any]]) -> list[str]:
    table = next(iter(results.values())).get("groups")
    return list(table["group"]) if isinstance(table, Mapping) and "group" in table else []


def _with_direction(results: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    """The numbers with a direction (higher or lower is better) and their intervals; all numbers if none has one."""
    numbers = {key: value for key, value in results.items() if isinstance(value, (int, float))}
    kept = {key for key in numbers if direction(key, kinds) is not None} or {*numbers}
    ends = {f"{key}_{end}" for key in kept for end in ("low", "high")}
    chosen: dict[str, Any] = {key: value for key, value in numbers.items() if key in kept | ends}
    chosen[KINDS] = kinds
    groups = results.get("groups")
    if isinstance(groups, Mapping):
        chosen["groups"] = {key: value for key, value in groups.items() if key in {"group", *kept, *ends}}
    return chosen


def _html(title: str, note: str, table: ResultTable) -> str:
    columns = zip(*(cells for _, cells in table.rows))
    known = [next((cell.direction for cell in column if cell is not None), None) for column in columns]
    heads = zip(table.columns, (None if each is None else each.higher for each in known))
    head = "".join(f'<th scope="col">{html.escape(column)}{way(higher)}</th>' for column, higher in heads)
    body = "".join(
        f'<tr><th scope="row">{html.escape(name)}</th>{"".join(map(_cell_html, cells))}</tr>'
        for name, cells in table.rows
    )
    content = f"<thead><tr><td>{html.escape(table.corner)}</td>{head}</tr></thead><tbody>{body}</tbody>"
    label = 'tabindex="0" role="region" aria-label="All results side by side"'
    heading = f'<h2 class="beside">{title} <small>{html.escape(note)}</small></h2>'
    return f'{heading}<div class="wide" {label}><table class="results compared">{content}</table></div>'


def _cell_html(cell: Cell | None) -> str:
    if cell is None:
        return "<td>–</td>"
    share = cell.share
    text = number_html(cell.value, share=share)
    text = f"<b class='best'>{text}</b>" if cell.best else text
    if cell.low is not None and cell.high is not None:
        low, high = (number_html(end, share=share) for end in (cell.low, cell.high))
        text += f' <small class="interval">[{low}, {high}]</small>'
    return f"<td>{text}</td>"
