"""Metrics of a classifier for transformers.Trainer, computed from logits and labels: `compute_metrics=` in one line.

    from openworld_metrics.integrations import compute_metrics
    Trainer(model, arguments, …, compute_metrics=compute_metrics(["openauc", "ood_bench"], scores="energy"))

A sample with a negative label is unknown: torch's loss ignores −100. With `batch_eval_metrics=True`, each metric keeps
a few numbers of every batch. Otherwise Trainer keeps all logits, or five numbers for each sample if the function's
`preprocess_logits` is Trainer's `preprocess_logits_for_metrics`.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

from ..arrays.arrays import array_namespace, on_one_device, to_numpy
from ..arrays.checks import as_labels, as_matrix, as_scores, check_lengths
from ..classification.ranks import topk_scores_state
from ..classification.topk import AUTKC, AccuracyK
from ..loading import METRICS, metric_class
from ..metric.clusters import CLUSTERS, as_cluster_names, numbered
from ..metric.groups import column_items
from ..metric.metric import Metric
from ..ood.ood_bench import OODBench
from ..open_set.open_f_metrics import MacroOpenF, MicroOpenF
from ..open_set.openauc import OpenAUC
from ..open_set.samples import predicted_classes
from ..scores import score_function
from ..written.results import flat
from .missing_classes import FlatResults

Columns = dict[str, Any]
Score = Callable[[Any], Any]  # of logits
Scores = Callable[[], Any]  # computes the scores of the current logits


class ComputeMetrics:
    """A function for `Trainer(compute_metrics=…)`, in both modes: see `compute_metrics`."""

    def __init__(
        self, metrics: Mapping[str, Any], score: Score, named: bool, without_class: str, clusters: bool = False
    ) -> None:
        """Take metrics by name; if `named`, all results are prefixed with these names."""
        self.metrics, self.score, self.named, self.clusters = metrics, score, named, clusters
        self._columns = {name: _COLUMNS[metric_class(metric.name)] for name, metric in metrics.items()}
        self._ranked = [name for name, columns in self._columns.items() if columns is _of_logits]
        self._flat = {name: FlatResults(without_class) for name in metrics}
        self._width = 0  # of the logits
        self._loop: tuple[Any, ...] | None = None

    def __call__(self, prediction: Any, compute_result: bool | None = None) -> dict[str, float]:
        """Flat results of an EvalPrediction with all samples; or, once compute_result is true, of all batches so far.

        Until then {}. An error ends the round, and the next round starts clean.
        """
        at_once = compute_result is None
        loop = None if at_once else _evaluation_loop()
        if at_once or loop != self._loop:
            self.reset()
        self._loop = loop
        goes_on = False
        try:
            for logits, labels in _parts(prediction.predictions, prediction.label_ids, self.clusters):
                self._add(logits, *self._labels_and_clusters(labels))
            goes_on = not (at_once or compute_result)
            return {} if goes_on else self._results()
        finally:
            if not goes_on:
                self.reset()

    def reset(self) -> None:
        """Drop the batches added so far. Trainer's evaluations do not need it, even after one was aborted."""
        self._loop = None
        for metric in self.metrics.values():
            metric.reset()

    def preprocess_logits(self, logits: Any, labels: Any) -> dict[str, Any]:
        """Reduce the logits of each sample to a few numbers, for `Trainer(preprocess_logits_for_metrics=…)`.

        Parameters: logits (N, C), or a tuple of a model's outputs with them first; labels (N,), tensors.
        Returns tensors (N,) on the device of the logits: how unknown a sample is, the predicted class, how many logits
        are above that of the true class, how many are tied with it, and C. Raises ValueError for NaN and other shapes,
        TypeError for a dict.
        """
        logits, (labels, _) = _logits_of(logits), self._labels_and_clusters(labels)
        ranks: Any = topk_scores_state(logits, labels, ignore_unknown=True)
        predicted, width = predicted_classes(as_matrix(logits, "logits"))
        xp = array_namespace(logits)
        per_sample = {
            "scores": self.score(logits),
            "predicted": predicted,
            "above": ranks["above"],
            "tied": ranks["tied"],
        }
        tensors = {name: xp.asarray(numbers, device=logits.device) for name, numbers in per_sample.items()}
        return {**tensors, "num_classes": xp.full_like(tensors["above"], width)}

    def _labels_and_clusters(self, labels: Any) -> tuple[Any, Columns]:
        """The labels, and the column of clusters beside them, if there is one."""
        if not self.clusters:
            return labels, {}
        if not isinstance(labels, (tuple, list)) or len(labels) != 2:
            came = len(labels) if isinstance(labels, tuple) else 1
            raise TypeError(f"label_ids: expected labels and clusters, as of two label_names, got {came} of them")
        return labels[0], {CLUSTERS: labels[1]}

    def _add(self, logits: Any, labels: Any, more: Columns) -> None:
        if isinstance(logits, Mapping):
            self._add_preprocessed(logits, labels, more)
            return
        scores = cache(lambda: self.score(logits))  # once for all metrics, and only if one takes them
        self._width = as_matrix(logits, "logits").shape[1]
        for name, columns in self._columns.items():
            self.metrics[name].add_batch(**_beside(columns(logits, labels, scores), more, labels))

    def _add_preprocessed(self, per_sample: Mapping[str, Any], labels: Any, more: Columns) -> None:
        """Add the numbers of `preprocess_logits`, as states; metrics of logits alone have ranks as their state."""
        if not len(labels):
            return
        per_sample = {name: to_numpy(numbers) for name, numbers in per_sample.items()}
        labels = to_numpy(as_labels(labels, "label_ids"))
        classes = np.maximum(labels, -1)
        widths = np.unique(per_sample["num_classes"])
        if len(widths) > 1:
            raise ValueError(f"logits: expected one number of classes, got {', '.join(map(str, widths.tolist()))}")
        self._width = int(widths[0])
        ranks = {
            "above": per_sample["above"],
            "tied": per_sample["tied"],
            "correct": (per_sample["predicted"] == classes) & (classes >= 0),
            "classes": classes,
            "predictions_width": widths[0],
            "predictions_are_scores": True,
        }
        for name, columns in self._columns.items():
            metric = self.metrics[name]
            if name in self._ranked:
                clusters = [numbered(as_cluster_names(column), classes) for column in more.values()]
                metric.merge({**ranks, **dict(*clusters), "metric": metric.name})
                continue
            batch = metric_class(metric.name)(**metric.loaded_options)
            batch.add_batch(
                **_beside(columns(per_sample["predicted"], labels, lambda: per_sample["scores"]), more, labels)
            )
            state = batch.state()
            if "predictions_width" in state:  # all classes of the logits, whether or not they were predicted
                state["predictions_width"] = widths[0]
            metric.merge(state)

    def _results(self) -> dict[str, float]:
        results = {
            name: self._flat[name](metric.name, metric.compute, partial(self._names, name))
            for name, metric in self.metrics.items()
        }
        keys = [key for numbers in results.values() for key in numbers]
        return {
            f"{name}/{key}" if self.named or keys.count(key) > 1 else key: value
            for name, numbers in results.items()
            for key, value in numbers.items()
        }

    def _names(self, name: str) -> Sequence[str]:
        """The names of a metric's results, from a known and an unknown sample."""
        metric = metric_class(self.metrics[name].name)(**self.metrics[name].loaded_options)
        logits, labels, scores = np.eye(2, self._width), np.asarray([0, -1]), np.asarray([0.0, 1.0])
        return [*flat(metric.compute(**self._columns[name](logits, labels, lambda: scores)))]


