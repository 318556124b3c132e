"""Make tables of results: files or groups as rows, means over seeds, marks of the best models.

table = make_table({"resnet-s0": first, "resnet-s1": second, "vit-s0": third}, seeds="-s[0-9]+", keys=["auroc"])
print(render(table, "latex", percent=True))  # of reports/rendering.py
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import Any

from ..arrays.checks import as_choice
from ..written.directions import direction_of, is_share
from ..written.flat import KINDS, flat, rows_of_groups
from .cells import Cell, Place, ResultTable, marked_best
from .seeds import Seeds, check_seeds, mean_of_seeds, std_of_seeds

OVERALL = "mean"  # the name of the results beside groups
ROW_KINDS = ("files", "groups")
_LARGEST = sys.float_info.max


def make_table(
    results: Mapping[str, Mapping[str, Any]],
    *,
    rows: str | None = None,
    keys: Sequence[str] | None = None,
    groups: Sequence[str] | None = None,
    seeds: str | None = None,
    undecided: Mapping[Place, bool | None] = MappingProxyType({}),
    names: Mapping[str, str] = MappingProxyType({}),
    marked: Callable[[str, str, str], bool] | None = None,
) -> ResultTable:
    """A table of the numbers of results.

    Parameters: results by name, such as their file's, with or without groups; rows, "files" or "groups", by
    default the groups of a single result that has some, else files; keys and groups to take, names or patterns with *,
    of a key also its last part after a slash, where "mean" is what stands beside the groups: all keys by default, and
    of the groups all as rows and "mean" beside files. seeds, a regular expression: names of results that differ only
    where it matches are one, with the mean and the standard deviation (of n − 1) of their numbers; where it is in none
    of these names, so are groups.
    undecided, of `leaderboard.differing`: the numbers that do not differ from the best are marked as it is. names, what
    files, groups and keys are called in the table.
    Lists and text are left out; `<key>_low` and `<key>_high` are the interval of a key. If two or more results are
    compared, the best numbers of each group and key are marked, as far as the direction of the key is known. Means have
    no intervals. Keys are shortened to their last parts if these differ.

    With `marked`, a function of a result's name, a group and a key, the numbers for which it is true are marked
    instead.
    Returns a `ResultTable`. Raises TypeError for options of other types, and ValueError for a pattern that finds
    nothing, for seeds that lack a number which others have, and if there is nothing to show.

    >>> table = make_table({"a-s0": {"auroc": 0.5}, "a-s1": {"auroc": 1.0}, "b-s0": {"auroc": 0.7}}, seeds="-s.")
    >>> [(name, cells[0].value, round(cells[0].std or 0, 4), cells[0].best) for name, cells in table.rows]
    [('a', 0.75, 0.3536, True), ('b', 0.7, 0, False)]
    """
    _check(keys=keys, groups=groups)
    if rows is not None:
        as_choice(rows, "rows", ROW_KINDS)
    numbers = {name: numbers_of(result) for name, result in results.items()}
    cells = _cells(numbers) if seeds is None else _pooled(numbers, Seeds(seeds))
    kinds = all_kinds(results)
    cells = {
        place: cell._replace(direction=direction_of(cell.key, kinds), share=is_share(cell.key, kinds))
        for place, cell in cells.items()
    }
    if not cells:
        raise ValueError(f"{', '.join(results) or 'results'}: expected results with numbers, got none")
    if marked is None:
        cells = marked_best(cells, undecided)
    else:
        cells = {place: cell._replace(best=marked(*place)) for place, cell in cells.items()}
    files, named, present = (list(dict.fromkeys(place[i] for place in cells)) for i in range(3))
    named = [name for name in named if name != OVERALL] + [OVERALL] * (OVERALL in named)
    if rows is None:
        rows = "groups" if len(files) == 1 and len(named) > 1 else "files"
    wanted = _chosen(present, keys, "keys")
    taken = named if groups is None and rows == "groups" else _chosen(named, groups or [OVERALL], "groups")
    called = _Names(wanted, names, {*files, *named, *present})
    if rows == "files":
        columns = [(group, key) for group in taken for key in wanted]
        lines = [(file, [cells.get((file, group, key)) for group, key in columns]) for file in files]
    else:
        columns = [(file, key) for file in files for key in wanted]
        lines = [(group, [cells.get((file, group, key)) for file, key in columns]) for group in taken]
    there = [any(line[i] is not None for _, line in lines) for i in range(len(columns))]
    single = len(taken if rows == "files" else files) == 1
    alone = len(wanted) == 1 and not single
    return ResultTable(
        [
            called(key) if single else called(name) if alone else f"{called(name)} {called(key)}"
            for (name, key), kept in zip(columns, there)
            if kept
        ],
        [(called(name), [cell for cell, kept in zip(line, there) if kept]) for name, line in lines],
        called(wanted[0]) if alone else "",
    )


class _Names:
    """The names of files, groups and keys in a table: keys are shortened to their last parts if these differ."""

    def __init__(self, keys: Sequence[str], names: Mapping[str, str], known: Collection[str]) -> None:
        ends = [key.rpartition("/")[2] for key in keys]
        short = dict(zip(keys, ends)) if len({*ends}) == len(ends) else {}
        ends_known = {name.rpartition("/")[2] for name in known}
        for name in names:
            if name not in known and name not in ends_known:
                raise ValueError(f"rename: expected one of {', '.join(sorted(known))}, got {name!r}")
        self._names, self._short = names, short

    def __call__(self, name: str) -> str:
        """The name of a file, a group or a key in the table."""
        end = self._short.get(name, name)
        return self._names.get(name, self._names.get(end, end))


def _check(**options: Any) -> None:
    for option, names in options.items():
        if names is None:
            continue
        if not isinstance(names, (list, tuple)) or not all(isinstance(name, str) for name in names):
            raise TypeError(f"{option}: expected a list of names or patterns, got {names!r}")


def keys_of(results: Mapping[str, Mapping[str, Any]], patterns: Sequence[str] | None) -> list[str] | None:
    """The keys of results that match the patterns, as `make_table` takes them; None for all, without patterns.

    Raises ValueError for a pattern that matches nothing.
    """
    if patterns is None:
        return None
    cells = _cells({name: numbers_of(result) for name, result in results.items()})
    return _chosen([*dict.fromkeys(key for _, _, key in cells)], patterns, "keys")


def _kinds(results: Mapping[str, Any]) -> Mapping[str, Any]:
    """The kinds of the keys of saved results, if the results have them."""
    kinds = results.get(KINDS)
    return kinds if isinstance(kinds, Mapping) else {}


def all_kinds(results: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The kinds of all results. Raises ValueError for a rate that is a share in some results, and not in others."""
    kinds: dict[str, Any] = {}
    for name, result in results.items():
        for key, kind in _kinds(result).items():
            if not isinstance(kind, Mapping) or kind.get("kind") != "rate":  # as that of a rate that does not exist
                kinds.setdefault(key, kind)
                continue
            first = kinds.get(key)
            if not isinstance(first, Mapping) or first.get("kind") != "rate":
                kinds[key] = kind
            elif kind.get("share") != first.get("share"):
                raise ValueError(f"{name}: expected {key} as in the other results, a share in [0, 1] or in percent")
    return kinds


