"""Flatten results for loggers, such as W&B, trackio, MLflow and TensorBoard: numbers by slash-joined names."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any

# entries of an evaluation that are records, not results
KINDS = "kinds"  # in saved results: the kind of each key, and which direction is better
RECORDS = frozenset({"evaluation", "comparison", "other", "samples", "options", KINDS})
WORDS = {math.inf: "Infinity", -math.inf: "-Infinity"}  # in JSON, which has no such numbers
_LONGEST = 250  # characters of a name, in MLflow


def flat(results: Mapping[str, Any], prefix: str = "", *, plain: bool = False) -> dict[str, float]:
    """The scalars of results by slash-joined names; lists, tables, strings and booleans are left out.

    So is the record of an evaluation. Each number of a row of the table "groups" gets a name such as
    near/cifar100/auroc.

    Parameters: results of a metric, of several by name, or of an evaluation; prefix, before all names, with a slash;
    plain, whether to make names that MLflow takes: underscores stand for all but ASCII letters, digits, underscores,
    dashes, dots, blanks and slashes, such as the @ of accuracy@5, for dots at the beginning of a part, and for an empty
    part; of a name of more than 250 characters, the end is replaced by a hash of the name.
    Returns {name: int or float}, in the order of the results. Raises ValueError for two numbers of one name.

    >>> groups = {"group": ["far/mnist", "near/tin"], "auroc": [1.0, 0.5]}
    >>> flat({"auroc": 0.75, "t_list": [0.1, 0.2], "groups": groups}, "val")
    {'val/auroc': 0.75, 'val/far/mnist/auroc': 1.0, 'val/near/tin/auroc': 0.5}
    >>> flat({"accuracy@5": 0.9}, plain=True)
    {'accuracy_5': 0.9}
    """
    numbers: dict[str, float] = {}
    for path, value in _scalars(results):
        name = "/".join(filter(None, (prefix.rstrip("/"), *path)))
        name = _plain(name) if plain else name
        if name in numbers:
            raise ValueError(f"results: expected one number of a name, got two of {name!r}")
        numbers[name] = value
    return numbers


def rows_of_groups(groups: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """The rows of the table "groups" by group, each with its numbers by key.

    Returns {group: {key: number}}. Raises ValueError for columns of different lengths and repeated groups.

    >>> rows_of_groups({"group": ["a", "b"], "auroc": [1.0, 0.5]})
    {'a': {'auroc': 1.0}, 'b': {'auroc': 0.5}}
    """
    if not isinstance(groups["group"], list):
        raise ValueError(f"groups: expected a list of names, got {groups['group']!r}")
    names = [str(name) for name in groups["group"]]
    columns = {key: column for key, column in groups.items() if key != "group"}
    for key, column in columns.items():
        if not isinstance(column, list) or len(column) != len(names):
            raise ValueError(f"groups: expected a list of {len(names)} for {key}, one for each group")
    if len(set(names)) < len(names):
        raise ValueError(f"groups: expected each once, got {', '.join(names)}")
    return {
        name: {key: column[i] for key, column in columns.items() if _is_number(column[i])}
        for i, name in enumerate(names)
    }


def _plain(name: str) -> str:
    """A name that MLflow takes: its own path when normalised, of at most 250 characters."""
    words = re.sub(r"[^\w\-. /]", "_", name, flags=re.ASCII).split("/")
    plain = "/".join(re.sub(r"^\.+", lambda dots: "_" * len(dots[0]), word) or "_" for word in words)
    if len(plain) <= _LONGEST:
        return plain
    end = hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
    return f"{plain[: _LONGEST - 1 - len(end)]}_{end}"


def _scalars(results: Mapping[str, Any], *path: str) -> Iterator[tuple[tuple[str, ...], float]]:
    for key, value in results.items():
        if _is_number(value):
            yield (*path, str(key)), value
        elif isinstance(value, Mapping) and key == "groups" and "group" in value:
            for group, row in rows_of_groups(value).items():
                yield from _scalars(row, *path, group)
        elif isinstance(value, Mapping) and key not in RECORDS:
            yield from _scalars(value, *path, str(key))


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
