"""Equal rows become one with a count: which rows, and that no result changes by a bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra import numpy as arrays

from openworld_metrics.arrays import compacting
from openworld_metrics.arrays.compacting import compact_rows, has_equal_rows, has_few_values
from openworld_metrics.loading import metric_class
from openworld_metrics.metric import metric as metric_module
from openworld_metrics.ranking.quantities import cut, rounded_up
from tests import cases
from tests.examples import many, seeds
from tests.splitting import length, rows

COUNTING = [name for name in cases.METRICS if metric_class(name).countable_tables]
FLOATS = [np.float16, np.float32, np.float64]
SCORES = {"ood_bench": "predictions", "anomaly_suite": "predictions"}


def reference(columns: list[np.ndarray], counts: np.ndarray | None) -> dict[tuple[Any, ...], int]:
    found: dict[tuple[Any, ...], int] = {}
    for i in range(len(columns[0])):
        row = tuple(column[i].item() + 0 for column in columns)
        found[row] = found.get(row, 0) + (1 if counts is None else int(counts[i]))
    return dict(sorted(found.items()))


def column(draw: Any, num_rows: int) -> np.ndarray:
    dtype = draw(st.sampled_from([np.bool_, np.int8, np.int32, np.int64, *FLOATS]))
    if np.dtype(dtype).kind == "f":
        elements = st.floats(width=8 * np.dtype(dtype).itemsize, allow_nan=False) | st.sampled_from([0.0, -0.0, 0.5])
        return draw(arrays.arrays(dtype, num_rows, elements=elements))
    return draw(arrays.arrays(dtype, num_rows))


@st.composite
def tables(draw: Any) -> tuple[list[np.ndarray], np.ndarray | None]:
    num_rows = draw(st.integers(1, 40))
    columns = [column(draw, num_rows) for _ in range(draw(st.integers(1, 4)))]
    counts = draw(st.none() | arrays.arrays(np.int64, num_rows, elements=st.integers(1, 2**34)))
    return columns, counts


@settings(max_examples=300)
@given(table=tables(), block=st.sampled_from([3, 1 << 22]))
def test_rows_are_those_of_a_dict(table: tuple[list[np.ndarray], np.ndarray | None], block: int) -> None:
    columns, counts = table
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compacting, "_PACKED_ROWS", block)
        found, total = compact_rows(columns, counts)
    wanted = reference(columns, counts)
    assert list(zip(*(part.tolist() for part in found))) == [*wanted]
    assert total.tolist() == [*wanted.values()]
    assert [part.dtype for part in found] == [part.dtype for part in columns]
    assert not any(np.signbit(part[part == 0]).any() for part in found if part.dtype.kind == "f")


def test_torch_gives_the_same_rows() -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(0)
    for dtype in FLOATS:
        columns = [rng.normal(size=99).astype(dtype).round(1), rng.integers(-1, 3, 99), rng.random(99) < 0.5]
        for counts in None, rng.integers(1, 9, 99):
            found, total = compact_rows(columns, counts)
            tensors, totals = compact_rows(
                list(map(torch.from_numpy, columns)), None if counts is None else torch.from_numpy(counts)
            )
            assert [part.tolist() for part in found] == [part.tolist() for part in tensors]
            assert total.tolist() == totals.tolist()


def test_what_has_few_values() -> None:
    few = np.asarray([0.5, -3.0, np.inf], np.float32)
    assert all(map(has_few_values, [few, few.astype(np.float64), few.astype(np.float16), few > 0, np.arange(3)]))
    assert not has_few_values(few + np.float32(1e-6))
    assert not has_few_values(np.append(np.zeros(999), 0.1))


@pytest.mark.parametrize("number", [1, 64, 5_000, 300_000])
def test_which_tables_are_counted(number: int) -> None:
    """Those of at most half as many different rows in any order, and none of different rows."""
    rng = np.random.default_rng(number)
    different = np.arange(number)
    for each in (2, 3, number):
        several = different // each
        for order in (different, rng.permutation(number), np.argsort(different % each, kind="stable")):
            assert has_equal_rows([several[order], np.zeros(number)]) or number == 1
    small = 8 * math.isqrt(number) >= number  # whose count takes no time
    assert has_equal_rows([rng.permutation(different)]) == small


def narrow(name: str, columns: cases.Columns, dtype: Any) -> cases.Columns:
    """The columns, with scores of 16 bits."""
    key = SCORES.get(name, "open_scores")
    if key not in columns:
        return columns
    given = columns[key]
    if isinstance(given, list):
        return {**columns, key: [np.asarray(each).astype(dtype) for each in given]}
    return {**columns, key: np.asarray(given).astype(dtype)}


def compute(name: str, columns: cases.Columns, options: cases.Options, parts: int, order: np.ndarray) -> Any:
    metric = metric_class(name)(**options)
    for part in np.array_split(order, parts):
        metric.add_batch(**rows(columns, part))
    return metric.compute()


@pytest.mark.parametrize("name", COUNTING)
@many
@given(seed=seeds)
def test_counting_changes_no_bit(name: str, seed: int) -> None:
    columns, options = cases.draw(name, seed)
    rng = np.random.default_rng(seed)
    if name in ("macro_open_f", "micro_open_f") and rng.random() < 0.5:
        options = {**options, "t_list": [0.25, -np.inf, -0.0, np.inf, 0.25, *rng.normal(size=3)]}
        options.pop("threshold", None)  # not with a t_list
    columns = narrow(name, columns, ("float16", "float32")[int(rng.integers(2))])
    if name == "anomaly_suite" and not isinstance(columns["predictions"], np.ndarray):
        options = {**options, "image_reduction": "max"}
    order = rng.permutation(length(columns))
    wanted = compute(name, columns, options, 1, np.arange(length(columns)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(metric_module, "ROWS", 2)
        assert compute(name, columns, options, 3, order) == wanted


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "uint16", "int16"])
@pytest.mark.parametrize("name", ["ood_bench", "openauc", "anomaly_suite"])
def test_scores_of_16_bits_do_not_grow(name: str, dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metric_module, "ROWS", 1 << 10)
    rng = np.random.default_rng(0)
    metric = metric_class(name)()
    wide = metric_class(name)()
    for i in range(12):
        values = rng.integers(0, 100, 4096) if "int" in dtype else rng.normal(size=4096).round(1)
        if dtype == "bfloat16":
            torch = pytest.importorskip("torch")
            scores: Any = torch.from_numpy(values).to(torch.bfloat16)
            same = scores.double().numpy()
        else:
            scores = values.astype(dtype)
            same = scores.astype(np.float64)
        labels = rng.integers(0, 2, 4096)
        for one, column in (metric, scores), (wide, same + 0.0):
            if name == "ood_bench":
                one.add_batch(predictions=column, references=labels)
            elif name == "openauc":
                one.add_batch(predictions=labels * (i % 2), references=labels - (i % 3 == 0), open_scores=column)
            else:
                masks = labels.reshape(4, 32, 32) * (np.arange(4) % 2)[:, None, None]
                one.add_batch(predictions=column.reshape(4, 32, 32), references=masks)
    sizes = {name: len(part) for name, part in metric.state().items() if part.ndim}
    assert max(size for key, size in sizes.items() if key in ("scores", "normal")) <= 1 << 11
    assert len(metric) == 12 * (4 if name == "anomaly_suite" else 4096)
    assert metric.compute() == wide.compute()


def test_a_t_list_holds_for_all_batches() -> None:
    columns: dict[str, Any] = dict(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    metric = metric_class("macro_open_f")(t_list=[0.2, 0.5])
    assert metric.compute(**columns, t_list=[0.3]) == metric_class("macro_open_f")(t_list=[0.3]).compute(**columns)
    metric.add_batch(**columns)
    for other in [0.3], None:
        with pytest.raises(ValueError, match="t_list: it was applied as batches were added; give it at load"):
            metric.compute(t_list=other)
    assert metric.compute(t_list=(0.5, 0.2))["macro_open_f_curve"] == [1.0, 1.0]
    metric.add_batch(**columns)
    state = metric.state()
    metric_class("macro_open_f")().merge(state)
    with pytest.raises(ValueError, match=r"expected the thresholds of t_list, got '0\.2 0\.5'"):
        metric_class("macro_open_f")(t_list=[0.3]).merge(state)
    with pytest.raises(ValueError, match="expected thresholds as a text of numbers, got 'x'"):
        metric_class("macro_open_f")().merge({**state, "thresholds": np.asarray("x")})
    free = metric_class("macro_open_f")()
    free.add_batch(**columns)
    assert free.compute(t_list=[0.5]) == metric_class("macro_open_f")(t_list=[0.5]).compute(**columns)


@given(st.lists(st.floats(allow_nan=False), min_size=2), st.integers(4, 52))
def test_cutting_keeps_order_and_what_is_cut(values: list[float], bits: int) -> None:
    scores = np.sort(np.asarray(values))
    once = cut(scores, bits)
    assert (once[1:] >= once[:-1]).all()
    assert (cut(once, bits) == once).all()
    finite = np.isfinite(scores) & (np.abs(scores) >= np.finfo(float).tiny)
    off = np.abs(once[finite] - scores[finite])
    assert (off <= 2.0 ** (1 - bits) * np.abs(scores[finite])).all()
    with np.errstate(over="ignore"):
        single = np.asarray(values, np.float32)
    normal = (np.abs(single) >= np.finfo(np.float32).tiny) & np.isfinite(single)
    assert (cut(single, bits)[normal] == cut(single.astype(np.float64), bits)[normal]).all()


@given(st.lists(st.floats(allow_nan=False)), st.lists(st.floats(allow_nan=False), min_size=1))
def test_rounding_up_keeps_every_decision(values: list[float], thresholds: list[float]) -> None:
    scores, ordered = np.asarray(values, float), np.unique(thresholds)
    rounded = rounded_up(scores, ordered)
    assert ((rounded[:, None] <= ordered) == (scores[:, None] <= ordered)).all()
