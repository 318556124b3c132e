"""Which models do not differ from the best.

That is decided by the samples that results keep, with as many resamples as Holm's correction needs.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import cache
from itertools import chain
from typing import Any

import numpy as np

from ..arrays.checks import as_open_share
from ..arrays.compacting import rows_and_places
from ..comparison import Comparison, compared, differences_of_parts, not_rejected, p_value
from ..loading import METRICS, metric_class
from ..metric.bootstrap import Part, content_digest
from ..metric.clusters import OF_CLUSTERS
from ..metric.metric import Metric
from ..metric.prepared import Prepared
from ..metric.results import Key, Rate, Results, mean, mean_results, rates_of
from ..metric.states import pack, unpack
from ..reading.reasons import named
from ..written.results import SAMPLES, direction_of
from .seeds import OVERALL, Place, Seeds, all_kinds, mean_of_seeds, numbers_of


def samples_of(metric: Metric, options: Mapping[str, Any]) -> dict[str, Any]:
    """The samples added to a metric, for JSON: {"metric": name, "options": chosen options, "state": text}.

    So that they can be compared, the metric must not have counted equal rows: set `metric.keeps_samples` first.
    Raises TypeError for an option that JSON cannot hold.
    """
    try:
        plain = json.loads(json.dumps(dict(options)))
    except TypeError:
        raise TypeError("samples: expected options that JSON holds, got functions or other objects") from None
    return {"metric": metric.name, "options": plain, "state": base64.b64encode(pack(metric.state())).decode()}


def metric_of(samples: Any, keys: Collection[str] | None = None) -> Metric:
    """Restore a metric with its samples, and with these results alone if others can be left out.

    Raises ValueError for anything but saved samples.

    >>> from openworld_metrics import OODBench
    >>> metric = OODBench()
    >>> metric.add_batch(predictions=[0.1, 0.9], references=[0, 1])
    >>> metric_of(samples_of(metric, {})).compute()["auroc"]
    1.0
    """
    parts = [samples.get(name) for name in ("metric", "options", "state")] if isinstance(samples, Mapping) else []
    if not parts or parts[0] not in METRICS or not isinstance(parts[1], dict) or not isinstance(parts[2], str):
        raise ValueError(f"{SAMPLES}: expected the samples of a metric, as they are saved, got other JSON")
    try:
        state = unpack(base64.b64decode(parts[2], validate=True))
    except binascii.Error:
        raise ValueError(f"{SAMPLES}: expected a state in base64, got other text") from None
    metric = metric_class(parts[0])(**parts[1])
    metric = metric if keys is None else metric.only(keys)
    metric.keeps_samples = True
    metric.merge(state)
    return metric


def undecided(
    results: Mapping[str, Mapping[str, object]],
    confidence_level: float = 0.95,
    seeds: str | None = None,
    *,
    keys: Collection[str] | None = None,
) -> dict[Place, bool | None]:
    """Whether each number (model, group, key) is not clearly worse than the best of its group and key.

    The best is compared with each other model as by `compare`, with the p-values that it gives, after Holm's correction
    (see `not_rejected`). Of several best models, a worse one is worse than each that it can be compared with: its
    p-value is the highest. With several seeds, each resample draws samples, and seeds, in common for both models (see
    `Runs`).

    Parameters: results by name, which say the directions of their keys, and keep their samples; confidence_level;
    seeds, as of `make_table`: results whose names differ only there are one model; keys to compare, by default all.
    Returns a boolean for each number, except the (first) best, and None if a file, or the best, has no samples, or
    other samples, options or seeds; nothing if fewer than two files have samples. Keys without a known direction, and
    those that samples do not give, are left out. Numbers equal to the best do not differ. Neither the names nor the
    order of files matter. There are as many resamples as by default in `compare`, or more where Holm's first bound
    needs them, from 13 models at 95 %.
    """
    level = as_open_share(confidence_level, "confidence_level")
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
        name: _Model({seed: metrics[by_seed[seed]] for seed in sorted(by_seed)})
        for name, by_seed in runs.items()
        if metrics.keys() >= {*by_seed.values()}
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
            rivals = [one for one in best if one != name and {one, name} <= models.keys()]
            rivals = [one for one in rivals if models[one].samples == models[name].samples]
            if not rivals:
                alike[name, group, key] = None
            elif name in best:
                p_values[name] = 1.0
            else:
                each = [_p_value(compare(one, name).differences.get(place), known.higher) for one in rivals]
                p_values[name] = max((p for p in each if p is not None), default=None)
        alike |= {(name, group, key): is_alike for name, is_alike in not_rejected(p_values, level).items()}
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
        prepared = {seed: [*metric.prepared_parts()] for seed, metric in runs.items()}
        self.samples = {seed: _samples(runs[seed], parts) for seed, parts in prepared.items()}
        self._parts = parts_of_runs([*prepared.values()])
        self._means = next(iter(runs.values())).means  # of one signature, but for skipping, are all runs
        self._means["skipping"] = any(metric.groups_without == "skip" for metric in runs.values())

    def against(self, other: _Model, level: float, n_resamples: int) -> Comparison:
        """Compare it with another model, as `compare` does."""
        parts = differences_of_parts(self._parts, other._parts, n_resamples=n_resamples, random_state=0)
        return compared(parts, level, **self._means)


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
        if name.rpartition("/")[2] in {*metric.truth, *OF_CLUSTERS}:
            truth.update(f"{name}\n{array.shape}\n".encode() + _as_bytes(array))
    groups = [(part.name, *(column.tobytes() for column in part.prepared.samples())) for part in parts]
    return metric.name, options, truth.digest(), *groups


def _as_bytes(array: np.ndarray) -> bytes:
    return array.astype(np.float64).tobytes() if array.dtype.kind in "biuf" else repr(array.tolist()).encode()


class Runs(Prepared):
    """Rows of the samples in all runs, and behind them a row for each run: a resample draws samples and runs.

    With v_s drawn of run s, of S, and the same samples drawn for all runs,

        rate = 1/S · Σ_s v_s · rate_s.

    Source: Owen, The Pigeonhole Bootstrap, Annals of Applied Statistics 2007.
    Parameters: runs, of the same samples, in any order; rates, the exact ones of each.
    """

    def __init__(self, runs: Sequence[Prepared], rates: Sequence[Mapping[Any, Rate]]) -> None:
        self.runs, self._rates = runs, rates
        every, first = [run.rows() for run in runs], runs[0]
        present = every[0] >= 0
        order = _order([*map(content_digest, runs)], every)
        columns = [first.strata[every[0][present]], *(every[i][present] for i in order)]
        (kinds, *rows), _, of_entries = rows_and_places(columns)
        self._columns = dict(zip(order, rows))
        sizes = np.ones(len(present), np.int64) if first.sizes is None else first.sizes
        total = np.bincount(of_entries, sizes[present], len(kinds)).astype(np.int64)  # float64 holds them
        one_each = np.ones(len(runs), np.int64)
        self.counts = np.concatenate([total, one_each])
        self.strata = np.concatenate([kinds, one_each * (first.strata[-1] + 1)])
        self.sizes = np.concatenate([sizes, one_each])
        self.fewest_clusters = first.fewest_clusters
        self._rows = np.concatenate([np.full(len(present), -1), len(kinds) + np.argsort(order)])
        self._rows[: len(present)][present] = of_entries

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """The mean of each rate over the runs."""
        if counts is None:
            return mean_results([dict(of_run) for of_run in self._rates])
        samples, drawn = np.split(counts, [-len(self.runs)])
        each = []
        for (i, column), times in zip(self._columns.items(), drawn.tolist()):
            if times:
                run = self.runs[i]
                weights = np.bincount(column, samples, len(run.counts)).astype(np.int64)
                each += [rates_of(run.rates(weights))] * times
        return {
            key: rate._replace(value=mean(of_run[key].value for of_run in each))
            for key, rate in each[0].items()
            if all(key in of_run for of_run in each)
        }

    def rows(self) -> np.ndarray:
        """The row of each entry of a run, and behind them that of each run."""
        return self._rows

    def contents(self) -> Iterable[bytes]:
        """The contents of each run, in their order."""
        return chain.from_iterable(self.runs[i].contents() for i in self._columns)

    def aligned_with(self, models: Sequence[Prepared]) -> Runs:
        """These runs for a comparison, with rows merged as the rows of all runs of all models are."""
        every = [run for model in models if isinstance(model, Runs) for run in model.runs]
        return Runs([run.aligned_with(every) for run in self.runs], self._rates)


def parts_of_runs(runs: Sequence[Sequence[Part]]) -> Sequence[Part]:
    """The parts of a model, from the parts of its runs on the same samples; a single run's are unchanged."""
    if len(runs) == 1:
        return runs[0]
    return [
        Part(
            parts[0].name,
            Runs([part.prepared for part in parts], [part.rates() for part in parts]),
            {group: mean_results([part.results[group] for part in parts]) for group in parts[0].results},
        )
        for parts in zip(*runs)
    ]


def _order(names: Sequence[bytes], rows: Sequence[np.ndarray]) -> list[int]:
    """An order of runs by the content of their rows and, where it is equal, by their samples.

    A sample is known by its rows in all runs, whatever their order, and a run by the samples of each of its rows. Runs
    that still look alike, such as copies, keep their order.
    """
    if len({*names}) < len(names):
        ranks = [sorted({*names}).index(name) for name in names]
        width = max(int(places.max()) for places in rows) + 2
        known = np.sort([rank * width + places + 1 for rank, places in zip(ranks, rows)], axis=0)
        samples = rows_and_places([*known])[2]
        names = [name + np.sort(samples * width + places + 1).tobytes() for name, places in zip(names, rows)]
    return sorted(range(len(names)), key=names.__getitem__)
