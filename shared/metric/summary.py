"""Results of states: of all samples, or of each group and their means; with intervals on request."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np

from ..arrays.arrays import State, to_numpy
from .bootstrap import ByGroup, Replicates, intervals, permuted, replicates, with_means
from .groups import ALL, check_names
from .joining import joined, num_samples
from .prepared import MissingClassError, Prepared
from .results import Key, Rate, Results, Summary, rates_of, summary_of_groups
from .sharing import Sharing

StatesByGroup = Mapping[str, Sequence[State]]


class Prepares(Protocol):
    """The part of a metric that a summary uses: the common options and the function that prepares a state."""

    confidence_level: float | None
    n_resamples: int
    random_state: int
    groups_without: str

    def prepare(self, state: State) -> Prepared:
        """Check, sort or match a state once."""


class Part(NamedTuple):
    """A part that is resampled separately: all samples, a group, or all groups that share samples.

    name: the group's name; empty for all samples and for groups that share some
    prepared: its rows
    results: the results of each group
    """

    name: str
    prepared: Prepared
    results: Mapping[str, Results]

    def rates(self) -> dict[Key, Rate]:
        """Exact rates, by the keys that `prepared.rates` has."""
        if self.name in self.results:
            return rates_of(self.results[self.name])
        return {
            (group, key): rate for group, results in self.results.items() for key, rate in rates_of(results).items()
        }

    def by_group(self, drawn: Mapping[Key, np.ndarray], random_state: int) -> ByGroup:
        """Replicates by (group, key), in an order of the part's own."""
        keyed = {key if isinstance(key, tuple) else (self.name, key): values for key, values in drawn.items()}
        return permuted(keyed, self.name, random_state) if self.name else keyed


def summary(metric: Prepares, states: StatesByGroup) -> Summary:
    """The results of states by group; samples of no group belong to each.

    Each group draws its resamples from the seed itself, so it has the results and the intervals that it has alone;
    groups that share samples are drawn together. Raises what the metric raises, with the name of the group.
    """
    return assembled(metric, *results_and_replicates(metric, states))


def results_and_replicates(
    metric: Prepares, states: StatesByGroup, name: str = ALL
) -> tuple[dict[str, Results], ByGroup]:
    """The results of each group and, with a confidence level, their replicates; `name` is for samples without a group.

    The results of several metrics, such as one for each category of a folder, can be put into one dict.
    """
    groups = sorted(states.keys() - {ALL}) or [name]
    results: dict[str, Results] = {group: {} for group in groups}  # {}: one that is left out
    drawn: ByGroup = {}
    resampled = metric.confidence_level is not None
    for part in prepared_parts(metric, states, resampled=resampled, name=name):
        results |= part.results
        if resampled:
            with named(part.name):
                values = replicates(part.prepared, part.rates(), metric.n_resamples, metric.random_state)
            drawn |= part.by_group(values, metric.random_state)
    return results, drawn


def assembled(metric: Prepares, results: Mapping[str, Results], drawn: ByGroup) -> Summary:
    """The summary of groups or, where the only one has no name, of all samples, with their intervals."""
    summary, values = whole(results, drawn, skipping=metric.groups_without == "skip")
    level = metric.confidence_level
    return summary if level is None else summary.with_intervals(intervals(values, level))


def whole(results: Mapping[str, Results], drawn: ByGroup, *, skipping: bool = False) -> tuple[Summary, Replicates]:
    """The summary of groups, and replicates of groups and means; a single group without a name is all samples.

    Raises ValueError if all groups lack a class.
    """
    if skipping and not any(map(rates_of, results.values())):
        raise MissingClassError("groups: expected a group with samples of both classes, got none")
    if [*results] == [ALL]:
        return Summary(results[ALL]), {key: values for (_, key), values in drawn.items()}
    return summary_of_groups(results, skipping=skipping), with_means(drawn)


def prepared_parts(metric: Prepares, states: StatesByGroup, *, resampled: bool, name: str = ALL) -> Iterator[Part]:
    """Parts in the order of their names, each prepared when its turn comes; `name` is for samples without groups.

    With groups_without="skip", a group that lacks a class is left out, and so are samples that have a name here.
    """
    groups = sorted(states.keys() - {ALL})
    check_names(groups)  # each batch's are valid, but those of two batches may not be
    shared = states.get(ALL, [])
    parts: list[Part] = []
    for group in groups or [name]:
        try:
            part = _part(metric, group, joined([*(states[group] if groups else []), *shared]))
        except MissingClassError:
            if group == ALL or metric.groups_without != "skip":
                raise
            continue
        if resampled and shared and groups:
            parts.append(part)
        else:
            yield part
    if parts:
        counts = {part.name: _counts(joined(states[part.name])) for part in parts}
        sharing = Sharing({part.name: part.prepared for part in parts}, counts, _counts(joined(shared)))
        yield Part(ALL, sharing, {part.name: part.results[part.name] for part in parts})


def _part(metric: Prepares, name: str, state: State) -> Part:
    with named(name):
        prepared = metric.prepare(state)
        results = prepared.rates()
        return Part(name, prepared, {name: {**results, **prepared.tables(results)}})


@contextmanager
def named(group: str) -> Iterator[None]:
    """Name the group in a ValueError."""
    try:
        yield
    except ValueError as error:
        if group == ALL:
            raise
        raise type(error)(f"group {group!r}: {error}") from error


def _counts(state: State) -> np.ndarray:
    """The number of samples that each entry of a state stands for."""
    if "counts" in state:
        return to_numpy(state["counts"])
    return np.ones(num_samples(state), np.int64)
