"""A state prepared once: checked, sorted, counted or matched, with one function from counts to results."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import State, to_numpy
from ..arrays.compacting import compact_rows, rows_and_places
from .results import Results


class Prepared(ABC):
    """Rows of equal samples or images, in an order independent of the order in which they were added.

    The summary of rows with counts is bit-identical to the summary of the repeated rows. So the rows' own counts give
    the results, and drawn counts a resample: intervals, comparisons, groups and folders need `rates` alone.
    """

    counts: np.ndarray  # (R,) int64: how many samples or images each row stands for
    strata: np.ndarray  # (R,) int64, ascending: the stratum of each row, whose size a resample keeps
    sizes: np.ndarray | None = None  # (N,) int64: how many each entry of the state stands for; None for one each
    fewest_clusters: int | None = None  # that have samples of a class; None where samples are drawn one by one

    @abstractmethod
    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Rates and counts where each row occurs `counts` times, (R,) int64; without counts, the exact results.

        If a state has too many distinct scores to draw from, the rows are quantiles, so `rates(self.counts)` may differ
        slightly from `rates()`; intervals are shifted by that difference.
        """

    def sums(self, counts: np.ndarray, keys: Sequence[Any]) -> Iterable[float]:
        """Numbers of drawn rows that `values_of` turns into the rates of these keys; by default the rates themselves.

        A metric whose rates follow from sums over the rows returns the sums, and computes the rates of all resamples
        at once.
        """
        rates = self.rates(counts)
        return [rates[key].value for key in keys]

    def values_of(self, sums: np.ndarray, keys: Sequence[Any]) -> np.ndarray:
        """The rates of some keys in B resamples, (B, K), from the `sums` of each, (B, S)."""
        return sums

    @abstractmethod
    def rows(self) -> np.ndarray:
        """The row of each entry of the state, (N,) int64 in their order; −1 for an entry that is left out."""

    @abstractmethod
    def contents(self) -> Iterable[bytes]:
        """The content of the rows, in their order: states with equal contents have equal rates."""

    @property
    def kinds(self) -> np.ndarray:
        """The classes that each row has samples of, (R,) int64 sets of bits, in the order of the strata."""
        return np.left_shift(1, self.strata)

    def samples(self) -> tuple[np.ndarray, ...]:
        """The stratum of each entry, −1 for one that is left out, and its size, which two models must share."""
        rows = self.rows()
        sizes = np.ones(len(rows), np.int64) if self.sizes is None else self.sizes
        return np.where(rows < 0, -1, self.strata[rows]), np.where(rows < 0, 0, sizes)

    def aligned_with(self, models: Sequence[Prepared]) -> Prepared:
        """The same for a comparison with other models of the same samples, this one among them.

        Where rows are merged, those of all models are merged alike, so that samples which two models score alike give
        them the same rates. By default no rows are merged.
        """
        return self


def as_content(column: np.ndarray) -> bytes:
    """Numbers as bytes that do not depend on their type."""
    return (column.astype(np.float64) + 0.0).tobytes()  # 0.0 for −0.0


class MissingClassError(ValueError):
    """A result needs samples of two classes, and one of them has none.

    defined: the results that do not need it, by name
    """

    def __init__(self, text: str, defined: Mapping[str, float] = MappingProxyType({})) -> None:
        super().__init__(text)
        self.defined = dict(defined)


class Drawn(NamedTuple):
    """A state as resamples see it."""

    state: Any  # with as many entries as the state itself
    strata: np.ndarray | None = None  # (N,) integers from 0; None for one stratum
    is_used: np.ndarray | None = None  # (N,) flags of the entries that enter the results; None for all


class PreparedTable(Prepared):
    """The different rows of a state's table, in ascending order within their strata.

    Parameters: metric, with `rates(state)`, where rows may have counts, and `drawn(state)`, the state as resamples see
    it; state; columns of its table.
    """

    def __init__(self, metric: Any, state: Any, columns: Sequence[str]) -> None:
        self.metric, self.state, self.columns = metric, state, columns
        self.sizes = to_numpy(state["counts"]) if "counts" in state else None

    @cached_property
    def drawn(self) -> Drawn:
        """The state as resamples see it, computed only if there are any."""
        drawn: Drawn = self.metric.drawn(self.state)
        return drawn

    @cached_property
    def _entries(self) -> list[np.ndarray]:
        """Strata and columns of the entries that are kept: rows in ascending order lie stratum by stratum."""
        state, strata, is_used = self.drawn
        entries = [to_numpy(state[name]) for name in self.columns]
        entries = [np.zeros(len(entries[0]), np.int64) if strata is None else strata, *entries]
        return entries if is_used is None else [entry[is_used] for entry in entries]

    @cached_property
    def _rows(self) -> tuple[list[np.ndarray], np.ndarray]:
        is_used = self.drawn.is_used
        sizes = self.sizes if self.sizes is None or is_used is None else self.sizes[is_used]
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
            exact: Results = self.metric.rates(self.state)
            return exact
        there = counts > 0
        rows = {name: column[there] for name, column in zip(self.columns, self._rows[0][1:])}
        results: Results = self.metric.rates({**self._scalars, **rows, "counts": counts[there]})
        return results

    @cached_property
    def _scalars(self) -> State:
        return {name: array for name, array in self.state.items() if not array.ndim}

    def rows(self) -> np.ndarray:
        """The row of each entry of the state."""
        places = rows_and_places(self._entries)[2]
        is_used = self.drawn.is_used
        if is_used is None:
            return places
        rows = np.full(len(is_used), -1)
        rows[is_used] = places
        return rows

    def contents(self) -> Iterable[bytes]:
        """The columns of the rows, and their counts."""
        return map(as_content, (*self._rows[0], self._rows[1]))
