"""Rows grouped by an engine: a column `counts` says how often each row of a batch occurs.

The results are identical to those of the repeated rows. The state also holds the counts under that name.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..arrays.arrays import Array, State, on_device

COUNTS = "counts"  # the column


def counted(state: State, counts: Array) -> State:
    """The state of a batch with `counts`, (N,) integers, for how often each row occurs; rows with a 0 are dropped.

    Raises ValueError unless there is a count for each row.
    """
    rows = next(array for array in state.values() if array.ndim)
    if len(counts) != len(rows):
        raise ValueError(f"counts: expected one for each of {len(rows)} samples, got {len(counts)}")
    counts = on_device(counts, rows)
    there = counts > 0
    if bool(there.all()):
        return {**state, COUNTS: counts}
    kept = {name: array[there] if array.ndim else array for name, array in state.items()}
    return {**kept, COUNTS: counts[there]}


def with_samples(parts: Mapping[str, State]) -> dict[str, State]:
    """The states of groups that have samples; a group is dropped if all its counts are 0."""
    return {group: state for group, state in parts.items() if len(state[COUNTS])}
