"""Groups of samples, such as categories, data sets or seeds: a group's state is the state of its rows.

A batch is split into groups before it is reduced, and a state is kept for each. Samples without a group are kept
separately: they belong to every group, like in-distribution samples that several OOD sets share. So are samples of
some of the groups, under the names of these with a bar between, such as "source|target".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from numbers import Integral, Real
from typing import Any

import numpy as np

from ..arrays.arrays import (
    MAX_EXACT,
    State,
    array_namespace,
    as_array,
    as_dense,
    device_of,
    is_torch_array,
    to_numpy,
    without_arrow,
)
from ..arrays.checks import check_lengths

GROUPS = "groups"  # the column
ALL = ""  # the group of samples that belong to every group
BAR = "|"  # between the names of the groups of a sample
MAX_SLASHES = 10  # the part before each slash has a row in the results
MAX_LENGTH = 1_000  # characters of a name

Parts = Mapping[str, State]  # the states of a batch, by `group_key`


def reduced_by_group(
    reduce: Callable[[Mapping[str, Any]], State], columns: Mapping[str, Any], groups: Any
) -> dict[str, State]:
    """The state of each group of a batch, from a function that reduces columns.

    Parameters: reduce; columns, of one entry per sample; groups (N,), strings or integers, nothing (None, "", NaN), or
    lists of these, of samples of several groups.
    Raises ValueError for groups of another length or malformed names, TypeError for other types, and the errors of
    reduce for the whole batch, so that their messages count the rows of the batch.
    """
    rows = rows_of_groups(groups)
    number = sum(map(len, rows.values()))
    taken = {name: _indexable(column, name) for name, column in columns.items()}
    if any(len(column) != number for column in taken.values()):
        reduce(columns)  # which says more, if columns differ from each other
        check_lengths(**taken, groups=np.empty(number))
    if len(rows) == 1:
        return {name: reduce(columns) for name in rows}
    try:
        return {
            name: reduce({key: _rows_of_column(x, each) for key, x in taken.items()}) for name, each in rows.items()
        }
    except (ValueError, TypeError):
        reduce(columns)
        raise


def rows_of_groups(groups: Any) -> dict[str, np.ndarray]:
    """The rows of each group, and of each set of groups that a sample has, in ascending order, by its `group_key`.

    >>> rows_of_groups(["near", None, "near", ["near", "far"]])
    {'near': array([0, 2]), '': array([1]), 'far|near': array([3])}
    """
    items = [tuple(item) if isinstance(item, (list, Set)) else item for item in column_items(groups, GROUPS)]
    try:
        names = {item: group_key(item) for item in dict.fromkeys(items)}
    except TypeError as error:
        raise TypeError(f"groups: expected strings or integers, got {error}") from None
    places = {name: i for i, name in enumerate(dict.fromkeys(names.values()))}
    check_names(places)
    codes = {item: places[name] for item, name in names.items()}
    group_of_row = np.fromiter(map(codes.__getitem__, items), np.int64, len(items))
    order = np.argsort(group_of_row, kind="stable")
    ends = np.cumsum(np.bincount(group_of_row, minlength=len(places)))[:-1]
    return dict(zip(places, np.split(order, ends))) if items else {}


def group_key(item: Any) -> str:
    """The name of a sample's group; of several, in a list or with bars between, their names in order with bars between.

    >>> group_key("b|a"), group_key(["b", "a", "b"]), group_key(3), group_key(None)
    ('a|b', 'a|b', '3', '')
    """
    names = [group_name(each) for each in item] if isinstance(item, (tuple, list, Set)) else [group_name(item)]
    return BAR.join(sorted({each for name in names for each in name.split(BAR)}))


def groups_of(keys: Iterable[str]) -> list[str]:
    """The names of all groups of samples with these keys, sorted.

    >>> groups_of(["b|a", "", "c"])
    ['a', 'b', 'c']
    """
    return sorted({name for key in keys for name in key.split(BAR)} - {ALL})


def keys_of_group(group: str, keys: Iterable[str]) -> list[str]:
    """The keys of the samples that belong to a group: its name, sets with it in their order, and "" for all groups.

    >>> keys_of_group("a", ["", "b|c", "a|c", "a|b", "a", "b"])
    ['a', 'a|b', 'a|c', '']
    """
    here = [key for key in keys if key in (group, ALL) or (BAR in key and group in key.split(BAR))]
    return sorted(here, key=lambda key: (key == ALL, key))


def group_name(item: Any) -> str:
    """The name of a group: "3" for 3, "" for a missing value.

    Raises TypeError for other types, and for a float of 2**53 or more, which may be another id rounded.
    """
    if isinstance(item, str):
        return str(item)
    if item is None or str(item) == "<NA>":  # of pandas
        return ALL
    if isinstance(item, bool) or not isinstance(item, Real):
        raise TypeError(f"{item!r:.100}")
    if item != item:
        return ALL
    if isinstance(item, Integral):
        return str(int(item))
    if not float(item).is_integer() or abs(float(item)) >= MAX_EXACT:
        raise TypeError(repr(item))
    return str(int(float(item)))


def check_names(names: Iterable[str]) -> None:
    """Raise ValueError unless all can be names of groups: beside near/cifar100, no group can be called near.

    A name has at most 10 slashes and 1,000 characters: the results have a row for each part before a slash.
    """
    group_names = [each for name in names if name != ALL for each in name.split(BAR)]
    for name in group_names:
        if name.count("/") > MAX_SLASHES or len(name) > MAX_LENGTH:
            most = f"{MAX_SLASHES} slashes and {MAX_LENGTH:,} characters"
            raise ValueError(f"groups: expected names of at most {most}, got {name[:50]!r}…")
        if not all(name.split("/")):
            raise ValueError(f"groups: expected names such as near/cifar100, got {name!r}")
    both = sorted(prefixes(group_names) & set(group_names))
    if both:
        raise ValueError(f"groups: expected a name of a group or of what is before a slash, got {both[0]!r} for both")


def prefixes(names: Iterable[str]) -> set[str]:
    """The parts of names before each of their slashes.

    >>> sorted(prefixes(["near/a/1", "near/b", "far"]))
    ['near', 'near/a']
    """
    parts = (name.split("/") for name in names)
    return {"/".join(part[:end]) for part in parts for end in range(1, len(part))}


def is_below(name: str, prefix: str) -> bool:
    """Whether a group's name begins with the prefix and a slash: near/cifar100 is below near."""
    return name.startswith(f"{prefix}/")


