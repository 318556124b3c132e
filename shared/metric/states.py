"""The states of batches: reduced from columns, checked to agree, joined, with equal rows counted, and as bytes."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.npyio import NpzFile

from ..arrays.arrays import Array, State, array_namespace, check_not_sparse, concatenate, on_device, to_numpy
from ..arrays.checks import MAX_COUNT, as_counts, check_indices
from ..arrays.compacting import compact_table, has_equal_rows, has_few_values
from .clusters import CLUSTER_NAMES, CLUSTERS, as_cluster_names, numbered, renumbered
from .groups import ALL, GROUPS, Parts, reduced_by_group

if TYPE_CHECKING:
    from .metric import Metric

COUNTS = "counts"  # the column that says how often each row of a batch occurs, and its array in the state
# entries of a state that say how its scores were rounded, so that there are few different ones
ROUNDED = frozenset({"thresholds", "significant_bits"})
_SMALL = 1 << 12  # samples


def reduced_batch(metric: Metric, columns: Mapping[str, Any]) -> Parts:
    """The states of a batch by group; none of empty columns.

    Raises TypeError for a column that is missing, or that cannot be grouped or counted, ValueError for counts where
    results have an entry for each sample, and the errors of the metric's `reduce`.
    """
    for name in metric.required:
        if name not in columns:
            needed = f"column{'s' * (len(metric.required) > 1)} {', '.join(metric.required)}"
            raise TypeError(f"{name}: {metric.name} needs the {needed}; got no {name}")
    for name, column in columns.items():
        if type(column) is not np.ndarray:
            check_not_sparse(column, name)
    check_indices(**columns)
    if all(map(_is_empty, columns.values())):
        return {}
    of_metric = {**columns}
    by_sample = {name: of_metric.pop(name) for name in (COUNTS, GROUPS, CLUSTERS) if name in of_metric}
    if not by_sample:
        return {ALL: dict(metric.reduce(**of_metric))}
    if metric.ungrouped_columns & of_metric.keys():
        raise TypeError(
            f"{next(iter(by_sample))}: expected columns with an entry per sample, got {', '.join(of_metric)}"
        )
    groups, counts = by_sample.get(GROUPS), by_sample.get(COUNTS)
    if CLUSTERS in by_sample:
        of_metric[CLUSTERS] = as_cluster_names(by_sample[CLUSTERS])
    if counts is not None:
        if not metric.counts_rows():
            raise ValueError("counts: expected none with per_sample, whose table has a row for each sample; got both")
        of_metric[COUNTS] = as_counts(counts, COUNTS)
    reduce = partial(_state_of, metric)
    parts = {ALL: reduce(of_metric)} if groups is None else reduced_by_group(reduce, of_metric, groups)
    return parts if counts is None else {group: state for group, state in parts.items() if len(state[COUNTS])}


def _is_empty(column: Any) -> bool:
    if type(column) is np.ndarray:  # the usual case, and fast
        return column.shape[:1] == (0,)
    sized = hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0 and not getattr(column, "is_nested", False)
    return sized and len(column) == 0


def _state_of(metric: Metric, columns: Mapping[str, Any]) -> State:
    """The state of columns; `counts`, (N,) integers, say how often each row occurs, and rows with a 0 are dropped."""
    of_metric = {**columns}
    counts, clusters = of_metric.pop(COUNTS, None), of_metric.pop(CLUSTERS, None)
    state: State = dict(metric.reduce(**of_metric))
    rows = next(array for array in state.values() if array.ndim)
    for name, column in ((COUNTS, counts), (CLUSTERS, clusters)):
        if column is not None and len(column) != len(rows):
            raise ValueError(f"{name}: expected one for each of {len(rows)} samples, got {len(column)}")
    names: State = {}
    if clusters is not None:
        names = numbered(clusters, rows)
        state[CLUSTERS] = names.pop(CLUSTERS)
    if counts is not None:
        counts = on_device(counts, rows)
        state[COUNTS], there = counts, counts > 0
        state = {name: array[there] if array.ndim else array for name, array in state.items()}
    return {**state, **names}


def joined(states: Iterable[State]) -> State:
    """Join states; a single state is returned unchanged. Raises ValueError for more than 2^40 samples."""
    states = [*filter(None, states)]
    if len(states) < 2:
        return states[0] if states else {}
    check_total(sum(map(num_samples, states)))
    arrays: State = {}
    for state in states:
        arrays |= state
    if CLUSTER_NAMES in arrays:
        states = renumbered(states)
        arrays[CLUSTER_NAMES] = states[0][CLUSTER_NAMES]
    for name in [name for name, array in arrays.items() if array.ndim and name != CLUSTER_NAMES]:
        arrays[name] = concatenate([state[name] if name in state else _ones(state, name) for state in states])
    return arrays


def states_by_group(batches: Iterable[Parts]) -> dict[str, list[State]]:
    """Collect the states of batches by group, each group's in the order of the batches."""
    by_group: dict[str, list[State]] = {}
    for parts in batches:
        for name, state in parts.items():
            by_group.setdefault(name, []).append(state)
    return by_group