def compute_metrics(
    metrics: Any, scores: str | Score = "msp", *, without_class: str = "raise", clusters: bool = False
) -> ComputeMetrics:
    """A function that computes metrics of logits, for transformers.Trainer, whether `batch_eval_metrics` or not.

    Parameters: metrics, a name, a metric from `load` or from a class of this package, a list of these, or a mapping
    from names of your own, which prefix the names of the results with a slash; scores, the name of one of
    `openworld_metrics.scores`, or a function from logits (N, C) to open-set scores (N,), higher is more unknown;
    without_class, "raise" or "nan", for evaluations that lack known or unknown samples: with "nan" the results of a
    metric that needs both are NaN, with one warning; clusters, whether a column of integers that says what samples
    depend on stands beside the labels, as of `label_names=["labels", "speaker"]`: intervals then draw clusters.

    Each metric gets what it takes: (N, C) logits, (N,) labels and the scores; ood_bench gets the scores of the known
    and of the unknown samples. A sample is unknown if its label is negative. Metrics passed by name ignore unknown
    samples if they have that option; metrics passed as objects keep their own options. If a model returns a tuple, its
    first entry is the logits.

    Returns a function of an EvalPrediction, and, with `batch_eval_metrics`, of compute_result, which returns {name:
    number}: curves and tables are left out. A name that several metrics use is prefixed with the metric's. Every
    evaluation loop starts clean, since the function has metrics of its own. It recognises an aborted evaluation by
    accelerate's data loader, which Trainer uses; in a loop of your own, call `reset()`.
    Raises ValueError for another name, for no metric and for two in a list with the same name; TypeError for a metric
    that is not for classifiers.

    >>> from types import SimpleNamespace
    >>> evaluation = SimpleNamespace(predictions=[[4.0, 0.0], [0.0, 3.0], [1.0, 1.0]], label_ids=[0, 1, -100])
    >>> compute_metrics(["openauc", "ood_bench"])(evaluation)["auroc"]
    1.0
    """
    score = score_function(scores) if isinstance(scores, str) else scores
    if not callable(score):
        raise TypeError(f"scores: expected the name of a score or a function of logits, got {score!r}")
    if isinstance(metrics, Mapping):
        chosen = {str(name): _metric(metric) for name, metric in metrics.items()}
    else:
        single = isinstance(metrics, str) or not isinstance(metrics, Iterable)
        loaded = [_metric(metric) for metric in ([metrics] if single else metrics)]
        chosen = {metric.name: metric for metric in loaded}
        if len(chosen) < len(loaded):
            names = ", ".join(metric.name for metric in loaded)
            raise ValueError(f"metrics: expected each once, got {names}; give a mapping from names of your own")
    if not chosen:
        raise ValueError("metrics: expected at least one, got none")
    return ComputeMetrics(chosen, score, isinstance(metrics, Mapping), without_class, clusters)


