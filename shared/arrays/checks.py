"""Checks of options: each returns a plain Python value, or raises an error that names the option and its value.

So are states that come from elsewhere: another process, a file, JSON.

Each kind of state has its own check beside its TypedDict, built from these functions. An array may have lost its
type, as an empty list in JSON does; it is cast to the reducer's type, or rejected.
"""

from __future__ import annotations

import difflib
import inspect
import math
import numbers
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from .arrays import (
    MAX_EXACT,
    WIDE,
    Array,
    array_namespace,
    as_array,
    is_bfloat16,
    is_floating,
    is_narrow,
    no_number,
    on_device,
    on_one_device,
    to_numpy,
    widen,
)

REST = "rest"  # for the label of one side: all labels that are not the other's
Function = TypeVar("Function", bound=Callable[..., Any])


def by_keyword(function: Function) -> Function:
    """Refuse arguments by position in a sentence that says the call to write, for a function of two sides of scores.

    So (scores, labels), the arguments of the same function elsewhere, are never read as two sides.
    """

    @wraps(function)
    def called(*arrays: Any, **arguments: Any) -> Any:
        if arrays:
            required = [p.name for p in inspect.signature(function).parameters.values() if p.default is p.empty]
            call = f"{function.__name__}({', '.join(f'{name}=...' for name in required)})"
            got = f"got {len(arrays)} by position"
            raise TypeError(f"expected {call}: two sides of scores by keyword, not scores with labels; {got}")
        return function(**arguments)

    return cast(Function, called)


def as_int(value: Any, name: str, low: int, high: int | None = None) -> int:
    """Check an integer option in [low, high]."""
    if type(value) is not int:
        value = plain_value(value)
        if isinstance(value, bool) or not isinstance(value, numbers.Integral):
            raise TypeError(f"{name}: expected an int, got {value!r}")
        value = int(value)
    if value < low or (high is not None and value > high):
        upper = "" if high is None else f" and at most {high}"
        raise ValueError(f"{name}: expected an int of at least {low}{upper}, got {value}")
    return value


def as_int_list(value: Any, name: str, low: int, high: int | None = None) -> list[int]:
    """Check a list of integer options in [low, high]; an int is a one-element list."""
    return [as_int(item, name, low, high) for item in _items(value, name, "an int or a list of ints", numbers.Integral)]


def plain_value(value: Any) -> Any:
    """Convert arrays, tensors and their scalars to numbers and lists; return anything else unchanged.

    Dates and durations are returned as text, since `tolist` would return nanoseconds.
    """
    if not hasattr(value, "tolist"):
        return value
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "mM":
        return str(value)
    try:
        return value.tolist()
    except (RuntimeError, NotImplementedError):  # of a tensor without numbers
        return repr(type(value))


def as_printed(value: Any, name: str) -> Any:
    """As `plain_value`, but floats of 16 and 32 bits are the decimals that they print as: np.float32(0.8) is 0.8.

    Raises TypeError for bfloat16, which prints fewer digits than it has.
    """
    if not hasattr(value, "dtype"):
        return plain_value(value)
    if "bfloat16" in str(value.dtype):
        raise TypeError(f"{name}: expected a number of 16 bits, 32 bits or 64 bits, got one of bfloat16")
    array = to_numpy(value.detach()) if hasattr(value, "detach") else value
    if getattr(array.dtype, "kind", "") == "f" and array.dtype.itemsize < 8:
        return np.asarray(array).astype(str).astype(np.float64).tolist()
    return plain_value(value)


def _items(value: Any, name: str, expected: str, single: type) -> list[Any]:
    """The items of a list; a value of the type `single` is a list of one."""
    value = plain_value(value)
    if isinstance(value, single):
        value = [value]
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise TypeError(f"{name}: expected {expected}, got {value!r}")
    items = list(value)
    if not items:
        raise ValueError(f"{name}: expected at least one value, got an empty list")
    return items


_ABOVE_0, _BELOW_1, _LARGEST = math.nextafter(0.0, 1.0), math.nextafter(1.0, 0.0), math.nextafter(math.inf, 0.0)


def _number(value: Any, name: str, expected: str, low: float, high: float) -> float:
    """Check a real option in [low, high]."""
    if type(value) is not float:
        value = plain_value(value)
        if isinstance(value, bool) or not isinstance(value, numbers.Real):
            raise TypeError(f"{name}: expected {expected}, got {value!r}")
        try:
            value = float(value)
        except OverflowError:
            raise ValueError(f"{name}: expected {expected} that float64 holds, got a larger one") from None
    if not low <= value <= high:
        raise ValueError(f"{name}: expected {expected}, got {value!r}")
    return float(value)


