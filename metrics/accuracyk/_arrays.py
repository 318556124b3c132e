"""Array backends and input checks: every column and option of every metric is checked here.

A checked array is a NumPy array or, for tensors that live on an accelerator, the tensor itself. CPU tensors are
viewed as NumPy arrays without a copy (np.sort is 30 times faster than torch.sort there), so torch is never
imported: a tensor can only come from a caller who has imported it.

Floating scores keep their precision; float16, bfloat16 and integers are widened to the smallest of float32 and
float64 that holds them exactly, so that equal values give equal results whatever type they came in.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from array_api_compat import array_namespace, is_numpy_array, is_torch_array

Array = Any  # a NumPy array, or a tensor on an accelerator
State = dict[str, Array]

# int64 holds 9.2e18 but float64 only every integer up to here
MAX_EXACT = 2**53


def as_array(x: Any, name: str) -> Array:
    """Return `x` as a NumPy array, or as the tensor it is when it lives on an accelerator.

    Takes lists, NumPy arrays, torch tensors, pandas Series, Arrow arrays and `datasets` columns. Nothing is copied
    that need not be. Raises TypeError for what is not an array, ValueError for rows of different lengths.
    """
    if x is None:
        raise TypeError(f"{name}: expected an array, got None")
    if isinstance(x, (str, bytes, Mapping, set, frozenset)):
        raise TypeError(f"{name}: expected an array, got {type(x).__name__}")
    if isinstance(x, np.ndarray) and x.dtype != object:
        return x
    if is_torch_array(x):
        return _from_tensor(x)
    if hasattr(x, "to_numpy"):
        return as_array(x.to_numpy(), name)
    if hasattr(x, "__array__") and not isinstance(x, np.ndarray):
        return as_array(np.asarray(x), name)
    return _from_rows(list(x) if isinstance(x, Iterable) else x, name)


def _from_tensor(x: Any) -> Array:
    x = x.detach()
    if x.device.type != "cpu":
        return x
    # NumPy has no bfloat16
    return (x.float() if "bfloat16" in str(x.dtype) else x).numpy()


def _from_rows(rows: Any, name: str) -> Array:
    if isinstance(rows, list) and rows and is_torch_array(rows[0]) and rows[0].device.type != "cpu":
        xp = array_namespace(rows[0])
        return xp.stack(rows)
    if isinstance(rows, list) and rows and (is_torch_array(rows[0]) or hasattr(rows[0], "dtype")):
        rows = [as_array(row, name) if hasattr(row, "dtype") else row for row in rows]
    try:
        array = np.asarray(rows)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{name}: expected rows of one length, got rows that differ ({error})") from None
    if array.dtype == object:
        raise TypeError(f"{name}: expected numbers, got {_examples(array)}")
    return array


def _examples(array: np.ndarray) -> str:
    return f"{array.dtype.name} values such as {', '.join(repr(value) for value in array.reshape(-1)[:3].tolist())}"


def to_numpy(x: Array) -> np.ndarray:
    """Return a checked array as a NumPy array (a transfer when it lives on an accelerator)."""
    return x if isinstance(x, np.ndarray) else x.cpu().numpy()


def on_device(x: np.ndarray, like: Array) -> Array:
    """Return the NumPy array `x` on the device of `like`."""
    return x if is_numpy_array(like) else array_namespace(like).asarray(x, device=like.device)


def concatenate(arrays: Sequence[Array]) -> Array:
    """Join checked arrays along their first axis; a single one is returned as it is."""
    if len(arrays) == 1:
        return arrays[0]
    if any(is_numpy_array(array) for array in arrays):
        arrays = [to_numpy(array) for array in arrays]
    return array_namespace(*arrays).concat(list(arrays))


def widen(x: Array) -> Array:
    """Return numbers as float32 or float64, whichever is the smaller that holds them exactly.

    Raises ValueError for 64-bit integers beyond 2^53, which float64 would round.
    """
    xp = array_namespace(x)
    if xp.isdtype(x.dtype, (xp.float32, xp.float64)):
        return x
    if xp.isdtype(x.dtype, ("bool", xp.int8, xp.uint8, xp.int16, xp.uint16, "real floating")):
        return xp.astype(x, xp.float32)
    if x.shape[0] and x.dtype.itemsize == 8 and not -MAX_EXACT <= int(xp.min(x)) <= int(xp.max(x)) <= MAX_EXACT:
        raise ValueError("integer scores beyond 2**53 would be rounded: pass them as float64, rounded as you choose")
    return xp.astype(x, xp.float64)


def as_scores(x: Any, name: str, ndim: int = 1) -> Array:
    """Check real scores of `ndim` dimensions without NaN (±inf is legal) and return them as float32 or float64."""
    scores = as_numbers(x, name)
    if scores.shape == (0,):
        scores = scores.reshape((0,) * ndim)
    if scores.ndim != ndim:
        raise ValueError(f"{name}: expected scores of shape {_SHAPES[ndim]}, got shape {tuple(scores.shape)}")
    scores = widen(scores)
    check_no_nan(scores, name)
    return scores


_SHAPES = {1: "(N,)", 2: "(N, C)", 3: "(N, H, W)"}


def as_numbers(x: Any, name: str) -> Array:
    """Check that `x` holds booleans, integers, or floats of at most 64 bits."""
    array = as_array(x, name)
    xp = array_namespace(array)
    if is_numpy_array(array):
        real = array.dtype.kind in "biu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8)
    else:
        real = xp.isdtype(array.dtype, ("bool", "integral", "real floating"))
    if not real:
        raise TypeError(f"{name}: expected numbers, got {_examples(array) if is_numpy_array(array) else array.dtype}")
    return array


def check_no_nan(scores: Array, name: str, first: int = 0) -> None:
    """Raise ValueError if there is a NaN, with its position; rows are counted from `first`."""
    xp = array_namespace(scores)
    nan = xp.isnan(scores)
    if bool(xp.any(nan)):
        row, *rest = (int(index[0]) for index in xp.nonzero(nan))
        position = row + first if not rest else (row + first, *rest)
        raise ValueError(f"{name}: expected no NaN, got NaN at position {position}")


def is_floating(x: Array) -> bool:
    """Whether the array's type is a floating one (scores) rather than an integer one (class ids)."""
    return bool(array_namespace(x).isdtype(x.dtype, "real floating"))


