"""The numbers of saved results by group, and their means over seeds."""

from __future__ import annotations

import math
import re
import statistics
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from ..written.results import KINDS, flat, rows_of_groups

OVERALL = "mean"  # the name of the results beside groups
_LARGEST = sys.float_info.max
Place = tuple[str, str, str]  # file, group, key


def all_kinds(results: Mapping[str, Mapping[str, Any]]) -> Mapping[str, Any]:
    """The kinds of all results. Raises ValueError for a rate that is a share in some results, and not in others."""
    kinds: dict[str, Any] = {}
    for name, result in results.items():
        result_kinds = result.get(KINDS)
        for key, kind in result_kinds.items() if isinstance(result_kinds, Mapping) else ():
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


class Seeds:
    """A regular expression that matches the seed in a name. Raises TypeError or ValueError for an invalid one.

    >>> seeds = Seeds("-s[0-9]+")
    >>> seeds.without("resnet-s0"), seeds.seed("resnet-s0"), seeds.seed("resnet")
    ('resnet', '-s0', '')
    """

    def __init__(self, pattern: str) -> None:
        if not isinstance(pattern, str):
            raise TypeError(f"seeds: expected a regular expression, got {pattern!r}")
        try:
            self._pattern = re.compile(pattern)
        except re.error as error:
            raise ValueError(f"seeds: expected a regular expression, got {pattern!r} ({error})") from None
        self.text = pattern

    def seed(self, name: str) -> str:
        """The part of a name with the seed; "" if there is none."""
        match = self._pattern.search(name)
        return match.group() if match else ""

    def matches(self, name: str) -> bool:
        """Whether a name has a seed."""
        return self._pattern.search(name) is not None

    def without(self, name: str, empty: str = "") -> str:
        """The rest of a name, or `empty` if nothing is left. Raises ValueError for several matches."""
        rest, matches = self._pattern.subn("", name)
        if matches > 1:  # such as [0-9]+ in resnet18-s0, which would merge it with resnet50-s0
            raise ValueError(f"seeds: expected a pattern that is once in a name, got {matches} matches in {name!r}")
        return re.sub("//+", "/", rest).strip(" -_./") or empty


def check_seeds(names: Collection[str], seeds: Seeds) -> None:
    """Raise ValueError for a name without a seed that is the rest of a name with one: it would be a seed more."""
    with_seeds = {seeds.without(name): name for name in names if seeds.matches(name)}
    for name in names:
        if not seeds.matches(name) and seeds.without(name) in with_seeds:
            raise ValueError(f"{name}: expected a seed in the name, as in {with_seeds[seeds.without(name)]}, got none")


def mean_of_seeds(values: Sequence[float]) -> float:
    """The mean, exact if all values are equal; NaN if any is not finite."""
    if all(value == values[0] for value in values):
        return values[0]
    return math.fsum(values) / len(values) if all(map(math.isfinite, values)) else math.nan


def std_of_seeds(values: Sequence[float]) -> float | None:
    """The sample standard deviation (n − 1); None for a single value."""
    if len(values) < 2:
        return None
    return statistics.stdev(values) if all(map(math.isfinite, values)) else math.nan
