"""The headline and the tables of a report of anomaly maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...anomaly.words import meaning
from ..frame import Figure, Section, data_table, facts_html, headline, names_beside
from .numbers import ENDS, Numbers

_BESIDE = 3  # categories side by side in a table of all numbers, to fit a page


def headline_html(numbers: Numbers, names: Sequence[str]) -> str:
    """Three numbers with their intervals and, if it is certain, the better model."""
    results, table = numbers.results, None
    figures = []
    for key in numbers.keys[:3]:
        low, high = (results.get(f"{key}_{end}") for end in ("low", "high"))
        figures.append(Figure(key, results[key], low, high, numbers.higher(key), meaning(key)))
    if numbers.comparison is not None and "low" in numbers.comparison:
        table = _sure_rows(numbers.comparison, numbers.keys)
    every = results["groups"]["group"]
    groups = [name for name in every if not any(other.startswith(f"{name}/") for other in every)]
    kind = "groups" if any("/" in name for name in groups) else "categories"
    note = f"mean of {len(groups)} {kind}" if len(groups) > 1 else ""
    if numbers.of_images_only:
        note = "; ".join(filter(None, [note, "--confidence-level 0.95 gives the other numbers intervals, too"]))
    higher = {key: numbers.higher(key) for key in numbers.keys}
    return headline(figures, names, table, higher, note)


def _sure_rows(comparison: Mapping[str, Any], keys: Sequence[str]) -> dict[str, list[Any]] | None:
    """The rows of a comparison with intervals, in the order of keys; None if there are none."""
    names = ("key", "first", "second", "difference", "low", "high", "better")
    rows = {row[0]: row for row in zip(*(comparison[name] for name in names)) if row[4] is not None}
    ordered = [rows[key] for key in keys if key in rows]
    return dict(zip(names, map(list, zip(*ordered)))) if ordered else None


def categories_section(numbers: Numbers, names: Sequence[str]) -> Section:
    """The table by category, with a bar for each model in every cell."""
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
    """Every rate with its interval; for two models, also the difference with its interval."""
    keys, table = numbers.keys, numbers.comparison
    names = names_beside(names, ("key", "difference", "p_value"))
    own = [(numbers.results[key], *(numbers.results.get(f"{key}_{end}") for end in ("low", "high"))) for key in keys]
    columns: dict[str, list[Any]] = {"key": keys, names[0]: own}
    if numbers.other is not None:
        columns[names[1]] = [numbers.other.get(key) for key in keys]
    if table is not None:
        ends = (table.get(name, [None] * len(table["key"])) for name in ("difference", "low", "high"))
        differences, p_values = dict(zip(table["key"], zip(*ends))), dict(zip(table["key"], table.get("p_value", ())))
        columns["difference"] = [differences.get(key) for key in keys]
        columns["p_value"] = [p_values.get(key) for key in keys]
    shown = {name: column for name, column in columns.items() if any(value is not None for value in column)}
    return data_table(shown, "All numbers", minor=["p_value"], digits=6)


def all_by_category(numbers: Numbers, names: Sequence[str]) -> str:
    """All numbers of each model by category: a row for each key, a few categories side by side."""
    tables = []
    for name, results in zip(names, (numbers.results, numbers.other)):
        groups = (results or {}).get("groups", {})
        columns = {key: column for key, column in groups.items() if key != "group" and not key.endswith(ENDS)}
        keys = [key for key, column in columns.items() if not any(isinstance(x, (dict, list)) for x in column)]
        for start in range(0, len(groups.get("group", ())), _BESIDE):
            shown = range(start, min(start + _BESIDE, len(groups["group"])))
            table: dict[str, list[Any]] = {names_beside([name], groups["group"])[0]: keys}
            for at in shown:
                table[groups["group"][at]] = [columns[key][at] for key in keys]
            tables.append(data_table(table, f"{name}, by category", digits=6))
    return "".join(tables)


def meanings(numbers: Numbers) -> str:
    """A list of the keys and thresholds of the results with their meanings."""
    keys = [*numbers.keys, *(key for key in numbers.results["groups"] if key.endswith("_threshold"))]
    return facts_html({key: words for key in dict.fromkeys(keys) if (words := meaning(key))})
