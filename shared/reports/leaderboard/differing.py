"""Find the models that do not differ from the best, by `compare` of the samples in saved results."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from functools import cache

import numpy as np

from ...arrays.checks import as_confidence_level
from ...comparison import Comparison, compared, differences_of_parts, p_value
from ...evaluation.samples import SAMPLES, metric_of
from ...metric.bootstrap import Part
from ...metric.metric import Metric
from ...metric.prepared import Prepared
from ...metric.results import Key
from ...reading.reasons import named
from ...written.directions import direction_of
from ..cells import Place
from ..seeds import Seeds, mean_of_seeds
from ..tables import OVERALL, all_kinds, numbers_of
from .runs import parts_of_runs


def undecided(
    results: Mapping[str, Mapping[str, object]],
    confidence_level: float = 0.95,
    seeds: str | None = None,
    *,
    keys: Collection[str] | None = None,
) -> dict[Place, bool | None]:
    """Whether each number (model, group, key) is not clearly worse than the best of its group and key.

    The best is compared with each other model as by `compare`, with the p-values that it gives. With m others and
    Holm's correction, the p-values in ascending order p_1 ≤ … ≤ p_m are of worse models up to the first

        p_i > (1 − confidence_level) / (m − i + 1).

    Of several best models, a worse one is worse than each that it can be compared with: its p-value is the highest.
    With several seeds, each resample draws samples, and seeds, in common for both models (see `Runs`).

    Parameters: results by name, which say the directions of their keys, and keep their samples; confidence_level;
    seeds, as of `make_table`: results whose names differ only there are one model; keys to compare, by default all.
    Returns a boolean for each number, except the (first) best, and None if a file, or the best, has no samples, or
    other samples, options or seeds; nothing if fewer than two files have samples. Keys without a known direction, and
    those that samples do not give, are left out. Numbers equal to the best do not differ. Neither the names nor the
    order of files matter. There are as many resamples as by default in `compare`, or more where Holm's first bound
    needs them, from 13 models at 95 %.
    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, Scandinavian Journal of Statistics 1979.
    """
    level = as_confidence_level(confidence_level)
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
    models = {
        name: _Model({seed: metrics[own[seed]] for seed in sorted(own)})
        for name, own in runs.items()
        if metrics.keys() >= {*own.values()}
    }
    # twice as many as the lowest p-value needs to be below Holm's first bound
    number = max(Metric.n_resamples, math.ceil(4 * len(runs) / (1 - level)))
    compare = cache(lambda best, other: models[best].against(models[other], level, number))
    alike: dict[Place, bool | None] = {}
    for (group, key), values in _values(results, runs).items():
        known = direction_of(key, kinds)
        if known is None or len(values) < 2 or (keys is not None and key not in keys):
            continue
        place: Key = key if group == OVERALL else (group, key)
        best_value = (max if known.higher else min)(values.values())
        best = [name for name, value in values.items() if value == best_value]
        p_values: dict[str, float | None] = {}
        for name in (name for name in values if name != best[0]):
            rivals = [one for one in best if one != name and _share_samples(models.get(one), models.get(name))]
            if not rivals:
                alike[name, group, key] = None
            elif name in best:
                p_values[name] = 1.0
            else:
                each = [_p_value(compare(one, name).differences.get(place), known.higher) for one in rivals]
                p_values[name] = max((p for p in each if p is not None), default=None)
        alike |= {(name, group, key): kept for name, kept in not_rejected(p_values, level).items()}
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


class _Model:
    """The runs of a model by seed, prepared on first use.

    samples: what runs must share to be compared, by seed
    """

    def __init__(self, runs: Mapping[str, Metric]) -> None:
        prepared = {seed: [*metric.prepared()] for seed, metric in runs.items()}
        self.samples = {seed: _samples(runs[seed], parts) for seed, parts in prepared.items()}
        self._parts = parts_of_runs([*prepared.values()])
        self._skipping = any(metric.groups_without == "skip" for metric in runs.values())

    def against(self, other: _Model, level: float, n_resamples: int) -> Comparison:
        """Compare it with another model, as `compare` does."""
        parts = differences_of_parts(self._parts, other._parts, n_resamples=n_resamples, random_state=0)
        return compared(parts, level, skipping=self._skipping)


def _share_samples(one: _Model | None, other: _Model | None) -> bool:
    """Whether two models have samples, and the same seeds, options and samples."""
    return one is not None and other is not None and one.samples == other.samples


def _p_value(differences: np.ndarray | None, higher: bool) -> float | None:
    """The p-value of a first model that is better than a second; 1 if the resamples say the opposite."""
    if differences is None:
        return None
    values = differences[~np.isnan(differences)]
    below, above = np.count_nonzero(values <= 0), np.count_nonzero(values >= 0)
    return p_value(values) if (below < above) == higher else 1.0


def _samples(metric: Metric, parts: Sequence[Part]) -> Hashable:
    """The values that files must share to be compared: metric, options, and the samples, also of each group."""
    drawn = {"confidence_level", "n_resamples", "random_state"}  # which have no effect here
    options = repr(sorted((name, value) for name, value in metric.loaded_options.items() if name not in drawn))
    truth = hashlib.blake2b()
    for name, array in sorted(metric.state().items()):
        if name.rpartition("/")[2] in metric.truth:
            truth.update(f"{name}\n{array.shape}\n".encode() + _as_bytes(array))
    groups = [(part.name, *_kinds_and_sizes(part.prepared)) for part in parts]
    return metric.name, options, truth.digest(), *groups


def _kinds_and_sizes(prepared: Prepared) -> tuple[bytes, bytes]:
    """The stratum of each entry, −1 for one that does not count, and how many samples each of the others stands for."""
    rows = prepared.rows()
    sizes = np.ones(len(rows), np.int64) if prepared.sizes is None else prepared.sizes
    return np.where(rows < 0, -1, prepared.strata[rows]).tobytes(), sizes[rows >= 0].tobytes()


def _as_bytes(array: np.ndarray) -> bytes:
    """The values of numbers or words as bytes, whatever their type."""
    return array.astype(np.float64).tobytes() if array.dtype.kind in "biuf" else repr(array.tolist()).encode()


def not_rejected(p_values: Mapping[str, float | None], level: float) -> dict[str, bool]:
    """Whether each hypothesis is not rejected after Holm's correction; untested ones (None) are left out.

    >>> not_rejected({"a": 0.01, "b": 0.04, "c": 0.03, "d": None}, 0.95)
    {'a': False, 'c': True, 'b': True}
    """
    known = {name: p for name, p in p_values.items() if p is not None}
    kept, stands = {}, False
    for i, (name, p) in enumerate(sorted(known.items(), key=lambda pair: pair[1])):
        stands = stands or p * (len(known) - i) + level > 1  # as `better` compares them
        kept[name] = stands
    return kept
