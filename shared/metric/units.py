"""What is resampled for an interval, and the results of a resample.

A resample of samples is the same rows with other counts: so a metric has to say which rows those are, in an order that
does not depend on how they came, and what its rates are where each row occurs another number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import Array, State, to_numpy
from ..arrays.compacting import compact_rows, rows_and_places


class Units(NamedTuple):
    """Samples or images that are resampled, in strata that keep their sizes.

    strata: for each stratum, (R,) int64, how many equal units each of its rows stands for, in a canonical order
    results: a function from as many arrays (R,), how many each row is to stand for instead (or none), to the results;
        of the strata themselves they are those of the state
    members: a function without arguments to the row of each entry of the state, (N,) in their order, and its stratum,
        (N,), −1 for one that is left out
    """

    strata: tuple[np.ndarray, ...]
    results: Callable[[Sequence[np.ndarray]], dict[Any, Any]]
    members: Callable[[], tuple[np.ndarray, np.ndarray]]


def units_of_table(
    state: Mapping[str, Any], columns: Sequence[str], strata: Callable[[State], Array], summarise: Callable[..., Any]
) -> Units:
    """The different rows of a state's table, for resampling.

    Parameters: state; columns of the table; strata, a function from a state to the stratum of each of its rows, (R,)
        integers from 0; summarise, a function from a state to the results.
    """
    given = [to_numpy(state[name]) for name in columns]
    rows, counts = compact_rows(given, None if "counts" not in state else to_numpy(state["counts"]))
    whole = {**state, **dict(zip(columns, rows)), "counts": counts}
    stratum = to_numpy(strata(whole)).astype(np.int64)
    parts = [np.flatnonzero(stratum == i) for i in range(int(stratum.max(initial=-1)) + 1)]

    def results(numbers: Sequence[np.ndarray]) -> dict[str, Any]:
        drawn = np.zeros_like(counts)
        for part, here in zip(parts, numbers):
            drawn[part] = here
        there = drawn > 0
        return summarise({**whole, **{name: whole[name][there] for name in columns}, "counts": drawn[there]})

    def members() -> tuple[np.ndarray, np.ndarray]:
        place = rows_and_places(given)[2]
        within = np.empty_like(counts)
        for part in parts:
            within[part] = np.arange(len(part))
        return within[place], stratum[place]

    return Units(tuple(counts[part] for part in parts), results, members)


def with_left_out(units: Units, kept: np.ndarray) -> Units:
    """Units of those entries of a state that are kept, (N,) flags, as units of the whole state."""

    def members() -> tuple[np.ndarray, np.ndarray]:
        places, strata = np.zeros(len(kept), np.int64), np.full(len(kept), -1)
        places[kept], strata[kept] = units.members()
        return places, strata

    return units._replace(members=members)
