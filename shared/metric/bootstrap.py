"""The bootstrap: resamples of prepared states, and percentile intervals of their rates.

A resample draws samples or images with replacement, as many from each stratum as it has: new counts for the same rows.
Rows are in a canonical order, so an interval is identical for any order and any batches of the samples.
Resamples of many rows are drawn in blocks, each from a stream of its own: so several threads draw them, and the number
of threads changes no bit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ..arrays.options import as_int
from ..arrays.threads import in_threads, threads_for
from .groups import is_below, prefixes
from .prepared import Prepared
from .results import Interval, Key, Rate, mean, rates_of

MAX_RESAMPLES = 1_000_000  # percentiles are steady long before, and each resample keeps its rates
BLOCK = 100  # resamples of many rows that are drawn from one stream
_DRAWS_PER_ROW = 16  # above which counts are drawn row by row, rather than unit by unit
MANY_ROWS = 1 << 14  # from which a resample is worth threads: with fewer they wait for the interpreter
_BLOCKS = 1 << 8  # the spawn key of the first block: those below are bytes, of the names of groups
FEWEST = 10  # samples of a stratum: an interval of fewer, which no one asked for, would say more than they do

Replicates = dict[Key, np.ndarray]  # (B,) values in B resamples, by key
ByGroup = dict[tuple[str, str], np.ndarray]  # the same by group and key


def replicates(prepared: Prepared, exact: Mapping[Any, Rate], n_resamples: int, random_state: int) -> Replicates:
    """Rates of a prepared state in resamples, (B,) each; `exact` are the rates of the state itself.

    Where rows were merged (see `Prepared.rates`), replicates are shifted by the error that merging causes in the rate.

    Source: Efron, Bootstrap Methods, Annals of Statistics 1979; images are resampled as clusters of their pixels.
    """
    merged = rates_of(prepared.rates(prepared.counts))
    keys = [key for key in merged if key in exact]
    strata = parts_of_strata(prepared)

    def resample(rng: np.random.Generator) -> list[float]:
        rates = prepared.rates(np.concatenate([draw(rng, part) for part in strata]))
        return [rates[key].value for key in keys]

    columns = resampled(resample, n_resamples, random_state, len(prepared.counts))
    return {key: moved(column, exact[key].value - merged[key].value) for key, column in zip(keys, columns.T)}


def resampled(
    resample: Callable[[np.random.Generator], Sequence[float]], n_resamples: int, random_state: int, rows: int
) -> np.ndarray:
    """Call a function of a generator for each resample, (B, K) results; for many rows, in several threads.

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
            values.append(resample(rng))
            bar.update()
        return np.asarray(values, dtype=np.float64)

    with tqdm(None, "resampling", n_resamples, delay=2, disable=None, leave=False) as bar:
        blocks = [partial(block, number) for number in range(-(-n_resamples // size))]
        return np.concatenate(in_threads(blocks, threads_for(rows * n_resamples)))


def parts_of_strata(prepared: Prepared) -> list[np.ndarray]:
    """The counts of the rows of each stratum."""
    strata = prepared.strata
    return np.split(prepared.counts, np.flatnonzero(strata[1:] != strata[:-1]) + 1)


def are_enough(prepared: Prepared) -> bool:
    """Whether each stratum has so many samples or images that intervals mean something."""
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


def with_means(by_group: ByGroup) -> Replicates:
    """Replicates by (group, key), with the means' replicates: of groups below each slash, and of all groups.

    >>> means = with_means({("nut/cut", "auroc"): np.ones(2), ("nut/bent", "auroc"): np.zeros(2)})
    >>> [*means], means["auroc"].tolist()
    ([('nut/cut', 'auroc'), ('nut/bent', 'auroc'), ('nut', 'auroc'), 'auroc'], [0.5, 0.5])
    """
    every: Replicates = dict(by_group.items())
    names = list(dict.fromkeys(group for group, _ in by_group))
    for key in dict.fromkeys(key for _, key in by_group):
        own = {group: by_group[group, key] for group in names if (group, key) in by_group}
        for prefix in sorted(prefixes(own)):
            every[prefix, key] = _mean_of_each([x for group, x in own.items() if is_below(group, prefix)])
        every[key] = _mean_of_each([*own.values()])
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


def as_resamples(value: Any) -> int:
    """Check a number of resamples."""
    return as_int(value, "n_resamples", 1, MAX_RESAMPLES)


def _mean_of_each(columns: list[np.ndarray]) -> np.ndarray:
    """The mean of each resample; sums are exact, so the order of the groups does not matter.

    Where some columns hold each resample and, behind all, its mirror image, the others stand beside both.
    """
    number = max(map(len, columns))
    return np.asarray([mean(row) for row in zip(*(np.resize(column, number).tolist() for column in columns))])
