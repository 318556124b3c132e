"""Groups that share samples, prepared together: each group's own samples, and the shared samples once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.compacting import rows_and_places
from .prepared import Prepared
from .results import rates_of


class Sharing(Prepared):
    """Rows of groups, each with strata of its own, and rows of the samples that all groups share.

    Its rates are those of each group, by (group, key).

    Parameters: groups, each prepared from its own entries and, behind them, the shared ones; own and shared, how many
    samples each of these entries stands for.
    """

    def __init__(self, groups: Mapping[str, Prepared], own: Mapping[str, np.ndarray], shared: np.ndarray) -> None:
        self.groups = groups
        rows = {group: prepared.rows() for group, prepared in groups.items()}
        counts: list[np.ndarray] = []
        strata: list[np.ndarray] = []
        members: list[np.ndarray] = []
        self._ends = [0]  # of the rows of each group
        for group, prepared in groups.items():
            entries = rows[group][: len(own[group])]
            members.append(np.where(entries < 0, -1, entries + self._ends[-1]))
            counts.append(_tally(entries, own[group], len(prepared.counts)))
            strata.append(prepared.strata + (strata[-1][-1] + 1 if strata else 0))
            self._ends.append(self._ends[-1] + len(prepared.counts))
        # shared entries by their stratum and their rows in all groups, so that their order does not matter
        first = next(iter(groups))
        of_shared = {group: rows[group][len(own[group]) :] for group in groups}
        kept = of_shared[first] >= 0
        columns = [groups[first].strata[of_shared[first][kept]], *(rows[kept] for rows in of_shared.values())]
        places = np.zeros(0, np.int64)
        if kept.any():
            columns, _, places = rows_and_places(columns)
        kinds, *self._shared_rows = columns
        last = np.full(len(shared), -1)
        last[kept] = places + self._ends[-1]
        members.append(last)
        counts.append(_tally(places, shared[kept], len(kinds)))
        strata.append(kinds + strata[-1][-1] + 1)
        self.counts, self.strata = np.concatenate(counts), np.concatenate(strata)
        self._members = np.concatenate(members)
        self.sizes = np.concatenate([*own.values(), shared])

    def rates(self, counts: np.ndarray | None = None) -> dict[Any, Any]:
        """Rates of each group, by (group, key)."""
        if counts is None:
            parts: list[np.ndarray | None] = [None] * len(self.groups)
        else:
            *own, shared = np.split(counts, self._ends[1:])
            parts = [part + _tally(rows, shared, len(part)) for part, rows in zip(own, self._shared_rows)]
        return {
            (group, key): rate
            for (group, prepared), part in zip(self.groups.items(), parts)
            for key, rate in rates_of(prepared.rates(part)).items()
        }

    def rows(self) -> np.ndarray:
        """The row of each entry: first the groups' own entries, then the shared ones."""
        return self._members


def _tally(rows: np.ndarray, counts: np.ndarray, length: int) -> np.ndarray:
    kept = rows >= 0
    return np.bincount(rows[kept], counts[kept], length).astype(np.int64)  # float64 holds them
