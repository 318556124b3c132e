"""The metric mixin: columns are reduced to a state, a state is prepared once, and counts of its rows give results.

    columns of a batch ── reduce ──→ state ── join · compact ──→ state ── prepare ──→ Prepared
    Prepared ── rates(counts) ──→ results

All verbs (compute, add_batch, add, state, merge, reset, len, a call), and intervals, comparisons, groups and processes,
rest on `reduce`, `prepare` and `Prepared.rates`; `as_state` checks a state that comes from elsewhere.

Equal rows of a table of a state may be one row with a count: the results are identical to those of the rows repeated.
So where rows take few values, they are counted whenever their number has doubled, and memory stops growing.

Every metric takes a column `groups`: a batch then has a state for each group, and results are means over the groups.
Metrics over samples take a column `counts`: how often each row of a batch occurs, as an engine has grouped them.
Every metric takes a column `clusters`: rows that depend on each other, which a resample draws together.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..arrays.arrays import State, to_numpy
from ..arrays.checks import as_choice, as_int, as_open_share, did_you_mean
from .bootstrap import MAX_RESAMPLES, ByGroup, Part, assembled, prepared_parts, results_and_replicates
from .clusters import CLUSTERS, OF_CLUSTERS, checked_clusters
from .groups import ALL, BAR, GROUPS, Parts, as_one_state, as_parts, groups_of
from .prepared import Prepared
from .results import ARITHMETIC, MEANS, Results, Summary
from .signature import differ, signed
from .states import (
    COUNTS,
    check_agreement,
    check_total,
    checked_states,
    compacted_parts,
    copied,
    joined_parts,
    num_rows,
    num_samples,
    reduced_batch,
)

ROWS = 1 << 16  # of a table, up to which they are kept as they come
# columns that metrics of this collection take: one that a metric does not use is ignored by it, for combine()
# what completion offers, besides the options; other names without an underscore are for the package
SHOWN = frozenset(
    {
        *("add", "add_batch", "update", "compute", "summary", "reset", "state", "merge"),
        *("name", "columns", "required", "options", "loaded_options", "signature"),
    }
)
SIBLING_COLUMNS = frozenset({"open_scores", "open_labels", "image_scores", "image_labels", "samples"})


_USUAL = ("predictions", "references", "open_scores")  # columns; the first two are in the singular for one sample


class _Options:
    """The options of a metric and their defaults, read from its fields once: its own first, then the common ones."""

    def __get__(self, instance: object, owner: Any) -> Mapping[str, Any]:
        ordered = sorted(fields(owner), key=lambda field: field.name in OF_EVERY_METRIC)
        owner.options = {field.name: field.default for field in ordered}
        return dict(owner.options)


@dataclass(kw_only=True, eq=False, repr=False)
class Metric:
    """A metric over samples that come in batches.

    A metric is a dataclass. Its fields are its options, with their types and defaults, and `__post_init__` checks each
    option by itself. It sets

    name: the name that it is loaded by
    reduce: a method from the columns of a batch (its parameters; those without a default are required) to a state
    as_state: a method that checks a state from elsewhere, and casts its arrays to the types that `reduce` returns
    prepare: a method from a state to a `Prepared`; options that need each other are checked there

    In a state, arrays of no dimension must agree between the batches that have them, all others are joined along their
    first axis, and the first of them has an entry per sample. `counts` holds the number of equal samples that each
    entry stands for, and `x_counts` the same for each entry of the array `x`; without them, it is one.

    Options of every metric

    confidence_level: with a level such as 0.95, rates get intervals, by a percentile bootstrap
    n_resamples, random_state: the number of resamples, and their seed
    groups_without: "raise", or "skip" groups that lack one of the classes that a result needs
    groups_mean: the mean over groups, "arithmetic", or "harmonic", n/Σ 1/x, which is 0 where one is
    """

    name: ClassVar[str]
    fixed_options: ClassVar[frozenset[str]] = frozenset()  # that shape a batch as it is added, and cannot change then
    # the columns of each table of a state in which equal rows may be counted, by the name of the counts
    countable_tables: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    truth: ClassVar[tuple[str, ...]] = ()  # the arrays of a state that say what the samples are, of all models alike
    aliases: ClassVar[Mapping[str, str]] = {}  # other names for columns
    # options that say which results there are, and move none, so that they are not in the signature
    selecting: ClassVar[frozenset[str]] = frozenset({"confidence_level", "n_resamples", "random_state", "per_sample"})
    configs: ClassVar[Mapping[str, Mapping[str, Any]]] = {}  # options by the `config_name` of evaluate for them
    ungrouped_columns: ClassVar[frozenset[str]] = frozenset()  # without one entry per sample, so they have no groups
    # what the bits of `Prepared.kinds` stand for: the classes of samples that results need
    classes_needed: ClassVar[tuple[str, ...]] = ("unknown samples", "known samples")
    owned_arrays: ClassVar[frozenset[str]] = frozenset()  # of a state, that `reduce` allocates: they need no copy

    # read from the fields, and from the signature of `reduce`: all columns, with `counts`, `groups` and `clusters`, and
    # those that cannot be left out
    options = _Options()
    columns: ClassVar[tuple[str, ...]]
    required: ClassVar[tuple[str, ...]]

    confidence_level: float | None = None
    n_resamples: int = 1000
    random_state: int = 0
    groups_without: str = "raise"
    groups_mean: str = ARITHMETIC

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Read the columns from the signature of `reduce`."""
        super().__init_subclass__(**kwargs)
        cls.options = _Options()
        if "reduce" in cls.__dict__:
            columns = [*inspect.signature(cls.reduce).parameters.values()][1:]  # without self
            counts = [COUNTS] if COUNTS in cls.countable_tables else []
            cls.columns = (*(p.name for p in columns), *counts, GROUPS, CLUSTERS)
            cls.required = tuple(p.name for p in columns if p.default is p.empty)

    if not TYPE_CHECKING:  # a type checker sees the fields

        def __new__(cls, *args: Any, **options: Any) -> Metric:
            """Refuse an unknown option, and name the options that exist."""
            for name in options:
                if name not in cls.options:
                    raise unknown_name(cls, name, cls.options)
            return super().__new__(cls)

    def __post_init__(self) -> None:
        """Check the options of every metric; a list that comes as an iterator is read once, here."""
        for name, value in vars(self).items():
            if isinstance(value, Iterator):
                setattr(self, name, [*value])
        if self.confidence_level is not None:
            self.confidence_level = as_open_share(self.confidence_level, "confidence_level")
        self.n_resamples = as_int(self.n_resamples, "n_resamples", 1, MAX_RESAMPLES)
        self.random_state = as_int(self.random_state, "random_state", 0)
        self.groups_without = as_choice(self.groups_without, "groups_without", ("raise", "skip"))
        self.groups_mean = as_choice(self.groups_mean, "groups_mean", tuple(MEANS))
        self.owns_state = False  # whether `prepare` may overwrite its state, because it is not needed again
        self.keeps_samples = False  # whether equal rows stay apart, because the samples are saved to be compared
        self._lock = threading.RLock()  # of the batches: a metric may be fed by several threads
        self._batches: list[Parts] = []  # of each, the states by group
        self._rows, self._compact_above = 0, ROWS  # of the tables: how many there are, and when they are counted
        self._samples = 0
        self._agreed: dict[str, Any] = {}  # what all batches have in common (see `check_agreement`)

    def reduce(self, *args: Any, **kwargs: Any) -> Mapping[str, Any]:
        """Reduce the columns of a batch, which are the parameters of a metric's own method, to a state."""
        raise NotImplementedError(f"{type(self).__name__}: expected a method `reduce`, from columns to a state")

    def as_state(self, state: Mapping[str, Any]) -> Mapping[str, Any]:
        """Check a state from elsewhere. Raises ValueError and TypeError for one that `reduce` cannot return."""
        raise NotImplementedError(f"{type(self).__name__}: expected a method `as_state`, from a state to a checked one")

    def prepare(self, state: Any) -> Prepared:
        """Check, sort, count or match a state once, for its own results and for its resamples."""
        raise NotImplementedError(f"{type(self).__name__}: expected a method `prepare`, from a state to a Prepared")

    def tables(self, prepared: Any, results: Results) -> dict[str, Any]:
        """Tables beside the results, such as `per_sample`, which are not resampled. By default none."""
        return {}

    @property
    def loaded_options(self) -> dict[str, Any]:
        """The options by name, as set at load or by default."""
        return {name: getattr(self, name) for name in self.options}

    @property
    def signature(self) -> str:
        """The name of its numbers: the metric, the options that move them and are not the defaults, and the version.

        >>> from openworld_metrics import OODBench
        >>> OODBench(metrics="tpr", threshold=0.5).signature
        'ood_bench|threshold:0.5|v0.2.0'
        """
        return str(signed(self, self.loaded_options)["signature"])

    def moving(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """The options that move results, in a form that is equal for options that give equal results."""
        without = {*self.selecting, *self.idle_options}
        return {name: value for name, value in options.items() if name not in without}

    def with_options(self, options: Mapping[str, Any]) -> Metric:
        """A metric of the same kind without batches, with these options changed."""
        return self._core(**{**self.loaded_options, **options})

    @property
    def means(self) -> dict[str, Any]:
        """The options of means over groups, by the names of `summary_of_groups`."""
        return {"skipping": self.groups_without == "skip", "groups_mean": self.groups_mean}

    def only(self, keys: Collection[str]) -> Metric:
        """A metric without batches that has these results, and may leave out others to save time."""
        return self.with_options({})

    @property
    def _core(self) -> type[Metric]:
        return type(self)

    def __dir__(self) -> list[str]:
        """The public names, the options, and the names that begin with an underscore."""
        names = super().__dir__()
        return [name for name in names if name.startswith("_") or name in SHOWN or name in self.options]

    def __call__(
        self, *positional: Any, predictions: Any = None, references: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Compute the results of the columns passed here alone: of one batch, in this process.

        Batches that were added before are not used, and stay; this one is not added. Options are those of `compute`.
        """
        self._check_keywords("", positional)
        return self.with_options({}).compute(predictions=predictions, references=references, **kwargs)

    def compute(
        self, *positional: Any, predictions: Any = None, references: Any = None, **kwargs: Any
    ) -> dict[str, Any]:
        """Compute the results from the batches added before, and from the columns passed here, if any.

        Options passed here override the options set at load, for this call. The batches are dropped once the results
        exist; a call that raises changes nothing. With evaluate's `num_process > 1`, process 0 collects all batches and
        returns the results, and the others return None; it raises TimeoutError if one does not report within `timeout`
        seconds. Errors of process 0 are raised only there, and it keeps the batches.
        """
        self._check_keywords(".compute", positional)
        computed, _ = self._computed(predictions, references, kwargs)
        results: Any = computed and computed.as_dict()
        return results

    def summary(self, *positional: Any, predictions: Any = None, references: Any = None, **kwargs: Any) -> Summary:
        """As `compute`, but return a `Summary`: its results know their direction, error, threshold and interval."""
        self._check_keywords(".summary", positional)
        computed, metric = self._computed(predictions, references, kwargs)
        signed_one: Any = computed and computed._replace(
            **signed(metric, metric.loaded_options, overlapping=computed.overlapping)
        )
        return signed_one

    def _computed(self, predictions: Any, references: Any, others: Mapping[str, Any]) -> tuple[Summary | None, Metric]:
        """The results without their signature, None where another process has them; and the metric with all options."""
        columns, overrides = sort_arguments(self, predictions, references, others)
        metric = self.with_options(overrides) if overrides else self
        with self._lock:
            for name in overrides if self._batches else ():
                if name in self.fixed_options and differ(getattr(metric, name), getattr(self, name)):
                    raise ValueError(f"{name}: it was applied as batches were added; give it at load, not at compute")
            last = [reduced_batch(metric, columns)] if columns else []
            if len(self._batches) > 1:  # joined here, so that the batches they came from can be let go
                self._batches = [joined_parts(self._batches)]
            metric.owns_state = not self._batches
            try:
                computed = self._summary([*self._batches, *last], metric)
            finally:
                metric.owns_state = False
            self.reset()
        return computed, metric

    def prepared_parts(self, name: str = ALL, /, **kwargs: Any) -> Iterator[Part]:
        """Prepare columns in parts that are resampled separately; without columns the batches added, which are kept.

        `name` names the part of all samples where there are no groups.
        """
        columns, overrides = sort_arguments(self, None, None, kwargs)
        metric = self.with_options(overrides)
        with self._lock:
            batches = [reduced_batch(metric, columns)] if columns else [*self._batches]
        return prepared_parts(metric, self._states(batches), resampled=True, name=name)

    @property
    def group_names(self) -> list[str]:
        """The names of the groups of the batches, sorted."""
        with self._lock:
            return groups_of(key for parts in self._batches for key in parts)

    def results_by_group(self, name: str) -> tuple[dict[str, Results], ByGroup]:
        """Results of the batches by group and, with a confidence_level, their replicates; the batches stay.

        Without groups, `name` names all samples. The results of several metrics, such as one for each category of a
        folder, can be put into one summary (see `assembled`).
        """
        with self._lock:
            return results_and_replicates(self, self._states(self._batches), name)[:2]

    def _check_keywords(self, verb: str, positional: tuple[Any, ...], suffix: str = "s") -> None:
        """Raise TypeError for columns by position, whose order differs between libraries."""
        if positional:
            columns = [name for name in _USUAL if name in self.columns]
            call = ", ".join(
                f"{name.removesuffix('s') + suffix if name in _USUAL[:2] else name}=..." for name in columns
            )
            raise TypeError(
                f"expected columns by keyword, as in {self.name}{verb}({call}), got {len(positional)} by position"
            )

    def add_batch(self, *positional: Any, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch of columns. An empty one adds nothing; if one raises, the batches before it are untouched."""
        self._check_keywords(".add_batch", positional)
        columns, options = sort_arguments(self, predictions, references, kwargs)
        if options:
            raise TypeError(f"{next(iter(options))}: it is an option; give it at load or to compute")
        parts = reduced_batch(self, columns)
        # the caller may reuse its buffers
        self._keep({group: copied(state, but=self.owned_arrays) for group, state in parts.items()})

    def update(self, *positional: Any, predictions: Any = None, references: Any = None, **kwargs: Any) -> None:
        """Add a batch, as `add_batch` does, under the name that torchmetrics, torcheval and pytorch-ood have for it."""
        self._check_keywords(".update", positional)
        self.add_batch(predictions=predictions, references=references, **kwargs)

    def add(self, *positional: Any, prediction: Any = None, reference: Any = None, **kwargs: Any) -> None:
        """Add one sample: the columns of add_batch, with one entry each."""
        self._check_keywords(".add", positional, suffix="")
        sample = {"predictions": prediction, "references": reference, **kwargs}
        there = {name: value for name, value in sample.items() if value is not None}
        self.add_batch(**{name: value if name in self.options else [value] for name, value in there.items()})

    def state(self) -> dict[str, np.ndarray]:
        """Return the reduced arrays of all batches added so far, as NumPy arrays; empty if there are none.

        The arrays of groups are named 0/scores, 1/scores and so on, in the order of the names in `groups`.
        """
        with self._lock:
            return self._as_numpy(joined_parts(self._batches))

    @property
    def idle_options(self) -> Sequence[str]:
        """The options that are set but change no result, such as a number of resamples without a confidence level."""
        drawn = ("n_resamples", "random_state") if self.confidence_level is None else ()
        return [name for name in drawn if getattr(self, name) != self.options[name]]

    @property
    def bytes_per_second(self) -> int:
        """Estimate the bytes of states, times the resamples, whose intervals take a second."""
        return 1 << 26

    def states(self) -> list[dict[str, np.ndarray]]:
        """The batches as a list of states, not joined, with equal rows counted if there are few distinct values."""
        with self._lock:
            self._compact()
            return [self._as_numpy(parts) for parts in self._batches if parts]

    def _as_numpy(self, parts: Parts) -> dict[str, np.ndarray]:
        arrays = {name: to_numpy(array).copy() for name, array in as_one_state(parts).items()}
        return {**arrays, "metric": np.asarray(self.name)} if arrays else {}

    def merge(self, state: Mapping[str, np.ndarray]) -> None:
        """Take the reduced arrays of another metric's `state()`, as if its batches had been added here.

        Raises TypeError for anything but a state, ValueError for a state of another metric or one that `reduce` cannot
        have returned; earlier batches are then unchanged.
        """
        self._keep(self._checked_parts(state))

    def _checked_parts(self, state: Mapping[str, Any]) -> Parts:
        """Check and copy the result of another metric's `state()`, by group."""
        if not isinstance(state, Mapping):
            cure = ", which openworld_metrics.cluster.unpack turns into one" if isinstance(state, bytes) else ""
            raise TypeError(f"state: expected the dict that state() returns, got {type(state).__name__}{cure}")
        if state and str(state.get("metric")) != self.name:
            raise ValueError(f"state: expected one of {self.name}, got one of {state.get('metric', 'no metric')}")
        parts = as_parts({name: array for name, array in state.items() if name != "metric"})
        return {
            group: {name: np.array(array) for name, array in self._checked(each).items()}
            for group, each in parts.items()
        }

    def _checked(self, state: Mapping[str, Any]) -> State:
        if not state:
            return {}
        checked = dict(self.as_state({name: array for name, array in state.items() if name not in OF_CLUSTERS}))
        rows = next(array for array in checked.values() if array.ndim)
        return {**checked, **checked_clusters(state, len(rows))}

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the lock."""
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, content: dict[str, Any]) -> None:
        """Unpickle, and check the batches as `merge` does."""
        self.__dict__.update(content)
        self._lock = threading.RLock()

        def checked(state: State) -> State:
            # states on an accelerator come from deepcopy, not from a file, and stay where they are
            return self._checked(state) if all(isinstance(array, np.ndarray) for array in state.values()) else state

        self._batches = [{group: checked(state) for group, state in parts.items()} for parts in self._batches]

    def reset(self) -> None:
        """Drop the batches added so far."""
        with self._lock:
            self._batches, self._rows, self._compact_above, self._samples, self._agreed = [], 0, ROWS, 0, {}

    def _keep(self, parts: Parts) -> None:
        """Keep a batch. Whenever the number of rows has doubled, equal ones, if many, become one with a count."""
        with self._lock:
            agreed = {**self._agreed}
            samples = self._samples + check_agreement(parts, agreed)
            check_total(samples)
            rows = self._rows + num_rows(parts.values(), self.countable_tables)
            if rows > self._compact_above:
                self._compact(parts)
            else:
                self._batches.append(parts)
                self._rows = rows
            self._samples, self._agreed = samples, agreed

    def _compact(self, *others: Parts) -> None:
        batches: list[Parts] = [*self._batches, *others]
        if self.counts_rows() and not self.keeps_samples:
            batches = compacted_parts(batches, self.countable_tables)
        self._batches = batches
        self._rows = sum(num_rows(parts.values(), self.countable_tables) for parts in batches)
        self._compact_above = max(ROWS, 2 * self._rows)

    def counts_rows(self) -> bool:
        """Whether equal rows of tables may be counted: not if results have an entry for each sample."""
        return not getattr(self, "per_sample", False)

    def __len__(self) -> int:
        """Number of samples added so far."""
        with self._lock:
            return sum(num_samples(state) for parts in self._batches for state in parts.values())

    def _states(self, batches: Sequence[Parts]) -> Mapping[str, Sequence[State]]:
        return checked_states(batches)

    def _summary(self, batches: Sequence[Parts], metric: Metric) -> Summary:
        summary = assembled(metric, *results_and_replicates(metric, self._states(batches)))
        return summary._replace(overlapping=any(BAR in key for parts in batches for key in parts))


OF_EVERY_METRIC = tuple(field.name for field in fields(Metric))  # options


def sort_arguments(
    metric: Metric, predictions: Any, references: Any, others: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into columns, by their own names, and options; drop siblings' columns and None columns."""
    columns: dict[str, Any] = {}
    options: dict[str, Any] = {}
    for keyword, value in {"predictions": predictions, "references": references, **others}.items():
        name = metric.aliases.get(keyword, keyword)
        if name in metric.options:
            options[name] = value
        elif name in metric.columns:
            if value is None:
                continue
            if name in columns:
                raise TypeError(f"{name} was given twice, once as {keyword}")
            columns[name] = value
        elif name not in SIBLING_COLUMNS and (value is not None or keyword in others):
            raise unknown_name(metric, keyword, (*metric.columns, *metric.aliases, *metric.options))
    return columns, options


def unknown_name(metric: Metric | type[Metric], name: str, known: Iterable[str]) -> TypeError:
    """The error for an argument that a metric does not have."""
    known = [*known]
    hint = did_you_mean(name, known)
    return TypeError(f"{metric.name} has no argument {name!r}; it takes {', '.join(known) or 'no options'}{hint}")