def as_fraction(value: Any, name: str) -> float:
    """Check a real option in (0, 1]."""
    return _number(as_printed(value, name), name, "a number in (0, 1]", _ABOVE_0, 1.0)


def as_fractions(value: Any, name: str) -> list[float]:
    """Check a list of real options in (0, 1]; a number is a one-element list."""
    return [
        as_fraction(item, name)
        for item in _items(as_printed(value, name), name, "a number or a list of numbers", numbers.Real)
    ]


def as_share(value: Any, name: str) -> float:
    """Check a real option in [0, 1]."""
    return _number(as_printed(value, name), name, "a number in [0, 1]", 0.0, 1.0)


def as_open_share(value: Any, name: str) -> float:
    """Check a real option in (0, 1)."""
    return _number(as_printed(value, name), name, "a number between 0 and 1, both excluded", _ABOVE_0, _BELOW_1)


def as_shares(value: Any, name: str) -> list[float]:
    """Check a list of real options in [0, 1]; a number is a one-element list."""
    return [
        as_share(item, name)
        for item in _items(as_printed(value, name), name, "a number or a list of numbers", numbers.Real)
    ]


def as_real(value: Any, name: str) -> float:
    """Check a real option that is not NaN."""
    return _number(value, name, "a number", -math.inf, math.inf)


def as_positive(value: Any, name: str) -> float:
    """Check a finite real option above 0."""
    return _number(value, name, "a finite number above 0", _ABOVE_0, _LARGEST)


def as_reals(value: Any, name: str) -> list[float]:
    """Check a list of real options that are not NaN; a number is a one-element list."""
    return [as_real(item, name) for item in _items(value, name, "a number or a list of numbers", numbers.Real)]


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


def did_you_mean(name: str, names: Iterable[str], least: float = 0.6) -> str:
    """A question for an error message about an unknown name, if a known one is spelt alike; else "".

    least: the lowest similarity of their spellings, in [0, 1]

    >>> did_you_mean("aurok", ["auroc", "aupr_in"]), did_you_mean("map", ["auroc"])
    ("; did you mean 'auroc'?", '')
    """
    close = difflib.get_close_matches(name, names, n=1, cutoff=least)
    return f"; did you mean {close[0]!r}?" if close else ""


_LABELS = np.dtype(np.int64)
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
    if isinstance(array, np.ndarray):
        real = array.dtype.kind in "biu" or (array.dtype.kind == "f" and array.dtype.itemsize <= 8)
    else:
        real = array_namespace(array).isdtype(array.dtype, ("bool", "integral", "real floating"))
    if not real:
        came = no_number(array) if isinstance(array, np.ndarray) else array.dtype
        raise TypeError(f"{name}: expected numbers, got {came}")
    return array


def check_no_nan(scores: Array, name: str, first: int = 0) -> None:
    """Raise ValueError if there is a NaN, with its position; rows are counted from `first`."""
    xp = array_namespace(scores)
    if not isinstance(scores, np.ndarray) and math.prod(scores.shape) and not bool(xp.isnan(xp.max(scores))):
        return  # a maximum passes NaN on, and on a device takes half the time
    nan = xp.isnan(scores)
    if bool(xp.any(nan)):
        row, *rest = (int(index[0]) for index in xp.nonzero(nan))
        position = row + first if not rest else (row + first, *rest)
        raise ValueError(f"{name}: expected no NaN, got NaN at position {position}")


def as_matrix(x: Any, name: str) -> Array:
    """As `as_numbers`, but bfloat16 tensors stay as they are: `row_blocks` widens them block by block.

    Raises TypeError for rows of booleans, which might be class ids 0 and 1 or scores.
    """
    if type(x) is np.ndarray and x.dtype in WIDE:  # the usual case, and fast
        return x
    if is_bfloat16(x):
        return x.detach()
    matrix = as_numbers(x, name)
    if matrix.ndim == 2 and matrix.dtype == array_namespace(matrix).bool:
        raise TypeError(f"{name}: expected rows of scores or class ids, got booleans; pass scores as floats")
    return matrix


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
        shape = "(N,)" if ndim == 1 else "(N, K)"
        raise ValueError(f"{name}: expected integers of shape {shape}, got shape {tuple(labels.shape)}")
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


