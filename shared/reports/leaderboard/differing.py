"""Find the models that do not differ from the best, by a paired bootstrap of the samples in saved results."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ...arrays.options import as_confidence_level
from ...comparison import p_value
from ...evaluation.samples import SAMPLES, metric_of
from ...formats.reasons import named
from ...metric.results import Key
from ..cells import Place
from ..directions import direction_of
from ..seeds import Seeds, mean_of_seeds
from ..tables import OVERALL, all_kinds, numbers_of
from .resamples import ResampledFiles

_RESAMPLES = 1000


def undecided(
    results: Mapping[str, Mapping[str, object]],
    confidence_level: float = 0.95,
    seeds: str | None = None,
    *,
    keys: Collection[str] | None = None,
) -> dict[Place, bool | None]:
    """Whether each number (model, group, key) does not differ significantly from the best of its group and key.

    The best is compared with each other model by a paired bootstrap: each resample draws samples, and seeds if there
    are several, in common for all models,

        Δ = mean over drawn seeds s of (best_s − other_s), of drawn samples.

    With m others and Holm's correction, their p-values in ascending order p_1 ≤ … ≤ p_m differ from the best up to
    the first

        p_i > (1 − confidence_level) / (m − i + 1).

    Parameters: results by name, which say the directions of their keys, and keep their samples; confidence_level;
    seeds, as of `make_table`: results whose names differ only there are one model; keys to compare, by default all.
    Returns a boolean for each number, except the best, and None if a file, or the best, has no samples, or other
    samples, options or seeds; nothing if fewer than two files have samples. Keys without a known direction, and those
    that samples do not give, are left out. Numbers equal to the best do not differ.
    Sources: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979;
    of drawing both samples and seeds: Owen, The Pigeonhole Bootstrap, Annals of Applied Statistics 2007.
    """
    chance = 1 - as_confidence_level(confidence_level)
    keeping = {name: result for name, result in results.items() if SAMPLES in result}
    pattern = None if seeds is None else Seeds(seeds)
    if len(keeping) < 2 or (pattern is not None and not any(map(pattern.matches, results))):
        return {}  # or the seeds are in the names of groups, which share no samples
    runs: dict[str, dict[str, str]] = {}  # the files of each model, by seed
    for name in results:
        model, seed = (name, "") if pattern is None else (pattern.without(name, OVERALL), pattern.seed(name))
        runs.setdefault(model, {})[seed] = name
    kinds = all_kinds(results)
    metrics = {}
    for name, result in keeping.items():
        with named(name):
            metrics[name] = metric_of(result[SAMPLES], keys)
    model_of = {file: model for model, own in runs.items() for file in own.values()}

    def number(names: Sequence[str]) -> int:
        """Enough resamples for the lowest p-value to be below Holm's first bound, chance/m."""
        return max(_RESAMPLES, math.ceil(4 * len({model_of[name] for name in names}) / chance))

    files = ResampledFiles(metrics, number)
    alike: dict[Place, bool | None] = {}
    for (group, key), values in _values(results, runs).items():
        known = direction_of(key, kinds)
        if known is None or len(values) < 2 or (keys is not None and key not in keys):
            continue
        best = (max if known.higher else min)(values, key=lambda name: values[name])
        place: Key = key if group == OVERALL else (group, key)
        p_values = {name: _p_value(files, runs[best], runs[name], place) for name in values if name != best}
        others = [name for name in p_values if not _share_samples(files, runs[best], runs[name])]
        alike |= {(name, group, key): None for name in others}
        alike |= {(name, group, key): kept for name, kept in not_rejected(p_values, chance).items()}
    return alike


def _values(
    results: Mapping[str, Mapping[str, object]], runs: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], dict[str, float]]:
    """The numbers of each model by group and key: the means over its seeds, if all seeds have the number."""
    numbers = {name: numbers_of(result) for name, result in results.items()}
    columns: dict[tuple[str, str], dict[str, float]] = {}
    for model, files in runs.items():
        first, *others = (numbers[file] for file in files.values())
        for group, key in ((group, key) for group, row in first.items() for key in row):
            each = [row.get(group, {}).get(key, math.nan) for row in (first, *others)]
            if not any(map(math.isnan, each)):
                columns.setdefault((group, key), {})[model] = mean_of_seeds(each)
    return columns


def _p_value(files: ResampledFiles, best: Mapping[str, str], other: Mapping[str, str], place: Key) -> float | None:
    """The p-value of the difference of two models, with files by seed; None if they cannot be compared."""
    if not _share_samples(files, best, other):
        return None
    pairs = [files.difference(best[seed], other[seed], place) for seed in sorted(best)]
    differences = [pair for pair in pairs if pair is not None]
    if len(differences) < len(pairs):
        return None
    by_seed = np.stack(differences)
    if len(by_seed) > 1:
        drawn = np.random.default_rng(0).integers(0, len(by_seed), by_seed.shape)
        by_seed = np.take_along_axis(by_seed, drawn, axis=0)
    values = by_seed.mean(axis=0)
    return p_value(values[~np.isnan(values)])


def _share_samples(files: ResampledFiles, best: Mapping[str, str], other: Mapping[str, str]) -> bool:
    """Whether two models, with files by seed, have samples, and the same seeds, options and samples."""
    return best.keys() == other.keys() and all(files.share_samples(best[seed], other[seed]) for seed in best)


def not_rejected(p_values: Mapping[str, float | None], chance: float) -> dict[str, bool]:
    """Whether each hypothesis is not rejected after Holm's correction; untested ones (None) are left out.

    >>> not_rejected({"a": 0.01, "b": 0.04, "c": 0.03, "d": None}, 0.05)
    {'a': False, 'c': True, 'b': True}
    """
    known = {name: p for name, p in p_values.items() if p is not None}
    kept, stands = {}, False
    for i, (name, p) in enumerate(sorted(known.items(), key=lambda pair: pair[1])):
        stands = stands or p > chance / (len(known) - i)
        kept[name] = stands
    return kept
