"""The distinct scores of strata, which resamples draw from, in an order independent of the order of the samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..arrays.arrays import to_numpy
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
    strata, most = [_distinct(side) for side in sides], MAX_ROWS if most is None else most
    if max(len(rows.scores) for rows in strata) <= most:
        return strata
    edges = np.unique(np.concatenate([_quantiles(rows, most) for rows in strata]))
    merged = []
    for rows in strata:
        counts = np.bincount(np.searchsorted(edges, rows.scores, side="left"), rows.counts, len(edges))
        merged.append(Rows(edges, counts.astype(np.int64)))  # float64 holds them
    return merged


def _distinct(side: Side) -> Rows:
    scores = to_numpy(side.scores) + 0.0  # 0.0 for −0.0
    first = np.flatnonzero(np.concatenate([np.ones(len(scores[:1]), bool), scores[1:] != scores[:-1]]))
    before = np.arange(len(scores) + 1) if side.before is None else to_numpy(side.before)
    return Rows(scores[first], np.diff(before[np.append(first, len(scores))]))


def _quantiles(rows: Rows, most: int) -> np.ndarray:
    """At most `most` of the scores, including the highest, with nearly equal numbers of samples between them."""
    if len(rows.scores) <= most:
        return rows.scores
    reached = np.cumsum(rows.counts)
    wanted = np.arange(1, most + 1) * reached[-1] // most
    return rows.scores[np.searchsorted(reached, wanted, side="left")]
