"""States that travel as bytes, and batches of any kind that are reduced to one."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from functools import partial
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from openworld_metrics import METRICS, AccuracyK, OODBench
from openworld_metrics.cluster import beam_combine, compute_parquet, pack, ray_aggregate, reduce_batches, unpack
from openworld_metrics.loading import metric_class
from tests import cases
from tests.examples import few, seeds
from tests.splitting import batches

SCORES: dict[str, Any] = {"score": [0.1, 0.6, 0.4, 0.9, 0.2], "label": [0, 0, 1, 1, 1], "n": [1, 2, 1, 1, 0]}
COLUMNS = {"predictions": "score", "references": "label", "counts": "n"}
BOXES = {"predictions": [[[0, 0, 4, 4, 0.9, 1]]], "references": [[[0, 0, 4, 4, 1]]], "counts": [3]}
ROWS = [{"predictions": 0.1, "references": 0}, {"references": 1}, {"predictions": 0.4, "references": 1, "counts": 5}]
TENSORS = pa.ExtensionArray.from_storage(
    pa.fixed_shape_tensor(pa.int64(), [2]), pa.array([[1, 2], [None, 3]], pa.list_(pa.int64(), 2))
)
EXPECTED = OODBench().compute(predictions=SCORES["score"], references=SCORES["label"], counts=SCORES["n"])


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        np.array_equal(one[name], other[name]) and one[name].dtype == other[name].dtype for name in one
    )


@pytest.mark.parametrize("name", METRICS)
@few
@given(seed=seeds)
def test_packed_states_of_batches(name: str, seed: int) -> None:
    columns, options = cases.draw(name, seed)
    if seed % 3 == 1:
        columns = cases.with_groups(columns, seed)
    if seed % 3 == 2:
        columns, options = cases.with_clusters(columns, seed), {**options, "confidence_level": 0.9, "n_resamples": 9}
    parts = batches(columns, np.random.default_rng(seed))
    metric = metric_class(name)(**options)
    for part in parts:
        state = reduce_batches(name, [part], **options)
        assert same(unpack(pack(state)), state)
        metric.merge(unpack(pack(state)))
    results = metric.compute()
    assert results == metric_class(name)(**options).compute(**columns)
    metric.merge(reduce_batches(name, parts, **options))
    assert metric.compute() == results


def state_of(name: str = "ood_bench", **options: Any) -> bytes:
    columns = {"predictions": SCORES["score"], "references": SCORES["label"]}
    if name == "accuracyk":
        columns["predictions"] = [[label] for label in SCORES["label"]]
    return pack(reduce_batches(name, [columns], **options))


def test_every_byte_that_is_changed_or_missing_is_an_error_or_changes_nothing() -> None:
    good = state_of()
    expected = unpack(good)

    def check(data: bytes) -> bool:
        metric = OODBench()
        try:
            found = unpack(data)
            metric.merge(found)
        except ValueError:
            assert len(metric) == 0
            return True
        assert same(found, expected)
        return False

    refused = [check(good[:i] + bytes([good[i] ^ bit]) + good[i + 1 :]) for i in range(len(good)) for bit in (1, 0x80)]
    assert sum(refused) > len(refused) / 2
    assert all(check(good[:end]) for end in range(len(good)))


WRONG: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: unpack(b""), ValueError, "data: expected the bytes that pack() returns, got 0 that cannot be read"),
    (lambda: unpack(b"PK" * 50), ValueError, "data: expected the bytes that pack() returns, got 100 that cannot be"),
    (lambda: unpack("state"), TypeError, "data: expected the bytes that pack() returns, got str"),
    (lambda: pack([1]), TypeError, "state: expected the dict that state() returns, got list"),
    (lambda: pack({"x": np.asarray([None])}), TypeError, "state['x']: expected numbers or names, got objects"),
    (lambda: merged(state_of("accuracyk")), ValueError, "state: expected one of ood_bench, got one of accuracyk"),
    (lambda: merged(state_of(significant_bits=8)), ValueError, "state: expected significant_bits=None, as here"),
    (lambda: merged(state_of(in_value=1, out_value=0), in_value=0, out_value=2), ValueError, "references: expected 0"),
    (lambda: reduce_batches("nothing", []), ValueError, "nothing"),
    (lambda: reduce_batches("ood_bench", [], bits=3), TypeError, "ood_bench has no argument 'bits'"),
    (lambda: reduce_batches("ood_bench", [SCORES, 3], COLUMNS), TypeError, "batch 1: expected an Arrow batch, a"),
    (lambda: reduce_batches("ood_bench", ["text"], COLUMNS), TypeError, "batch 0: expected an Arrow batch, a data"),
    (
        lambda: reduce_batches("ood_bench", [SCORES, pa.table({"score": [1.0]})], COLUMNS),
        ValueError,
        "batch 1: expected a column label, got score",
    ),
    (
        lambda: reduce_batches("ood_bench", [pa.table({"score": [1.0, None], "label": [0, 1], "n": [1, 1]})], COLUMNS),
        ValueError,
        "batch 0: score: expected no missing values, got 1",
    ),
    (
        lambda: reduce_batches("ood_bench", [SCORES, {**SCORES, "n": [1, 1, 1, -1, 0]}], COLUMNS),
        ValueError,
        "batch 1: counts: expected integers of at least 0, got -1 at position 3",
    ),
    (lambda: reduce_batches("ood_bench", [SCORES], {"scorez": "score"}), TypeError, "has no argument 'scorez'"),
    (
        lambda: reduce_batches("accuracyk", [pa.table({"predictions": TENSORS, "references": [0, 0]})]),
        ValueError,
        "predictions: expected no missing values in tensors, got 1",
    ),
    (
        lambda: reduce_batches("ood_bench", [ROWS[:2]]),
        ValueError,
        "batch 0: expected a column predictions in every row, got none in row 1",
    ),
    *(
        (
            partial(reduce_batches, "ood_bench", [batch]),
            ValueError,
            "batch 0: expected a column counts in every row, got none in row 0",
        )
        for batch in (ROWS[::2], [ROWS[0], *ROWS[::-2]])
    ),
    (
        lambda: reduce_batches("ood_bench", [SCORES], ["score"]),
        TypeError,
        "columns: expected a mapping from the metric's columns to the data's, got list",
    ),
    (
        lambda: reduce_batches("openset_detection", [BOXES], known_classes=[1]),
        TypeError,
        "batch 0: openset_detection has no argument 'counts'",
    ),
    *(
        (
            partial(reduce_batches, "ood_bench", single, COLUMNS),
            TypeError,
            f"batches: expected an iterable of them, got a single {type(single).__name__}: [x]",
        )
        for single in (SCORES, pa.table(SCORES), pa.RecordBatch.from_pydict(SCORES), pd.DataFrame(SCORES))
    ),
]


def merged(data: bytes, **options: Any) -> None:
    metric = OODBench(**options)
    metric.add_batch(predictions=[0.5], references=[0])
    try:
        metric.merge(unpack(data))
    finally:
        assert len(metric) == 1


@pytest.mark.parametrize(("call", "error", "message"), WRONG)
def test_wrong_input(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)):
        call()


def test_batches_of_every_kind() -> None:
    kinds: dict[str, Any] = {
        "dict": SCORES,
        "table": pa.table(SCORES),
        "batch": pa.RecordBatch.from_pydict(SCORES),
        "pandas": pd.DataFrame(SCORES),
        "rows": [dict(zip(SCORES, row)) for row in zip(*SCORES.values())],
    }
    try:
        import polars

        kinds["polars"] = polars.DataFrame(SCORES)
    except ModuleNotFoundError:
        pass
    for batch in kinds.values():
        metric = OODBench()
        metric.merge(reduce_batches("ood_bench", iter([batch]), COLUMNS))
        assert len(metric) == 5
        assert metric.compute() == EXPECTED
    metric = OODBench()
    metric.merge(reduce_batches("ood_bench", pa.table(SCORES).to_reader(2), COLUMNS))  # as DuckDB gives them
    assert metric.compute() == EXPECTED
    assert reduce_batches("ood_bench", []) == {}
    assert reduce_batches("ood_bench", [[]], COLUMNS) == {}
    assert unpack(pack({})) == {}


def test_columns_of_the_same_names_and_rows_that_are_counted() -> None:
    rows = pa.table({"predictions": np.zeros((50, 1), int).tolist(), "references": [0, 1] * 25, "other": range(50)})
    state = reduce_batches("accuracyk", rows.to_batches(max_chunksize=7))
    assert state["counts"].tolist() == [25, 25]
    assert same(reduce_batches("accuracyk", [rows], {}), state)
    metric = AccuracyK()
    metric.merge(unpack(pack(state)))
    assert metric.compute() == {"accuracy": 0.5}


def test_an_engine_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, function, name, extra in (
        ("ray", ray_aggregate, "ray", "ray"),
        ("apache_beam", beam_combine, "apache-beam", "beam"),
    ):
        monkeypatch.setitem(__import__("sys").modules, module, None)
        wanted = rf'^expected {name} to be installed, got none: pip install "openworld-metrics\[{extra}\]"$'
        with pytest.raises(ImportError, match=wanted):
            function("ood_bench")


@pytest.mark.parametrize("name", METRICS)
@few
@given(seed=seeds)
def test_few_rows_of_files_are_read_in_this_process(name: str, seed: int) -> None:
    pytest.importorskip("dask")
    columns, options = cases.draw(name, seed)
    table = pa.table({key: pa.array(cases.as_lists(column)) for key, column in columns.items()})
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        pq.write_table(table, f"{folder}/0.parquet", row_group_size=3)
        patch.setattr("dask.multiprocessing.get", lambda *_, **__: pytest.fail("processes are started"))
        results = compute_parquet(name, folder, **options)
        patch.setattr("openworld_metrics.cluster.parquet.FEW_BYTES", 0)
        with pytest.raises(pytest.fail.Exception, match="processes are started"):
            compute_parquet(name, folder, **options)
    assert results == metric_class(name)(**options).compute(**columns)


def test_options_that_come_as_iterators(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "apache_beam", SimpleNamespace(CombineFn=object))
    columns = {"predictions": [0, 1, 1, 0], "references": [0, 1, -1, -1], "open_scores": [0.1, 0.2, 0.9, 0.15]}
    combine = beam_combine("openauc", risk_metrics=iter(["aurc", "augrc"]))
    results = combine.extract_output(combine.add_input(combine.create_accumulator(), columns))
    assert results == metric_class("openauc")(risk_metrics=["aurc", "augrc"]).compute(**columns)
