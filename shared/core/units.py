"""What is resampled for an interval, and the results of a resample.

A resample of samples is the same rows with other counts: so a metric has to say which rows those are, in an order that
does not depend on how they came, and what its rates are where each row occurs another number of times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, State, to_numpy
from .compacting import compact_rows, rows_and_places
from .counts import Side

MAX_ROWS = 1 << 14  # of a stratum, beyond which neighbours in the order of the scores are resampled as one


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


class Rows(NamedTuple):
    """The different scores of a stratum: (R,) in ascending order, and how many samples have each."""

    scores: np.ndarray
    counts: np.ndarray

    def side(self, counts: np.ndarray) -> Side:
        """These scores with other counts."""
        there = counts > 0
        return Side(self.scores[there], np.concatenate([[0], np.cumsum(counts[there])]))

    def places(self, scores: np.ndarray) -> np.ndarray:
        """The row of each of some scores."""
        return np.searchsorted(self.scores, scores, side="left")


def rows_of_sides(*sides: Side, most: int | None = None) -> list[Rows]:
    """The rows of strata whose scores are compared with each other.

    Where a stratum has more than `most` of them, by default `MAX_ROWS`, scores between two neighbouring quantiles of
    any stratum are taken for the upper one: in ranks, less than 1/most of a stratum off.
    """
    found, most = [_distinct(side) for side in sides], MAX_ROWS if most is None else most
    if max(len(rows.scores) for rows in found) <= most:
        return found
    edges = np.unique(np.concatenate([_quantiles(rows, most) for rows in found]))
    merged = []
    for rows in found:
        counts = np.bincount(np.searchsorted(edges, rows.scores, side="left"), rows.counts, len(edges))
        merged.append(Rows(edges, counts.astype(np.int64)))  # float64 holds them
    return merged


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


def _distinct(side: Side) -> Rows:
    scores = to_numpy(side.scores) + 0.0  # 0.0 for −0.0
    first = np.flatnonzero(np.concatenate([np.ones(len(scores[:1]), bool), scores[1:] != scores[:-1]]))
    before = np.arange(len(scores) + 1) if side.before is None else to_numpy(side.before)
    return Rows(scores[first], np.diff(before[np.append(first, len(scores))]))


def _quantiles(rows: Rows, most: int) -> np.ndarray:
    """At most so many of the scores, the highest among them, with about as many samples between any two."""
    if len(rows.scores) <= most:
        return rows.scores
    reached = np.cumsum(rows.counts)
    wanted = np.arange(1, most + 1) * reached[-1] // most
    return rows.scores[np.searchsorted(reached, wanted, side="left")]


def members_of(strata: Array, scores: Array, rows: Sequence[Rows]) -> tuple[np.ndarray, np.ndarray]:
    """As `Units.members`, of samples with their (N,) strata and scores."""
    stratum, values = to_numpy(strata).astype(np.int64), to_numpy(scores)
    place = np.zeros(len(stratum), np.int64)
    for i, each in enumerate(rows):
        inside = stratum == i
        place[inside] = each.places(values[inside])
    return place, stratum
