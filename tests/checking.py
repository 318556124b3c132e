"""A metric against its slow reference, for columns of any type."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import cases, references

# sums of fractions; all other results are one correctly rounded division of integers, and equal to the last bit
SUMS = ("_ap", "aupr", "aupro", "macro_open_f", "mAP", "U-AP")


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
        summed = any(word in key for word in SUMS) or options.get("ties") == "expected"
        assert type(value) is (list if isinstance(want, list) else int if isinstance(want, int) else float), key
        if isinstance(want, list):
            assert value == pytest.approx([float(x) for x in want], abs=1e-14), key
        elif summed and not key.endswith("_threshold"):
            assert value == pytest.approx(float(want), abs=1e-14), key
        else:
            assert value == float(want), key
