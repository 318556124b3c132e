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
every_metric = pytest.mark.parametrize("name", cases.METRICS)


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


@every_metric
@pytest.mark.parametrize("form", FORMATS)
def test_whole_columns(name: str, form: str | None, load: Load) -> None:
    columns, options, data = draw(name, form)
    given = {key: data[key] for key in columns}
    expected = load(name).compute(**columns, **options)
    assert load(name).compute(**given, **options) == expected
    assert load(name).compute(**{key: column[:] for key, column in given.items()}, **options) == expected


@every_metric
@pytest.mark.parametrize("form", FORMATS)
def test_streamed(name: str, form: str | None, load: Load) -> None:
    columns, options, data = draw(name, form)
    at_load, at_compute = split_options(name, options)
    metric = load(name, **at_load)
    for batch in data.iter(batch_size=4):
        metric.add_batch(**{key: batch[key] for key in columns})
    assert len(metric) == length(columns)
    assert metric.compute(**at_compute) == load(name).compute(**columns, **options)


def test_an_iterable_data_set_from_parquet(load: Load, tmp_path: Path) -> None:
    columns, _, data = draw("openauc", None)
    data.to_parquet(tmp_path / "part.parquet")
    streamed = datasets.load_dataset("parquet", data_files=str(tmp_path / "*.parquet"), split="train", streaming=True)
    metric = load("openauc")
    for batch in streamed.iter(batch_size=3):
        metric.add_batch(**batch)
    assert metric.compute() == load("openauc").compute(**columns)


def test_map_writes_the_scores_and_the_metric_reads_them(load: Load) -> None:
    logits = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)
    labels = np.random.default_rng(1).integers(-1, 4, 30)
    data = datasets.Dataset.from_dict({"logits": logits, "label": labels})
    data = data.map(lambda row: {"open_scores": -max(row["logits"])})
    results = load("openauc").compute(
        predictions=data["logits"], references=data["label"], open_scores=data["open_scores"]
    )
    assert results == load("openauc").compute(predictions=logits, references=labels, open_scores=-logits.max(axis=1))
