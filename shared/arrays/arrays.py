"""Array backends: NumPy, and torch tensors on an accelerator; no other library of the array API is promised.

A checked array is a NumPy array, a tensor on an accelerator, or, for a matrix until `row_blocks` widens it, a bfloat16
tensor on the CPU. Other CPU tensors are viewed as NumPy arrays without a copy, since np.sort is 30 times faster than
torch.sort there. torch is never imported: a tensor can only come from a caller who has imported it.

Floating scores keep their precision; float16, bfloat16 and integers are widened to the smallest of float32 and
float64 that holds them exactly, so that equal values give equal results whatever type they came in.
"""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..extras import extra

_VERSION = tuple(map(int, np.__version__.split(".")[:2]))
if _VERSION < (1, 26):
    raise ImportError(f"expected NumPy 1.26 or newer, got {np.__version__}: pip install -U numpy")


def _numpy_namespace() -> Any:
    """NumPy itself from 2.1 on, the first with all functions of the array API; below, as array-api-compat wraps it."""
    if _VERSION >= (2, 1):
        return np
    with extra():
        import array_api_compat.numpy

    return array_api_compat.numpy


NUMPY = _numpy_namespace()

Array = Any  # a NumPy array, or a tensor on an accelerator
State = dict[str, Array]  # of any metric; each has a TypedDict beside its reducer

# int64 holds 9.2e18 but float64 only every integer up to here
MAX_EXACT = 2**53
_BLOCK = 1 << 17  # scores per block of rows: 512 KiB of float32
_DEVICE_BLOCK = 1 << 27
WIDE = (np.dtype(np.float32), np.dtype(np.float64))
_NOT_IN_NUMPY = ("bfloat16", "float8_e")  # how the names of floating types start that NumPy does not have
_TENSORS_NOT_IN_NUMPY = tuple(f"torch.{name}" for name in _NOT_IN_NUMPY)


def is_torch_array(x: Any) -> bool:
    """Whether this is a torch tensor."""
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)
    return tensor is not None and isinstance(x, tensor)


def is_bfloat16(x: Any) -> bool:
    """Whether this is a torch tensor of bfloat16."""
    return type(x) is not np.ndarray and is_torch_array(x) and "bfloat16" in str(x.dtype)


def array_namespace(*arrays: Array) -> Any:
    """The array API namespace of the arrays: NumPy's, otherwise array-api-compat's, which is imported only now.

    NumPy departs from the standard in two ways that tests do not reveal: by default its argsort is unstable and its
    unique_values are unsorted. So `stable` is always passed, and distinct values come from `distinct_values`.
    """
    for array in arrays:
        # the type first: this check is quicker, which matters for small batches
        if type(array) is not np.ndarray and not isinstance(array, (np.ndarray, np.generic)):
            types = tuple(map(type, arrays))
            if types not in _NAMESPACES:
                with extra():
                    import array_api_compat
                _NAMESPACES[types] = array_api_compat.array_namespace(*arrays)
            return _NAMESPACES[types]
    return NUMPY


_NAMESPACES: dict[tuple[type, ...], Any] = {}


def distinct_values(x: Array) -> Array:
    """The distinct values of an array, ascending."""
    return np.unique(x) if isinstance(x, np.ndarray) else array_namespace(x).unique_values(x)


def trapezoid_area(y: Any, x: Any) -> float:
    """The area Σ (xᵢ₊₁ − xᵢ)·(yᵢ + yᵢ₊₁)/2 under a curve, in float64, as NumPy 2 has it by the name `trapezoid`.

    >>> trapezoid_area(np.array([0.0, 1.0, 1.0]), np.array([0.0, 0.5, 1.0]))
    0.75
    """
    y = np.asarray(y)
    return float((np.diff(x) * (y[1:] + y[:-1]) / 2.0).sum())


