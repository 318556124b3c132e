"""Compute several metrics together: `evaluate.combine` without four of its defects.

`evaluate.combine` works with the metrics of this collection, but has four defects, which `combine` here avoids. If
compute() raises in one member, members after it keep the batches of the round and count them in the next; add_batch()
drops optional columns, such as `open_labels`; compute() passes every column to members that do not take it; and it
raises on processes other than 0.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from ..extras import extra
from ..loading import METRICS, load
from ..metric.states import COUNTS

with extra("evaluate"):
    import evaluate


class Combined(evaluate.CombinedEvaluations):
    """Metrics that share one set of columns. An error ends the round in all of them: see `combine`."""

    def add(self, prediction: Any = None, reference: Any = None, **columns: Any) -> None:
        """Add one sample to every metric that takes its columns."""
        self._each("add", {"prediction": prediction, "reference": reference, **columns})

    def add_batch(self, predictions: Any = None, references: Any = None, **columns: Any) -> None:
        """Add a batch to every metric, each with the columns that it takes."""
        self._each("add_batch", {"predictions": predictions, "references": references, **columns})

    def compute(self, predictions: Any = None, references: Any = None, **columns: Any) -> dict[str, Any] | None:
        """Compute all metrics from the batches added so far and the columns passed here, if any.

        Results are named as by `evaluate.combine`: a name that several metrics use gets each metric's name as prefix.
        With `num_process > 1`, None on processes other than 0. Raises the error of a metric, which ends the round.
        """
        if predictions is not None or references is not None or columns:
            self.add_batch(predictions, references, **columns)
        results = self._each("compute", {})
        return None if any(result is None for result in results) else self._merge_results(results)

    def reset(self) -> None:
        """Drop the batches added so far, in every metric."""
        for module in self.evaluation_modules:
            _reset(module)

    def _each(self, method: str, columns: Mapping[str, Any]) -> list[Any]:
        chosen_columns = [_columns_for(module, columns) for module in self.evaluation_modules]
        unknown = [name for name in columns if not any(name in chosen for chosen in chosen_columns)]
        if unknown:
            self.reset()
            raise TypeError(f"none of {', '.join(self.evaluation_module_names)} takes a column {unknown[0]!r}")
        without = [name for name, chosen in zip(self.evaluation_module_names, chosen_columns) if COUNTS not in chosen]
        if columns.get(COUNTS) is not None and without:  # such a metric would count each row as one sample
            self.reset()
            raise TypeError(f"counts: expected all metrics to take counts, got {without[0]}, which does not")
        try:
            return [
                getattr(module, method)(**chosen) for module, chosen in zip(self.evaluation_modules, chosen_columns)
            ]
        except BaseException:
            self.reset()
            raise


def combine(evaluations: Iterable[Any] | Mapping[str, Any], force_prefix: bool = False) -> Combined:
    """Combine loaded metrics, of this collection and of others, into one that takes one set of columns.

    Parameters: evaluations, metrics or names of this collection's metrics, or a mapping from a name to each, with
    options set when they are loaded; force_prefix, whether every result is named after its metric. Returns an object
    with add, add_batch, compute and reset. An error in any of the metrics ends the round in all of them, and the next
    round starts clean.

    >>> from openworld_metrics import load
    >>> both = combine([load("accuracyk", k_list=1, ignore_unknown=True), load("openauc")])
    >>> columns = dict(predictions=[[0.9, 0.1], [0.2, 0.8]], references=[0, -1], open_scores=[0.1, 0.2])
    >>> results = both.compute(**columns)
    >>> results["accuracy@1"], results["openauc"]
    (1.0, 1.0)
    """
    if isinstance(evaluations, Mapping):
        evaluations = {name: _loaded(metric) for name, metric in evaluations.items()}
    else:
        evaluations = [*map(_loaded, evaluations)]
    return Combined(evaluations, force_prefix=force_prefix)


def _loaded(metric: Any) -> Any:
    """Load a metric by name; a name outside this collection is one of evaluate's own."""
    return load(metric) if isinstance(metric, str) and metric in METRICS else metric


def _columns_for(module: Any, columns: Mapping[str, Any]) -> dict[str, Any]:
    """The columns that a metric takes; for ours, including optional columns and aliases."""
    names = {*module._feature_names(), *getattr(module, "columns", ()), *getattr(module, "aliases", ())}
    names |= {"prediction", "reference"}
    return {name: column for name, column in columns.items() if name in names}


def _reset(module: Any) -> None:
    if hasattr(module, "reset"):
        module.reset()
        return
    # evaluate's own: close its file, remove it and let go of its lock
    if module.writer is not None:
        module.writer.close()
    module.writer = module.data = None
    paths = {*(module.file_paths or []), module.cache_file_name}
    for lock in [*(module.filelocks or []), module.filelock]:
        if lock is not None:
            paths.add(str(lock.lock_file).removesuffix(".lock"))
            lock.release()
    for path in paths:
        if path is not None and os.path.exists(path):
            os.remove(path)
    module.file_paths = module.filelocks = module.filelock = module.cache_file_name = None
