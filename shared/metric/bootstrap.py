"""The bootstrap: resamples of prepared states, and percentile intervals of their rates.

A resample draws samples or images with replacement, as many from each stratum as it has: new counts for the same rows.
Rows are in a canonical order, so an interval is identical for any order and any batches of the samples.
Resamples of many rows are drawn in blocks, each from a stream of its own: so several threads draw them, and the number
of threads changes no bit.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..arrays.arrays import State, to_numpy
from ..arrays.compacting import compact_rows, rows_and_places
from ..arrays.threads import in_threads, threads_for
from .clusters import clustered, names_by_groups, of_several
from .groups import ALL, BAR, check_names, groups_of, is_below, keys_of_group, prefixes
from .prepared import MissingClassError, Prepared
from .results import (
    ARITHMETIC,
    MEANS,
    Draws,
    Interval,
    Key,
    Rate,
    Results,
    Summary,
    all_draws,
    check_mean,
    rates_of,
    summary_of_groups,
)
from .states import joined, num_samples

if TYPE_CHECKING:
    from .metric import Metric

MAX_RESAMPLES = 1_000_000  # percentiles are steady long before, and each resample keeps its rates
_MOST_DRAWS = 1000  # of clusters for one resample, until it has every class
BLOCK = 100  # resamples of many rows that are drawn from one stream
_DRAWS_PER_ROW = 16  # above which counts are drawn row by row, rather than unit by unit
MANY_ROWS = 1 << 14  # from which a resample is worth threads: with fewer they wait for the interpreter
_BLOCKS = 1 << 8  # the spawn key of the first block: those below are bytes, of the names of groups
FEWEST = 10  # samples of a stratum: an interval of fewer, which no one asked for, would say more than they do

Replicates = dict[Key, np.ndarray]  # (B,) values in B resamples, by key
ByGroup = dict[tuple[str, str], np.ndarray]  # the same by group and key


def replicates(
    prepared: Prepared, exact: Mapping[Any, Rate], n_resamples: int, random_state: int
) -> tuple[Replicates, int]:
    """Rates of a prepared state in resamples, (B,) each; `exact` are the rates of the state itself.

    Where rows were merged (see `Prepared.rates`), replicates are shifted by the error that merging causes in the rate.
    Returns them, and how many resamples were drawn again (see `resampled`).

    Source: Efron, Bootstrap Methods, Annals of Statistics 1979; images are resampled as clusters of their pixels.
    """
    merged = rates_of(prepared.rates(prepared.counts))
    keys = [key for key in merged if key in exact]
    strata = parts_of_strata(prepared)

    def resample(rng: np.random.Generator) -> Iterable[float]:
        return prepared.sums(np.concatenate([draw(rng, part) for part in strata]), keys)

    sums, again = resampled(resample, n_resamples, random_state, len(prepared.counts))
    values = prepared.values_of(sums, keys)
    drawn = {key: moved(column, exact[key].value - merged[key].value) for key, column in zip(keys, values.T)}
    return drawn, again


def resampled(
    resample: Callable[[np.random.Generator], Iterable[float]], n_resamples: int, random_state: int, rows: int
) -> tuple[np.ndarray, int]:
    """Call a function of a generator for each resample, (B, K) results; for many rows, in several threads.

    Clusters that lack a class of a group (MissingClassError) are drawn again. Returns the results, and how many
    resamples were. Raises ValueError if a thousand in a row lack one.

    The resamples of few rows, and block 0 for many rows, are drawn from the seed itself, the other blocks from children
    of it. A terminal shows a bar if it takes more than two seconds.
    """
    from tqdm import tqdm

    size = BLOCK if rows >= MANY_ROWS else n_resamples

    def block(number: int) -> np.ndarray:
        key = (_BLOCKS + number,) if number else ()
        rng = np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=key))
        values = []
        for _ in range(min(size, n_resamples - number * size)):
            values.append(_with_every_class(resample, rng))
            bar.update()
        return np.asarray(values, dtype=np.float64)

    with tqdm(None, "resampling", n_resamples, delay=2, disable=None, leave=False) as bar:
        blocks = [partial(block, number) for number in range(-(-n_resamples // size))]
        values = np.concatenate(in_threads(blocks, threads_for(rows * n_resamples)))
    return values[:, 1:], int(values[:, 0].sum())


def _with_every_class(
    resample: Callable[[np.random.Generator], Iterable[float]], rng: np.random.Generator
) -> list[float]:
    """How many resamples lacked a class, and the results of the first that does not."""
    for lacking in range(_MOST_DRAWS):
        try:
            return [lacking, *resample(rng)]
        except MissingClassError as error:
            last = error
    raise ValueError(f"clusters: expected resamples with every class, got {_MOST_DRAWS} that lack one: {last}")


def parts_of_strata(prepared: Prepared) -> list[np.ndarray]:
    """The counts of the rows of each stratum."""
    strata = prepared.strata
    return np.split(prepared.counts, np.flatnonzero(strata[1:] != strata[:-1]) + 1)


def are_enough(prepared: Prepared) -> bool:
    """Whether each stratum has enough samples or images for an interval; too few clusters only get a note."""
    if prepared.fewest_clusters is not None:
        return True
    # of groups that share all samples of a kind, the kind has no rows of its own
    return not any(0 < int(counts.sum()) < FEWEST for counts in parts_of_strata(prepared))


def draw(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """Draw as many samples as there are, with replacement, and count the draws of each row."""
    total = int(counts.sum())
    if not total:
        return counts
    if total > _DRAWS_PER_ROW * len(counts):
        return rng.multinomial(total, counts / total)
    drawn = rng.integers(0, total, total)
    each_once = total == len(counts) and counts.min() == 1  # a row may have no sample, and another several
    places = drawn if each_once else np.repeat(np.arange(len(counts)), counts)[drawn]
    return np.bincount(places, minlength=len(counts))


def moved(values: np.ndarray, by: float) -> np.ndarray:
    """Shift values by an amount; values in [0, 1] stay there.

    >>> moved(np.asarray([0.0, 0.5, 1.0]), -0.25).tolist()
    [0.0, 0.25, 0.75]
    """
    if not by:
        return values
    lowest, highest = -np.inf if values.min() < 0 else 0.0, np.inf if values.max() > 1 else 1.0
    return np.clip(values + by, lowest, highest)


def permuted(replicates: ByGroup, group: str, random_state: int) -> ByGroup:
    """Put a group's replicates in an order of its own.

    All groups draw from one seed, so that each has the interval that it would have alone. In a mean over groups their
    draws must be independent, and a different order for each makes them so.
    """
    seed = np.random.SeedSequence(random_state, spawn_key=tuple(group.encode()))
    number = max(map(len, replicates.values()), default=0)
    order = np.random.default_rng(seed).permutation(number)
    return {key: values[order] for key, values in replicates.items()}


def with_means(by_group: ByGroup, groups_mean: str = ARITHMETIC) -> Replicates:
    """Replicates by (group, key), with the means' replicates: of groups below each slash, and of all groups.

    >>> means = with_means({("nut/cut", "auroc"): np.ones(2), ("nut/bent", "auroc"): np.zeros(2)})
    >>> [*means], means["auroc"].tolist()
    ([('nut/cut', 'auroc'), ('nut/bent', 'auroc'), ('nut', 'auroc'), 'auroc'], [0.5, 0.5])
    """
    every: Replicates = dict(by_group.items())
    names = list(dict.fromkeys(group for group, _ in by_group))
    for key in dict.fromkeys(key for _, key in by_group):
        of_key = {group: by_group[group, key] for group in names if (group, key) in by_group}
        lowest = min(float(np.min(values, initial=0.0, where=~np.isnan(values))) for values in of_key.values())
        check_mean(groups_mean, key, lowest, " in a resample")
        for prefix in sorted(prefixes(of_key)):
            every[prefix, key] = _means([x for group, x in of_key.items() if is_below(group, prefix)], groups_mean)
        every[key] = _means([*of_key.values()], groups_mean)
    return every


def intervals(replicates: Mapping[Key, np.ndarray], level: float) -> dict[Key, Interval]:
    """The interval of each key, between the quantiles (1 − level)/2 and (1 + level)/2 of its replicates.

    A replicate is NaN where a resample leaves nothing to average; a key with only NaN gets no interval.
    """
    there = {key: values[~np.isnan(values)] for key, values in replicates.items()}
    return {key: percentiles(values, level) for key, values in there.items() if len(values)}


def percentiles(values: np.ndarray, level: float) -> Interval:
    """The bounds that enclose a share of the values, with equal shares below and above."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def _means(columns: list[np.ndarray], groups_mean: str) -> np.ndarray:
    """The mean of each resample; sums are exact, so the order of the groups does not matter.

    Where some columns hold each resample and, behind all, its mirror image, the others stand beside both.
    """
    number, mean = max(map(len, columns)), MEANS[groups_mean]
    return np.asarray([mean(row) for row in zip(*(np.resize(column, number).tolist() for column in columns))])