def as_array(x: Any, name: str) -> Array:
    """Return `x` as a NumPy array; a tensor on an accelerator stays a tensor.

    Takes lists, NumPy arrays, torch tensors, pandas Series, Arrow arrays and `datasets` columns. Copies only where
    necessary. Raises TypeError for anything that is not an array, ValueError for rows of different lengths.
    """
    if type(x) is np.ndarray and x.dtype.kind in "biuf" and x.dtype.isnative:  # the usual case, and fast
        return x
    if x is None:
        raise TypeError(f"{name}: expected an array, got None")
    if isinstance(x, (str, bytes, Mapping, set, frozenset)):
        raise TypeError(f"{name}: expected an array, got {type(x).__name__}")
    check_not_sparse(x, name)
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError(f"{name}: expected an array without a mask, got a masked one; drop or fill what is masked")
    if is_torch_array(x):
        return _from_tensor(x, name)
    x = without_arrow(x)
    array = np.asarray(x) if hasattr(x, "__array__") else None
    if array is not None and array.dtype.name.startswith(_NOT_IN_NUMPY):  # of ml_dtypes, as JAX gives them
        array = array.astype(np.float32)
    if array is None or array.dtype == object:
        array = _from_rows(x if array is None else array, name)
    return array if is_torch_array(array) or array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def check_not_sparse(x: Any, name: str) -> None:
    """Raise TypeError for a sparse array, of SciPy for one, which has no length, nor rows that are numbers."""
    if hasattr(x, "nnz"):
        raise TypeError(f"{name}: expected a dense array, got a {type(x).__name__}: its toarray() is one")


def without_arrow(x: Any) -> Any:
    """Convert an Arrow column or a memoryview to a NumPy array, and return anything else unchanged.

    The items of a nested Arrow column become arrays instead of Arrow scalars.
    """
    if isinstance(x, memoryview):  # of several dimensions it cannot be iterated over
        return np.asarray(x)
    return x.to_numpy(zero_copy_only=False) if hasattr(x, "to_pylist") and hasattr(x, "to_numpy") else x


def as_dense(x: Any, name: str) -> Any:
    """A tensor without its gradient. Raises TypeError for one without strides or numbers."""
    if x.device.type == "meta" or x.is_nested or "strided" not in str(x.layout):
        kind = "nested" if x.is_nested else f"{x.layout} {x.device.type}"
        raise TypeError(f"{name}: expected a dense tensor of numbers, got a {kind} one")
    return x.detach()


def _from_tensor(x: Any, name: str) -> Array:
    x = as_dense(x, name)
    if x.device.type != "cpu":
        return _without_wide_unsigned(x, name)
    try:
        return _in_type_of_numpy(x.resolve_neg()).numpy()
    except (TypeError, RuntimeError) as error:
        raise TypeError(f"{name}: expected a dense tensor of numbers, got {x.layout} {x.dtype} ({error})") from None


def _from_rows(rows: Any, name: str) -> Array:
    """An array from nested sequences of numbers, tensors, arrays or Arrow scalars."""
    if not isinstance(rows, Iterable) or getattr(rows, "ndim", 1) == 0:
        raise TypeError(f"{name}: expected an array, got {rows!r}")
    rows = list(rows)
    on_device = bool(rows) and is_torch_array(rows[0]) and rows[0].device.type != "cpu"
    rows = [as_array(row, name) if on_device else _item(row, name) for row in rows]
    try:
        array = array_namespace(rows[0]).stack(rows) if on_device else np.asarray(rows)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ValueError(f"{name}: expected rows of one length, got rows that differ ({error})") from None
    if on_device:
        return array
    if array.dtype == object:
        raise TypeError(f"{name}: expected numbers, got {no_number(array)}")
    if array.dtype == np.float64 and bool((np.abs(array) >= MAX_EXACT).any()):
        _check_exact(rows, name)
    return array


def _check_exact(rows: Any, name: str) -> None:
    """Raise ValueError for an integer that NumPy rounded because it stands beside floats or other integers."""
    for item in rows:
        if isinstance(item, (list, tuple)) or (isinstance(item, np.ndarray) and item.ndim):
            _check_exact(item, name)
        elif isinstance(item, numbers.Integral) and not -MAX_EXACT <= int(item) <= MAX_EXACT:
            raise ValueError(f"{name}: expected integers within ±2**53 beside floats, got {int(item)}")


