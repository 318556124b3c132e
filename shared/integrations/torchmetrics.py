"""A metric of this collection as a torchmetrics.Metric, for Lightning's `self.log` and for a MetricCollection.

    from openworld_metrics.integrations.torchmetrics import as_torchmetrics
    self.openauc = as_torchmetrics("openauc", result="openauc")                        # in a LightningModule's __init__
    self.openauc.update(predictions=logits, references=labels, open_scores=msp(logits))   # in its validation_step
    self.log("openauc", self.openauc)                                                     # there too

Batches are kept as the metric's reduced states, on the device of the columns. Processes exchange these states, so the
results equal those of a single process. As with torchmetrics' own metrics, states are in the state_dict after
`persistent(True)`; without it an epoch starts empty after a checkpoint.

Needs torchmetrics.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..extras import extra
from ..loading import METRICS, metric_class
from ..metric.clusters import CLUSTERS
from ..metric.groups import GROUPS
from ..metric.signature import option_text
from ..metric.states import COUNTS, pack, unpack
from ..written.results import direction
from .missing_classes import FlatResults

with extra("torchmetrics"):
    import torch
    import torchmetrics
    from torchmetrics.utilities.plot import plot_single_or_multi_val


_STATE = "batches"  # the name of torchmetrics' only state
_OPTIONS = "options"  # beside the arrays of a state
_TORCHMETRICS = {"preds": "predictions", "target": "references"}  # torchmetrics' names of columns, and ours


class TorchMetric(torchmetrics.Metric):
    """A metric with torchmetrics' methods: see `as_torchmetrics`.

    Its state is `batches`, a list of tensors of bytes, each packed from a reduced state. Wrappers, collections and
    state_dict read and set it; otherwise the metric itself holds the batches.
    """

    full_state_update = False

    def __init__(self, metric: Any, result: str | None = None, without_class: str = "raise", **kwargs: Any) -> None:
        """Wrap a metric, with the name of a single result, if wanted, and torchmetrics' own arguments."""
        super().__init__(**kwargs)
        self._flat = FlatResults(without_class)
        if self.dist_sync_on_step:
            raise ValueError("dist_sync_on_step: expected False, since a step gives the results of its batch, got True")
        self.result = result
        self._empty = copy.deepcopy(metric)  # deep, since evaluate binds methods to its object
        self._empty.reset()
        self.metric = copy.deepcopy(self._empty)
        self.add_state(_STATE, [], dist_reduce_fx=None)

    @property
    def batches(self) -> list[Any]:
        """The batches added so far as one tensor of bytes, or none.

        A MetricCollection updates one of several metrics whose states are equal, so the options are part of it.
        """
        if not len(self.metric):
            return []
        options = np.asarray(option_text(self.metric.loaded_options))
        packed = np.frombuffer(pack({**self.metric.state(), _OPTIONS: options}), np.uint8)
        return [torch.from_numpy(packed.copy())]

    @batches.setter
    def batches(self, packed: list[Any]) -> None:
        metric = copy.deepcopy(self._empty)
        for each in packed:
            state = unpack(each.cpu().to(torch.uint8).numpy().tobytes())
            metric.merge({name: array for name, array in state.items() if name != _OPTIONS})
        self.metric = metric

    def update(self, *args: Any, **columns: Any) -> None:
        """Add a batch, as columns by name or in the metric's order. After an error, nothing is added."""
        self.metric.add_batch(**self._named(args, columns))

    def compute(self) -> Any:
        """The results over all processes: float64 tensors on the CPU by name, or one. Raises the metric's errors."""
        try:
            # a deep copy, since compute drops the batches, and may sort pixels in place
            return self._computed_by(copy.deepcopy(self.metric).compute)
        except BaseException:
            if self._is_synced:
                self.unsync()
            raise

    def forward(self, *args: Any, **columns: Any) -> Any:
        """Add a batch, and return the results of that batch. If it has no results, raises and adds nothing."""
        self._forward_cache = self._computed_by(partial(self._empty.compute, **self._named(args, columns)))
        self.update(*args, **columns)
        return self._forward_cache

    def reset(self) -> None:
        """Drop the batches added so far."""
        super().reset()
        self.metric = copy.deepcopy(self._empty)

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot results of `compute` or `forward`, or a list of them by step, as torchmetrics' own metrics do.

        Without results, those of the batches added so far. Returns the figure and its axes. Needs matplotlib.
        """
        results = self.compute() if val is None else val
        return plot_single_or_multi_val(results, ax=ax, name=self.result or self.metric.name)

    @property
    def higher_is_better(self) -> bool | None:
        """Whether a higher `result` is better; None for several results, or for one without a direction."""
        known = None if self.result is None else direction(self.result)
        return None if known is None else known.higher

    @property
    def metric_state(self) -> dict[str, Any]:
        """The reduced arrays of the batches added so far."""
        return self.metric.state()

    def merge_state(self, incoming_state: Any) -> None:
        """Add the batches of another such metric, or of its metric_state."""
        state = incoming_state.metric_state if isinstance(incoming_state, TorchMetric) else incoming_state
        self.metric.merge(state)
        self._computed = None
        self._update_count += 1

    def _sync_dist(self, dist_sync_fn: Any = None, process_group: Any = None) -> None:
        """Replace the metric by one with the batches of all processes, until unsync."""
        group = process_group or self.process_group
        states: list[Any] = [None] * torch.distributed.get_world_size(group)
        torch.distributed.all_gather_object(states, self.metric.state(), group=group)
        everything = copy.deepcopy(self._empty)
        for state in states:
            everything.merge(state)
        self.metric = everything

    def _copy_state_dict(self) -> dict[str, Any]:
        """The attributes that unsync sets again."""
        return {"metric": self.metric}

    def _apply(self, fn: Any, exclude_state: Any = ()) -> Any:
        """Move to a device; batches stay where their columns were."""
        return super()._apply(fn, [_STATE])

    def __hash__(self) -> int:
        """Of torchmetrics' own, without the state, whose tensors are made anew."""
        return hash((type(self).__name__, id(self)))

    def _filter_kwargs(self, **kwargs: Any) -> dict[str, Any]:
        """The columns of this metric among the arguments of a MetricCollection."""
        columns, aliases = self.metric.columns, {**_TORCHMETRICS, **self.metric.aliases}
        return {name: x for name, x in kwargs.items() if name in columns or aliases.get(name, name) not in kwargs}

    def _named(self, args: tuple[Any, ...], columns: Mapping[str, Any]) -> dict[str, Any]:
        names = [name for name in self.metric.columns if name not in (COUNTS, GROUPS, CLUSTERS)]
        if len(args) > len(names):
            raise TypeError(f"{self.metric.name} takes {len(names)} columns, {', '.join(names)}; got {len(args)}")
        twice = [name for name in names[: len(args)] if name in columns]
        if twice:
            raise TypeError(f"{twice[0]}: expected once, got it by position and by name")
        columns = {_TORCHMETRICS.get(name, name): column for name, column in columns.items()}
        return {**dict(zip(names, args)), **columns}

    def _computed_by(self, compute: Callable[[], Any]) -> Any:
        """The results of a computation as tensors; NaN for a missing class, if `without_class` is "nan"."""
        results = [] if self.result is None else [self.result]
        numbers = {
            name: torch.tensor(x, dtype=torch.float64, device="cpu")
            for name, x in self._flat(self.metric.name, compute, lambda: results).items()
        }
        if self.result is None:
            return numbers
        if self.result not in numbers:
            is_left_out = direction(self.result) is not None  # as a rate of detection over no object is
            if is_left_out and self._flat.fills:
                return torch.tensor(torch.nan, dtype=torch.float64, device="cpu")
            hint = "; a rate over no object is left out" if is_left_out else ""
            raise ValueError(f"result: expected one of {', '.join(numbers)}, got {self.result!r}{hint}")
        return numbers[self.result]