class Sharing(Prepared):
    """Rows of groups, each with strata of its own, and rows of the samples that several groups share.

    Clusters that belong to several groups are shared too, each drawn with its samples in all of them.

    Its rates are those of each group, by (group, key).

    Parameters: groups, each prepared from its entries, in the order of `keys_of_group`; sizes, how many samples each
    entry stands for, by the key of the entries.
    """

    def __init__(self, groups: Mapping[str, Prepared], sizes: Mapping[str, np.ndarray]) -> None:
        self.groups = groups
        rows: dict[str, dict[str, np.ndarray]] = {key: {} for key in sizes}  # of each key's entries, by group
        for group, prepared in groups.items():
            keys = keys_of_group(group, sizes)
            ends = np.cumsum([len(sizes[key]) for key in keys])[:-1]
            for key, entries in zip(keys, np.split(prepared.rows(), ends)):
                rows[key][group] = entries
        counts: list[np.ndarray] = []
        strata: list[np.ndarray] = []
        members: list[np.ndarray] = []
        self._ends = [0]  # of the rows of each group, then of those of each set of groups
        for group, prepared in groups.items():
            entries = rows[group][group] if group in rows else np.zeros(0, np.int64)
            members.append(np.where(entries < 0, -1, entries + self._ends[-1]))
            counts.append(_tally(entries, sizes.get(group, entries), len(prepared.counts)))
            strata.append(prepared.strata + (strata[-1][-1] + 1 if strata else 0))
            self._ends.append(self._ends[-1] + len(prepared.counts))
        self._shared_rows: list[dict[str, np.ndarray]] = []
        self._keys = [key for key in sorted(sizes, key=lambda key: (key == ALL, key)) if key not in groups]
        for key in self._keys:
            # entries by their stratum and their rows in all groups, so that their order does not matter
            of_shared = rows[key]
            # a cluster may be in some groups only, and have samples of other classes in each
            kinds = np.zeros(len(sizes[key]), np.int64)
            for group, entries in of_shared.items():
                kinds |= np.where(entries < 0, 0, groups[group].kinds[entries])
            is_present = kinds > 0
            columns = [kinds[is_present], *(each[is_present] for each in of_shared.values())]
            places = np.zeros(0, np.int64)
            if is_present.any():
                columns, _, places = rows_and_places(columns)
            kinds, *shared_rows = columns
            self._shared_rows.append(dict(zip(of_shared, shared_rows)))
            last = np.full(len(sizes[key]), -1)
            last[is_present] = places + self._ends[-1]
            members.append(last)
            counts.append(_tally(places, sizes[key][is_present], len(kinds)))
            strata.append(kinds + strata[-1][-1] + 1)
            self._ends.append(self._ends[-1] + len(kinds))
        self.counts, self.strata = np.concatenate(counts), np.concatenate(strata)
        self._members = np.concatenate(members)
        self.sizes = np.concatenate(
            [sizes[key] for key in (*(group for group in groups if group in sizes), *self._keys)]
        )
        fewest = [prepared.fewest_clusters for prepared in groups.values() if prepared.fewest_clusters is not None]
        self.fewest_clusters = min(fewest, default=None)

    def rates(self, counts: np.ndarray | None = None) -> dict[Any, Any]:
        """Rates of each group, by (group, key)."""
        if counts is None:
            parts: list[np.ndarray | None] = [None] * len(self.groups)
        else:
            each = np.split(counts, self._ends[1:-1])
            of_groups, shared = dict(zip(self.groups, each)), each[len(self.groups) :]
            for rows, drawn in zip(self._shared_rows, shared):
                of_groups |= {
                    group: of_groups[group] + _tally(places, drawn, len(of_groups[group]))
                    for group, places in rows.items()
                }
            parts = [*of_groups.values()]
        return {
            (group, key): rate
            for (group, prepared), part in zip(self.groups.items(), parts)
            for key, rate in rates_of(prepared.rates(part)).items()
        }

    def rows(self) -> np.ndarray:
        """The row of each entry: rows of each group first, then of sets of groups, then of samples in all groups."""
        return self._members

    def samples(self) -> tuple[np.ndarray, ...]:
        """As of the groups, one after the other."""
        return tuple(map(np.concatenate, zip(*(prepared.samples() for prepared in self.groups.values()))))

    def contents(self) -> Iterable[bytes]:
        """The contents of each group, the shared entries among them."""
        return chain.from_iterable(prepared.contents() for prepared in self.groups.values())