def _metric(metric: Any) -> Any:
    """A metric as passed, or loaded by name with options that accept unknown samples."""
    name = metric if isinstance(metric, str) else getattr(metric, "name", None)
    kind = metric_class(str(name)) if isinstance(metric, str) or name in METRICS else Metric
    if kind not in _COLUMNS:
        known = ", ".join(each.name for each in _COLUMNS)
        raise TypeError(f"metrics: expected metrics of classifiers ({known}), got {name or metric!r}")
    if isinstance(metric, str):
        lenient: dict[str, Any] = {"ignore_unknown": True} if "ignore_unknown" in kind.options else {}
        return kind(**lenient)
    return metric


def _of_logits(logits: Any, labels: Any, scores: Scores) -> Columns:
    return {"predictions": logits, "references": labels}


def _of_logits_and_scores(logits: Any, labels: Any, scores: Scores) -> Columns:
    return {"predictions": logits, "references": labels, "open_scores": scores()}


def _of_sides(logits: Any, labels: Any, scores: Scores) -> Columns:
    """The scores of known and of unknown samples, separately, so that in_value and out_value do not matter."""
    values, classes = on_one_device(as_scores(scores(), "scores"), as_labels(labels, "label_ids"))
    check_lengths(scores=values, label_ids=classes)
    return {"predictions": (values[classes >= 0], values[classes < 0])}


