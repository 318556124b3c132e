"""What a metric is: two functions, and the verbs that are made of them.

`reduce` takes the columns of a batch to a state, a dict of arrays; `summarise` takes a state to the results. A metric
keeps the states of its batches and joins them when the results are asked for: compute, add_batch, add, state, merge,
reset and len are all made of these two functions. A third, `as_state`, checks what comes from elsewhere.

Equal rows of a table of a state may be one row with a count, and results have the bits of the rows repeated. So where
rows take few values, they are counted whenever they have doubled, and memory stops growing.

Every metric takes a column `groups`: of a batch there is then a state for each group, and results are means over them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any, ClassVar, TypedDict

import numpy as np

from ..arrays.arrays import State, is_numpy_array, to_numpy
from .bootstrap import intervals
from .groups import ALL, GROUPS, Parts, as_one_state, as_parts, reduced_by_group, states_by_group
from .joining import check_agreement, check_total, compacted, copied, joined_parts, num_samples
from .summary import summary
from .units import Units

ROWS = 1 << 16  # of a table, up to which they are kept as they come

# columns that metrics of this collection take: one that a metric does not use is ignored by it, for combine()
SIBLING_COLUMNS = frozenset({"open_scores", "open_labels", "image_scores", "image_labels"})


class IntervalOptions(TypedDict, total=False):
    """Options of every metric: see `intervals`; without a confidence_level there are none."""

    confidence_level: float | None
    n_resamples: int
    random_state: int


INTERVAL_OPTIONS: Mapping[str, Any] = {"confidence_level": None, "n_resamples": 1000, "random_state": 0}


class Metric:
    """A metric over samples that come in batches.

    A metric sets

    name: the name that it is loaded by
    reduce: a function from the columns of a batch (its positional parameters; those without a default are required)
        and options (its keyword-only parameters) to a state
    summarise: a function from a state and options (its keyword-only parameters) to the results
    as_state: a function that checks a state from elsewhere, by options of `reduce`, and casts its arrays to the types
        that `reduce` gives
    units: a function from a state and the options of `summarise` to what is resampled for intervals
    tables: the columns of each table of its states whose rows may be counted, by the name of the counts
    aliases: other names for columns
    of_sides: columns that have no entry per sample, and so no groups
    made: arrays of its states that `reduce` always makes, and that are never a caller's

    The rest is read from the two signatures:

    columns, required: the names of all columns, and of those that cannot be left out
    options: the options and their defaults
    fixed_options: those that shape a batch as it is added, and so cannot change after that: only `reduce` has them

    In a state, arrays of no dimension must agree between the batches that have them, all others are joined along their
    first axis, and the first of them has an entry per sample. `counts` say how many equal samples each entry stands
    for, `x_counts` how many each entry of the array `x` does; where they are absent, that is one.
    """

    name: ClassVar[str]
    reduce: ClassVar[Callable[..., Mapping[str, Any]]]
    summarise: ClassVar[Callable[..., dict[str, Any]]]
    as_state: ClassVar[Callable[..., Mapping[str, Any]]]
    units: ClassVar[Callable[..., Units]]
    tables: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    aliases: ClassVar[Mapping[str, str]] = {}
    of_sides: ClassVar[frozenset[str]] = frozenset()
    made: ClassVar[frozenset[str]] = frozenset()

    columns: ClassVar[tuple[str, ...]]
    required: ClassVar[tuple[str, ...]]
    options: ClassVar[Mapping[str, Any]]
    fixed_options: ClassVar[frozenset[str]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read columns and options from the signatures of the two functions."""
        super().__init_subclass__(**kwargs)
        if "reduce" not in cls.__dict__:
            return
        columns = [p for p in inspect.signature(cls.reduce).parameters.values() if p.kind != p.KEYWORD_ONLY]
        reduces, summarises = keyword_options(cls.reduce), keyword_options(cls.summarise)
        differing = [name for name in reduces.keys() & summarises.keys() if reduces[name] != summarises[name]]
        if differing:
            raise TypeError(f"{cls.__name__}: expected one default of {differing[0]}, got two")
        cls.columns = (*(p.name for p in columns), GROUPS)
        cls.required = tuple(p.name for p in columns if p.default is p.empty)
        cls.options = {**summarises, **reduces, **INTERVAL_OPTIONS}
        cls.fixed_options = frozenset(reduces.keys() - summarises.keys())

    def __init__(self, **options: Any) -> None:
        """Take options as keywords; any other name is a TypeError."""
        unknown = [name for name in options if name not in self.options]
        if unknown:
            raise TypeError(self._unknown_name(unknown[0], self.options))
        self.loaded_options = {**self.options, **options}
        self._batches: list[Parts] = []  # of each, the states by group
        self._rows, self._room = 0, ROWS  # of the tables: how many there are, and how many make them be counted

    def compute(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> dict[str, Any]:
        """Compute the results from the batches added before, and from the columns given here, if any.

        Options given here override those given at load, for this call. The batches are dropped when the results
        are there; a call that raises changes nothing. With evaluate's `num_process > 1`, process 0 takes the batches of
        all and returns the results, and the others return None; TimeoutError if one does not come within `timeout`
        seconds. What process 0 raises is raised there alone: it keeps the batches of all.
        """
        columns, overrides = self._sort_arguments({"predictions": predictions, "references": references, **kwargs})
        options = {**self.loaded_options, **overrides}
        for name in self.fixed_options & overrides.keys():
            if self._batches and _differ(overrides[name], self.loaded_options[name]):
                raise ValueError(f"{name}: it was applied as batches were added; give it at load, not at compute")
        last = [self._reduced(columns, options)] if columns else []
        if len(self._batches) > 1:  # joined here, so that those they came from are let go
            self._batches = [joined_parts(self._batches)]
        results = self._results([*self._batches, *last], options)
        self.reset()
        return results

    def results_and_units(self, **kwargs: Any) -> tuple[dict[str, Any], Units]:
        """The results of columns, and what is resampled of them; without columns, those of the batches, which stay."""
        columns, overrides = self._sort_arguments(kwargs)
        options = {**self.loaded_options, **overrides}
        return self._results_and_units([self._reduced(columns, options)] if columns else self._batches, options)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch of columns. An empty one adds nothing; one that raises leaves those before it untouched."""
        columns, options = self._sort_arguments({"predictions": predictions, "references": references, **kwargs})
        if options:
            raise TypeError(f"{next(iter(options))}: it is an option; give it at load or to compute")
        parts = self._reduced(columns, self.loaded_options)
        # the caller may reuse its buffers
        self._keep({group: copied(state, but=self.made) for group, state in parts.items()})

    def add(self, *, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one sample: the columns of add_batch, with one entry each."""
        sample = {"predictions": prediction, "references": reference, **kwargs}
        given = {name: value for name, value in sample.items() if value is not None}
        self.add_batch(**{name: value if name in self.options else [value] for name, value in given.items()})

    def state(self) -> dict[str, np.ndarray]:
        """Return the reduced arrays of all batches added so far, as NumPy arrays; empty if there are none.

        Those of groups are named 0/scores, 1/scores and so on, in the order of the names in `groups`.
        """
        return self._as_numpy(joined_parts(self._batches))

    def states(self) -> list[dict[str, np.ndarray]]:
        """The same in parts, each a state: nothing is joined, and equal rows are counted where values are few."""
        self._compact()
        return [self._as_numpy(parts) for parts in self._batches if parts]

    def _as_numpy(self, parts: Parts) -> dict[str, np.ndarray]:
        arrays = {name: to_numpy(array).copy() for name, array in as_one_state(parts).items()}
        return {**arrays, "metric": np.asarray(self.name)} if arrays else {}

    def merge(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the reduced arrays of another metric's `state()`, as if its batches had been added here.

        Raises TypeError for what is no state, ValueError for a state of another metric or one that `reduce` cannot have
        made; the batches before are as they were then.
        """
        parts = self._own_parts(state)
        self._check_agreement(parts, self._batches)
        check_total(len(self) + sum(map(num_samples, parts.values())))
        self._keep(parts)

    def _own_parts(self, state: Mapping[str, Any]) -> Parts:
        """A copy of what another metric's `state()` gave, checked, by group."""
        if not isinstance(state, Mapping):
            raise TypeError(f"state: expected the dict that state() returns, got {type(state).__name__}")
        if state and str(state.get("metric")) != self.name:
            raise ValueError(f"state: expected one of {self.name}, got one of {state.get('metric', 'no metric')}")
        parts = as_parts({name: array for name, array in state.items() if name != "metric"})
        return {
            group: {name: np.array(array) for name, array in self._checked(each).items()}
            for group, each in parts.items()
        }

    def _checked(self, state: Mapping[str, Any]) -> State:
        return dict(self.as_state(state, **_options_for(self.as_state, self.loaded_options))) if state else {}

    def __setstate__(self, content: dict[str, Any]) -> None:
        """Unpickle; the batches are checked as those that are merged."""
        self.__dict__.update(content)

        def checked(state: State) -> State:
            # those on an accelerator come from no file, but from deepcopy, and stay where they are
            return self._checked(state) if all(map(is_numpy_array, state.values())) else state

        self._batches = [{group: checked(state) for group, state in parts.items()} for parts in self._batches]

    def reset(self) -> None:
        """Drop the batches added so far."""
        self._batches, self._rows, self._room = [], 0, ROWS

    def _keep(self, parts: Parts) -> None:
        """Keep a batch. When the rows have doubled, those that are equal become one with a count."""
        rows = self._rows + self._num_rows([parts])
        if rows > self._room:
            self._compact(parts)
        else:
            self._batches.append(parts)
            self._rows = rows

    def _compact(self, *others: Parts) -> None:
        batches: list[Parts] = [*self._batches, *others]
        if self.counts_rows(self.loaded_options):
            found: list[Parts] = []
            for group, states in states_by_group(batches).items():
                for counts, columns in self.tables.items():
                    states = compacted(states, columns, counts)
                found += [{group: state} for state in states]
            batches = found
        self._batches, self._rows = batches, self._num_rows(batches)
        self._room = max(ROWS, 2 * self._rows)

    @staticmethod
    def counts_rows(options: Mapping[str, Any]) -> bool:
        """Whether equal rows of tables may be counted: not where the results need to know whose they are."""
        return not options.get("per_sample")

    def _num_rows(self, batches: Sequence[Parts]) -> int:
        states = (state for parts in batches for state in parts.values() if state)
        return sum(state[columns[0]].shape[0] for state in states for columns in self.tables.values())

    def __len__(self) -> int:
        """Number of samples added so far."""
        return sum(num_samples(state) for parts in self._batches for state in parts.values())

    def _results(self, batches: Sequence[Parts], options: Mapping[str, Any]) -> dict[str, Any]:
        if options["confidence_level"] is None:
            return self._results_and_units(batches, options, resampled=False)[0]
        results, units = self._results_and_units(batches, options)
        return intervals(units, results, **{name: options[name] for name in INTERVAL_OPTIONS})

    def _results_and_units(
        self, batches: Sequence[Parts], options: Mapping[str, Any], *, resampled: bool = True
    ) -> tuple[dict[str, Any], Any]:
        """The results, and unless nothing is resampled the units; means over the groups, if there are any."""
        if not any(num_samples(state) for parts in batches for state in parts.values()):
            raise ValueError("expected at least one sample, got none: pass columns, or add batches before compute()")
        for parts in batches:
            self._check_agreement(parts, batches)
        chosen = _options_for(self.summarise, options)
        units = partial(self.units, **chosen) if resampled else None
        return summary(states_by_group(batches), partial(self.summarise, **chosen), units)

    def _check_agreement(self, parts: Parts, batches: Sequence[Parts]) -> None:
        for state in parts.values():
            check_agreement(state, (other for others in batches for other in others.values()))
            check_agreement(state, parts.values())

    def _reduced(self, columns: Mapping[str, Any], options: Mapping[str, Any]) -> Parts:
        missing = [name for name in self.required if name not in columns]
        if missing:
            needed = ", ".join(self.required)
            raise TypeError(f"{missing[0]}: {self.name} needs the columns {needed}; got no {missing[0]}")
        if all(_is_empty(column) for column in columns.values()):
            return {}
        chosen = _options_for(self.reduce, options)

        def reduce(columns: Mapping[str, Any]) -> State:
            return dict(self.reduce(**columns, **chosen))

        own = {name: column for name, column in columns.items() if name != GROUPS}
        groups = columns.get(GROUPS)
        if groups is not None and self.of_sides & own.keys():
            raise TypeError(f"groups: expected columns with an entry per sample, got {', '.join(own)}")
        parts = {ALL: reduce(own)} if groups is None else reduced_by_group(reduce, own, groups)
        self._check_agreement(parts, self._batches)
        return parts

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
                columns[name] = value
            elif name not in SIBLING_COLUMNS:
                raise TypeError(self._unknown_name(given, (*self.columns, *self.aliases, *self.options)))
        return columns, options

    def _unknown_name(self, name: str, known: Any) -> str:
        return f"{self.name} has no argument {name!r}; it takes {', '.join(known) or 'no options'}"


@cache
def keyword_options(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The keyword-only parameters of a function, and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind == p.KEYWORD_ONLY}


def _options_for(function: Callable[..., Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the options that a function takes."""
    return {name: options[name] for name in keyword_options(function) if name in options}


def _differ(first: Any, second: Any) -> bool:
    try:
        return bool(first != second)
    except (ValueError, TypeError, RuntimeError):  # of arrays, which no such option is
        return True


def _is_empty(column: Any) -> bool:
    sized = hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0 and not getattr(column, "is_nested", False)
    return sized and len(column) == 0
