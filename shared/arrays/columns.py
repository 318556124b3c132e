"""Checks of columns: each returns a checked array, or raises an error that names the column and says what came."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .arrays import (
    MAX_EXACT,
    Array,
    array_namespace,
    as_array,
    is_bfloat16,
    is_floating,
    is_narrow,
    is_numpy_array,
    no_number,
    on_device,
    on_one_device,
    widen,
)

_LABELS = np.dtype(np.int64)
_FLOATS = {np.dtype(np.float32), np.dtype(np.float64)}
MAX_COUNT = 2**40  # samples that one row may stand for, and a state in all


def as_scores(x: Any, name: str, ndim: int = 1, *, narrow: bool = False) -> Array:
    """Check real scores of `ndim` dimensions without NaN (±inf is legal) and return them as float32 or float64.

    With `narrow`, for scores that only rank, those in types of 8 and 16 bits stay in them (see `is_narrow`).
    """
    scores = as_numbers(x, name)
    if scores.shape == (0,):
        scores = scores.reshape((0,) * ndim)
    if scores.ndim != ndim:
        raise ValueError(f"{name}: expected scores of shape {_SHAPES[ndim]}, got shape {tuple(scores.shape)}")
    if not (narrow and is_narrow(scores)):
        scores = widen(scores, name)
    check_no_nan(scores, name)
    return scores


_SHAPES = {1: "(N,)", 2: "(N, C)", 3: "(N, H, W)"}


def as_numbers(x: Any, name: str) -> Array:
    """Check that `x` holds booleans, integers, or floats of at most 64 bits."""
    array = as_array(x, name)
    if is_numpy_array(array):
        real = array.dtype.kind in "biu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8)
    else:
        real = array_namespace(array).isdtype(array.dtype, ("bool", "integral", "real floating"))
    if not real:
        raise TypeError(f"{name}: expected numbers, got {no_number(array) if is_numpy_array(array) else array.dtype}")
    return array


def check_no_nan(scores: Array, name: str, first: int = 0) -> None:
    """Raise ValueError if there is a NaN, with its position; rows are counted from `first`."""
    xp = array_namespace(scores)
    if not is_numpy_array(scores) and math.prod(scores.shape) and not bool(xp.isnan(xp.max(scores))):
        return  # a maximum passes NaN on, and on a device takes half the time
    nan = xp.isnan(scores)
    if bool(xp.any(nan)):
        row, *rest = (int(index[0]) for index in xp.nonzero(nan))
        position = row + first if not rest else (row + first, *rest)
        raise ValueError(f"{name}: expected no NaN, got NaN at position {position}")


def as_matrix(x: Any, name: str) -> Array:
    """As `as_numbers`, but bfloat16 tensors stay as they are: `row_blocks` widens them block by block."""
    if type(x) is np.ndarray and x.dtype in _FLOATS:  # the usual case, and fast
        return x
    if is_bfloat16(x):
        return x.detach()
    return as_numbers(x, name)


def as_labels(x: Any, name: str, ndim: int = 1) -> Array:
    """Check integers of `ndim` dimensions and return them as int64; floats are taken when they are integral."""
    if type(x) is np.ndarray and x.dtype == _LABELS and x.ndim == ndim:  # the usual case, and fast
        return x
    labels = as_integers(x, name, ndim)
    xp = array_namespace(labels)
    return labels if labels.dtype == xp.int64 else xp.astype(labels, xp.int64)


def as_integers(x: Any, name: str, ndim: int = 1) -> Array:
    """As `as_labels`, but keep the integer or boolean type, or float64."""
    labels = as_numbers(x, name)
    xp = array_namespace(labels)
    if labels.shape == (0,):
        labels = labels.reshape((0,) * ndim)
    if labels.ndim != ndim:
        raise ValueError(
            f"{name}: expected integers of shape {'(N,)' if ndim == 1 else '(N, K)'}, got shape {tuple(labels.shape)}"
        )
    if is_floating(labels) and labels.shape[0]:
        labels = xp.astype(labels, xp.float64)
        check_no_nan(labels, name)
        fractional = labels != xp.round(labels)
        if bool(xp.any(fractional)):
            raise ValueError(f"{name}: expected integers, got {float(labels[fractional][0])!r}")
        if bool(xp.any(xp.abs(labels) > MAX_EXACT)):
            raise ValueError(f"{name}: expected integers within ±2**53, got {float(xp.max(xp.abs(labels)))!r}")
    elif labels.dtype == getattr(xp, "uint64", None) and labels.shape[0] and int(xp.max(labels)) >= 2**63:
        raise ValueError(f"{name}: expected integers below 2**63, got {int(xp.max(labels))}")
    return labels


def as_flags(x: Any, name: str) -> Array:
    """Check (N,) values of 0 and 1, or booleans, and return them as booleans."""
    labels = as_labels(x, name)
    other = (labels != 0) & (labels != 1)
    if bool(array_namespace(labels).any(other)):
        raise ValueError(f"{name}: expected 0 or 1, got {int(labels[other][0])}")
    return labels == 1


def as_counts(x: Any, name: str) -> Array:
    """Check (N,) integers of at least 0 that sum to at most 2^40, and return them as int64."""
    numbers = as_numbers(x, name)
    xp = array_namespace(numbers)
    if numbers.ndim != 1:
        raise ValueError(f"{name}: expected integers of shape (N,), got shape {tuple(numbers.shape)}")
    if is_floating(numbers):
        numbers = xp.astype(numbers, xp.float64)
        wrong = ~(numbers >= 0) | (numbers != xp.round(numbers))  # NaN is not at least 0
    else:
        wrong = numbers < 0 if xp.isdtype(numbers.dtype, "signed integer") else xp.zeros_like(numbers, dtype=xp.bool)
    if bool(xp.any(wrong)):
        row = int(xp.nonzero(wrong)[0][0])
        raise ValueError(f"{name}: expected integers of at least 0, got {numbers[row].item()!r} at position {row}")
    running = xp.cumulative_sum(xp.astype(numbers, xp.float64))
    if bool(xp.any(running[-1:] > MAX_COUNT)):
        row = int(xp.nonzero(running > MAX_COUNT)[0][0])
        came = f"{float(running[-1]):.4g}, of which {numbers[row].item()!r} at position {row} is the first beyond"
        raise ValueError(f"{name}: expected at most {MAX_COUNT} samples in all, got {came}")
    return xp.astype(numbers, xp.int64)


def counted_columns(counts: Any, **columns: Array) -> list[Any]:
    """Check that columns have one length, and return them on one device, then the checked counts of samples or None.

    Raises ValueError if there are no samples.
    """
    numbers = None if counts is None else as_counts(counts, "counts")
    check_lengths(**columns, counts=numbers)
    first, *others = on_one_device(*columns.values())
    numbers = None if numbers is None else on_device(numbers, first)
    if not first.shape[0] or (numbers is not None and not bool(array_namespace(numbers).any(numbers > 0))):
        raise ValueError(f"{', '.join(columns)}: expected at least one sample, got none")
    return [first, *others, numbers]


def check_lengths(**columns: Array | None) -> None:
    """Raise ValueError unless all columns that are not None have equal lengths."""
    lengths = {
        name: len(column) if getattr(column, "ndim", 1) else "no"
        for name, column in columns.items()
        if column is not None
    }
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise ValueError(f"expected columns of one length, got {came}")


def check_orientation(predictions: Array, references: Array) -> None:
    """Raise ValueError if the two columns seem to be swapped."""
    if predictions.ndim == 1 and references.ndim == 2:
        raise ValueError(
            f"predictions and references are swapped: references must be (N,) class ids, got shape "
            f"{tuple(references.shape)}, and predictions have shape {tuple(predictions.shape)}"
        )


def are_ids_below(labels: Array, num_classes: int) -> bool:
    """Whether all int64 ids are in [0, num_classes)."""
    if not is_numpy_array(labels):
        return bool(array_namespace(labels).all((labels >= 0) & (labels < num_classes)))
    return int(labels.view(np.uint64).max(initial=0)) < num_classes  # a negative one is large as an unsigned one


def check_class_ids(labels: Array, name: str, num_classes: int) -> None:
    """Raise ValueError unless every label is below `num_classes`; negative labels are the caller's to judge."""
    xp = array_namespace(labels)
    if labels.shape[0] and int(xp.max(labels)) >= num_classes:
        raise ValueError(f"{name}: expected class ids below {num_classes}, got {int(xp.max(labels))}")


def check_not_negative(ids: Array, name: str, hint: str = "", *, of: str = "class ids") -> None:
    """Raise ValueError if a class id, or another integer, is negative."""
    lowest = int(array_namespace(ids).min(ids)) if ids.shape[0] else 0
    if lowest < 0:
        raise ValueError(f"{name}: expected {of} of at least 0, got {lowest}{hint}")