def joined_parts(batches: Iterable[Parts]) -> Parts:
    """Join the states of batches group by group."""
    return {group: joined(states) for group, states in states_by_group(batches).items()}


def check_total(number: int) -> None:
    """Raise ValueError for more samples than integer sums can hold."""
    if number > MAX_COUNT:
        raise ValueError(f"expected at most {MAX_COUNT} samples in all, got {number}")


def compacted(states: Sequence[State], columns: Sequence[str], counts: str) -> list[State]:
    """Join states in their order, and count equal rows of the table of these columns, unless few rows are equal.

    Rounded rows are always counted, so that what counting rules out never depends on the data.
    """
    states = [state for state in states if state]
    plain = [state for state in states if counts not in state]
    unrounded = [state for state in plain if not ROUNDED & state.keys()]
    grows = not all(has_few_values(state[name]) for name in columns for state in unrounded)
    if grows and len(plain) == len(states):
        return _gathered(plain)

    def in_one(states: Sequence[State]) -> State:
        table = joined(states)
        worth_counting = ROUNDED & table.keys() or has_equal_rows([table[name] for name in columns])
        return compact_table(table, columns, counts) if worth_counting else table

    parts: list[State] = []
    for is_counted, run in groupby(states, lambda state: counts in state):
        alike = [*run]
        parts += alike if is_counted else [in_one(alike)]  # first, since rows without counts are counted faster
    return parts if len(parts) < 2 else [in_one(parts)]


def compacted_parts(batches: Sequence[Parts], tables: Mapping[str, Sequence[str]]) -> list[Parts]:
    """Count equal rows of the batches, group by group; `tables` are the columns of each, by the name of its counts."""
    parts: list[Parts] = []
    for group, states in states_by_group(batches).items():
        for counts, columns in tables.items():
            there = {name for state in states for name in state}
            columns = [name for name in columns if name in there]
            of_rows = counts == COUNTS and CLUSTERS in there
            states = compacted(states, (*columns, CLUSTERS) if of_rows else columns, counts)
        parts += [{group: state} for state in states]
    return parts


def num_rows(states: Iterable[State], tables: Mapping[str, Sequence[str]]) -> int:
    """The number of rows in the tables of states."""
    number = 0
    for state in states:  # loops take half as long as a generator, for small batches
        if state:
            for columns in tables.values():
                number += len(state[columns[0]])
    return number


def _gathered(states: Sequence[State]) -> list[State]:
    """Join runs of small states: every array costs some memory, however short it is."""
    runs = groupby(states, lambda state: num_samples(state) < _SMALL)
    return [*chain.from_iterable([joined(run)] if is_small else run for is_small, run in runs)]


