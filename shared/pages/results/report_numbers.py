"""The numbers of a page in its report: headline, comparison, groups, worst samples, and all of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ...faces.tables import OVERALL
from ...metric.groups import GROUPS, prefixes
from ...metric.numbers import number_text
from ...metric.results import Count, Rate, Results, Summary, kind_of
from ...texts import Texts
from ..figures.computed import Computed
from ..figures.ranked import Listed
from ..page import Page
from .computation import Computation
from .frame import Figure, Section, card, data_table, grid, headline, interval, number, signed
from .numbers import MAX_LARGE, MAX_ROWS, result_help
from .pairs import MAX_SENTENCES, best_of, difference, marks

_WAYS = {True: " ↑", False: " ↓", None: ""}
_Cell = tuple[float, float | None, float | None] | float | None


def headline_html(page: Page, texts: Texts, computed: Computed, done: Computation) -> str:
    """The important numbers with their intervals; of two detectors, which is better."""
    results, said = computed.summary.results, result_help(texts.inputs)
    keys = [key for key, result in results.items() if isinstance(result, (int, float, Rate, Count))]
    large = ([key for key in keys if re.fullmatch(page.headline, key)] or keys)[:MAX_LARGE]
    figures = []
    for key in large:
        value, low, high = _parts(results[key])
        words = _mean(computed, key) or page.meaning(key) or said.get(key, "")
        figures.append(Figure(key, value, low, high, kind_of(results[key]).get("higher"), words))
    table, names = _differences(computed, done)
    higher = {key: kind.get("higher") for key, kind in computed.summary.kinds().items()}
    return headline(figures, names, table, higher)


def _mean(computed: Computed, key: str) -> str:
    """Words on a number over groups, with the pooled one; "" for others."""
    groups, whole = computed.summary.groups, computed.together
    if groups is None or whole is None or not isinstance(computed.summary.results[key], Rate):
        return ""
    pooled = whole.summary.results.get(key)
    beside = f" (pooled {number(pooled.value)})" if isinstance(pooled, Rate) else ""
    return f"Mean of {len({*groups} - {*prefixes([*groups])})} groups{beside}"


def _differences(computed: Computed, done: Computation) -> tuple[dict[str, list[Any]] | None, list[str]]:
    """The comparison of two detectors, the one in full first; None for one or more than two, or before it is there."""
    rivals = [*computed.rivals]
    if len(rivals) != 1 or not done.pairs:
        return None, []
    names = [computed.title, rivals[0]]
    one, other = (done.detectors[name].summary.results for name in names)
    table: dict[str, list[Any]] = {
        name: [] for name in ("key", "first", "second", "difference", "low", "high", "better")
    }
    for key, rate in one.items():
        row = difference(done.pairs, names[0], names[1], key)
        if isinstance(rate, Rate) and row is not None:
            cells = (key, rate.value, other[key].value, *(row[name] for name in [*table][3:]))
            for name, cell in zip(table, cells):
                table[name].append(cell)
    return table, names


def detectors_section(page: Page, done: Computation) -> Section:
    """A row for each of several detectors; the best and all that do not differ from it are marked alike."""
    summaries = {name: computed.summary for name, computed in done.detectors.items()}
    if len(summaries) == 1:
        return Section("Detectors", "Detectors", "")
    first = next(iter(summaries.values())).results
    keys = {key: rate for key, rate in first.items() if isinstance(rate, Rate) and rate.higher is not None}
    columns: dict[str, list[Any]] = {"detector": [*summaries]}
    for key, rate in keys.items():
        columns[f"{key}{_WAYS[rate.higher]}"] = [_cell(summary.results.get(key)) for summary in summaries.values()]
    marked = marks(summaries, done.pairs) if done.pairs else frozenset()
    places = {name: place for place, name in enumerate(summaries)}
    best = {
        (places[name], f"{key}{_WAYS[keys[key].higher]}")
        for name, group, key in marked
        if group == OVERALL and key in keys
    }
    lead = _rivals(page, summaries, done)
    if done.pairs:
        lead += " Bold marks the best, and every detector that is not clearly worse than it."
    return Section("Detectors", "Detectors", data_table(columns, "Detectors", best=best), lead.strip())


def _rivals(page: Page, summaries: Mapping[str, Summary], done: Computation) -> str:
    """A sentence for each rival of the best detector."""
    rates = next(iter(summaries.values())).rates()
    keys = [key for key, rate in rates.items() if isinstance(key, str) and rate.higher is not None]
    key = next((key for key in keys if re.fullmatch(page.headline, key)), keys[0] if keys else "")
    best = best_of(summaries, key)
    if best is None or not done.pairs:
        return ""
    said = []
    for name in [name for name in summaries if name != best][:MAX_SENTENCES]:
        row = difference(done.pairs, best, name, key)
        if row is not None:
            verdict = {"first": f"{best} is better", "second": f"{name} is better", None: "no clear difference"}
            ends = f"{signed(row['difference'])} {interval(row['low'], row['high'])}"
            said.append(f"{best} vs {name}: {key} {ends}, {verdict[row['better']]}.")
    return " ".join(said)


def groups_section(summary: Summary) -> Section:
    """A row for each group, and the mean first."""
    if summary.groups is None:
        return Section("Groups", "By group", "")
    keys = [key for key, result in summary.results.items() if isinstance(result, Rate)]
    rows: list[Results] = [summary.results, *summary.groups.values()]
    columns: dict[str, list[Any]] = {"group": ["mean", *summary.groups]}
    for key in keys:
        columns[f"{key}{_WAYS[summary.results[key].higher]}"] = [_cell(row.get(key)) for row in rows]
    return Section("Groups", "By group", data_table(columns, "By group", first=1))


def worst_section(sides: Sequence[Listed]) -> Section:
    """The samples that are ranked worst, a table for each side; nothing on pages without."""
    tables = [card(_table(side.columns, side.title), title=side.title) for side in sides]
    return Section("Ranked worst", "Ranked worst", grid(*tables) if tables else "")


def all_numbers(summary: Summary) -> str:
    """Every number with its interval and its threshold."""
    plain = {key: result for key, result in summary.results.items() if not isinstance(result, (Mapping, list))}
    columns: dict[str, list[Any]] = {"result": [*plain], "value": [_cell(result) for result in plain.values()]}
    thresholds = [result.threshold if isinstance(result, Rate) else None for result in plain.values()]
    if any(threshold is not None for threshold in thresholds):
        columns["score >"] = [None if threshold is None else number_text(threshold) for threshold in thresholds]
    return data_table(columns, "All numbers", digits=6)


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """The tables of the results but that of groups, each with its first rows."""
    shown = {}
    for name, table in results.items():
        if isinstance(table, Mapping) and name != GROUPS:
            count = len(next(iter(table.values()), ()))
            more = f"<p>… and {count - MAX_ROWS:,} more rows</p>" if count > MAX_ROWS else ""
            shown[f"{name}, {count:,} rows"] = _table(table, name) + more
    return shown


def _table(columns: Mapping[str, Any], title: str) -> str:
    rows = {name: [_plain(value) for value in column[:MAX_ROWS]] for name, column in columns.items()}
    return data_table(rows, title)


def _plain(value: Any) -> Any:
    """A cell of a table: a number, a text or nothing."""
    if isinstance(value, list):
        return ", ".join(str(_plain(each)) for each in value)
    return value


def _parts(result: Any) -> tuple[float, float | None, float | None]:
    """A value and the ends of its interval."""
    if not isinstance(result, Rate):
        return (result.value if isinstance(result, Count) else result), None, None
    return (result.value, *result.interval) if result.interval is not None else (result.value, None, None)


def _cell(result: Any) -> _Cell:
    return None if result is None else _parts(result)
