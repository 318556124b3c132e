"""Array backends and input checks: every column and option of every metric is checked here.

A checked array is a NumPy array or, for tensors that live on an accelerator, the tensor itself. CPU tensors are
viewed as NumPy arrays without a copy (np.sort is 30 times faster than torch.sort there), so torch is never
imported: a tensor can only come from a caller who has imported it.

Floating scores keep their precision; float16, bfloat16 and integers are widened to the smallest of float32 and
float64 that holds them exactly, so that equal values give equal results whatever type they came in.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import array_api_compat
import array_api_compat.numpy
import numpy as np

Array = Any  # a NumPy array, or a tensor on an accelerator
State = dict[str, Array]

# int64 holds 9.2e18 but float64 only every integer up to here
MAX_EXACT = 2**53
_BLOCK = 1 << 17  # scores per block of rows: 512 KiB of float32
_DEVICE_BLOCK = 1 << 27


# NumPy arrays are recognised without array_api_compat's look at every library, which batches of a few samples feel
def is_numpy_array(x: Any) -> bool:
    """Whether this is a NumPy array."""
    return isinstance(x, np.ndarray)


def is_torch_array(x: Any) -> bool:
    """Whether this is a torch tensor."""
    return not isinstance(x, np.ndarray) and bool(array_api_compat.is_torch_array(x))


def array_namespace(*arrays: Array) -> Any:
    """The array API namespace of the arrays."""
    for array in arrays:
        if type(array) is not np.ndarray:
            return array_api_compat.array_namespace(*arrays)
    return array_api_compat.numpy


def as_array(x: Any, name: str) -> Array:
    """Return `x` as a NumPy array, or as the tensor it is when it lives on an accelerator.

    Takes lists, NumPy arrays, torch tensors, pandas Series, Arrow arrays and `datasets` columns. Nothing is copied
    that need not be. Raises TypeError for what is not an array, ValueError for rows of different lengths.
    """
    if x is None:
        raise TypeError(f"{name}: expected an array, got None")
    if isinstance(x, (str, bytes, Mapping, set, frozenset)):
        raise TypeError(f"{name}: expected an array, got {type(x).__name__}")
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array without a mask, got a masked one; drop or fill what is masked")
    if is_torch_array(x):
        return _from_tensor(x, name)
    array = np.asarray(x) if hasattr(x, "__array__") else None
    if array is None or array.dtype == object:
        array = _from_rows(x if array is None else array, name)
    return array if is_torch_array(array) or array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def _from_tensor(x: Any, name: str) -> Array:
    x = x.detach()
    if x.device.type != "cpu":
        return x
    try:
        return _without_bfloat16(x).numpy()
    except (TypeError, RuntimeError) as error:
        raise TypeError(f"{name}: expected a dense tensor of numbers, got {x.layout} {x.dtype} ({error})") from None


def _from_rows(rows: Any, name: str) -> Array:
    """An array from nested sequences whose items may be tensors, arrays or Arrow scalars."""
    if not isinstance(rows, Iterable) or getattr(rows, "ndim", 1) == 0:
        raise TypeError(f"{name}: expected an array, got {rows!r}")
    rows = list(rows)
    if rows and is_torch_array(rows[0]) and rows[0].device.type != "cpu":
        return array_namespace(rows[0]).stack(rows)
    rows = [_item(row, name) for row in rows]
    try:
        array = np.asarray(rows)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(f"{name}: expected rows of one length, got rows that differ ({error})") from None
    if array.dtype == object:
        raise TypeError(f"{name}: expected numbers, got {_examples(array)}")
    return array


def _item(row: Any, name: str) -> Any:
    if hasattr(row, "as_py"):
        return row.as_py()
    if isinstance(row, (list, tuple)) and row and (is_torch_array(row[0]) or hasattr(row[0], "as_py")):
        return [_item(item, name) for item in row]
    return as_array(row, name) if is_torch_array(row) or isinstance(row, np.ndarray) else row


def _examples(array: np.ndarray) -> str:
    values = array.reshape(-1).tolist()
    odd = [value for value in values if not isinstance(value, numbers.Real)] or values
    return f"{array.dtype.name} values such as {', '.join(map(repr, odd[:3]))}"


def to_numpy(x: Array) -> np.ndarray:
    """Return a checked array as a NumPy array (a transfer when it lives on an accelerator)."""
    return x if isinstance(x, np.ndarray) else _without_bfloat16(x).cpu().numpy()


def _without_bfloat16(x: Any) -> Any:
    return x.float() if "bfloat16" in str(x.dtype) else x  # NumPy has no bfloat16


def on_device(x: Array, like: Array) -> Array:
    """Return the array `x` on the device of `like`: a transfer, unless it is there."""
    if device_of(like) is None:
        return x if device_of(x) is None else to_numpy(x)
    return array_namespace(like).asarray(x, device=like.device)


def on_one_device(*arrays: Array) -> Sequence[Array]:
    """Return the arrays on the device of the first of them."""
    return arrays if all(map(is_numpy_array, arrays)) else [on_device(array, arrays[0]) for array in arrays]


def concatenate(arrays: Sequence[Array]) -> Array:
    """Join checked arrays along their first axis, on the device of the first; a single one is returned as it is."""
    if len(arrays) == 1:
        return arrays[0]
    arrays = on_one_device(*arrays)
    return array_namespace(*arrays).concat(list(arrays))


def widen(x: Array, name: str = "scores") -> Array:
    """Return numbers as float32 or float64, whichever is the smaller that holds them exactly.

    Raises ValueError for 64-bit integers beyond 2^53, which float64 would round.
    """
    xp = array_namespace(x)
    if x.dtype in (xp.float32, xp.float64):
        return x
    if xp.isdtype(x.dtype, ("bool", xp.int8, xp.uint8, xp.int16, xp.uint16, "real floating")):
        return xp.astype(x, xp.float32)
    if math.prod(x.shape) and x.dtype.itemsize == 8 and not -MAX_EXACT <= int(xp.min(x)) <= int(xp.max(x)) <= MAX_EXACT:
        raise ValueError(f"{name}: expected integers within ±2**53, which float64 holds, got larger ones")
    return xp.astype(x, xp.float64)


def as_scores(x: Any, name: str, ndim: int = 1) -> Array:
    """Check real scores of `ndim` dimensions without NaN (±inf is legal) and return them as float32 or float64."""
    scores = as_numbers(x, name)
    if scores.shape == (0,):
        scores = scores.reshape((0,) * ndim)
    if scores.ndim != ndim:
        raise ValueError(f"{name}: expected scores of shape {_SHAPES[ndim]}, got shape {tuple(scores.shape)}")
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


def as_matrix(x: Any, name: str) -> Array:
    """As `as_numbers`, but bfloat16 tensors stay as they are: `row_blocks` widens them block by block."""
    if is_torch_array(x) and "bfloat16" in str(x.dtype):
        return x.detach()
    return as_numbers(x, name)


def bfloat16_bits(x: Array) -> np.ndarray | None:
    """The bit patterns of a bfloat16 tensor on the CPU, as int16; None for any other array."""
    if not is_torch_array(x) or x.device.type != "cpu":
        return None
    return np.asarray(x.view(array_namespace(x).int16))


def row_blocks(scores: Array, name: str) -> Iterator[tuple[slice, Array]]:
    """Cut a matrix into blocks of rows that fit the cache, widened to float32 or float64; NumPy arrays on the CPU."""
    num_rows, num_columns = scores.shape
    length = max(1, (_BLOCK if device_of(scores) is None else _DEVICE_BLOCK) // max(1, num_columns))
    for start in range(0, max(1, num_rows), length):
        rows = slice(start, min(start + length, num_rows))
        yield rows, as_array(widen(scores[rows], name), name)


def device_of(x: Array) -> Any:
    """The accelerator that an array lives on; None for the CPU."""
    return None if is_numpy_array(x) or x.device.type == "cpu" else x.device


def is_floating(x: Array) -> bool:
    """Whether the array's type is a floating one (scores) rather than an integer one (class ids)."""
    return x.dtype.kind == "f" if is_numpy_array(x) else bool(array_namespace(x).isdtype(x.dtype, "real floating"))