def as_labels(x: Any, name: str, ndim: int = 1) -> Array:
    """Check integers of `ndim` dimensions and return them as int64; floats are taken when they are integral."""
    labels = as_numbers(x, name)
    xp = array_namespace(labels)
    if labels.shape == (0,):
        labels = labels.reshape((0,) * ndim)
    if labels.ndim != ndim:
        raise ValueError(
            f"{name}: expected integers of shape {'(N,)' if ndim == 1 else '(N, K)'}, got shape {tuple(labels.shape)}"
        )
    if is_floating(labels) and labels.shape[0]:
        check_no_nan(labels, name)
        fractional = labels != xp.round(labels)
        if bool(xp.any(fractional)):
            raise ValueError(f"{name}: expected integers, got {float(labels[fractional][0])!r}")
        if bool(xp.any(xp.abs(labels) > MAX_EXACT)):
            raise ValueError(f"{name}: expected integers of at most 2**53, got {float(xp.max(xp.abs(labels)))!r}")
    return xp.astype(labels, xp.int64, copy=False)


def as_flags(x: Any, name: str) -> Array:
    """Check (N,) values of 0 and 1, or booleans, and return them as booleans."""
    labels = as_labels(x, name)
    other = (labels != 0) & (labels != 1)
    if bool(array_namespace(labels).any(other)):
        raise ValueError(f"{name}: expected 0 or 1, got {int(labels[other][0])}")
    return labels == 1


def check_lengths(**columns: Array | None) -> None:
    """Raise ValueError unless all columns that are given have the same length."""
    lengths = {name: len(column) for name, column in columns.items() if column is not None}
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise ValueError(f"expected columns of one length, got {came}")


def check_orientation(predictions: Array, references: Array) -> None:
    """Raise ValueError if the two columns look as if each had been passed for the other."""
    if predictions.ndim == 1 and references.ndim == 2:
        raise ValueError(
            f"predictions and references are swapped: references must be (N,) class ids, got shape "
            f"{tuple(references.shape)}, and predictions have shape {tuple(predictions.shape)}"
        )


def check_class_ids(labels: Array, name: str, num_classes: int) -> None:
    """Raise ValueError unless every label is below `num_classes`; negative labels are the caller's to judge."""
    xp = array_namespace(labels)
    if labels.shape[0] and int(xp.max(labels)) >= num_classes:
        raise ValueError(f"{name}: expected class ids below {num_classes}, got {int(xp.max(labels))}")


def as_int(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Check an integer option in [low, high]."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: expected an int, got {value!r}")
    value = int(value)
    if value < low or (high is not None and value > high):
        upper = "" if high is None else f" and at most {high}"
        raise ValueError(f"{name}: expected an int of at least {low}{upper}, got {value}")
    return value


def as_int_list(value: Any, name: str, low: int, high: int) -> list[int]:
    """Check a list of integer options in [low, high]; an int is a one-element list."""
    if isinstance(value, numbers.Integral):
        value = (value,)
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: expected an int or a list of ints, got {value!r}")
    values = [as_int(item.item() if hasattr(item, "item") else item, name, low, high) for item in value]
    if not values:
        raise ValueError(f"{name}: expected at least one value, got an empty list")
    return values


def as_fraction(value: Any, name: str) -> float:
    """Check a real option in (0, 1]."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number in (0, 1], got {value!r}")
    value = float(value)
    if not 0 < value <= 1:
        raise ValueError(f"{name}: expected a number in (0, 1], got {value!r}")
    return value


def as_fractions(value: Any, name: str) -> list[float]:
    """Check a list of real options in (0, 1]; a number is a one-element list."""
    values = [as_fraction(item, name) for item in (value if isinstance(value, Iterable) else [value])]
    if not values:
        raise ValueError(f"{name}: expected at least one value, got an empty list")
    return values


def as_real(value: Any, name: str) -> float:
    """Check a real option that is not NaN."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, got {value!r}")
    if value != value:
        raise ValueError(f"{name}: expected a number, got nan")
    return float(value)


def as_bool(value: Any, name: str) -> bool:
    """Check an option that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def as_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Check an option that is one of a few words."""
    if value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)
