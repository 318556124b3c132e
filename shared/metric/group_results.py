"""Results of groups in one: their means, and a table of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .groups import GROUPS, is_below, prefixes

Results = dict[str, Any]
Key = str | tuple[str, str]  # of a rate: its name, or a group and its name


def grouped_results(by_group: Mapping[str, Mapping[str, Any]]) -> Results:
    """The unweighted mean of each rate over the groups, the sum of each count, and a table of the groups.

    A group whose name has a slash, as category/defect, adds a row for what is before it (each slash): the mean of its
    groups.

    Parameters: by_group, the results of each group; floats are rates, ints are counts. Thresholds, intervals
    and whatever is neither are in the table only, and None in rows of means.
    Returns {key: …, "groups": {"group": [names, sorted], key: [values]}}; names that are all integers, as numbers are.

    >>> made = grouped_results({"nut/cut": {"auroc": 1.0, "images": 3}, "nut/bent": {"auroc": 0.5, "images": 4}})
    >>> made["auroc"], made["images"]
    (0.75, 7)
    >>> made["groups"]
    {'group': ['nut', 'nut/bent', 'nut/cut'], 'auroc': [0.75, 0.5, 1.0], 'images': [7, 4, 3]}
    """
    keys = list(dict.fromkeys(key for results in by_group.values() for key in results))
    rows = dict(by_group)
    for prefix in prefixes(by_group):
        own = [results for name, results in by_group.items() if is_below(name, prefix)]
        rows[prefix] = _together(own, keys)
    names = sorted(rows, key=int if all(map(_is_integer, rows)) else None)
    table = {"group": names, **{key: [rows[name].get(key) for name in names] for key in keys}}
    return {**_together(list(by_group.values()), keys), GROUPS: table}


def _is_integer(name: str) -> bool:
    return name.removeprefix("-").isdecimal()


def _together(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Results:
    """The mean of each rate and the sum of each count, of those that all rows have."""
    found: Results = {}
    ends = {f"{key}_{end}" for key in keys for end in ("low", "high")}  # a mean of intervals is not that of the mean
    errors = {f"{key}_error" for key in keys}
    for key in keys:
        if key in ends or key.endswith("threshold"):  # where decisions change, which has no mean
            continue
        values: list[Any] = [row.get(key) for row in rows]
        if all(type(value) is int for value in values):
            found[key] = sum(values)
        elif all(type(value) is float for value in values):
            found[key] = math.fsum(values) / len(values)
            if key in errors and any(values):  # bounds of means, each of which was rounded twice
                found[key] = found[key] * (1 + 2**-50) + 2**-50
    return found


def flat_rates(results: Mapping[str, Any]) -> dict[Key, float]:
    """The rates, which are floats, and those of each group.

    >>> flat_rates(grouped_results({"a": {"auroc": 1.0}, "b": {"auroc": 0.5}}))
    {'auroc': 0.75, ('a', 'auroc'): 1.0, ('b', 'auroc'): 0.5}
    """
    found: dict[Key, float] = {key: value for key, value in results.items() if isinstance(value, float)}
    table = results.get(GROUPS, {"group": []})
    for key, column in table.items():
        for name, value in zip(table["group"], column):
            if isinstance(value, float):
                found[name, key] = value
    return found


def with_ends(results: Mapping[str, Any], ends: Mapping[Key, tuple[float, float]]) -> Results:
    """Results with `<key>_low` and `<key>_high` beside those rates that have them, of groups too; None where none."""
    found: Results = {}
    for key, value in results.items():
        found[key] = value
        if key in ends:
            found[f"{key}_low"], found[f"{key}_high"] = ends[key]
    if GROUPS not in results:
        return found
    table: Results = {}
    names = results[GROUPS]["group"]
    for key, column in results[GROUPS].items():
        table[key] = column
        if any((name, key) in ends for name in names):
            lows, highs = zip(*(ends.get((name, key), (None, None)) for name in names))
            table |= {f"{key}_low": list(lows), f"{key}_high": list(highs)}
    return {**found, GROUPS: table}