def check_agreement(parts: Parts, agreed: dict[str, Any]) -> int:
    """Note the names of the arrays of a batch's states, and their scalars, in `agreed`; return the number of samples.

    Raises ValueError if there are other arrays, or another value of a scalar, than in the states before.
    """
    samples = 0
    for state in filter(None, parts.values()):
        arrays = []
        for name, array in state.items():
            if array.ndim:
                arrays += [] if name.endswith(COUNTS) else [name]
            elif agreed.setdefault(name, array.item()) != array.item():
                raise ValueError(f"{name}: expected {agreed[name]} as in the batches before, got {array}")
        arrays.sort()
        if agreed.setdefault(GROUPS, arrays) != arrays:
            raise ValueError(f"expected a state of {', '.join(agreed[GROUPS])}, got one of {', '.join(arrays)}")
        samples += num_samples(state)
    return samples


def checked_states(batches: Sequence[Parts]) -> Mapping[str, Sequence[State]]:
    """The states of batches by group. Raises ValueError without samples, and unless all batches agree."""
    samples, agreed = 0, dict[str, Any]()
    for parts in batches:
        samples += check_agreement(parts, agreed)
    check_total(samples)
    if not samples:
        raise ValueError("expected at least one sample, got none: pass columns, or add batches before compute()")
    return states_by_group(batches)


def num_samples(state: Mapping[str, Any]) -> int:
    """The number of samples in a state."""
    if "counts" in state:
        return int(array_namespace(state["counts"]).sum(state["counts"]))
    return len(next(iter(state.values()))) if state else 0


def _ones(state: State, name: str) -> Array:
    """The counts that a state does not have."""
    rows = state[name.removesuffix("_counts")] if name != "counts" else next(iter(state.values()))
    return array_namespace(rows).ones_like(rows, dtype=array_namespace(rows).int64)


def copied(state: State, but: Set[str] = frozenset()) -> State:
    """Copy the arrays of a state, except the names in `but`."""
    copies = {
        name: x.copy() if isinstance(x, np.ndarray) else x.clone() for name, x in state.items() if name not in but
    }
    return {**state, **copies}


def pack(state: Mapping[str, Any]) -> bytes:
    """A state as bytes: an .npz archive of its arrays, with a checksum of each, and without pickles.

    Parameters: state, as `Metric.state()` returns it. Raises TypeError for anything but a dict of arrays.

    >>> from openworld_metrics import OODBench
    >>> metric, other = OODBench(), OODBench()
    >>> metric.add_batch(predictions=[0.1, 0.6, 0.4, 0.9], references=[0, 0, 1, 1])
    >>> other.merge(unpack(pack(metric.state())))
    >>> other.compute()["auroc"]
    0.75
    """
    if not isinstance(state, Mapping):
        raise TypeError(f"state: expected the dict that state() returns, got {type(state).__name__}")
    arrays = {name: np.asarray(to_numpy(x) if hasattr(x, "device") else x) for name, x in state.items()}
    wrong = [name for name, array in arrays.items() if array.dtype.hasobject]
    if wrong:
        raise TypeError(f"state[{wrong[0]!r}]: expected numbers or names, got objects")
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]  # no array is named allow_pickle
    return buffer.getvalue()


def unpack(data: bytes) -> dict[str, np.ndarray]:
    """Read a state from the bytes of `pack`; `Metric.merge` checks its arrays.

    Raises TypeError for anything but bytes, ValueError for bytes that are damaged, truncated or not a state.

    >>> unpack(pack({"scores": np.asarray([0.5, 0.25])}))["scores"].tolist()
    [0.5, 0.25]
    """
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise TypeError(f"data: expected the bytes that pack() returns, got {type(data).__name__}")
    try:
        with NpzFile(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception as error:  # of zipfile, of NumPy and of what they call
        raise ValueError(
            f"data: expected the bytes that pack() returns, got {len(data)} that cannot be read: {error}"
        ) from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError(f"data: expected the bytes that pack() returns, got an archive of {', '.join(arrays)}")
    return arrays
