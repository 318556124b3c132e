"""Seeds in the names of results: group results by model, and compute means and standard deviations."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Collection, Sequence


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
