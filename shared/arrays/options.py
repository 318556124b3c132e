"""Checks of options: each returns a plain Python value, or raises an error that names the option and says what came."""

from __future__ import annotations

import difflib
import inspect
import numbers
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

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
    values = _items(value, name, "an int or a list of ints", numbers.Integral)
    return [as_int(item, name, low, high) for item in values]


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


def _number(value: Any, name: str, expected: str) -> float:
    value = plain_value(value)
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected {expected}, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name}: expected {expected} that float64 holds, got a larger one") from None


def as_written(value: float | Fraction) -> Fraction:
    """Read a bound as it is written in decimals: 0.1 is exactly one tenth, which no float64 is.

    >>> as_written(0.1), as_written(1 / 3)
    (Fraction(1, 10), Fraction(3333333333333333, 10000000000000000))
    """
    return Fraction(str(value))


def as_fraction(value: Any, name: str) -> float:
    """Check a real option in (0, 1]."""
    number = _number(value, name, "a number in (0, 1]")
    if not 0 < number <= 1:
        raise ValueError(f"{name}: expected a number in (0, 1], got {number!r}")
    return number


def as_fractions(value: Any, name: str) -> list[float]:
    """Check a list of real options in (0, 1]; a number is a one-element list."""
    return [as_fraction(item, name) for item in _items(value, name, "a number or a list of numbers", numbers.Real)]


def as_share(value: Any, name: str) -> float:
    """Check a real option in [0, 1]."""
    number = _number(value, name, "a number in [0, 1]")
    if not 0 <= number <= 1:
        raise ValueError(f"{name}: expected a number in [0, 1], got {number!r}")
    return number


def as_open_share(value: Any, name: str) -> float:
    """Check a real option in (0, 1)."""
    number = _number(value, name, "a number between 0 and 1")
    if not 0 < number < 1:
        raise ValueError(f"{name}: expected a number between 0 and 1, both excluded, got {number!r}")
    return number


def as_shares(value: Any, name: str) -> list[float]:
    """Check a list of real options in [0, 1]; a number is a one-element list."""
    return [as_share(item, name) for item in _items(value, name, "a number or a list of numbers", numbers.Real)]


def as_confidence_level(value: Any) -> float:
    """Check the level of an interval, in (0, 1): an interval of level 1 would be infinite."""
    return as_open_share(value, "confidence_level")


def as_real(value: Any, name: str) -> float:
    """Check a real option that is not NaN."""
    number = _number(value, name, "a number")
    if number != number:
        raise ValueError(f"{name}: expected a number, got nan")
    return number


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


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question for an error message about an unknown name, if a known one is spelt alike; else "".

    >>> did_you_mean("aurok", ["auroc", "aupr_in"]), did_you_mean("map", ["auroc"])
    ("; did you mean 'auroc'?", '')
    """
    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]!r}?" if close else ""