def as_labels(x: Any, name: str, ndim: int = 1) -> Array:
    """Check integers of `ndim` dimensions and return them as int64; floats are taken when they are integral."""
    labels = as_integers(x, name, ndim)
    return array_namespace(labels).astype(labels, array_namespace(labels).int64, copy=False)


def as_integers(x: Any, name: str, ndim: int = 1) -> Array:
    """As `as_labels`, but in the integer or boolean type that they came in, or in float64."""
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
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f"{name}: expected an int, got {value!r}")
    value = int(value)
    if value < low or (high is not None and value > high):
        upper = "" if high is None else f" and at most {high}"
        raise ValueError(f"{name}: expected an int of at least {low}{upper}, got {value}")
    return value


def as_int_list(value: Any, name: str, low: int, high: int) -> list[int]:
    """Check a list of integer options in [low, high]; an int is a one-element list."""
    value = _plain(value)
    if isinstance(value, numbers.Integral):
        value = (value,)
    if isinstance(value, (str, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: expected an int or a list of ints, got {value!r}")
    values = [as_int(_plain(item), name, low, high) for item in value]
    if not values:
        raise ValueError(f"{name}: expected at least one value, got an empty list")
    return values


def _plain(value: Any) -> Any:
    """Numbers and lists for arrays, tensors and their scalars; anything else as it is."""
    return value.tolist() if hasattr(value, "tolist") else value


def as_fraction(value: Any, name: str) -> float:
    """Check a real option in (0, 1]."""
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number in (0, 1], got {value!r}")
    value = float(value)
    if not 0 < value <= 1:
        raise ValueError(f"{name}: expected a number in (0, 1], got {value!r}")
    return value


def as_fractions(value: Any, name: str) -> list[float]:
    """Check a list of real options in (0, 1]; a number is a one-element list."""
    return _as_list(value, name, as_fraction)


def as_real(value: Any, name: str) -> float:
    """Check a real option that is not NaN."""
    value = _plain(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, got {value!r}")
    if value != value:
        raise ValueError(f"{name}: expected a number, got nan")
    return float(value)


def as_reals(value: Any, name: str) -> list[float]:
    """Check a list of real options that are not NaN; a number is a one-element list."""
    return _as_list(value, name, as_real)


def _as_list(value: Any, name: str, check: Callable[[Any, str], float]) -> list[float]:
    value = _plain(value)
    values = [check(item, name) for item in (value if isinstance(value, Iterable) else [value])]
    if not values:
        raise ValueError(f"{name}: expected at least one value, got an empty list")
    return values


def as_bool(value: Any, name: str) -> bool:
    """Check an option that is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def as_choice(value: Any, name: str, choices: Sequence[str]) -> str:
    """Check an option that is one of a few words."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}: expected one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)