def _tally(rows: np.ndarray, counts: np.ndarray, length: int) -> np.ndarray:
    is_present = rows >= 0
    return np.bincount(rows[is_present], counts[is_present], length).astype(np.int64)  # float64 holds them


StatesByGroup = Mapping[str, Sequence[State]]


class Part(NamedTuple):
    """A part that is resampled separately: all samples, a group, or all groups that share samples."""

    name: str  # the group's; empty for all samples and for groups that share some
    prepared: Prepared  # its rows
    results: Mapping[str, Results]  # of each group

    def rates(self) -> dict[Key, Rate]:
        """Exact rates, by the keys that `prepared.rates` has."""
        if self.name in self.results:
            return rates_of(self.results[self.name])
        return {(group, key): rate for group, row in self.results.items() for key, rate in rates_of(row).items()}

    def draws(self, redrawn: int) -> Draws | None:
        """The clusters that its resamples are drawn from, and how many were drawn again; None where rows are drawn."""
        fewest = self.prepared.fewest_clusters
        return None if fewest is None else Draws(int(self.prepared.counts.sum()), fewest, redrawn)

    def by_group(self, drawn: Mapping[Key, np.ndarray], random_state: int) -> ByGroup:
        """Replicates by (group, key), in an order of the part's own."""
        keyed = {key if isinstance(key, tuple) else (self.name, key): values for key, values in drawn.items()}
        return permuted(keyed, self.name, random_state) if self.name else keyed


