"""States that are one table, prepared: its different rows, with their counts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..arrays.arrays import State, to_numpy
from ..arrays.compacting import compact_rows, rows_and_places
from .prepared import Prepared
from .results import Results


class Drawn(NamedTuple):
    """A state as resamples see it.

    state: with as many entries as the state itself
    strata: (N,) integers from 0; None for one stratum
    kept: (N,) flags of the entries that enter the results; None for all
    """

    state: State
    strata: np.ndarray | None = None
    kept: np.ndarray | None = None


class ReadsTable(Protocol):
    """A metric that computes its results from a table with counts."""

    def drawn(self, state: Any) -> Drawn:
        """The state as resamples see it."""

    def rates(self, state: Any) -> Results:
        """Results of a state; its rows may have counts."""

    def tables(self, prepared: PreparedTable, results: Results) -> dict[str, Any]:
        """Tables beside the results."""


class PreparedTable(Prepared):
    """The different rows of a state's table, in ascending order within their strata.

    Parameters: metric, which reads the state, and the state with other rows and counts; state; columns of its table.
    """

    def __init__(self, metric: ReadsTable, state: State, columns: Sequence[str]) -> None:
        self.metric, self.state, self.columns = metric, state, columns
        self.sizes = to_numpy(state["counts"]) if "counts" in state else None

    @cached_property
    def drawn(self) -> Drawn:
        """The state as resamples see it, computed only if there are any."""
        return self.metric.drawn(self.state)

    @cached_property
    def _entries(self) -> list[np.ndarray]:
        """Strata and columns of the entries that are kept: rows in ascending order lie stratum by stratum."""
        state, strata, kept = self.drawn
        entries = [to_numpy(state[name]) for name in self.columns]
        entries = [np.zeros(len(entries[0]), np.int64) if strata is None else strata, *entries]
        return entries if kept is None else [entry[kept] for entry in entries]

    @cached_property
    def _rows(self) -> tuple[list[np.ndarray], np.ndarray]:
        kept = self.drawn.kept
        sizes = self.sizes if self.sizes is None or kept is None else self.sizes[kept]
        return compact_rows(self._entries, sizes)

    @property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of samples that each row stands for."""
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
        return {name: array for name, array in self.state.items() if not array.ndim}

    def rows(self) -> np.ndarray:
        """The row of each entry of the state."""
        places = rows_and_places(self._entries)[2]
        kept = self.drawn.kept
        if kept is None:
            return places
        rows = np.full(len(kept), -1)
        rows[kept] = places
        return rows

    def tables(self, results: Results) -> dict[str, Any]:
        """The metric's tables."""
        return self.metric.tables(self, results)
