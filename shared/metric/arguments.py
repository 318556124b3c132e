"""Arguments of a metric's verbs: columns of a batch and options, told apart by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from ..arrays.arrays import Array, State, check_not_sparse, on_device
from ..arrays.checks import as_counts, did_you_mean
from .groups import ALL, GROUPS, Parts, reduced_by_group

# columns that metrics of this collection take: one that a metric does not use is ignored by it, for combine()
SIBLING_COLUMNS = frozenset({"open_scores", "open_labels", "image_scores", "image_labels", "samples"})


def sort_arguments(
    metric: Any, predictions: Any, references: Any, others: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split arguments into columns, by their own names, and options; drop siblings' columns and None columns."""
    columns: dict[str, Any] = {}
    if predictions is not None:
        columns["predictions"] = predictions
    if references is not None:
        columns["references"] = references
    options: dict[str, Any] = {}
    for keyword, value in others.items():
        name = metric.aliases.get(keyword, keyword)
        if name in metric.options:
            options[name] = value
        elif name in metric.columns:
            if value is None:
                continue
            if name in columns:
                raise TypeError(f"{name} was given twice, once as {keyword}")
            columns[name] = value
        elif name not in SIBLING_COLUMNS:
            raise unknown_name(metric, keyword, (*metric.columns, *metric.aliases, *metric.options))
    return columns, options


def unknown_name(metric: Any, name: str, known: Iterable[str]) -> TypeError:
    """The error for an argument that a metric does not have."""
    known = [*known]
    hint = did_you_mean(name, known)
    return TypeError(f"{metric.name} has no argument {name!r}; it takes {', '.join(known) or 'no options'}{hint}")


def present(**columns: Any) -> dict[str, Any]:
    """The columns that are not None."""
    return {name: column for name, column in columns.items() if column is not None}


@cache
def keyword_options(function: Callable[..., Any]) -> Mapping[str, Any]:
    """The keyword-only parameters of a function, and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind == p.KEYWORD_ONLY}


def differ(first: Any, second: Any) -> bool:
    """Whether two values of an option are not equal."""
    try:
        return bool(first != second)
    except (ValueError, TypeError, RuntimeError):  # arrays cannot be compared so, but no such option is one
        return True


# Rows grouped by an engine: a column `counts` says how often each row of a batch occurs.
#
# The results are identical to those of the repeated rows. The state also holds the counts under that name.


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


# The columns of a batch, reduced to a state, or to a state for each group.


def reduced_batch(metric: Any, columns: Mapping[str, Any]) -> Parts:
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
    if all(map(_is_empty, columns.values())):
        return {}
    if COUNTS not in columns and GROUPS not in columns:
        return {ALL: dict(metric.reduce(**columns))}

    def reduce(columns: Mapping[str, Any]) -> State:
        if COUNTS not in columns:
            return dict(metric.reduce(**columns))
        own = {name: column for name, column in columns.items() if name != COUNTS}
        return counted(dict(metric.reduce(**own)), columns[COUNTS])

    own = {**columns}
    groups = own.pop(GROUPS, None)
    by_sample = [name for name in (COUNTS, GROUPS) if name in columns]
    if by_sample and metric.ungrouped_columns & own.keys():
        names = ", ".join(name for name in own if name != COUNTS)
        raise TypeError(f"{by_sample[0]}: expected columns with an entry per sample, got {names}")
    if COUNTS in columns:
        if not metric.counts_rows():
            raise ValueError("counts: expected none with per_sample, whose table has a row for each sample; got both")
        own[COUNTS] = as_counts(columns[COUNTS], COUNTS)
    parts = {ALL: reduce(own)} if groups is None else reduced_by_group(reduce, own, groups)
    return with_samples(parts) if COUNTS in columns else parts


def _is_empty(column: Any) -> bool:
    if type(column) is np.ndarray:  # the usual case, and fast
        return column.shape[:1] == (0,)
    sized = hasattr(column, "__len__") and getattr(column, "ndim", 1) > 0 and not getattr(column, "is_nested", False)
    return sized and len(column) == 0
