"""The runs of one model, one for each seed, as one prepared state: their mean, with the seeds as one more stratum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from ...arrays.compacting import rows_and_places
from ...metric.bootstrap import Part, content_digest
from ...metric.prepared import Prepared
from ...metric.results import Rate, Results, mean, mean_results, rates_of


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
        kept = every[0] >= 0
        order = _order([*map(content_digest, runs)], every)
        columns = [first.strata[every[0][kept]], *(every[i][kept] for i in order)]
        (kinds, *rows), _, of_entries = rows_and_places(columns)
        self._columns = dict(zip(order, rows))
        sizes = np.ones(len(kept), np.int64) if first.sizes is None else first.sizes
        total = np.bincount(of_entries, sizes[kept], len(kinds)).astype(np.int64)  # float64 holds them
        one_each = np.ones(len(runs), np.int64)
        self.counts = np.concatenate([total, one_each])
        self.strata = np.concatenate([kinds, one_each * (first.strata[-1] + 1)])
        self.sizes = np.concatenate([sizes, one_each])
        self._rows = np.concatenate([np.full(len(kept), -1), len(kinds) + np.argsort(order)])
        self._rows[: len(kept)][kept] = of_entries

    def rates(self, counts: np.ndarray | None = None) -> Results:
        """The mean of each rate over the runs."""
        if counts is None:
            return mean_results([dict(own) for own in self._rates])
        samples, drawn = np.split(counts, [-len(self.runs)])
        each = []
        for (i, column), times in zip(self._columns.items(), drawn.tolist()):
            if times:
                run = self.runs[i]
                weights = np.bincount(column, samples, len(run.counts)).astype(np.int64)
                each += [rates_of(run.rates(weights))] * times
        return {
            key: rate._replace(value=mean(own[key].value for own in each))
            for key, rate in each[0].items()
            if all(key in own for own in each)
        }

    def rows(self) -> np.ndarray:
        """The row of each entry of a run, and behind them that of each run."""
        return self._rows

    def contents(self) -> Iterable[bytes]:
        """The contents of each run, in their order."""
        return chain.from_iterable(self.runs[i].contents() for i in self._columns)

    def aligned_with(self, models: Sequence[Prepared]) -> Runs:
        """The same with rows merged as those of all runs of all models are."""
        every = [run for model in models if isinstance(model, Runs) for run in model.runs]
        return Runs([run.aligned_with(every) for run in self.runs], self._rates)


def parts_of_runs(runs: Sequence[Sequence[Part]]) -> Sequence[Part]:
    """The parts of a model from those of its runs on the same samples; of a single run, they are unchanged."""
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
    """An order of runs by what their rows hold and, of equal ones, by their samples.

    A sample is known by its rows in all runs, whatever their order, and a run by the samples of each of its rows. Runs
    that still look alike, such as copies, keep their order.
    """
    if len({*names}) < len(names):
        ranks = [sorted({*names}).index(name) for name in names]
        width = max(int(own.max()) for own in rows) + 2
        known = np.sort([rank * width + own + 1 for rank, own in zip(ranks, rows)], axis=0)
        samples = rows_and_places([*known])[2]
        names = [name + np.sort(samples * width + own + 1).tobytes() for name, own in zip(names, rows)]
    return sorted(range(len(names)), key=names.__getitem__)
