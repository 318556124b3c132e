"""Resample several models' results on common samples."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np

from ...arrays.compacting import compact_rows
from ...metric.bootstrap import ByGroup, Replicates, draw, resampled
from ...metric.metric import Metric
from ...metric.results import Key, rates_of
from ...metric.summary import Part, whole


class ResampledFiles:
    """Metrics of files by name; files with equal metric, options and samples are resampled together on first use.

    `n_resamples` is a function of the names of the files that are resampled together.
    """

    def __init__(self, metrics: Mapping[str, Metric], n_resamples: Callable[[Sequence[str]], int]) -> None:
        self._parts = {name: [*metrics[name].prepared()] for name in sorted(metrics)}  # whatever order files come in
        self._alike = {name: _samples(metrics[name], parts) for name, parts in self._parts.items()}
        self._n_resamples = n_resamples
        self._drawn: dict[str, Replicates] = {}

    def share_samples(self, first: str, second: str) -> bool:
        """Whether two files have samples, and the same metric, options and samples."""
        return first in self._alike and self._alike[first] == self._alike.get(second)

    def difference(self, first: str, second: str, key: Key) -> np.ndarray | None:
        """The difference of two files in each resample, (B,); None if they cannot be compared."""
        if not self.share_samples(first, second):
            return None
        if first not in self._drawn:
            together = [name for name, alike in self._alike.items() if alike == self._alike[first]]
            parts = [self._parts[name] for name in together]
            self._drawn |= zip(together, _resampled(parts, self._n_resamples(together)))
        one, other = (self._drawn[name].get(key) for name in (first, second))
        return None if one is None or other is None else one - other


def _kinds(part: Part) -> np.ndarray:
    """The stratum of each sample; −1 for samples that do not count."""
    rows = part.prepared.rows()
    return np.where(rows < 0, -1, part.prepared.strata[rows])


def _sizes(part: Part) -> np.ndarray:
    """The number of samples that each entry stands for."""
    sizes = part.prepared.sizes
    return np.ones(len(part.prepared.rows()), np.int64) if sizes is None else sizes


def _samples(metric: Metric, parts: Sequence[Part]) -> Hashable:
    """The values that files must share to be compared: metric, options, and the samples, also of each group."""
    drawn = {"confidence_level", "n_resamples", "random_state"}  # which have no effect here
    options = repr(sorted((name, value) for name, value in metric.loaded_options.items() if name not in drawn))
    groups = [(part.name, _kinds(part), _sizes(part)) for part in parts]
    truth = hashlib.blake2b()
    for name, array in sorted(metric.state().items()):
        if name.rpartition("/")[2] in metric.truth:
            truth.update(f"{name}\n{array.shape}\n".encode() + _as_bytes(array))
    return metric.name, options, truth.digest(), *((name, k.tobytes(), s[k >= 0].tobytes()) for name, k, s in groups)


def _as_bytes(array: np.ndarray) -> bytes:
    """The values of numbers or words as bytes, whatever their type."""
    return array.astype(np.float64).tobytes() if array.dtype.kind in "biuf" else repr(array.tolist()).encode()


def _resampled(models: Sequence[Sequence[Part]], n_resamples: int) -> list[Replicates]:
    """The numbers of each model in each resample, by key or (group, key)."""
    drawn: list[ByGroup] = [{} for _ in models]
    for parts in zip(*models):
        for own, values in zip(drawn, _together(parts, n_resamples)):
            own |= values
    results = [{group: row for part in parts for group, row in part.results.items()} for parts in models]
    return [whole(rows, own)[1] for rows, own in zip(results, drawn)]


def _together(parts: Sequence[Part], n_resamples: int) -> list[ByGroup]:
    """Replicates of a group, or of all samples, for each model; each resample is common to all models."""
    kinds, sizes = _kinds(parts[0]), _sizes(parts[0])
    every = [part.prepared for part in parts]
    models = [model.beside(every) for model in every]
    rows = [model.rows() for model in models]
    strata = [
        compact_rows([own[kinds == kind] for own in rows], sizes[kinds == kind])
        for kind in np.unique(parts[0].prepared.strata)
    ]
    places = [np.concatenate([columns[i] for columns, _ in strata]) for i in range(len(parts))]
    keys = [
        [key for key in rates_of(model.rates(model.counts)) if key in part.rates()]
        for model, part in zip(models, parts)
    ]

    def resample(rng: np.random.Generator) -> list[float]:
        counts = np.concatenate([draw(rng, total) for _, total in strata])
        values = []
        for model, own, at in zip(models, keys, places):
            weights = np.bincount(at, counts, len(model.counts)).astype(np.int64)  # float64 holds them
            rates = model.rates(weights)
            values += [rates[key].value for key in own]
        return values

    rows_of_all = iter(resampled(resample, n_resamples, 0, len(places[0])).T)
    # rows of all models are merged alike, and only differences are of interest: so they are not shifted back
    return [part.by_group({key: next(rows_of_all) for key in own}, 0) for part, own in zip(parts, keys)]
