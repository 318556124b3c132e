"""States that are one table, prepared: its different rows, with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from ..arrays.arrays import State, to_numpy
from ..arrays.compacting import compact_rows, rows_and_places
from .prepared import Prepared
from .results import Results


class ReadsTable(Protocol):
    """A metric whose results are a function of a table with counts."""

    def rates(self, state: Any) -> Results:
        """Results of a state; its rows may have counts."""

    def tables(self, prepared: PreparedTable, results: Results) -> dict[str, Any]:
        """Tables beside the results."""


class PreparedTable(Prepared):
    """The different rows of a state's table, in ascending order within their strata.

    Parameters: metric, which reads the state and the same state with other rows and counts; state; columns of the
    table; drawn, the state that resamples are drawn from, with as many entries, by default the state itself; strata
    (N,), integers from 0 of its entries, by default one stratum; kept (N,), flags of entries that have a part in the
    results, by default all.
    """

    def __init__(
        self,
        metric: ReadsTable,
        state: State,
        columns: Sequence[str],
        *,
        drawn: State | None = None,
        strata: np.ndarray | None = None,
        kept: np.ndarray | None = None,
    ) -> None:
        self.metric, self.state, self.columns = metric, state, columns
        self._drawn = state if drawn is None else drawn
        self._strata, self._kept = strata, kept

    @cached_property
    def _entries(self) -> list[np.ndarray]:
        """Strata and columns of the entries that are kept: rows in ascending order lie stratum by stratum."""
        entries = [to_numpy(self._drawn[name]) for name in self.columns]
        strata = np.zeros(len(entries[0]), np.int64) if self._strata is None else self._strata
        return [entry if self._kept is None else entry[self._kept] for entry in (strata, *entries)]

    @cached_property
    def _rows(self) -> tuple[list[np.ndarray], np.ndarray]:
        counts = self._drawn.get("counts")
        if counts is not None:
            counts = to_numpy(counts) if self._kept is None else to_numpy(counts)[self._kept]
        return compact_rows(self._entries, counts)

    @property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """How many samples each row stands for."""
        return self._rows[1]

    @property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """The stratum of each row."""
        return self._rows[0][0]

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn rows."""
        if counts is None:
            return self.metric.rates(self.state)
        there = counts > 0
        rows = {name: column[there] for name, column in zip(self.columns, self._rows[0][1:])}
        return self.metric.rates({**self._scalars, **rows, "counts": counts[there]})

    @cached_property
    def _scalars(self) -> State:
        return {name: array for name, array in self._drawn.items() if not array.ndim}

    def rows(self) -> np.ndarray:
        """The row of each entry of the state."""
        places = rows_and_places(self._entries)[2]
        if self._kept is None:
            return places
        rows = np.full(len(self._kept), -1)
        rows[self._kept] = places
        return rows

    def tables(self, results: Results) -> dict[str, Any]:
        """The metric's tables."""
        return self.metric.tables(self, results)
