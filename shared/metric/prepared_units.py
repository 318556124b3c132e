"""States whose results and resamples are made by two functions, until each metric has one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import State
from .prepared import Prepared
from .results import Rate, Results


class Units(NamedTuple):
    """Samples or images that are resampled, in strata that keep their sizes.

    strata: for each stratum, (R,) int64, how many equal units each of its rows stands for, in a canonical order
    results: a function from as many arrays (R,), how many each row is to stand for instead (or none), to the results
    members: a function to the row of each entry of the state, (N,) in their order, and its stratum, (N,)
    """

    strata: tuple[np.ndarray, ...]
    results: Callable[[Sequence[np.ndarray]], dict[Any, Any]]
    members: Callable[[], tuple[np.ndarray, np.ndarray]]


class PreparedUnits(Prepared):
    """A state whose results and resamples are made by two functions, of flat results."""

    def __init__(self, state: State, summarise: Callable[[Any], dict[str, Any]], units: Callable[[Any], Units]) -> None:
        self._state, self._summarise, self._make = state, summarise, units

    @cached_property
    def _units(self) -> Units:
        return self._make(self._state)

    @property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """How many images each row stands for."""
        return np.concatenate(self._units.strata)

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """The stratum of each row."""
        return np.repeat(np.arange(len(self._units.strata)), [len(counts) for counts in self._units.strata])

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn rows."""
        if counts is None:
            return typed(self._summarise(self._state))
        ends = np.cumsum([len(part) for part in self._units.strata])[:-1]
        return typed(self._units.results(np.split(counts, ends)))

    def rows(self) -> np.ndarray:
        """The row of each entry of the state."""
        rows, strata = self._units.members()
        first = np.cumsum([0, *(len(part) for part in self._units.strata)])
        return np.where(strata < 0, -1, rows + first[strata])


def typed(flat: dict[str, Any]) -> Results:
    """Flat results as rates, counts and tables."""
    results: Results = {}
    for key, value in flat.items():
        base, _, end = key.rpartition("_")
        if isinstance(value, float) and end in ("error", "threshold") and isinstance(results.get(base), Rate):
            results[base] = results[base]._replace(**{end: value})
        else:
            lower = key.startswith(("WI", "A-OSE"))
            results[key] = Rate(value, not lower) if isinstance(value, float) else value
    return results