def results_and_replicates(
    metric: Metric, states: StatesByGroup, name: str = ALL
) -> tuple[dict[str, Results], ByGroup, Draws | None]:
    """The results of each group and, with a confidence level, their replicates; `name` is for samples without a group.

    The third says which clusters were drawn; it is None where rows were.
    Samples of no group belong to each. Each group draws its resamples from the seed itself, so it has the results and
    the intervals that it has alone; groups that share samples are drawn together. Raises what the metric raises, with
    the name of the group. The results of several metrics, such as one for each category of a folder, can be put into
    one dict.
    """
    groups = groups_of(states) or [name]
    results: dict[str, Results] = {group: {} for group in groups}  # {}: one that is left out
    drawn: ByGroup = {}
    draws: list[Draws | None] = []
    resampled = metric.confidence_level is not None
    for part in prepared_parts(metric, states, resampled=resampled, name=name):
        results |= part.results
        if resampled:
            with named(part.name):
                values, again = replicates(part.prepared, part.rates(), metric.n_resamples, metric.random_state)
            drawn |= part.by_group(values, metric.random_state)
            draws.append(part.draws(again))
    return results, drawn, all_draws(draws)


def assembled(metric: Metric, results: Mapping[str, Results], drawn: ByGroup, clusters: Draws | None = None) -> Summary:
    """The summary of groups or, where the only one has no name, of all samples, with their intervals."""
    summary, values = whole(results, drawn, **metric.means)
    level = metric.confidence_level
    return summary if level is None else summary.with_intervals(intervals(values, level))._replace(drawn=clusters)


