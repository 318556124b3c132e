"""The columns of a batch, reduced to a state, or to a state for each group."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..arrays.arrays import State, check_not_sparse
from ..arrays.columns import as_counts
from .arguments import options_for
from .counted import COUNTS, counted, with_samples
from .groups import ALL, GROUPS, Parts, reduced_by_group


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
        check_not_sparse(column, name)
    if all(map(_is_empty, columns.values())):
        return {}
    options = options_for(metric.reduce, metric)
    if COUNTS not in columns and GROUPS not in columns:
        return {ALL: dict(metric.reduce(**columns, **options))}

    def reduce(columns: Mapping[str, Any]) -> State:
        if COUNTS not in columns:
            return dict(metric.reduce(**columns, **options))
        own = {name: column for name, column in columns.items() if name != COUNTS}
        return counted(dict(metric.reduce(**own, **options)), columns[COUNTS])

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