def as_qualities(x: Any, name: str) -> Array:
    """Check (N,) numbers in [0, 1] and return them as float32 or float64."""
    qualities = as_scores(x, name)
    outside = (qualities < 0) | (qualities > 1)
    xp = array_namespace(qualities)
    if bool(xp.any(outside)):
        row = int(xp.nonzero(outside)[0][0])
        raise ValueError(f"{name}: expected numbers in [0, 1], got {float(qualities[row])!r} at position {row}")
    return qualities


def as_counts(x: Any, name: str) -> Array:
    """Check (N,) integers of at least 0 that sum to at most 2^40, and return them as int64."""
    counts = as_labels(x, name)
    xp = array_namespace(counts)
    if bool(xp.any(counts < 0)):
        row = int(xp.nonzero(counts < 0)[0][0])
        raise ValueError(f"{name}: expected integers of at least 0, got {int(counts[row])} at position {row}")
    total = float(xp.sum(xp.astype(counts, xp.float64)))
    if total > MAX_COUNT:
        raise ValueError(f"{name}: expected at most {MAX_COUNT} samples in all, got {total:.4g}")
    return counts


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


def check_lengths(expected: str = "expected columns", /, **columns: Array | None) -> None:
    """Raise ValueError unless all columns that are not None have equal lengths."""
    there = {name: column for name, column in columns.items() if column is not None}
    lengths = {name: len(column) if getattr(column, "ndim", 1) else "no" for name, column in there.items()}
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise ValueError(f"{expected} of one length, got {came}")


def check_indices(**columns: Any) -> None:
    """Raise ValueError for two pandas columns whose indices hold the same labels in another order.

    Rows are taken by position, as everywhere. Series of Polars have no index.
    """
    first: tuple[str, Any] | None = None
    for name, column in columns.items():
        index = column.index if type(column) is not np.ndarray and hasattr(column, "iloc") else None
        if index is None:
            continue
        if first is None:
            first = name, index
        elif len(index) == len(first[1]) and not index.equals(first[1]):
            labels, others = (Counter(each.tolist()) for each in (index, first[1]))
            if labels == others:
                raise ValueError(
                    f"{name}: expected its index in the order of that of {first[0]}, got the same labels in another "
                    f"order; .loc[{first[0]}.index] reorders it, reset_index(drop=True) takes it by position"
                )


def check_orientation(predictions: Array, references: Array) -> None:
    """Raise ValueError if the two columns seem to be swapped."""
    if predictions.ndim == 1 and references.ndim == 2:
        raise ValueError(
            f"predictions and references are swapped: references must be (N,) class ids, got shape "
            f"{tuple(references.shape)}, and predictions have shape {tuple(predictions.shape)}"
        )


def are_ids_below(labels: Array, num_classes: int) -> bool:
    """Whether all int64 ids are in [0, num_classes)."""
    if not isinstance(labels, np.ndarray):
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


def check_arrays(state: Mapping[str, Any], names: Sequence[str], optional: Sequence[str] = ()) -> None:
    """Raise ValueError unless a state has arrays of exactly these names; the optional ones may be missing."""
    needed = [name for name in names if name not in optional]
    if not set(needed) <= state.keys() <= {*names, *optional}:
        raise ValueError(f"state: expected the arrays {', '.join(needed)}, got {', '.join(map(str, state)) or 'none'}")


def integer_column(state: Mapping[str, Any], name: str, low: int, high: int, dtype: Any = np.int64) -> np.ndarray:
    """(N,) integers in [low, high]."""
    column = to_numpy(as_labels(state[name], _place(name)))
    lowest, highest = (int(column.min()), int(column.max())) if len(column) else (low, high)
    if lowest < low or highest > high:
        raise ValueError(f"{_place(name)}: expected integers in [{low}, {high}], got {lowest} to {highest}")
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
    if np.ndim(state[name]):
        raise ValueError(f"{_place(name)}: expected one integer, got shape {np.shape(state[name])}")
    return integer_column({name: [state[name]]}, name, low, high).reshape(())


def count_column(state: Mapping[str, Any], name: str = "counts") -> np.ndarray:
    """The number of samples that each row stands for, (N,)."""
    return to_numpy(as_counts(integer_column(state, name, 1, MAX_COUNT), _place(name)))


def check_rows(table: Mapping[str, Any]) -> None:
    """Raise ValueError unless the columns of a table have equal lengths."""
    check_lengths("state: expected arrays", **table)


def _place(name: str) -> str:
    return f"state[{name!r}]"