def _item(row: Any, name: str) -> Any:
    if hasattr(row, "as_py"):
        return row.as_py()
    if isinstance(row, (list, tuple)) and row and (is_torch_array(row[0]) or hasattr(row[0], "as_py")):
        return [_item(item, name) for item in row]
    return as_array(row, name) if is_torch_array(row) or isinstance(row, np.ndarray) else row


def no_number(array: np.ndarray) -> str:
    """Describe the first value of an array that is not a number, for an error message, with its position."""
    values = array.reshape(-1).tolist()
    if not values:
        return f"none, as {array.dtype.name}"
    place = next((i for i, value in enumerate(values) if not isinstance(value, numbers.Real)), 0)
    kind = "" if array.dtype.kind in "OU" else f"{array.dtype.name} values such as "
    at = [int(i) for i in np.unravel_index(place, array.shape)]
    where = f" at position {tuple(at) if len(at) > 1 else at[0]}" if at else ""
    return f"{kind}{values[place]!r:.100}{where}"


def reads_as_number(text: str) -> bool:
    """Whether Python reads a text as a number.

    >>> reads_as_number(" -1e5"), reads_as_number("inf"), reads_as_number("n/a")
    (True, True, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return True


def _without_wide_unsigned(x: Any, name: str) -> Array:
    """A tensor as int64 if it is of uint16, uint32 or uint64, for which torch has few functions on a device."""
    if str(x.dtype) not in ("torch.uint16", "torch.uint32", "torch.uint64"):
        return x
    signed = x.long()
    if bool((signed < 0).any()):
        raise ValueError(f"{name}: expected integers below 2**63, got larger ones")
    return signed


def to_numpy(x: Array) -> np.ndarray:
    """Return a checked array as a NumPy array (a transfer when it lives on an accelerator)."""
    return x if isinstance(x, np.ndarray) else _in_type_of_numpy(x).cpu().numpy()


def are_alike(one: Any, other: Any) -> bool:
    """Whether two columns, or entries of them, hold the same values, whatever arrays or lists they are."""
    if one is other:
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(are_alike(one[key], other[key]) for key in one)
    try:
        values, others = (to_numpy(as_array(x, "")) for x in (one, other))
        return np.array_equal(values, others, equal_nan=True)
    except (TypeError, ValueError):  # words, or entries of different shapes
        if isinstance(one, str) or not (hasattr(one, "__len__") and hasattr(other, "__len__")):
            return bool(one == other) or not isinstance(
                one, (str, numbers.Real, type(None))
            )  # objects of other types are taken as equal
        return len(one) == len(other) and all(map(are_alike, one, other))


def _in_type_of_numpy(x: Any) -> Any:
    return x.float() if str(x.dtype).startswith(_TENSORS_NOT_IN_NUMPY) else x


def on_device(x: Array, like: Array) -> Array:
    """Return the array `x` on the device of `like`, copied only if it is elsewhere."""
    if device_of(like) is None:
        return x if device_of(x) is None else to_numpy(x)
    return array_namespace(like).asarray(x, device=like.device)


def on_one_device(*arrays: Array) -> list[Array]:
    """Return the arrays on the device of the first of them."""
    if {*map(type, arrays)} == {np.ndarray}:  # the usual case, and fast
        return [*arrays]
    return [on_device(array, arrays[0]) for array in arrays]


def concatenate(arrays: Sequence[Array]) -> Array:
    """Join checked arrays along their first axis, on the device of the first; a single one is returned as it is."""
    if len(arrays) == 1:
        return arrays[0]
    if {*map(type, arrays)} == {np.ndarray}:  # the usual case, and fast
        return np.concatenate(arrays)
    if device_of(arrays[0]) is not None:  # torch would join int16 and float16 in float16
        arrays = [
            widen(x) if isinstance(x, np.ndarray) and x.dtype.kind in "iu" and is_narrow(x) else x for x in arrays
        ]
    arrays = on_one_device(*arrays)
    return array_namespace(*arrays).concat(arrays)


def widen(x: Array, name: str = "scores") -> Array:
    """Return numbers as float32 or float64, whichever is the smaller that holds them exactly.

    Raises ValueError for what float64 would round: 64-bit integers beyond 2^53, and longer floats.
    """
    if isinstance(x, np.ndarray) and x.dtype in WIDE:  # the usual case, and fast
        return x
    xp = array_namespace(x)
    if x.dtype in (xp.float32, xp.float64):
        return x
    if x.dtype.itemsize > 8:
        raise ValueError(f"{name}: expected numbers of at most 64 bits, got {x.dtype}")
    if xp.isdtype(x.dtype, ("bool", xp.int8, xp.uint8, xp.int16, xp.uint16, "real floating")):
        return xp.astype(x, xp.float32)
    if math.prod(x.shape) and x.dtype.itemsize == 8 and not -MAX_EXACT <= int(xp.min(x)) <= int(xp.max(x)) <= MAX_EXACT:
        raise ValueError(f"{name}: expected integers within ±2**53, which float64 holds, got larger ones")
    return xp.astype(x, xp.float64)


def is_narrow(x: Array) -> bool:
    """Whether numbers take at most 16 bits, in a type that can be joined with any other without rounding."""
    if isinstance(x, np.ndarray):
        return x.dtype.itemsize <= 2 and x.dtype.kind in "iuf"
    return x.dtype.itemsize == 2 and is_floating(x)  # torch joins int16 and float16 in float16


def bfloat16_bits(x: Array) -> np.ndarray | None:
    """The bit patterns of a bfloat16 tensor on the CPU, as int16; None for any other array."""
    if not is_bfloat16(x) or x.device.type != "cpu":
        return None
    return np.asarray(x.view(array_namespace(x).int16))


def row_blocks(scores: Array, name: str) -> Iterator[tuple[slice, Array]]:
    """Cut a matrix into blocks of rows that fit the cache, widened to float32 or float64; NumPy arrays on the CPU.

    On an accelerator, floats of 16 bits and more stay in their own type, since there they are compared as fast.
    """
    num_rows, num_columns = scores.shape
    on_cpu = device_of(scores) is None
    widened = on_cpu or not is_floating(scores) or scores.dtype.itemsize < 2
    length = max(1, (_BLOCK if on_cpu else _DEVICE_BLOCK) // max(1, num_columns))
    for start in range(0, max(1, num_rows), length):
        rows = slice(start, min(start + length, num_rows))
        yield rows, as_array(widen(scores[rows], name) if widened else scores[rows], name)


def extremes(x: Array) -> tuple[Any, Any]:
    """The lowest and the highest of some numbers, with one look at a device."""
    if isinstance(x, np.ndarray):
        return x.min().item(), x.max().item()
    low, high = array_namespace(x).stack([*x.aminmax()]).tolist()
    return low, high


def equal(x: Array, value: Any) -> Array:
    """Flag the numbers that equal an integer, which their type may be unable to hold: torch would wrap it."""
    if not isinstance(x, np.ndarray):
        xp = array_namespace(x)
        if xp.isdtype(x.dtype, "integral") and not xp.iinfo(x.dtype).min <= value <= xp.iinfo(x.dtype).max:
            return xp.zeros_like(x, dtype=xp.bool)
    return x == value


def exceeds(scores: np.ndarray, threshold: float) -> np.ndarray:
    """Flags of scores > threshold, compared in float64: the threshold is not rounded to the scores' type.

    >>> exceeds(np.asarray([0.3, 0.2], np.float32), 0.3).tolist()  # a little above 0.3 in float32
    [True, False]
    """
    return scores > np.asarray([threshold], np.float64)  # NumPy below 2 would round a scalar


def device_of(x: Array) -> Any:
    """The accelerator that an array lives on; None for the CPU."""
    return None if isinstance(x, np.ndarray) or x.device.type == "cpu" else x.device


def is_floating(x: Array) -> bool:
    """Whether the array's type is a floating one (scores) rather than an integer one (class ids)."""
    return (
        x.dtype.kind == "f" if isinstance(x, np.ndarray) else bool(array_namespace(x).isdtype(x.dtype, "real floating"))
    )
