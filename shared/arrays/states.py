"""Checks of states that come from elsewhere: another process, a file, JSON.

Each kind of state has its own check beside its TypedDict, built from these functions. An array may have lost its type,
as an empty list in JSON does; it is cast to the reducer's type, or rejected.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .arrays import to_numpy
from .columns import MAX_COUNT, as_flags, as_labels, as_numbers, as_scores
from .options import as_int


def check_arrays(state: Mapping[str, Any], names: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Raise ValueError unless a state has arrays of exactly these names; the optional ones may be missing."""
    needed = [name for name in names if name not in optional]
    if not set(needed) <= state.keys() <= {*names, *optional}:
        raise ValueError(f"state: expected the arrays {', '.join(needed)}, got {', '.join(map(str, state)) or 'none'}")


def integer_column(state: Mapping[str, Any], name: str, low: int, high: int, dtype: Any = np.int64) -> np.ndarray:
    """(N,) integers in [low, high]."""
    column = to_numpy(as_labels(state[name], _place(name)))
    if len(column) and not low <= int(column.min()) <= int(column.max()) <= high:
        raise ValueError(
            f"{_place(name)}: expected integers in [{low}, {high}], got {int(column.min())} to {int(column.max())}"
        )
    return column.astype(dtype)


def flag_column(state: Mapping[str, Any], name: str) -> np.ndarray:
    """(N,) booleans."""
    return to_numpy(as_flags(state[name], _place(name)))


def score_column(state: Mapping[str, Any], name: str) -> np.ndarray:
    """(N,) scores without NaN, in float32, float64 or a type of 16 bits at most."""
    return to_numpy(as_scores(state[name], _place(name), narrow=True))


def number_table(state: Mapping[str, Any], name: str, width: int, infinite: int | None = None) -> np.ndarray:
    """(N, width) float64; `infinite` is the column that may hold ±inf, by default none."""
    table = to_numpy(as_numbers(state[name], _place(name)))
    table = table.reshape(0, width) if table.shape == (0,) else table
    if table.shape[1:] != (width,):
        raise ValueError(f"{_place(name)}: expected rows of {width} numbers, got shape {table.shape}")
    bad = ~np.isfinite(table)
    if infinite is not None:
        bad[:, infinite] = np.isnan(table[:, infinite])
    if bad.any():
        raise ValueError(f"{_place(name)}: expected finite numbers, got {table[bad][0]}")
    return table.astype(np.float64)


def integer_scalar(state: Mapping[str, Any], name: str, low: int, high: int) -> np.ndarray:
    """An integer in [low, high], as a zero-dimensional array."""
    value: Any = state[name]
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", None):
        raise ValueError(f"{_place(name)}: expected one integer, got a {type(value).__name__}")
    row = to_numpy(as_numbers([value], _place(name)))
    if row.shape != (1,):
        raise ValueError(f"{_place(name)}: expected one integer, got shape {row.shape[1:]}")
    whole = np.isfinite(row[0]) and row[0] == np.round(row[0])
    return np.asarray(as_int(int(row[0]) if whole else float(row[0]), name, low, high))


def count_column(state: Mapping[str, Any], name: str = "counts") -> np.ndarray:
    """The number of samples that each row stands for, (N,)."""
    counts = integer_column(state, name, 1, MAX_COUNT)
    total = float(counts.sum(dtype=np.float64))
    if total > MAX_COUNT:
        raise ValueError(f"{_place(name)}: expected at most {MAX_COUNT} samples in all, got {total:.4g}")
    return counts


def check_rows(table: Mapping[str, Any]) -> None:
    """Raise ValueError unless the columns of a table have equal lengths."""
    lengths = {name: len(column) for name, column in table.items()}
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{length} of {name}" for name, length in lengths.items())
        raise ValueError(f"state: expected arrays of one length, got {came}")


def _place(name: str) -> str:
    return f"state[{name!r}]"
