"""A metric as one of Hugging Face evaluate: its constructor's own arguments, and processes that meet.

Rows never pass through evaluate's Arrow files: that costs seconds and gigabytes for a score matrix, and casts
silently. With `num_process > 1` the reduced states meet in evaluate's folder (see core/processes.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .arrays import State
from .metric import Metric, joined
from .processes import receive, send


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
        Metric.__init__(self, **{name: value for name, value in kwargs.items() if name not in own})

    def _results(self, states: Sequence[State], options: Mapping[str, Any]) -> Any:
        """The results of all processes in process 0, None in the others."""
        if self.num_process == 1:
            return super()._results(states, options)
        round_file = Path(self.data_dir) / f"{self.experiment_id}-{self.num_process}.round"
        if self.process_id:
            send(joined(states), round_file, self.process_id, self.timeout)
            return None
        with receive(round_file, self.num_process, self.timeout) as others:
            return super()._results([*states, *others], options)
