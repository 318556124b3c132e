"""What may come in place of a value: garbage of every kind, as JSON has it and as Python has it."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from importlib.util import find_spec
from operator import methodcaller
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from tests.fuzz.damage import NUMERALS, WORDS

torch: Any = import_module("torch") if find_spec("torch") else None

NUMBERS = (
    *(0, 1, -1, 2, 3, 7, 100, 255, 256, -(10**12), 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**30),
    *(0.0, -0.0, 0.5, 1.5, -0.25, 1e-9, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf"), True, False),
)
KEYS = ("boxes", "scores", "labels", "counts", "metric", "id", "num_process", "timeout", "auroc", 1, None)
KNOWN = ("auroc", "fpr95tpr", "aupr_in", "max", "mean", "pixel", "image", "strict", "expected", "owod", "xywh", "iou")


def plain(rng: Random, depth: int = 2) -> Any:
    """Anything that JSON holds."""
    way = rng.randrange(10)
    if way < 4:
        return rng.choice(NUMBERS)
    if way < 6:
        return rng.choice((*WORDS, *NUMERALS, *KNOWN))
    if way == 6:
        nested: Any = []
        for _ in range(rng.choice((60, 200)) if depth == 2 else 3):
            nested = [nested]
        return rng.choice((None, [], {}, "", [[]], [None], [[], []], nested))
    if not depth:
        return rng.choice(NUMBERS)
    if way == 9:
        return {rng.choice((*KNOWN, *WORDS, "boxes", "scores", "labels")): plain(rng, depth - 1) for _ in range(2)}
    items = [plain(rng, depth - 1) for _ in range(rng.choice((1, 2, 4)))]
    return items if rng.random() < 0.7 else items[:1] * rng.choice((2, 3, 50))


def anything(rng: Random) -> Any:
    """Anything that Python holds, among it every kind of array."""
    way = rng.random()
    if way < 0.35:
        return plain(rng)
    if way < 0.75:
        return kind_of_array(rng, _some_array(rng))
    return _odd(rng)


def _some_array(rng: Random) -> np.ndarray:
    shapes = (), (0,), (1,), (2,), (5,), (5, 2), (2, 0), (0, 3), (5, 1), (1, 5), (3, 2, 2), (2, 6), (1, 1, 1, 1)
    shape = rng.choice(shapes)
    numbers = np.random.default_rng(rng.getrandbits(64)).integers(-2, 4, shape)
    kind = rng.choice((np.float64, np.float32, np.int64, np.uint8, np.bool_, np.int32, np.uint64))
    array = np.asarray(numbers).astype(kind)
    if array.size and rng.random() < 0.3:
        with np.errstate(all="ignore"):
            array.reshape(-1)[0] = np.asarray(rng.choice((0.5, np.nan, np.inf, -np.inf, 1e300, -1e18))).astype(kind)
    return array


def kind_of_array(rng: Random, array: np.ndarray) -> Any:
    """The same numbers in another kind of array, or nearly so; not all are what a metric takes."""
    try:
        return rng.choice(_KINDS)(array)
    except Exception:  # of the library that has this kind
        return array


class _Wrapped:
    """What other libraries have: an array behind a method."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return self.array.astype(dtype) if dtype is not None else self.array


_KINDS: list[Callable[[np.ndarray], Any]] = [
    lambda x: x,
    np.ndarray.tolist,
    lambda x: tuple(x.tolist()),
    lambda x: iter(x.tolist()),
    lambda x: [row for row in x],  # noqa: C416 (a list of arrays)
    *(
        methodcaller("astype", kind)
        for kind in ("O", "f2", "longdouble", "c16", ">f8", "M8[s]", "m8[ns]", "U8", "S8", "V8")
    ),
    lambda x: x.astype(np.int64)[..., None],
    lambda x: np.asfortranarray(x),
    lambda x: np.broadcast_to(x, (3, *x.shape)),
    lambda x: x[::-1],
    lambda x: np.ascontiguousarray(x).data,
    lambda x: x.tobytes(),
    lambda x: np.matrix(x),
    lambda x: np.asarray([(1, 0.5)] * len(x), dtype=[("a", "i4"), ("b", "f8")]),
    lambda x: np.ma.masked_array(x, mask=x > 1),
    lambda x: np.asarray([None, *x.tolist()[1:]], dtype=object),
    _Wrapped,
    lambda x: pd.Series(list(x)),
    lambda x: pd.DataFrame(x),
    lambda x: pd.array(x.tolist()),
    lambda x: pd.Categorical(x.tolist()),
    lambda x: pa.array(x.tolist()),
    lambda x: pa.array([None, *x.tolist()[1:]]),
    lambda x: pa.chunked_array([x.tolist(), x.tolist()[:0]]),
    lambda x: pa.array(x.tolist()).dictionary_encode(),
    lambda x: pa.FixedSizeListArray.from_arrays(pa.array(x.reshape(-1)), x.shape[1]),
    lambda x: pa.table({"a": x}),
]
if torch is not None:
    _KINDS += [
        torch.from_numpy,
        *(
            lambda x, change=methodcaller(*change): change(torch.from_numpy(x))
            for change in (
                *(("to", torch.bfloat16), ("to", torch.float16), ("to", torch.complex64), ("to", "meta"), ("double",)),
                *(("to_sparse",), ("to_sparse_csr",), ("to_mkldnn",)),
            )
        ),
        lambda x: torch.from_numpy(x).double().requires_grad_(),
        lambda x: torch.conj(torch.from_numpy(x) * 1j).imag,
        lambda x: torch.quantize_per_tensor(torch.from_numpy(x).float(), 0.1, 0, torch.qint8),
        lambda x: [*torch.from_numpy(x)],
        lambda x: torch.nested.nested_tensor([torch.from_numpy(row).double() for row in x]),
    ]

