"""A metric against its slow reference, for columns of any type."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from openworld_metrics import OODBench
from tests import cases, references

# how far a result may be from its rational value, in units in the last place, as the README and the cards say; all
# that is not named is one correctly rounded division of integers, and equal to the last bit
ULPS = {"_ap": 2, "aupr": 2, "mAP": 2, "U-AP": 2, "macro_open_f": 3, "aurc": 8}


def ulps(value: float, exact: Fraction) -> float:
    """How far a double is from a rational value, in units in the last place of the latter."""
    return float(abs(Fraction(value) - exact) / Fraction(np.spacing(float(exact))))


def bench(*, positives: Any, negatives: Any, **options: Any) -> dict[str, Any]:
    """Results of OODBench for the scores of OOD and of in-distribution samples."""
    return OODBench(**options).compute(predictions=(negatives, positives))


def same_value(array: np.ndarray) -> np.ndarray:
    return array


def as_dtype(dtype: str) -> Callable[[np.ndarray], Any]:
    return lambda array: array.astype(dtype) if array.dtype.kind == "f" else array.astype("int32")


def as_tensor(dtype: str) -> Callable[[np.ndarray], Any]:
    def convert(array: np.ndarray) -> Any:
        torch = pytest.importorskip("torch")
        tensor = torch.from_numpy(array)
        return tensor.to(getattr(torch, dtype)) if array.dtype.kind == "f" else tensor

    return convert


BACKENDS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": np.ndarray.tolist,
    "numpy-float64": same_value,
    "numpy-float32": as_dtype("float32"),
    "numpy-float16": as_dtype("float16"),
    "numpy-fortran": lambda array: np.asfortranarray(array),
    "torch-float64": as_tensor("float64"),
    "torch-float32": as_tensor("float32"),
    "torch-float16": as_tensor("float16"),
    "torch-bfloat16": as_tensor("bfloat16"),
}


def convert(column: Any, backend: Callable[[np.ndarray], Any]) -> Any:
    return backend(column) if isinstance(column, np.ndarray) else [backend(item) for item in column]


def check(name: str, load: Callable[..., Any], seed: int, backend: Callable[[np.ndarray], Any]) -> None:
    columns, options = cases.draw(name, seed)
    expected = getattr(references, name)(**{key: cases.as_lists(column) for key, column in columns.items()}, **options)
    results = load(name).compute(**{key: convert(column, backend) for key, column in columns.items()}, **options)
    assert list(results) == list(expected)
    for key, value in results.items():
        want = expected[key]
        most = max((most for word, most in ULPS.items() if word in key and not key.endswith("_threshold")), default=0)
        assert type(value) is (list if isinstance(want, list) else int if isinstance(want, int) else float), key
        values, exacts = (x if isinstance(x, list) else [x] for x in (value, want))
        assert len(values) == len(exacts), key
        for one, exact in zip(values, exacts):
            assert one == float(exact) or ulps(one, Fraction(exact)) <= most, key
