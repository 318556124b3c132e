"""A metric as one of Hugging Face evaluate: its constructor's own arguments, and processes that meet.

Rows never pass through evaluate's Arrow files: that costs seconds and gigabytes for a score matrix, and casts
silently. With `num_process > 1` the reduced states meet in evaluate's folder (see core/processes.py).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .arrays import State
from .metric import Metric, check_agreement, joined
from .options import as_real
from .processes import receive, run_key, send


class Evaluated(Metric):
    """Mixin that binds a metric to evaluate: `class Openauc(Evaluated, OpenAUC, evaluate.Metric)`."""

    num_process: int  # these are evaluate's
    process_id: int
    experiment_id: str
    data_dir: str
    timeout: float

    def __init__(self, config_name: str | None = None, **kwargs: Any) -> None:
        """Take evaluate's own arguments, and the metric's options as keywords; any other name is a TypeError."""
        evaluate_metric: Any = super(Metric, self)  # the next in line
        own = inspect.signature(evaluate_metric.__init__).parameters
        evaluate_metric.__init__(config_name, **{name: value for name, value in kwargs.items() if name in own})
        if self.num_process > 1:
            run_key(self.experiment_id, self.num_process)
            if not 0 < as_real(self.timeout, "timeout") < math.inf:
                raise ValueError(f"timeout: expected seconds, more than 0, got {self.timeout!r}")
        Metric.__init__(self, **{name: value for name, value in kwargs.items() if name not in own})

    def _results(self, states: Sequence[State], options: Mapping[str, Any]) -> Any:
        """The results of all processes in process 0, None in the others."""
        if self.num_process == 1:
            return super()._results(states, options)
        folder, key = Path(self.data_dir), run_key(self.experiment_id, self.num_process)
        if self.process_id:
            send({**joined(states), "metric": np.asarray(self.name)}, folder, key, self.process_id, self.timeout)
            return None
        # what the others hand over is this process's from now on, even if it fails
        own = len(self._states)

        def check(state: State) -> State:
            arrays = self._own_state(state)
            check_agreement(arrays, [*states, *self._states[own:]])
            return arrays

        receive(folder, key, self.num_process, self.timeout, self._states, check)
        return super()._results([*states, *self._states[own:]], options)