def numbers_of(results: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The numbers of results by group; numbers beside the groups belong to OVERALL."""
    groups = results.get("groups")
    rows = rows_of_groups(groups) if isinstance(groups, Mapping) and "group" in groups else {}
    if OVERALL in rows:
        raise ValueError(f"groups: expected no group {OVERALL!r}, which is the name of the overall results")
    rows = {OVERALL: flat({key: value for key, value in results.items() if key != "groups"}), **rows}
    large = [key for row in rows.values() for key, value in row.items() if _LARGEST < abs(value) < math.inf]
    if large:
        raise ValueError(f"{large[0]}: expected a number that float64 holds, got a larger one")
    return rows


def _cells(numbers: Mapping[str, Mapping[str, Mapping[str, float]]]) -> dict[Place, Cell]:
    cells = {}
    for name, groups in numbers.items():
        for group, row in groups.items():
            ends = {f"{key}_{end}" for key in row for end in ("low", "high", "error")}
            for key in (key for key in row if key not in ends):
                low, high = row.get(f"{key}_low"), row.get(f"{key}_high")
                cells[name, group, key] = Cell(key, row[key], low=low, high=high)
    return cells


def _pooled(numbers: Mapping[str, Mapping[str, Mapping[str, float]]], seeds: Seeds) -> dict[Place, Cell]:
    """Means over results, or else over groups, with names that differ only where the pattern matches."""
    in_names = any(map(seeds.matches, numbers))
    if in_names:
        check_seeds(numbers, seeds)
    values: dict[Place, list[float]] = {}
    for (name, group, key), cell in _cells(numbers).items():
        if in_names:
            values.setdefault((seeds.without(name, OVERALL), group, key), []).append(cell.value)
        elif seeds.matches(group):  # other groups are means of these
            values.setdefault((name, seeds.without(group, OVERALL), key), []).append(cell.value)
    if not values:
        raise ValueError(f"seeds: expected a pattern that is in some of {', '.join(numbers)}, got {seeds.text!r}")
    most: dict[str, int] = {}
    for (name, _, _), of_seeds in values.items():
        most[name] = max(most.get(name, 0), len(of_seeds))
    for (name, group, key), of_seeds in values.items():
        if len(of_seeds) < most[name]:
            raise ValueError(f"{name}: expected {key} ({group}) for {most[name]} seeds, got it for {len(of_seeds)}")
    return {place: Cell(place[2], mean_of_seeds(numbers), std_of_seeds(numbers)) for place, numbers in values.items()}


def _chosen(names: Sequence[str], patterns: Iterable[str] | None, option: str) -> list[str]:
    """The names that match the patterns, in the order of the patterns; all names without patterns."""
    if patterns is None:
        return list(names)
    chosen: list[str] = []
    for pattern in patterns:
        matching = [name for name in names if pattern in (name, _end(name, option)) or fnmatchcase(name, pattern)]
        if not matching:
            raise ValueError(f"{option}: expected some of {', '.join(names)}, got {pattern!r}")
        chosen += [name for name in matching if name not in chosen]
    return chosen


def _end(name: str, option: str) -> str:
    """The last part of a key; a group's name is not split."""
    return name.rpartition("/")[2] if option == "keys" else name