_ODD: tuple[Any, ...] = (
    *(b"\x00\xff", {1, 2}, frozenset(), range(0), range(5), 1 + 2j, Decimal("0.5"), Decimal("NaN"), Decimal("1E+400")),
    *(Fraction(1, 3), datetime.date(2024, 1, 1), ..., object(), np, len, dict, slice(None), np.datetime64("NaT")),
    *(
        np.float32(0.5),
        np.int8(-1),
        np.str_("auroc"),
        pd.NA,
        pa.scalar(1),
        {1: [1.0]},
        [[0.5, 2**53 + 1], [True, None]],
    ),
    *([np.zeros((1, 6)), [0.0] * 6], type("Named", (), {"shape": (1, 2)})(), [float("nan")] * 5),
    *(np.zeros((1, 100_000), np.float32), np.zeros((5, 100_000), np.float32)),
)


def _odd(rng: Random) -> Any:
    some = plain(rng)
    boxes = {"boxes": [[0, 0, 1, 1]], "scores": [0.5], "labels": [some]}
    return rng.choice((*_ODD, boxes, [{"boxes": some, "scores": [0.5], "labels": [0]}] * 5, ([1.0, 2.0], [some])))


def changed(rng: Random, value: Any, fresh: Callable[[Random], Any] = anything, whole: float = 0.12) -> Any:
    """A structure of lists, dicts and arrays with one thing in it replaced, lost, doubled or moved.

    `fresh` makes what comes in place of something, with `plain` JSON stays JSON; `whole` is its chance at the top.
    """
    way = rng.random()
    if isinstance(value, dict) and value and rng.random() >= whole:
        key, other = rng.choice([*value]), rng.choice([*value])
        if way < 0.7:
            return {**value, key: changed(rng, value[key], fresh)}
        if way < 0.8:
            return {name: item for name, item in value.items() if name != key}
        if way < 0.9:
            return {**value, key: value[other], other: value[key]}
        return {**value, rng.choice(KEYS): fresh(rng)}
    if isinstance(value, (list, tuple)) and value and rng.random() >= whole:
        items, i = [*value], rng.randrange(len(value))
        if way < 0.6:
            items[i] = changed(rng, items[i], fresh)
        elif way < 0.7:
            del items[i]
        elif way < 0.9:
            items.insert(i, items[i] if way < 0.8 else fresh(rng))
        else:
            items *= rng.choice((0, 2, 20))
        return type(value)(items)
    if isinstance(value, np.ndarray) and value.size and rng.random() >= whole:
        with contextlib.suppress(Exception):  # NumPy cannot do that with this array
            return (_with_odd_number if way < 0.4 else kind_of_array if way < 0.7 else _reshaped)(rng, value)
    return fresh(rng)


def _with_odd_number(rng: Random, value: np.ndarray) -> np.ndarray:
    odd: Any = rng.choice(NUMBERS)
    wide = value.astype(rng.choice((value.dtype, np.float64, np.int64, object)))
    try:
        wide.reshape(-1)[rng.randrange(wide.size)] = odd
    except (OverflowError, ValueError):
        wide.reshape(-1)[0] = -1
    return wide


def _reshaped(rng: Random, value: np.ndarray) -> Any:
    return rng.choice(_SHAPES)(value)


_SHAPES: tuple[Callable[[np.ndarray], Any], ...] = (
    lambda x: x[:-1],
    lambda x: x[:0],
    lambda x: x.T,
    lambda x: x.reshape(-1),
    lambda x: x[None],
    lambda x: x[..., None],
    lambda x: x[..., :1],
    lambda x: x[..., :0],
    lambda x: np.concatenate([x, x]),
    lambda x: -x if x.dtype != bool else ~x,
    lambda x: x.astype(np.float64) / 3,
    lambda x: x.astype(np.float64) * 1e300,
    lambda x: x.astype(np.int64) * (1 << 40),
    lambda x: x * 0,
    lambda x: x.tolist(),
    lambda x: np.full_like(x, x.reshape(-1)[0]),
)
