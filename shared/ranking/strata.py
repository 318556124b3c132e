"""Rows that resamples of sorted sides are drawn from: distinct scores, or quantiles, each with a number of samples.

Each side is sorted once, and a resample is its rows with other counts. Their order does not depend on that of the
samples.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
from ..arrays.checks import MAX_COUNT
from ..arrays.sorting import first_of_each
from ..metric.prepared import Prepared, as_content
from ..metric.results import Results
from .counts import Side

MAX_ROWS = 1 << 14  # of a stratum, beyond which neighbours in the order of the scores are resampled as one


class PreparedSides(Prepared):
    """Sorted sides of scores, such as unknown and known samples, and the rows that resamples are drawn from.

    Parameters: metric, with rates(*sides) and side_of(state), the side of each entry, (N,) integers, −1 for an entry
    that is left out; state; its sides, each sorted once; stratum_of, the stratum of each side, ascending: sides of one
    stratum are drawn together.
    """

    def __init__(self, metric: Any, state: Any, sides: Sequence[Side], stratum_of: Sequence[int]) -> None:
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
        sides, start = self.sides, 0
        if counts is not None:
            sides = []
            for rows, end in zip(self.drawn_from, self._ends.tolist()):
                sides.append(rows.side(counts[start:end]))
                start = end
        results: Results = self.metric.rates(*sides)
        return results

    def rows(self) -> np.ndarray:
        """The row of each entry of the state."""
        side_of, scores = to_numpy(self.metric.side_of(self.state)), to_numpy(self.state["scores"])
        rows = np.full(len(scores), -1)
        for i, (each, end) in enumerate(zip(self.drawn_from, self._ends.tolist())):
            here = side_of == i
            rows[here] = each.places(scores[here]) + end - len(each.counts)
        return rows

    def contents(self) -> Iterable[bytes]:
        """The distinct scores of each side, and how many samples have each."""
        return (as_content(column) for rows in rows_of_sides(*self.sides, most=MAX_COUNT) for column in rows)

    def aligned_with(self, models: Sequence[Prepared]) -> PreparedSides:
        """The same with rows at the scores of all models, if a side of one has too many."""
        sides = [model.sides for model in models if isinstance(model, PreparedSides)]
        rows, end = rows_of_sides(*chain(*sides)), 0
        for side in sides:
            end += len(side)
            if side is self.sides:
                break
        model = PreparedSides(self.metric, self.state, self.sides, self.stratum_of)
        model.drawn_from = rows[end - len(self.sides) : end]
        return model


class Rows(NamedTuple):
    """The distinct scores of a stratum, (R,) in ascending order, and the number of samples with each."""

    scores: np.ndarray
    counts: np.ndarray

    def side(self, counts: np.ndarray) -> Side:
        """These scores with other counts."""
        there = np.flatnonzero(counts)
        before = np.zeros(len(there) + 1, np.int64)
        np.cumsum(counts[there], out=before[1:])
        return Side(self.scores[there], before)

    def places(self, scores: np.ndarray) -> np.ndarray:
        """The row of each score."""
        return np.searchsorted(self.scores, scores, side="left")


def rows_of_sides(*sides: Side, most: int | None = None) -> list[Rows]:
    """The rows of strata with scores that are compared with each other.

    If a stratum has more than `most` rows, by default `MAX_ROWS`, scores between two neighbouring quantiles of any
    stratum are rounded up to the upper one, which moves a rank by less than 1/most of a stratum.
    """
    most = MAX_ROWS if most is None else most
    sides = tuple(side.on_cpu() for side in sides)
    few = [_distinct(side.scores, most) for side in sides]
    strata = [scores for scores in few if scores is not None]
    if len(strata) < len(sides):
        edges = [_quantiles(side, most) if scores is None else scores for side, scores in zip(sides, few)]
        strata = [np.unique(np.concatenate(edges))] * len(sides)
    # the samples up to each score, less those up to the one before; 0.0 for −0.0
    ends = (side.below(np.searchsorted(side.scores, scores, side="right")) for side, scores in zip(sides, strata))
    return [Rows(scores + 0.0, np.diff(end, prepend=0)) for scores, end in zip(strata, ends)]


def _distinct(ascending: np.ndarray, most: int) -> np.ndarray | None:
    """The distinct ones of ascending scores; None if there are more than `most`."""
    differs = first_of_each(ascending)
    return None if np.count_nonzero(differs) > most else ascending[differs]


def _quantiles(side: Side, number: int) -> np.ndarray:
    """A number of scores, including the highest, with nearly equal numbers of samples between them."""
    samples = np.arange(1, number + 1) * side.total // number
    rows = samples - 1 if side.before is None else np.searchsorted(side.before[1:], samples)
    return side.scores[rows]
