"""Columns of the libraries that docs/get-started.md names give the results of NumPy arrays, if they are installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om

RNG = np.random.default_rng(0)
# eighths, which bfloat16 holds
COLUMNS: dict[str, np.ndarray] = {
    "predictions": RNG.integers(0, 16, (40, 3)) / 8,
    "references": RNG.integers(-1, 3, 40),
    "open_scores": RNG.integers(0, 16, 40) / 8,
}
EXPECTED = om.OpenAUC().compute(**COLUMNS)


def polars_series(column: np.ndarray) -> Any:
    polars = pytest.importorskip("polars")
    return polars.Series(column.tolist())


def polars_array(column: np.ndarray) -> Any:
    polars = pytest.importorskip("polars")
    return polars.Series(column) if column.ndim == 1 else polars.Series(column, dtype=polars.Array(polars.Float64, 3))


def arrow_array(column: np.ndarray) -> Any:
    return pytest.importorskip("pyarrow").array(column.tolist())


def arrow_chunks(column: np.ndarray) -> Any:
    return pytest.importorskip("pyarrow").chunked_array([column[:7].tolist(), column[7:].tolist()])


def pandas_series(column: np.ndarray) -> Any:
    return pytest.importorskip("pandas").Series(list(column))


def jax_array(column: np.ndarray) -> Any:
    return pytest.importorskip("jax.numpy").asarray(column)


def jax_bfloat16(column: np.ndarray) -> Any:
    jax = pytest.importorskip("jax.numpy")
    return jax.asarray(column, dtype=jax.bfloat16 if column.dtype == np.float64 else None)


def ml_dtypes_bfloat16(column: np.ndarray) -> Any:
    kind = pytest.importorskip("ml_dtypes").bfloat16
    return column.astype(kind) if column.dtype == np.float64 else column


def dataset_column(column: np.ndarray) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"x": column.tolist()})["x"]


KINDS = [
    polars_series,
    polars_array,
    arrow_array,
    arrow_chunks,
    pandas_series,
    jax_array,
    jax_bfloat16,
    ml_dtypes_bfloat16,
    dataset_column,
]


@pytest.mark.parametrize("convert", KINDS, ids=lambda convert: convert.__name__)
def test_columns(convert: Callable[[np.ndarray], Any]) -> None:
    assert om.OpenAUC().compute(**{name: convert(column) for name, column in COLUMNS.items()}) == EXPECTED


@pytest.mark.parametrize("form", [None, "numpy", "arrow"])
def test_batches_of_a_stream(form: str | None) -> None:
    stream = pytest.importorskip("datasets").Dataset.from_dict({name: x.tolist() for name, x in COLUMNS.items()})
    metric = om.OpenAUC()
    for batch in stream.to_iterable_dataset().with_format(form).iter(batch_size=7):
        metric.add_batch(**{name: batch[name] for name in COLUMNS})
    assert metric.compute() == EXPECTED
