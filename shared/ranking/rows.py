"""The distinct scores of strata, which resamples draw from, in an order independent of the order of the samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .counts import Side

MAX_ROWS = 1 << 14  # of a stratum, beyond which neighbours in the order of the scores are resampled as one


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
    # 0.0 for −0.0
    return [Rows(scores + 0.0, _samples_at(side, scores)) for side, scores in zip(sides, strata)]


def _distinct(ascending: np.ndarray, most: int) -> np.ndarray | None:
    """The distinct ones of ascending scores; None if there are more than `most`."""
    differs = np.append(True, ascending[1:] != ascending[:-1])[: len(ascending)]
    return None if np.count_nonzero(differs) > most else ascending[differs]


def _quantiles(side: Side, number: int) -> np.ndarray:
    """A number of scores, including the highest, with nearly equal numbers of samples between them."""
    samples = np.arange(1, number + 1) * side.total // number
    rows = samples - 1 if side.before is None else np.searchsorted(side.before[1:], samples)
    return side.scores[rows]


def _samples_at(side: Side, scores: np.ndarray) -> np.ndarray:
    """For each of ascending scores, the number of samples up to it and above the one before."""
    return np.diff(side.below(np.searchsorted(side.scores, scores, side="right")), prepend=0)