def as_one_state(parts: Parts) -> State:
    """Merge states of groups into one, with arrays named 0/scores and so on; a state without groups is unchanged.

    >>> as_one_state({"far": {"scores": np.asarray([0.5])}})
    {'groups': array(['far'], dtype='<U3'), '0/scores': array([0.5])}
    """
    if not parts.keys() - {ALL}:
        return dict(parts.get(ALL, {}))
    arrays = {f"{i}/{name}": array for i, state in enumerate(parts.values()) for name, array in state.items()}
    return {GROUPS: np.asarray([*parts]), **arrays}


def as_parts(state: Mapping[str, Any]) -> dict[str, State]:
    """Split a state of `as_one_state` into states of groups. Raises ValueError and TypeError for a malformed one."""
    if GROUPS not in state:
        return {ALL: dict(state)} if state else {}
    names = column_items(state[GROUPS], GROUPS)
    if not all(isinstance(name, str) and name == group_key(name) for name in names) or len(set(names)) < len(names):
        raise ValueError(f"state['groups']: expected different names, got {names!r:.100}")
    check_names(names)
    parts: dict[str, State] = {str(name): {} for name in names}
    numbers = {str(i): part for i, part in enumerate(parts.values())}
    for key, array in state.items():
        number, slash, name = str(key).partition("/")
        if key == GROUPS:
            continue
        if not slash or number not in numbers:
            raise ValueError(f"state: expected arrays 0/… to {len(names) - 1}/… of {len(names)} groups, got {key}")
        numbers[number][name] = array
    for name, part in parts.items():
        if not part and name != ALL:
            raise ValueError(f"state: expected arrays of each of its groups, got none of {name!r:.100}")
    return {name: part for name, part in parts.items() if part}


def column_items(column: Any, name: str) -> list[Any]:
    """The entries of a column of strings or integers."""
    column = without_arrow(column)
    if isinstance(column, (str, bytes, Mapping)) or not hasattr(column, "__len__") or not hasattr(column, "__iter__"):
        raise TypeError(f"{name}: expected a column of strings or integers, got {type(column).__name__}")
    if is_torch_array(column):
        column = to_numpy(as_array(column, name))
    if getattr(column, "ndim", 1) != 1:
        raise ValueError(f"{name}: expected shape (N,), got shape {tuple(column.shape)}")
    return column.tolist() if hasattr(column, "tolist") else list(column)


def _indexable(column: Any, name: str) -> Any:
    """A column as an array, or as a list if it does not hold numbers."""
    if is_torch_array(column):
        # on a device, torch takes no rows of unsigned integers
        return as_dense(column, name) if device_of(column) is None else as_array(column, name)
    column = without_arrow(column)
    if isinstance(column, Sequence):  # of tables too, which an array might stack
        return column if isinstance(column, (list, tuple)) else list(column)
    try:
        return as_array(column, name)
    except (ValueError, TypeError):
        return list(column)


def _rows_of_column(column: Any, rows: np.ndarray) -> Any:
    if isinstance(column, Sequence):
        return [column[i] for i in rows.tolist()]
    if device_of(column) is None:
        return column[rows]
    return column[array_namespace(column).asarray(rows, device=device_of(column))]
