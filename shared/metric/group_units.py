"""What is resampled where there are groups: the samples of each, and once for all of them those that they share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..arrays.compacting import rows_and_places
from .group_results import flat_rates, grouped_results
from .units import Units


def units_of_groups(units: Mapping[str, Units], own: Mapping[str, np.ndarray], shared: np.ndarray) -> Units:
    """Units whose results are the means over groups, and by (group, key) those of each.

    Parameters: units of each group, of a state of its own entries and, behind them, of the shared ones; own and shared,
    how many samples each of these entries stands for.
    """
    names = sorted(units)
    members = {name: units[name].members() for name in names}
    strata: list[np.ndarray] = []
    rows_of: list[np.ndarray] = []
    strata_of: list[np.ndarray] = []
    for name in names:
        size = len(own[name])
        rows, stratum = (each[:size] for each in members[name])
        strata_of.append(np.where(stratum < 0, -1, stratum + len(strata)))
        rows_of.append(rows)
        for i, counts in enumerate(units[name].strata):
            strata.append(_tally(rows[stratum == i], own[name][stratum == i], len(counts)))
    # the shared entries by their rows in all groups, so that their order does not depend on how they came
    tables = [members[name][0][len(own[name]) :] for name in names]
    kind = members[names[0]][1][len(own[names[0]]) :]
    common: list[tuple[int, Sequence[np.ndarray]]] = []
    places = np.zeros(len(kind), np.int64)
    number = np.full(len(kind), -1)
    for i in np.unique(kind[kind >= 0]).tolist():
        here = kind == i
        different, _, places[here] = rows_and_places([rows[here] for rows in tables])
        counts = _tally(places[here], shared[here], len(different[0]))
        number[here] = len(strata)
        common.append((i, different))
        strata.append(counts)

    def results(numbers: Sequence[np.ndarray]) -> Any:
        rest = iter(numbers)
        counts = {name: [next(rest) for _ in units[name].strata] for name in names}
        for (i, rows), drawn in zip(common, rest):
            for name, each in zip(names, rows):
                counts[name][i] = counts[name][i] + _tally(each, drawn, len(counts[name][i]))
        return flat_rates(grouped_results({name: units[name].results(counts[name]) for name in names}))

    def all_members() -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate([*rows_of, places]), np.concatenate([*strata_of, number])

    return Units(tuple(strata), results, all_members)


def _tally(rows: np.ndarray, counts: np.ndarray, length: int) -> np.ndarray:
    return np.bincount(rows, counts, length).astype(np.int64)  # float64 holds them
