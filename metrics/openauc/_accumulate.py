"""The mixin that gives an evaluate.Metric its direct, streaming and distributed paths.

A metric is two functions: `reduce`, from the columns of a batch to a state (a dict of arrays), and `summarise`, from
a state to the results. The mixin keeps the states of the batches and joins them when the results are asked for:
compute, add_batch, add, state, merge and evaluate's gathering over processes are all made of these two.

Rows never pass through evaluate's Arrow files: that costs seconds and gigabytes for a score matrix, and casts
silently. With `num_process > 1` the reduced states meet in evaluate's shared folder (see _gather.py).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ._arrays import State, concatenate, to_numpy
from ._gather import receive, send

# columns that metrics of this collection take: one that a metric does not use is ignored by it, for combine()
SIBLING_COLUMNS = frozenset({"open_scores", "open_labels", "image_scores", "image_labels"})


class Accumulate:
    """Mixin for an evaluate.Metric, first among its bases.

    A metric sets

    reduce: a function from the columns of a batch (its positional parameters; those without a default are required)
        and options (its keyword-only parameters) to a state
    aliases: other names for columns
    options: the options and their defaults
    fixed_options: those that are applied as batches are added

    and defines summarise(state, **options), which gets the options that its signature names. It has

    columns: the names of its columns
    loaded_options: its options as given at load, or their defaults

    In a state, arrays of no dimension must agree between batches, all others are joined along their first axis, and
    the first of them has one entry per sample.
    """

    reduce: ClassVar[Callable[..., State]]
    aliases: ClassVar[Mapping[str, str]] = {}
    options: ClassVar[Mapping[str, Any]] = {}
    fixed_options: ClassVar[frozenset[str]] = frozenset()

    name: str  # this and the next five are evaluate's
    num_process: int
    process_id: int
    experiment_id: str
    data_dir: str
    timeout: float
    summarise: Callable[..., dict[str, Any]]

    def __init__(self, config_name: str | None = None, **kwargs: Any) -> None:
        """Take evaluate's own arguments, and the metric's options as keywords; any other name is a TypeError."""
        own = _parameters(super().__init__.__func__)  # type: ignore[attr-defined]
        given = {name: value for name, value in kwargs.items() if name not in own}
        evaluates = {name: value for name, value in kwargs.items() if name in own}
        super().__init__(config_name, **evaluates)  # type: ignore[call-arg]  # evaluate.Metric is next in line
        unknown = [name for name in given if name not in self.options]
        if unknown:
            raise TypeError(self._unknown_name(unknown[0], self.options))
        self.loaded_options = {**self.options, **given}
        self.columns = [
            name for name, parameter in _parameters(self.reduce).items() if parameter.kind != parameter.KEYWORD_ONLY
        ]
        self._states: list[State] = []

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any] | None:
        """Compute the results from the batches added before, and from the columns given here, if any.

        Options given here override those given at load, for this call. The batches are dropped when the results
        are there; a call that raises changes nothing. With `num_process > 1`, process 0 returns the results of all
        processes and the others return None; TimeoutError if one does not come within `timeout` seconds. What process
        0 raises, the others raise too, and all keep their batches.
        """
        columns, overrides = self._sort_arguments({"predictions": predictions, "references": references, **kwargs})
        options = {**self.loaded_options, **overrides}
        for name in self.fixed_options & overrides.keys():
            if self._states and overrides[name] != self.loaded_options[name]:
                raise ValueError(f"{name}: it was applied as batches were added; give it at load, not at compute")
        states = self._states + ([self._reduced(columns, options)] if columns else [])
        results = None
        if self.num_process == 1:
            results = self._results(states, options)
        elif self.process_id == 0:
            with receive(self._round_file, self.num_process, self.timeout) as others:
                results = self._results([*states, *others], options)
        else:
            send(_joined(states), self._round_file, self.process_id, self.timeout)
        self._states = []
        return results

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch of columns. An empty one adds nothing; one that raises leaves those before it untouched."""
        columns, options = self._sort_arguments({"predictions": predictions, "references": references, **kwargs})
        if options:
            raise TypeError(f"{next(iter(options))}: it is an option; give it at load or to compute")
        state = self._reduced(columns, self.loaded_options)
        # the caller may reuse its buffers
        self._states.append({name: _copy(array) for name, array in state.items()})

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one sample: the columns of add_batch, with one entry each."""
        given = {"predictions": prediction, "references": reference}
        sample = {**{name: value for name, value in given.items() if value is not None}, **kwargs}
        self.add_batch(**{name: value if name in self.options else [value] for name, value in sample.items()})

    def state(self) -> dict[str, np.ndarray]:
        """Return the reduced arrays of all batches added so far, as NumPy arrays; empty if there are none."""
        arrays = {name: to_numpy(array).copy() for name, array in _joined(self._states).items()}
        return {**arrays, "metric": np.asarray(self.name)} if arrays else {}

    def merge(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the reduced arrays of another metric's `state()`, as if its batches had been added here.

        Raises TypeError for what is no state, ValueError for a state of another metric or of other columns.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state: expected the dict that state() returns, got {type(state).__name__}")
        if state and str(state.get("metric")) != self.name:
            raise ValueError(f"state: expected one of {self.name}, got one of {state.get('metric', 'no metric')}")
        arrays = {name: np.array(array) for name, array in state.items() if name != "metric"}
        _check_agreement(arrays, self._states)
        self._states.append(arrays)

    def reset(self) -> None:
        """Drop the batches added so far."""
        self._states = []

    def summary_of(self, state: State) -> dict[str, Any]:
        """Return the results of a state of this metric, under the options given at load; its batches stay apart.

        Raises ValueError for a state without samples.
        """
        return self._results([state], self.loaded_options)

    def __len__(self) -> int:
        """Number of samples added so far."""
        return sum(_num_samples(state) for state in self._states)

    def _results(self, states: list[State], options: Mapping[str, Any]) -> dict[str, Any]:
        if not any(_num_samples(state) for state in states):
            raise ValueError("expected at least one sample, got none: pass columns, or add batches before compute()")
        for state in states:
            _check_agreement(state, states)
        takes = _parameters(type(self).summarise)
        return self.summarise(_joined(states), **{name: value for name, value in options.items() if name in takes})

    def _reduced(self, columns: Mapping[str, Any], options: Mapping[str, Any]) -> State:
        takes = _parameters(self.reduce)
        required = [name for name in self.columns if takes[name].default is inspect.Parameter.empty]
        missing = [name for name in required if name not in columns]
        if missing:
            raise TypeError(f"{missing[0]}: {self.name} needs the columns {', '.join(required)}; got no {missing[0]}")
        if all(_is_empty(column) for column in columns.values()):
            return {}
        state = self.reduce(**columns, **{name: value for name, value in options.items() if name in takes})
        _check_agreement(state, self._states)
        return state

    @property
    def _round_file(self) -> Path:
        return Path(self.data_dir) / f"{self.experiment_id}-{self.num_process}.round"

    def _sort_arguments(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Split arguments into columns, by their own names, and options; drop siblings' columns and None columns."""
        columns: dict[str, Any] = {}
        options: dict[str, Any] = {}
        for given, value in arguments.items():
            name = self.aliases.get(given, given)
            if name in self.options:
                options[name] = value
            elif name in self.columns:
                if value is None:
                    continue
                if name in columns:
                    raise TypeError(f"{name} was given twice, once as {given}")
                # Arrow's nested columns yield Arrow scalars, which NumPy does not take
                columns[name] = value.to_numpy(zero_copy_only=False) if hasattr(value, "to_pylist") else value
            elif name not in SIBLING_COLUMNS:
                raise TypeError(self._unknown_name(given, (*self.columns, *self.aliases, *self.options)))
        return columns, options

    def _unknown_name(self, name: str, known: Any) -> str:
        return f"{self.name} has no argument {name!r}; it takes {', '.join(known) or 'no options'}"


@cache
def _parameters(function: Callable[..., Any]) -> Mapping[str, Any]:
    return inspect.signature(function).parameters


def _is_empty(column: Any) -> bool:
    return hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0 and len(column) == 0


def _num_samples(state: State) -> int:
    return len(next(iter(state.values()))) if state else 0


def _copy(array: Any) -> Any:
    return array.copy() if isinstance(array, np.ndarray) else array.clone()


def _check_agreement(state: State, states: list[State]) -> None:
    """Raise ValueError unless a state can be joined to the first of others: same arrays, same scalars."""
    first = next((other for other in states if other), state)
    if state and state.keys() != first.keys():
        raise ValueError(f"expected a state of {', '.join(first)}, got one of {', '.join(state)}")
    for name, array in state.items():
        if array.ndim == 0 and array != first[name]:
            raise ValueError(f"{name}: expected {first[name]} as in the batches before, got {array}")


def _joined(states: list[State]) -> State:
    states = [state for state in states if state]
    if len(states) < 2:
        return states[0] if states else {}
    return {
        name: array if array.ndim == 0 else concatenate([state[name] for state in states])
        for name, array in states[0].items()
    }
