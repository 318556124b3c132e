"""The headline and the tables of a report of anomaly maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from ...anomaly.words import meaning
from ..frame import Figure, Section, data_table, facts_html, headline
from .numbers import ENDS, Numbers


def headline_html(numbers: Numbers, names: Sequence[str]) -> str:
    """Three numbers with their intervals, and which model is better, where that can be said."""
    results, table = numbers.results, None
    figures = []
    for key in numbers.keys[:3]:
        low, high = (results.get(f"{key}_{end}") for end in ("low", "high"))
        figures.append(Figure(key, results[key], low, high, numbers.higher(key), meaning(key)))
    if numbers.comparison is not None and "low" in numbers.comparison:
        table = _sure_rows(numbers.comparison, numbers.keys)
    groups = results["groups"]["group"]
    kind = "groups" if any("/" in name for name in groups) else "categories"
    note = f"mean of {len(groups)} {kind}" if len(groups) > 1 else ""
    if f"{numbers.keys[0]}_low" not in results:
        note = "; ".join(filter(None, [note, "--confidence-level 0.95 gives the other numbers intervals, too"]))
    higher = {key: numbers.higher(key) for key in numbers.keys}
    return headline(figures, names, table, higher, note)


def _sure_rows(comparison: Mapping[str, Any], keys: Sequence[str]) -> dict[str, list[Any]] | None:
    """The rows of a comparison that have intervals, in the order of keys; None where none has."""
    names = ("key", "first", "second", "difference", "low", "high", "better")
    rows = {row[0]: row for row in zip(*(comparison[name] for name in names)) if row[4] is not None}
    ordered = [rows[key] for key in keys if key in rows]
    return dict(zip(names, map(list, zip(*ordered)))) if ordered else None


def categories_section(numbers: Numbers, names: Sequence[str]) -> Section:
    """The table by category, with a bar for each model in its cells."""
    results, other = numbers.results["groups"], (numbers.other or {}).get("groups")
    shown = [*numbers.keys[:5], *(key for key in ("pixel_fpr95tpr", "segment_f1") if key in numbers.keys[5:])]
    several = len(results["group"]) > 1
    columns: dict[str, list[Any]] = {
        "category": [*(["mean"] if several else []), *results["group"]],
        "images": [*([numbers.results["images"]] if several else []), *results["images"]],
    }
    for key in shown:
        own = [*([numbers.results[key]] if several else []), *results[key]]
        if other is not None and numbers.other is not None:
            theirs = [*([numbers.other[key]] if several else []), *other[key]]
            columns[_titled(key, numbers)] = [list(pair) for pair in zip(own, theirs)]
        else:
            columns[_titled(key, numbers)] = own
    titles = [_titled(key, numbers) for key in shown]
    table = data_table(columns, "By category", meters=titles, minor=["images", *titles[2:]], first=int(several))
    lead = "" if other is None else f"The upper bar is {names[0]}, the lower {names[1]}. "
    lead += "The mean gives each category the same weight." if several else ""
    return Section("Categories", "By category", table, lead)


def _titled(key: str, numbers: Numbers) -> str:
    higher = numbers.higher(key)
    return key if higher is None else f"{key} {'↑' if higher else '↓'}"


def all_numbers(numbers: Numbers, names: Sequence[str]) -> str:
    """Every rate, of both models where there are two, with their difference."""
    keys = numbers.keys
    columns: dict[str, list[Any]] = {"key": keys, names[0]: [_with_ends(numbers.results, key) for key in keys]}
    if numbers.other is not None:
        columns[names[1]] = [_with_ends(numbers.other, key) for key in keys]
    if numbers.comparison is not None:
        for name in ("difference", "low", "high", "p_value"):
            if name in numbers.comparison:
                column = dict(zip(numbers.comparison["key"], numbers.comparison[name]))
                columns[name] = [column.get(key) for key in keys]
    return data_table(columns, "All numbers", digits=6)


def _with_ends(results: Mapping[str, Any], key: str) -> Any:
    low, high = results.get(f"{key}_low"), results.get(f"{key}_high")
    return results.get(key) if low is None or high is None else (results[key], low, high)


def all_by_category(numbers: Numbers, names: Sequence[str]) -> str:
    """Every column of the table by category, of each model, with six digits."""
    tables = []
    for name, results in zip(names, (numbers.results, numbers.other)):
        groups = (results or {}).get("groups", {})
        plain = {
            key: column
            for key, column in groups.items()
            if not key.endswith(ENDS) and not any(isinstance(value, (dict, list)) for value in column)
        }
        tables.append(f"<p>{escape(name)}</p>{data_table(plain, f'{name}, by category', digits=6)}")
    return "".join(tables)


def meanings(numbers: Numbers) -> str:
    """What each key of the results says, in words, and each threshold."""
    keys = [*numbers.keys, *(key for key in numbers.results["groups"] if key.endswith("_threshold"))]
    return facts_html({key: words for key in dict.fromkeys(keys) if (words := meaning(key))})
