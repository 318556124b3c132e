"""Intervals of results: percentiles over resamples of the samples, or of the images.

A resample draws as many units from each stratum as there are, with replacement: new counts for the same rows. Rows are
in a canonical order, so an interval has the same bits for any order and any batches of the samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ..arrays.options import as_confidence_level, as_int
from .group_results import Key, flat_rates, with_ends
from .units import Units

MAX_RESAMPLES = 1_000_000  # percentiles are steady long before, and each resample keeps its rates
_DRAWS_PER_ROW = 16  # above which counts are drawn row by row, rather than unit by unit


def intervals(
    units: Units, results: dict[str, Any], confidence_level: Any, n_resamples: Any, random_state: Any
) -> dict[str, Any]:
    """The results with `<key>_low` and `<key>_high` beside each that `Units` gives: a percentile bootstrap, stratified.

    Parameters: units of the state that the results are of; confidence_level in (0, 1); n_resamples from 1 to
    MAX_RESAMPLES; random_state, the seed. Where rows were merged (see `rows_of_sides`), the interval is moved by what
    the value was moved by.
    Returns the results. Raises ValueError and TypeError for options out of range.
    Source: Efron, Bootstrap Methods, Annals of Statistics 1979; units that are images, as clusters of their pixels.
    """
    level = as_confidence_level(confidence_level)
    number, seed = as_resamples(n_resamples), as_int(random_state, "random_state", 0)
    found = replicates(units, results, number, seed)
    return with_ends(results, {key: percentiles(values, level) for key, values in found.items()})


def replicates(units: Units, results: Mapping[str, Any], n_resamples: int, random_state: int) -> dict[Key, np.ndarray]:
    """The rates in so many resamples, (B,) each; moved by what the value was moved by, where rows were merged."""
    merged, values = rates(units.results(units.strata)), flat_rates(results)
    found = resampled(units, [*merged], n_resamples, random_state)
    return {key: moved(each, values[key] - merged[key]) for key, each in found.items()}


def percentiles(values: np.ndarray, level: float) -> tuple[float, float]:
    """The bounds between which a share of the values lies, with as many below as above."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def moved(values: np.ndarray, by: float) -> np.ndarray:
    """Some values, moved by so much; in [0, 1] where they are.

    >>> moved(np.asarray([0.0, 0.5, 1.0]), -0.25).tolist()
    [0.0, 0.25, 0.75]
    """
    if not by:
        return values
    lowest, highest = -np.inf if values.min() < 0 else 0.0, np.inf if values.max() > 1 else 1.0
    return np.clip(values + by, lowest, highest)


def rates(results: Mapping[Any, Any]) -> dict[Any, float]:
    """The floats among the results of `Units`: rates and losses; counts are ints."""
    return {key: value for key, value in results.items() if isinstance(value, float)}


def as_resamples(value: Any) -> int:
    """Check a number of resamples."""
    return as_int(value, "n_resamples", 1, MAX_RESAMPLES)


def resampled(units: Units, keys: list[Key], n_resamples: int, random_state: int) -> dict[Key, np.ndarray]:
    """Some of the results of so many resamples (B,), by key."""
    rng = np.random.default_rng(random_state)
    draws = ([draw(rng, counts) for counts in units.strata] for _ in range(n_resamples))
    found = np.empty((len(keys), n_resamples))
    for i, counts in enumerate(shown(draws, n_resamples)):
        results = units.results(counts)
        found[:, i] = [results[key] for key in keys]
    return dict(zip(keys, found))


def shown(steps: Iterator[Any], total: int) -> Iterator[Any]:
    """The steps, with a bar on a terminal if they take more than two seconds."""
    from tqdm import tqdm

    bar: Iterator[Any] = tqdm(steps, "resampling", total, delay=2, disable=None, leave=False)
    return bar


def draw(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """How often each row occurs among as many units as there are, drawn with replacement."""
    total = int(counts.sum())
    if not total:
        return counts
    if total > _DRAWS_PER_ROW * len(counts):
        return rng.multinomial(total, counts / total)
    drawn = rng.integers(0, total, total)
    places = drawn if total == len(counts) else np.repeat(np.arange(len(counts)), counts)[drawn]
    return np.bincount(places, minlength=len(counts))