def as_torchmetrics(
    metric: Any, result: str | None = None, *, without_class: str = "raise", **kwargs: Any
) -> TorchMetric:
    """A metric of this collection as a torchmetrics.Metric, with update, compute, forward, reset, sync and the rest.

    Parameters: metric, its name, or a metric from `load` or from a class of this package, whose earlier batches are
    ignored; result, the name of the single result that compute returns, as Lightning's `self.log` expects, or None for
    all of them, for `self.log_dict(metric.compute())`; without_class, "raise" or "nan", for runs that lack one of two
    required classes, such as Lightning's sanity check of a few batches: with "nan" every result is NaN, with one
    warning, and so is a rate of detection over no object, which is left out otherwise;
    options of the metric, such as metrics=["auroc"], and torchmetrics' own arguments, such as process_group.

    `update` takes columns by name, or in the metric's order, `counts` and `groups` by name only; `preds` and `target`
    are `predictions` and `references`. In a MetricCollection, pass them by name: each metric gets its own. compute
    returns scalars as float64 tensors on the CPU, {name: tensor} or a single one; curves and tables are left out. The
    states of processes are gathered by `torch.distributed.all_gather_object`, and every process has the results of all.
    `forward`, that is, calling the metric, also computes the batch alone, so a batch without unknown samples is an
    error for many metrics, or NaN; call `update` instead. With `result`, `higher_is_better` is its direction, so that a
    MetricTracker knows the best; it takes several results as a MetricCollection of one metric for each.

    Returns a `TorchMetric`. Raises ValueError for an unknown name, TypeError for anything but a metric of this
    collection.

    >>> metric = as_torchmetrics("ood_bench", result="auroc")
    >>> metric.update([0.1, 0.6], [0, 0])
    >>> metric.update(predictions=[0.4, 0.9], references=[1, 1])
    >>> metric.compute()
    tensor(0.7500, dtype=torch.float64)
    """
    if isinstance(metric, str):
        metric = metric_class(metric)()
    elif getattr(metric, "name", None) not in METRICS:
        raise TypeError(f"metric: expected one of this collection or its name, got {metric!r}")
    options = {name: kwargs.pop(name) for name in [*kwargs] if name in metric.options}
    return TorchMetric(metric.with_options(options) if options else metric, result, without_class, **kwargs)
