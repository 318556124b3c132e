"""Prepare states that are sides of scores: each side is sorted once, and its distinct scores are the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain, pairwise
from typing import Any, Protocol

import numpy as np

from ..arrays.arrays import Array, State, to_numpy
from ..metric.prepared import Prepared
from ..metric.results import Results
from .counts import Side
from .rows import Rows, rows_of_sides


class RanksSides(Protocol):
    """A metric that computes its results from sorted sides."""

    @property
    def rates(self) -> Callable[..., Results]:
        """Results of the sides, in the order in which they were prepared."""

    def side_of(self, state: Any) -> Array:
        """The side of each entry of a state, (N,) integers; −1 for an entry that is left out."""

    def tables(self, prepared: PreparedSides, results: Results) -> dict[str, Any]:
        """Tables beside the results."""


class PreparedSides(Prepared):
    """Sorted sides of scores, such as unknown and known samples, and the rows that resamples are drawn from.

    Parameters: metric, which reads the sides; state; its sides; stratum_of, the stratum of each side, ascending: sides
    of one stratum are drawn together.
    """

    def __init__(self, metric: RanksSides, state: State, sides: Sequence[Side], stratum_of: Sequence[int]) -> None:
        self.metric, self.state, self.sides, self.stratum_of = metric, state, sides, stratum_of
        self.sizes = to_numpy(state["counts"]) if "counts" in state else None

    @cached_property
    def drawn_from(self) -> list[Rows]:
        """The distinct scores of each side, or their quantiles if there are many."""
        return rows_of_sides(*self.sides)

    @cached_property
    def _ends(self) -> np.ndarray:
        return np.cumsum([len(rows.counts) for rows in self.drawn_from])

    @cached_property
    def counts(self) -> np.ndarray:  # type: ignore[override]
        """The number of samples that each row stands for."""
        return np.concatenate([rows.counts for rows in self.drawn_from])

    @cached_property
    def strata(self) -> np.ndarray:  # type: ignore[override]
        """The stratum of each row."""
        return np.repeat(self.stratum_of, [len(rows.counts) for rows in self.drawn_from])

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn rows."""
        if counts is None:
            return self.metric.rates(*self.sides)
        ends = [0, *self._ends.tolist()]
        return self.metric.rates(
            *(rows.side(counts[start:end]) for rows, (start, end) in zip(self.drawn_from, pairwise(ends)))
        )

    def rows(self) -> np.ndarray:
        """The row of each entry of the state."""
        side_of, scores = to_numpy(self.metric.side_of(self.state)), to_numpy(self.state["scores"])
        rows = np.full(len(scores), -1)
        for i, (each, end) in enumerate(zip(self.drawn_from, self._ends.tolist())):
            here = side_of == i
            rows[here] = each.places(scores[here]) + end - len(each.counts)
        return rows

    def beside(self, models: Sequence[Prepared]) -> PreparedSides:
        """The same with rows at the scores of all models, if a side of one has too many."""
        sides = [model.sides for model in models if isinstance(model, PreparedSides)]
        rows, end = rows_of_sides(*chain(*sides)), 0
        for own in sides:
            end += len(own)
            if own is self.sides:
                break
        model = PreparedSides(self.metric, self.state, self.sides, self.stratum_of)
        model.drawn_from = rows[end - len(self.sides) : end]
        return model

    def tables(self, results: Results) -> dict[str, Any]:
        """The metric's tables."""
        return self.metric.tables(self, results)
