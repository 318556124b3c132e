"""Results of groups in one: their mean, a table of them, and what two models differ by."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Results = dict[str, Any]

# where decisions change, which has no mean
THRESHOLDS = frozenset(["image_f1_max_threshold", "pixel_f1_max_threshold"])


def grouped_results(by_group: Mapping[str, Mapping[str, Any]]) -> Results:
    """The unweighted mean of each rate over the groups, the sum of each count, and a table of the groups.

    A group whose name has a slash, as category/defect, adds a row for what is before it (each slash): the mean of its
    groups.

    Parameters: by_group, the results of each group; floats are rates, ints are counts. Thresholds, intervals
    and whatever is neither are in the table only, and None in rows of means.
    Returns {key: …, "groups": {"group": [names, sorted], key: [values]}}.

    >>> made = grouped_results({"nut/cut": {"auroc": 1.0, "images": 3}, "nut/bent": {"auroc": 0.5, "images": 4}})
    >>> made["auroc"], made["images"]
    (0.75, 7)
    >>> made["groups"]
    {'group': ['nut', 'nut/bent', 'nut/cut'], 'auroc': [0.75, 0.5, 1.0], 'images': [7, 4, 3]}
    """
    keys = list(dict.fromkeys(key for results in by_group.values() for key in results))
    rows = dict(by_group)
    for prefix in prefixes(by_group):
        own = [results for name, results in by_group.items() if name.startswith(f"{prefix}/")]
        rows[prefix] = _together(own, keys)
    names = sorted(rows)
    table = {"group": names, **{key: [rows[name].get(key) for name in names] for key in keys}}
    return {**_together(list(by_group.values()), keys), "groups": table}


def prefixes(names: Iterable[str]) -> set[str]:
    """What stands before the slashes of names.

    >>> sorted(prefixes(["near/a/1", "near/b", "far"]))
    ['near', 'near/a']
    """
    parts = (name.split("/") for name in names)
    return {"/".join(part[:end]) for part in parts for end in range(1, len(part))}


def _together(rows: Sequence[Mapping[str, Any]], keys: Sequence[str]) -> Results:
    """The mean of each rate and the sum of each count, of those that all rows have."""
    found: Results = {}
    ends = {f"{key}_{end}" for key in keys for end in ("low", "high")}  # a mean of intervals is not that of the mean
    for key in keys:
        if key in ends:
            continue
        values: list[Any] = [row.get(key) for row in rows]
        if all(type(value) is int for value in values):
            found[key] = sum(values)
        elif key not in THRESHOLDS and all(type(value) is float for value in values):
            found[key] = math.fsum(values) / len(values)
    return found


def differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> Results:
    """What two models differ by, in each rate and by group: the first's minus the second's.

    Parameters: first and second, as `grouped_results` gives them, of the same groups.
    Returns {"key": [rates], "first": […], "second": […], "difference": […], "groups": {"group": […], rate: […]}}.
    """
    keys = [key for key, value in first.items() if type(value) is float and type(second.get(key)) is float]
    by_group = {key: [one - other for one, other in zip(first["groups"][key], second["groups"][key])] for key in keys}
    return {
        "key": keys,
        "first": [first[key] for key in keys],
        "second": [second[key] for key in keys],
        "difference": [first[key] - second[key] for key in keys],
        "groups": {"group": first["groups"]["group"], **by_group},
    }