def whole(
    results: Mapping[str, Results], drawn: ByGroup, *, skipping: bool = False, groups_mean: str = ARITHMETIC
) -> tuple[Summary, Replicates]:
    """The summary of groups, and replicates of groups and means; a single group without a name is all samples.

    Raises ValueError if all groups lack a class.
    """
    if skipping and not any(map(rates_of, results.values())):
        raise MissingClassError("groups: expected a group with samples of both classes, got none")
    if [*results] == [ALL]:
        return Summary(results[ALL]), {key: values for (_, key), values in drawn.items()} if drawn else {}
    summary = summary_of_groups(results, skipping=skipping, groups_mean=groups_mean)
    return summary, with_means(drawn, groups_mean)


def prepared_parts(metric: Metric, states: StatesByGroup, *, resampled: bool, name: str = ALL) -> Iterator[Part]:
    """Parts in the order of their names, each prepared when its turn comes; `name` is for samples without groups.

    With groups_without="skip", a group that lacks a class is left out, and so are samples that have a name here.
    """
    clusters = names_by_groups(states) if resampled else {}
    drawn_together = [*_drawn_together([*clusters, *groups_of(states)] if clusters else states)]
    if drawn_together:
        check_names(states)  # each batch's are valid, but those of two batches may not be
    for together, groups in drawn_together or [(name, [name])]:
        parts: list[Part] = []
        for group in groups:
            keys = keys_of_group(group, states) if drawn_together else [ALL]
            state = joined([one for key in keys for one in states[key]])
            try:
                with named(group):
                    prepared = metric.prepare(state)
                    results = prepared.rates()
                    tables = metric.tables(prepared, results)
                    if clusters:
                        of_group = clusters.get(group, []) if group != ALL else []
                        names = [*of_group, *of_several(clusters, groups)]
                        prepared = clustered(prepared, state, names, metric.classes_needed)
                    part = Part(group, prepared, {group: {**results, **tables}})
            except MissingClassError:
                if group == ALL or metric.groups_without != "skip":
                    raise
                continue
            if resampled and together != group:
                parts.append(part)
            else:
                yield part
        if parts:
            there = {part.name for part in parts}
            sizes = {key: _sizes(joined(states[key])) for key in states if key == ALL or there & {*key.split(BAR)}}
            if clusters:  # one entry for each: first those of a group alone, then those of several
                numbers = {group: len(clusters.get(group, ())) for group in there}
                numbers[ALL] = len(of_several(clusters, groups))
                sizes = {key: np.ones(number, np.int64) for key, number in numbers.items()}
            sharing = Sharing({part.name: part.prepared for part in parts}, sizes)
            yield Part(together, sharing, {part.name: part.results[part.name] for part in parts})