def _beside(columns: Columns, more: Columns, labels: Any) -> Columns:
    """Columns with clusters, in the order of the sides where known and unknown samples come apart."""
    if more and isinstance(columns["predictions"], tuple):
        known = to_numpy(as_labels(labels, "label_ids")) >= 0
        order = np.concatenate([np.flatnonzero(known), np.flatnonzero(~known)])
        more = {name: np.asarray(column_items(column, name), dtype=object)[order] for name, column in more.items()}
    return {**columns, **more}


_COLUMNS: Mapping[type[Metric], Callable[[Any, Any, Scores], Columns]] = {
    AccuracyK: _of_logits,
    AUTKC: _of_logits,
    MacroOpenF: _of_logits_and_scores,
    MicroOpenF: _of_logits_and_scores,
    OpenAUC: _of_logits_and_scores,
    OODBench: _of_sides,
}


# the numbers that `preprocess_logits` keeps of each sample
_PREPROCESSED = frozenset(("scores", "predicted", "above", "tied", "num_classes"))


def _parts(predictions: Any, labels: Any, clusters: bool = False) -> list[tuple[Any, Any]]:
    """Logits with labels: one pair, or one for each batch with eval_do_concat_batches=False."""
    first = next(iter(labels), None) if isinstance(labels, list) else None
    if isinstance(first, tuple) or getattr(first, "ndim", 0) == 1:
        pairs = zip(predictions, labels, strict=True)
        return [pair for logits, part in pairs for pair in _parts(logits, part, clusters)]
    if isinstance(labels, tuple) and not clusters:
        raise TypeError(
            f"label_ids: expected labels (N,), got a tuple of {len(labels)} columns; label_names=['labels'] of "
            "TrainingArguments names the one to take"
        )
    is_preprocessed = isinstance(predictions, Mapping) and predictions.keys() >= _PREPROCESSED
    return [(predictions if is_preprocessed else _logits_of(predictions), labels)]


def _logits_of(outputs: Any) -> Any:
    """The logits (N, C) of a model's outputs: these, or the first of a tuple. Raises ValueError and TypeError."""
    logits = outputs[0] if isinstance(outputs, tuple) and outputs else outputs
    picked = "preprocess_logits_for_metrics=lambda outputs, labels: outputs[{!r}]"
    if isinstance(logits, Mapping):
        name = "logits" if "logits" in logits else next(iter(logits), "logits")
        raise TypeError(
            f"predictions: expected logits (N, C), got a dict of {', '.join(map(str, logits))}; "
            f"{picked.format(name)} picks them"
        )
    shape = tuple(logits.shape if hasattr(logits, "shape") else np.shape(logits))
    if len(shape) == 2:
        return logits
    if isinstance(outputs, tuple):
        shapes = [tuple(getattr(each, "shape", np.shape(each))) for each in outputs]
        place = next((place for place, each in enumerate(shapes) if len(each) == 2), 0)
        raise ValueError(
            f"predictions: expected logits (N, C) as the first output, got outputs of shapes "
            f"{', '.join(map(str, shapes))}; {picked.format(place)} picks them"
        )
    hint = "; these may be predicted classes, of which logits are needed" if len(shape) == 1 else ""
    raise ValueError(f"predictions: expected logits (N, C), got shape {shape}{hint}")


def _evaluation_loop() -> tuple[Any, ...] | None:
    """An identifier of Trainer's current evaluation loop; None if accelerate runs no data loader.

    A loader that was abandoned stays among the active ones, so one that is used again is listed twice; one that has
    finished counts its iterations.
    """
    accelerate = sys.modules.get("accelerate.state")  # Trainer imports it
    loaders = accelerate.GradientState().dataloader_references if accelerate else [None]
    loader = loaders[-1]
    if loader is None:
        return None
    return weakref.ref(loader), sum(each is loader for each in loaders), getattr(loader, "iteration", None)
