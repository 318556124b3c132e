"""Clusters: samples that depend on each other, such as frames of a video, utterances of a speaker, scans of a patient.

An interval from resampled rows is too narrow if rows depend. So a resample draws clusters, each with all of its rows.
A state holds the number of each row's cluster and, by number, the clusters' names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ..arrays.arrays import Array, State, on_device
from ..arrays.checks import integer_column
from ..arrays.compacting import compact_rows
from .groups import ALL, BAR, column_items, group_name
from .prepared import MissingClassError, Prepared, as_content
from .results import Results

CLUSTERS = "clusters"  # the column, and (N,) numbers in a state
CLUSTER_NAMES = "cluster_names"  # (C,) different names in a state, by number
OF_CLUSTERS = (CLUSTERS, CLUSTER_NAMES)


def as_cluster_names(column: Any, column_name: str = CLUSTERS) -> list[str]:
    """Check a column of clusters, strings or integers, and return their names; errors say the column's name.

    Raises ValueError for a missing one (None, "" or NaN), TypeError for other types.

    >>> as_cluster_names(["anna", 7])
    ['anna', '7']
    """
    items = column_items(column, column_name)
    try:
        names = {item: group_name(item) for item in dict.fromkeys(items)}
    except TypeError as error:
        raise TypeError(f"{column_name}: expected strings or integers, got {error}") from None
    every = [names[item] for item in items]
    if ALL in names.values():
        row = every.index(ALL)
        raise ValueError(f"{column_name}: expected the cluster of each sample, got {items[row]!r} at position {row}")
    return every


def numbered(names: Sequence[str], rows: Array) -> State:
    """The arrays of a state from the name of each row's cluster, numbers on the device of `rows`.

    >>> numbered(["anna", "ben", "anna"], np.zeros(3))
    {'clusters': array([0, 1, 0]), 'cluster_names': array(['anna', 'ben'], dtype='<U4')}
    """
    places = _places_of_names(names)
    return {CLUSTERS: on_device(_numbers(names, places), rows), CLUSTER_NAMES: np.asarray([*places], dtype=str)}


def renumbered(states: Sequence[State]) -> list[State]:
    """States whose clusters have one list of names; without clusters they are unchanged."""
    if not all(CLUSTER_NAMES in state for state in states):
        return [*states]
    names_of_states = [state[CLUSTER_NAMES].tolist() for state in states]
    places = _places_of_names(chain.from_iterable(names_of_states))
    names = np.asarray([*places], dtype=str)
    return [
        {**state, CLUSTERS: on_device(_numbers(each, places), numbers)[numbers], CLUSTER_NAMES: names}
        for state, each in zip(states, names_of_states)
        for numbers in [state[CLUSTERS]]
    ]


def checked_clusters(state: Mapping[str, Any], rows: int) -> State:
    """The arrays of clusters in a state of `rows` rows from elsewhere; none if it has none. Raises ValueError."""
    if not state.keys() & {*OF_CLUSTERS}:
        return {}
    if not state.keys() >= {*OF_CLUSTERS}:
        raise ValueError(f"state: expected {CLUSTERS} with {CLUSTER_NAMES}, got one of them")
    names = np.asarray(state[CLUSTER_NAMES])
    if names.ndim != 1 or names.dtype.kind != "U" or not all(names) or len({*names.tolist()}) < len(names):
        raise ValueError(f"state: expected {CLUSTER_NAMES} to be different strings that are not empty")
    numbers = integer_column(state, CLUSTERS, 0, len(names) - 1)
    if len(numbers) != rows:
        raise ValueError(f"state: expected a cluster for each of {rows} rows, got {len(numbers)}")
    return {CLUSTERS: numbers, CLUSTER_NAMES: names}


def _places_of_names(names: Iterable[str]) -> dict[str, int]:
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def _numbers(names: Sequence[str], places: Mapping[str, int]) -> np.ndarray:
    return np.fromiter(map(places.__getitem__, names), np.int64, len(names))


def names_by_groups(states: Mapping[str, Iterable[State]]) -> dict[str, list[str]]:
    """The sorted names of clusters by the key of all groups that have samples of them; empty without clusters.

    >>> of_groups = {"near": numbered("ab", np.zeros(2)), "far": numbered("bc", np.zeros(2))}
    >>> names_by_groups({group: [state] for group, state in of_groups.items()})
    {'near': ['a'], 'far|near': ['b'], 'far': ['c']}
    """
    groups: dict[str, set[str]] = {}
    for key, of_key in states.items():
        for name in {name for state in of_key for name in state.get(CLUSTER_NAMES, np.empty(0)).tolist()}:
            groups.setdefault(name, set()).update(key.split(BAR))
    names: dict[str, list[str]] = {}
    for name in sorted(groups):
        names.setdefault(ALL if ALL in groups[name] else BAR.join(sorted(groups[name])), []).append(name)
    return names


def of_several(names: Mapping[str, Sequence[str]], groups: Sequence[str]) -> list[str]:
    """The names of clusters in several groups, from `names_by_groups`, which are drawn for all groups at once."""
    keys = [key for key in names if key == ALL or (BAR in key and {*groups} & {*key.split(BAR)})]
    return sorted(chain.from_iterable(names[key] for key in keys))


class Clustered(Prepared):
    """The clusters of a prepared state: a resample draws clusters, each with all of its samples.

    With m_c draws of cluster c, of which n_cr samples are in row r, that row occurs Σ_c m_c·n_cr times.

    The kind of a cluster is the set of classes that it has samples of, so a resample has as many clusters of each kind
    as there are. Clusters with the same samples are one row, in the order of their kinds, then of their rows: neither
    the order of samples nor the names of clusters matter.

    Parameters: prepared; clusters (N,), the number of each entry's cluster; number, how many there are; classes, what
    the bits of `prepared.kinds` are called.
    Raises ValueError unless some kind with samples of a class has two clusters, for each class.
    """

    def __init__(self, prepared: Prepared, clusters: np.ndarray, number: int, classes: Sequence[str]) -> None:
        self.prepared, self._arguments = prepared, (clusters, number, classes)
        rows = prepared.rows()
        is_used = rows >= 0
        sizes = np.ones(len(rows), np.int64) if prepared.sizes is None else prepared.sizes
        (of_cluster, row), total = compact_rows([clusters[is_used], rows[is_used]], sizes[is_used])
        kinds = np.zeros(number, np.int64)
        np.bitwise_or.at(kinds, of_cluster, np.asarray(prepared.kinds)[row])
        # numbers whose bytes are in the order of their values
        content = np.stack([row, total], axis=1).astype(">i8").tobytes()
        ends = (16 * np.searchsorted(of_cluster, np.arange(number), side="right")).tolist()
        keys = [(kind, content[start:end]) for kind, start, end in zip(kinds.tolist(), [0, *ends], ends)]
        place = {key: i for i, key in enumerate(sorted({key for key in keys if key[0]}))}
        self._rows = np.asarray([place.get(key, -1) for key in keys], dtype=np.int64)
        there, first, counts = np.unique(self._rows, return_index=True, return_counts=True)
        first, self.counts = first[there >= 0], counts[there >= 0]
        self.strata = kinds[first]
        stands = np.isin(of_cluster, first)  # for all clusters with the same samples
        self._of_cluster, self._row, self._total = self._rows[of_cluster[stands]], row[stands], total[stands]
        self.fewest_clusters = self._check_enough(classes)

    def _check_enough(self, classes: Sequence[str]) -> int:
        numbers = dict[int, int]()
        for kind, count in zip(self.strata.tolist(), self.counts.tolist()):
            numbers[kind] = numbers.get(kind, 0) + count
        fewest = int(self.counts.sum())
        for bit, name in enumerate(classes):
            of_class = [count for kind, count in numbers.items() if kind >> bit & 1]
            if of_class and max(of_class) < 2:
                each = "" if sum(of_class) < 2 else " of one kind"
                raise ValueError(f"clusters: expected at least 2{each} with {name}, got {max(of_class)}")
            fewest = min(fewest, sum(of_class) or fewest)
        return fewest

    @property
    def kinds(self) -> np.ndarray:
        """The kind of each row, which is its stratum."""
        return self.strata

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """Results of the state, or of drawn clusters. Raises MissingClassError where these lack a class."""
        return self.prepared.rates(None if counts is None else self._drawn(counts))

    def sums(self, counts: np.ndarray, keys: Sequence[Any]) -> Iterable[float]:
        """As of the state. Raises MissingClassError where drawn clusters lack a class."""
        return self.prepared.sums(self._drawn(counts), keys)

    def values_of(self, sums: np.ndarray, keys: Sequence[Any]) -> np.ndarray:
        """As of the state."""
        return self.prepared.values_of(sums, keys)

    def _drawn(self, counts: np.ndarray) -> np.ndarray:
        """How often drawn clusters have each row of the state."""
        if np.bitwise_or.reduce(self.strata[counts > 0]) != np.bitwise_or.reduce(self.strata):
            raise MissingClassError("clusters: expected samples of each class among those drawn, got none of one")
        times = counts[self._of_cluster] * self._total
        # float64 holds them
        return np.bincount(self._row, times, len(self.prepared.counts)).astype(np.int64)

    def rows(self) -> np.ndarray:
        """The row of each cluster, by number; −1 for a cluster without samples here."""
        return self._rows

    def samples(self) -> tuple[np.ndarray, ...]:
        """As of the state, with the cluster of each entry."""
        kinds, *others = self.prepared.samples()
        return kinds, *others, np.where(kinds < 0, -1, self._arguments[0])

    def contents(self) -> Iterable[bytes]:
        """The contents of the state, and its rows in each cluster."""
        columns = (self._of_cluster, self._row, self._total, self.counts)
        return chain(self.prepared.contents(), map(as_content, columns))

    def aligned_with(self, models: Sequence[Prepared]) -> Clustered:
        """These clusters for a comparison, with rows merged as the rows of all models are."""
        every = [model.prepared for model in models if isinstance(model, Clustered)]
        return Clustered(self.prepared.aligned_with(every), *self._arguments)


def clustered(prepared: Prepared, state: State, order: Sequence[str], classes: Sequence[str]) -> Clustered:
    """The clusters of a prepared state, numbered in this order of their names."""
    places = _numbers(state[CLUSTER_NAMES].tolist(), {name: i for i, name in enumerate(order)})
    from_device = on_device(state[CLUSTERS], places)
    return Clustered(prepared, places[from_device], len(order), classes)
