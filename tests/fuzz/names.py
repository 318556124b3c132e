"""Names of groups: those that are too deep, too long or of another type are refused at once."""

from __future__ import annotations

import functools
from random import Random
from typing import Any

from openworld_metrics import OODBench
from openworld_metrics.metric.groups import MAX_LENGTH, MAX_SLASHES
from tests.fuzz.engine import BrokenError, Case, Refused, Target


def make_names(rng: Random) -> list[Any]:
    """A group for each of eight samples, of both classes by turns."""
    names = [f"{rng.choice(('near', 'far', 'é'))}/{rng.randrange(3)}" for _ in range(4)]
    return [name for name in names for _ in range(2)]


def damage_names(rng: Random, names: list[Any]) -> list[Any]:
    """Some of them deep, long, empty or of another type."""
    part = rng.choice(("a/", "/", "a", "é/", "a" * 90 + "/", "=1+1/"))
    odd = part * rng.choice((1, MAX_SLASHES, MAX_SLASHES + 1, MAX_LENGTH, 100_000)) + rng.choice(("a", "", "/"))
    for _ in range(rng.choice((1, 2, 8))):
        names[rng.randrange(8)] = rng.choice((odd, odd, None, "", 7, 1.5, float("nan"), 10**400, True, b"a", ["a"]))
    return names


def run_names(case: Case) -> None:
    """Compute with them; each row of the results is a name or what is before one of its slashes."""
    columns = {"predictions": [i / 8 for i in range(8)], "references": [0, 1] * 4, "groups": case.value}
    results = case.attempt(functools.partial(OODBench().compute, **columns))
    if not isinstance(results, Refused):
        longest = max(map(len, results["groups"]["group"]), default=0) if "groups" in results else 0
        if longest > MAX_LENGTH:
            raise BrokenError("a name of a group is too long", longest)


TARGETS = [Target("names of groups", make_names, damage_names, run_names)]