def _drawn_together(keys: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """The groups that share samples, and a name of them: "" for all of them, else theirs with bars between.

    >>> [*_drawn_together(["a|b", "b|c", "d", "a"])], [*_drawn_together(["a", "b", ""])]
    ([('a|b|c', ['a', 'b', 'c']), ('d', ['d'])], [('', ['a', 'b'])])
    """
    keys = [*keys]
    together = {group: {group} for group in groups_of(keys)}
    if together and ALL in keys:
        yield ALL, [*together]
        return
    for key in keys:
        if BAR in key:
            everyone = set().union(*(together[group] for group in key.split(BAR)))
            together |= dict.fromkeys(everyone, everyone)
    for group, others in together.items():
        if group == min(others):
            yield BAR.join(sorted(others)), sorted(others)


@contextmanager
def named(group: str) -> Iterator[None]:
    """Name the group in a ValueError; all samples, and groups that share some, have no name."""
    try:
        yield
    except ValueError as error:
        if group == ALL:
            raise
        raise type(error)(f"group {group!r}: {error}") from error


def _sizes(state: State) -> np.ndarray:
    """The number of samples that each entry of a state stands for."""
    if "counts" in state:
        return to_numpy(state["counts"])
    return np.ones(num_samples(state), np.int64)


class Stratum(NamedTuple):
    """The distinct pairs of rows of the samples in two models, in an order that does not depend on the samples'."""

    rows: tuple[np.ndarray, np.ndarray]  # of the first and of the second model, (D,) each
    counts: np.ndarray  # (D,) how many samples have each pair


class PairedRows(NamedTuple):
    """The strata of the samples of two models."""

    strata: list[Stratum]
    symmetric: bool  # whether swapping the models changes nothing


def pairs_of(first: Prepared, second: Prepared) -> PairedRows:
    """The pairs of rows of two models' samples.

    Raises ValueError where the samples of the two are not the same in number and kind.
    """
    _check_same_samples(first, second)
    rows, other_rows = first.rows(), second.rows()
    kinds = np.where(rows < 0, -1, first.strata[rows])
    sizes = np.ones(len(rows), np.int64) if first.sizes is None else first.sizes
    strata = [kinds == kind for kind in np.unique(first.strata)]
    # in the order of one model's rows, then of the other's; which of the two comes first must not depend on the caller
    straight = [_stratum(rows[here], other_rows[here], sizes[here], by=1) for here in strata]
    mirrored = [_stratum(rows[here], other_rows[here], sizes[here], by=0) for here in strata]
    # where the pairs come one by one, each as often as there are samples: after fewer of them comes a higher one
    left, right = (
        np.concatenate([np.stack([each.rows[by], each.rows[1 - by], -each.counts], axis=1).ravel() for each in order])
        for by, order in ((1, straight), (0, mirrored))
    )
    differ = np.flatnonzero(left != right)[:1]  # the first place decides
    if len(differ):
        return PairedRows(mirrored if (left > right)[differ].any() else straight, symmetric=False)
    one, other = content_digest(first), content_digest(second)
    return PairedRows(mirrored if one > other else straight, symmetric=one == other)


def _check_same_samples(first: Prepared, second: Prepared) -> None:
    (kinds, sizes, *clusters), (other_kinds, other_sizes, *other_clusters) = first.samples(), second.samples()
    if not np.array_equal(kinds, other_kinds) or not np.array_equal(sizes, other_sizes):
        came = f"{sizes.sum()} and {other_sizes.sum()}, or of other kinds"
        raise ValueError(f"first, second: expected the same samples, got {came}")
    if len(clusters) != len(other_clusters) or not all(map(np.array_equal, clusters, other_clusters)):
        raise ValueError("clusters: expected the same of first and of second, got others")


def _stratum(first: np.ndarray, second: np.ndarray, sizes: np.ndarray, *, by: int) -> Stratum:
    """The pairs of rows in the order of the rows of one model, 0 or 1, then of the other."""
    if not len(first):
        return Stratum((first, second), sizes)
    (leading, other), counts = compact_rows([second, first] if by else [first, second], sizes)
    return Stratum((other, leading) if by else (leading, other), counts)


def content_digest(prepared: Prepared) -> bytes:
    """A digest of the content of a model's rows, which orders models that are alike otherwise."""
    return b"".join(hashlib.blake2b(part).digest() for part in prepared.contents())
