"""Columns of a datasets.Dataset go into compute and add_batch as they are, in every format, whole and streamed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest

from tests import cases
from tests.splitting import length, split_options

Load = Callable[..., Any]
FORMATS = [None, "numpy", "torch", "arrow", "pandas"]


def draw(name: str, form: str | None) -> tuple[cases.Columns, cases.Options, datasets.Dataset]:
    if form == "torch":
        pytest.importorskip("torch")
    columns, options = cases.draw(name, 5)
    if name == "openset_detection":
        # Arrow has no tables of no rows and five columns: each image gets a box
        box = np.asarray([[0, 0, 1, 1, 0.5, 0.0]])
        empty = {"predictions": box, "references": box[:, [0, 1, 2, 3, 5]]}
        columns = {key: [table if len(table) else empty[key] for table in columns[key]] for key in columns}
    data = datasets.Dataset.from_dict({key: cases.as_lists(column) for key, column in columns.items()})
    return columns, options, data.with_format(form)


@pytest.mark.parametrize("name", cases.METRICS)
@pytest.mark.parametrize("form", FORMATS)
def test_columns_whole_and_streamed(name: str, form: str | None, load: Load) -> None:
    columns, options, data = draw(name, form)
    whole = {key: data[key] for key in columns}
    expected = load(name).compute(**columns, **options)
    assert load(name).compute(**whole, **options) == expected
    assert load(name).compute(**{key: column[:] for key, column in whole.items()}, **options) == expected
    at_load, at_compute = split_options(name, options)
    metric = load(name, **at_load)
    for batch in data.iter(batch_size=4):
        metric.add_batch(**{key: batch[key] for key in columns})
    assert len(metric) == length(columns)
    assert metric.compute(**at_compute) == expected


def test_an_iterable_data_set_from_parquet(load: Load, tmp_path: Path) -> None:
    columns, _, data = draw("openauc", None)
    data.to_parquet(tmp_path / "part.parquet")
    streamed = datasets.load_dataset("parquet", data_files=str(tmp_path / "*.parquet"), split="train", streaming=True)
    metric = load("openauc")
    for batch in streamed.iter(batch_size=3):
        metric.add_batch(**batch)
    assert metric.compute() == load("openauc").compute(**columns)
