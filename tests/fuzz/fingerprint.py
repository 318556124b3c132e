"""What an input or a metric is, to the bit, so that it can be compared with what it is later."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from openworld_metrics.written.results import as_json
from tests.fuzz.engine import BrokenError
from tests.fuzz.values import torch


def fingerprint(value: Any) -> Any:
    """A value to compare: the bits of arrays and tensors, the items of lists and dicts, the type of all."""
    if isinstance(value, np.ndarray):
        return (
            "array",
            value.dtype,
            value.shape,
            value.tolist() if value.dtype.hasobject else hashlib.sha256(value.tobytes()).digest(),
        )
    if torch is not None and isinstance(value, torch.Tensor):
        dense = value.layout == torch.strided and not value.is_nested and value.device.type == "cpu"
        return "tensor", str(value.dtype), value.detach().tolist() if dense and not value.is_quantized else None
    if isinstance(value, Mapping):
        return "dict", [(repr(key), fingerprint(item)) for key, item in value.items()]
    if type(value) in (list, tuple):
        return type(value), [fingerprint(item) for item in value]
    return type(value), repr(value) if isinstance(value, (int, float, str, bytes)) else None


def batches_of(metric: Any) -> Any:
    """A metric's samples: their number, and its state to the bit."""
    return len(metric), fingerprint(metric.state())


def check_same(before: Any, after: Any, what: str) -> None:
    """Raise unless something is as it was."""
    if repr(before) != repr(after):  # NaN is not equal to itself
        raise BrokenError(f"{what} has changed", f"{before}\n{after}")


# what is no share: scores, counts, and ratios that have no upper bound
UNBOUNDED = ("threshold", "WI", "per_", "A-OSE", "conf", "num_", "total", "TP", "FP", "FN", "prr")


def check_results(results: Any, percent: bool = False) -> None:
    """Raise unless results are plain numbers, tables of them and lists, without NaN, and shares are shares."""
    if not isinstance(results, dict) or not results or not all(isinstance(name, str) for name in results):
        raise BrokenError("the results are no dict by name", results)
    try:
        as_json(results)
    except (TypeError, ValueError) as error:
        raise BrokenError(f"the results are not JSON: {error}", results) from None
    for name, value in results.items():
        if isinstance(value, float) and not any(word in name for word in UNBOUNDED):
            if not 0 <= value <= (100 if percent else 1):
                raise BrokenError(f"the result {name} is no share", results)
        elif isinstance(value, int) and value < 0:
            raise BrokenError(f"the result {name} is negative", results)
        elif isinstance(value, float) and math.isnan(value):
            raise BrokenError(f"the result {name} is NaN", results)
