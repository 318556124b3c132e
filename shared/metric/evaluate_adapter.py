"""Adapt a metric to Hugging Face evaluate: its constructor's arguments, and its gathering of processes.

Rows never pass through evaluate's Arrow files: that costs seconds and gigabytes for a score matrix, and casts
silently. With `num_process > 1` the reduced states meet in evaluate's folder (see metric/processes.py).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays.arrays import State
from ..arrays.options import as_real
from .arguments import differ
from .groups import Parts, as_one_state
from .joining import check_parts, joined_parts
from .metric import Metric
from .processes import receive, run_key, send


class Evaluated(Metric):
    """Mixin that binds a metric to evaluate: `class Openauc(Evaluated, OpenAUC, evaluate.Metric)`."""

    num_process: int  # these are evaluate's
    process_id: int
    experiment_id: str
    data_dir: str
    timeout: float

    def __init__(self, config_name: str | None = None, **kwargs: Any) -> None:
        """Take evaluate's own arguments, and the metric's options as keywords; any other name is a TypeError.

        `config_name` stands for the options that `Metric.configs` says; "default" is evaluate's word for none. Raises
        ValueError for another name, and for an option that contradicts it.
        """
        evaluate_metric: Any = super(Metric, self)  # the next in line
        own = inspect.signature(evaluate_metric.__init__).parameters
        options = self._configured(
            config_name or "default", {name: value for name, value in kwargs.items() if name not in own}
        )
        evaluate_metric.__init__(config_name, **{name: value for name, value in kwargs.items() if name in own})
        if self.num_process > 1:
            run_key(self.experiment_id, self.num_process)
            if not 0 < as_real(self.timeout, "timeout") < math.inf:
                raise ValueError(f"timeout: expected seconds, more than 0, got {self.timeout!r}")
        self._core.__init__(self, **options)

    @classmethod
    def _configured(cls, config: Any, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options, with those that a configuration stands for."""
        if config == "default":
            return {**options}
        if not isinstance(config, str) or config not in cls.configs:
            names = f"one of {', '.join(map(repr, cls.configs))}" if cls.configs else "none"
            raise ValueError(f"config_name: expected {names}, got {config!r}; options of {cls.name} are given by name")
        for name, value in cls.configs[config].items():
            came = options.get(name, value)
            if differ(came, value):
                raise ValueError(f"{name}: expected {value!r}, as the config_name {config!r} says, got {came!r}")
        return {**cls.configs[config], **options}

    @classmethod
    def _check_options(cls, options: Mapping[str, Any]) -> None:
        """Names of the options; evaluate's own arguments are its constructor's."""
        evaluate_metric = next(base for base in cls.__mro__ if not issubclass(base, Metric))
        own = inspect.signature(evaluate_metric.__init__).parameters
        super()._check_options({name: value for name, value in options.items() if name not in own})

    @property
    def _core(self) -> type[Metric]:
        """The metric without evaluate."""
        return next(base for base in type(self).__mro__ if issubclass(base, Metric) and not issubclass(base, Evaluated))

    def _summary(self, batches: Sequence[Parts], metric: Metric) -> Any:
        """The results of all processes in process 0, None in the others."""
        if self.num_process == 1:
            return super()._summary(batches, metric)
        folder, key = Path(self.data_dir), run_key(self.experiment_id, self.num_process)
        if self.process_id:
            state = {**as_one_state(joined_parts(batches)), "metric": np.asarray(self.name)}
            send(state, folder, key, self.process_id, self.timeout)
            return None
        # what the others hand over is this process's from now on, even if it fails
        first = len(self._batches)

        def check(state: State) -> Parts:
            parts = self._own_parts(state)
            check_parts(parts, [*batches, *self._batches[first:]])
            return parts

        receive(folder, key, self.num_process, self.timeout, self._batches, check)
        return super()._summary([*batches, *self._batches[first:]], metric)
