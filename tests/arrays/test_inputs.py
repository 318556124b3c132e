"""The forms in which columns come, beside lists, arrays and tensors: what is taken as it is, and what is refused."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn.metrics as sk
from datasets import Dataset
from hypothesis import given

from openworld_metrics import METRICS, true_class_ranks
from openworld_metrics.arrays.checks import counted_columns
from openworld_metrics.loading import metric_class
from openworld_metrics.reading.tables.files import read_npy, read_npz
from tests import cases
from tests.checking import bench
from tests.examples import few, seeds

Load = Callable[..., Any]
SCORES, LABELS = [0.1, 0.6, 0.4, 0.9], [0, 0, 1, 1]
MAPS = [[[0.1, 0.9]], [[0.2], [0.3]]]
MASKS = [[[0, 1]], [[0], [0]]]

ONE_DIMENSIONAL: dict[str, Callable[[list[Any]], Any]] = {
    "generator": iter,
    "series": pd.Series,
    "nullable-series": lambda x: pd.Series(x).convert_dtypes(),
    "arrow": pa.array,
    "chunked-arrow": lambda x: pa.chunked_array([x[:1], x[1:]]),
    "read-only": lambda x: np.broadcast_to(np.asarray(x)[:, None], (4, 2))[:, 1],
    "reversed": lambda x: np.asarray(x[::-1])[::-1],
    "big-endian": lambda x: np.asarray(x).astype(np.asarray(x).dtype.newbyteorder(">")),
    "object-array": lambda x: np.asarray(x, dtype=object),
    "datasets-column": lambda x: Dataset.from_dict({"x": x})["x"],
}


@pytest.mark.parametrize("form", ONE_DIMENSIONAL)
def test_forms_of_a_column(form: str, load: Load) -> None:
    convert = ONE_DIMENSIONAL[form]
    results = load("ood_bench").compute(predictions=convert(SCORES), references=convert(LABELS))
    assert results == {"auroc": 0.75, "fpr95tpr": 0.5}


@pytest.mark.parametrize("data_format", [None, "numpy", "torch", "arrow", "pandas"])
def test_ragged_maps_and_boxes_in_a_dataset(data_format: str | None, load: Load) -> None:
    if data_format == "torch":
        pytest.importorskip("torch")
    data = Dataset.from_dict({"maps": MAPS, "masks": MASKS}).with_format(data_format)
    results = load("anomaly_suite").compute(predictions=data["maps"], references=data["masks"])
    assert results["pixel_auroc"] == 1.0
    found, true = [[[0.0, 0, 1, 1, 0.5, 0]], []], [[[0.0, 0, 1, 1, 0]], [[0.0, 0, 2, 2, 0]]]
    data = Dataset.from_dict({"found": found, "true": true}).with_format(data_format)
    counts = load("openset_detection", known_classes=[0]).compute(predictions=data["found"], references=data["true"])
    assert (counts["TP_known"], counts["FN_known"]) == (1, 1)


def test_maps_of_a_series_and_of_a_generator(load: Load) -> None:
    maps, masks = ([np.asarray(x) for x in column] for column in (MAPS, MASKS))
    metric = load("anomaly_suite")
    assert metric.compute(predictions=pd.Series(maps), references=pd.Series(masks))["pixel_auroc"] == 1.0
    assert metric.compute(predictions=iter(maps), references=iter(masks))["pixel_auroc"] == 1.0


def test_rows_of_torch_scalars(load: Load) -> None:
    torch = pytest.importorskip("torch")
    rows = [[torch.tensor(0.1, requires_grad=True), torch.tensor(0.9)], [torch.tensor(0.7), torch.tensor(0.2)]]
    columns = dict(predictions=rows, references=[torch.tensor(1), torch.tensor(1)])
    assert load("accuracyk").compute(**columns) == {"accuracy": 0.5}
    half = [[value.to(torch.bfloat16) for value in row] for row in rows]
    assert load("accuracyk").compute(**{**columns, "predictions": half}) == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (
            np.ma.masked_array(np.asarray(SCORES), np.asarray([0, 1, 0, 0]) == 1),
            TypeError,
            "predictions: expected an array without a mask",
        ),
        (np.asarray(0.5), ValueError, r"predictions: expected scores of shape \(N,\), got shape \(\)"),
        (["0.1", "0.2", "0.3", "0.4"], TypeError, "predictions: expected numbers, got .*'0.1'"),
        ([0.1, 0.2, 0.3, None], TypeError, "predictions: expected numbers, got None at position 3"),
        (np.asarray([2**53 + 1, 0, 1, 2]), ValueError, r"predictions: expected integers within ±2\*\*53"),
    ],
    ids=["masked", "no-dimension", "strings", "none", "large-integers"],
)
def test_refused_columns(column: Any, error: type[Exception], message: str, load: Load) -> None:
    with pytest.raises(error, match=message):
        load("ood_bench").compute(predictions=column, references=LABELS)


def test_memoryviews_of_several_dimensions(load: Load) -> None:
    maps, masks = (np.asarray(x).data for x in ([[[0.1, 0.9, 0.2]]], [[[0, 1, 0]]]))
    results = load("anomaly_suite", levels="pixel").compute(predictions=maps, references=masks)
    assert results["pixel_auroc"] == 1.0
    with pytest.raises(ValueError, match="references"):
        load("anomaly_suite").compute(predictions=maps, references=np.eye(3).data)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_tensors_without_numbers_to_read(load: Load) -> None:
    torch = pytest.importorskip("torch")
    nested = torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])
    meta = torch.zeros(2, 3, device="meta")
    for column, kind in ((nested, "nested"), (meta, "torch.strided meta"), ([meta[0], meta[1]], "torch.strided meta")):
        with pytest.raises(TypeError, match=f"predictions: expected a dense tensor of numbers, got a {kind} one"):
            load("autkc", k_list=1).add_batch(predictions=column, references=column if column is nested else [0, 1])
    metric = load("autkc", k_list=1)
    metric.add_batch(predictions=[[0.1, 0.9]], references=[1])
    with pytest.raises(TypeError, match=r"expected a dense tensor of numbers, got a torch\.strided meta one"):
        metric.merge({**metric.state(), "predictions_are_scores": torch.zeros((), device="meta")})


@pytest.mark.parametrize("name", METRICS)
@few
@given(seed=seeds)
def test_a_sparse_column_is_named(name: str, seed: int) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    columns, options = cases.draw(name, seed)
    columns = cases.with_groups(columns, seed) if seed % 2 else columns
    rng = np.random.default_rng(seed)
    for column in columns:
        kind = rng.choice(["coo", "csr", "csc", "lil", "dok", "dia", "bsr"])
        matrix = getattr(sparse, f"{kind}_{rng.choice(['array', 'matrix'])}")(np.eye(len(columns[column])))
        message = f"^{column}: expected a dense array, got a {type(matrix).__name__}: its toarray"
        with pytest.raises(TypeError, match=message):
            metric_class(name)(**options).compute(**{**columns, column: matrix})
        with pytest.raises(TypeError, match=f"^{column}"):
            metric_class(name)(**options).compute(**{**columns, column: [matrix] * len(columns[column])})


def test_names_of_metrics_that_cannot_be_iterated_over() -> None:
    torch = pytest.importorskip("torch")
    for metrics in (np.eye(2).data, torch.zeros(2, device="meta")):
        with pytest.raises((ValueError, TypeError)):
            bench(positives=np.asarray([0.5]), negatives=np.asarray([0.1]), metrics=metrics)
    names = np.asarray(["auroc", "detect_acc"])
    assert bench(positives=np.asarray([0.5]), negatives=np.asarray([0.1]), metrics=names) == {
        "auroc": 1.0,
        "detect_acc": 1.0,
    }


def test_unsigned_labels_do_not_wrap(load: Load) -> None:
    labels = np.asarray([0, 1, 2**63 + 5], dtype=np.uint64)
    message = r"references: expected integers below 2\*\*63, got 9223372036854775813"
    with pytest.raises(ValueError, match=message):
        load("openauc").compute(predictions=[0, 1, 1], references=labels, open_scores=[0.1, 0.2, 0.9])
    with pytest.raises(ValueError, match=message):
        load("accuracyk", ignore_unknown=True).compute(predictions=np.eye(3), references=labels)


def test_integral_float_labels_beside_integer_scores(load: Load) -> None:
    scores = np.asarray([3, 200], dtype=np.uint8)
    for dtype in ("float16", "float32", "float64"):
        columns = dict(predictions=scores, references=np.asarray([0, 1], dtype=dtype))
        assert load("ood_bench").compute(**columns)["auroc"] == 1.0


def test_numpy_numbers_as_options(load: Load) -> None:
    columns = dict(predictions=[[0.1, 0.7, 0.2], [0.5, 0.3, 0.2]], references=[1, 1])
    expected = {"accuracy@1": 0.5, "accuracy@2": 1.0}
    for k_list in (np.asarray([1, 2]), range(1, 3), (np.int64(1), np.int8(2)), {1: 0, 2: 0}.keys()):
        assert load("accuracyk").compute(**columns, k_list=k_list) == expected
    assert load("accuracyk").compute(**columns, k_list=np.asarray(1)) == {"accuracy@1": 0.5}
    with pytest.raises(TypeError, match=r"k_list: expected an int, got \[1, 2\]"):
        load("accuracyk").compute(**columns, k_list=np.asarray([[1, 2]]))
    with pytest.raises(ValueError, match="ties: expected one of"):
        load("accuracyk").compute(**columns, k_list=1, ties=np.asarray(["strict"]))
    with pytest.raises(TypeError, match="levels: expected a list"):
        load("anomaly_suite").compute(predictions=MAPS, references=MASKS, levels=None)


def test_a_class_id_beyond_memory_needs_no_table(load: Load) -> None:
    columns = dict(predictions=[0, 1, 1], references=[0, 1, -1], open_scores=[0.1, 0.2, 0.9])
    assert load("macro_open_f", num_classes=10**9).compute(**columns)["macro_open_f"] == pytest.approx(2e-9)
    columns = dict(predictions=[0, 2**40, 3], references=[0, 2**40, -1], open_scores=[0.1, 0.2, 0.9])
    assert load("macro_open_f").compute(**columns)["macro_open_f"] == pytest.approx(2 / (2**40 + 1))


def test_box_labels_keep_their_value(load: Load) -> None:
    box = [[0.0, 0.0, 1.0, 1.0]]
    metric = load("openset_detection", known_classes=[2**53])
    with pytest.raises(ValueError, match=r"predictions\[0\]\['labels'\]: expected integers within ±2\*\*53"):
        metric.compute(
            predictions=[{"boxes": box, "scores": [0.9], "labels": [2**53 + 1]}],
            references=[{"boxes": box, "labels": [2**53]}],
        )


@pytest.mark.parametrize(
    ("box_format", "box"),
    [("cxcywh", (-np.inf, 0, 1, 1)), ("xywh", (1e308, 0, 1e308, 1)), ("xyxy", (0, 0, 1e154, 1e154))],
)
def test_boxes_whose_iou_would_overflow(box_format: str, box: tuple[float, ...], load: Load) -> None:
    metric = load("openset_detection", known_classes=[0], box_format=box_format)
    with pytest.raises(ValueError, match=r"predictions\[0\]: expected a box of finite area"):
        metric.compute(predictions=[[[*box, 0.9, 0]]], references=[[[*box, 0]]])


def test_boxes_whose_area_underflows_match_themselves(load: Load) -> None:
    """Their IoU is 1, decided by fractions."""
    for count in (1, 400):  # by NumPy, and compiled
        boxes = np.tile([[0, 0, 1e-170, 1e-170, 0.9, 0.0]], (count, 1))
        results = load("openset_detection", known_classes=[0]).compute(
            predictions=[boxes], references=[boxes[:, [0, 1, 2, 3, 5]]]
        )
        assert results["TP_known"] == count


def test_the_mean_of_opposite_infinities(load: Load) -> None:
    maps = [[[np.inf, -np.inf]], [[0.1, 0.2]]]
    with pytest.raises(ValueError, match=r"predictions: expected maps with a mean .*'mean'"):
        load("anomaly_suite", image_reduction="mean").compute(predictions=maps, references=[[[0, 1]], [[0, 0]]])


def test_scikit_learn_metrics_do_not_depend_on_the_type_of_scores(load: Load) -> None:
    scores = np.asarray([0.25, 0.5, 0.75, 1.0, 0.0])
    metric = load("ood_bench", metrics=["log_loss", "brier_score_loss"])
    expected = metric.compute(predictions=scores, references=[0, 0, 1, 0, 1])
    for dtype in ("float32", "float16"):
        assert metric.compute(predictions=scores.astype(dtype), references=[0, 0, 1, 0, 1]) == expected


def test_scikit_learn_metrics_of_infinite_scores(load: Load) -> None:
    columns = dict(predictions=[-np.inf, 0.0, 1.0, np.inf], references=[0, 1, 0, 1])
    names = ["roc_auc_score", "average_precision_score", "auroc", "aupr_out"]
    results = list(load("ood_bench", metrics=names).compute(**columns).values())
    assert results[:2] == pytest.approx(results[2:], abs=1e-15)
    with pytest.raises(ValueError, match="predictions: expected finite scores for scikit-learn's 'brier_score_loss'"):
        load("ood_bench", metrics="brier_score_loss").compute(**columns)


def test_scikit_learn_metrics_with_arguments(load: Load) -> None:
    columns = dict(predictions=SCORES, references=LABELS)
    metric = load("ood_bench", threshold=0.5)
    beta2 = functools.partial(sk.fbeta_score, beta=2)
    assert metric.compute(**columns, metrics=[beta2]) == {"fbeta_score": beta2(LABELS, np.asarray(SCORES) > 0.5)}
    with pytest.raises(ValueError, match=r"metrics: unknown metric 'fbeta_score'; .*functools.partial of one"):
        metric.compute(**columns, metrics=["fbeta_score"])
    with pytest.raises(ValueError, match=r"metrics: expected each name once, .*'fbeta_score' twice"):
        metric.compute(**columns, metrics=[beta2, functools.partial(sk.fbeta_score, beta=3)])


def test_arrays_of_ml_dtypes(load: Load) -> None:
    ml_dtypes = pytest.importorskip("ml_dtypes")
    scores = np.asarray([0.5, 0.25, 0.75, 1.0], dtype=ml_dtypes.bfloat16)
    expected = load("ood_bench").compute(predictions=scores.astype(np.float32), references=[0, 1, 0, 1])
    assert load("ood_bench").compute(predictions=scores, references=[0, 1, 0, 1]) == expected


def test_a_sample_without_an_optional_column(load: Load) -> None:
    metric = load("openauc")
    metric.add(prediction=0, reference=0, open_scores=0.1, open_labels=None)
    assert len(metric) == 1


def test_ranks_of_a_float_tensor_are_no_bit_patterns() -> None:
    torch = pytest.importorskip("torch")
    scores = np.random.default_rng(0).integers(-8, 8, (50, 9)).astype(np.float32) / 8
    labels = np.arange(50) % 9
    for found, expected in zip(
        true_class_ranks(torch.from_numpy(scores), labels), true_class_ranks(scores, labels), strict=True
    ):
        np.testing.assert_array_equal(found, expected)


def test_headers_that_threads_parse_at_the_same_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """CPython 3.11 fails now and then: the file is read again, and not refused."""
    np.save(tmp_path / "a.npy", np.arange(3))
    np.savez(tmp_path / "a.npz", x=np.arange(3))
    failing = [SystemError("AST constructor recursion depth mismatch (before=48, after=45)")] * 3

    def parse(*args: Any, **kwargs: Any) -> Any:
        if failing:
            raise failing.pop()
        return literal_eval(*args, **kwargs)

    literal_eval = ast.literal_eval
    monkeypatch.setattr(ast, "literal_eval", parse)
    assert read_npy(tmp_path / "a.npy").tolist() == [0, 1, 2]
    assert not failing
    failing += [SystemError()]
    assert read_npz(tmp_path / "a.npz")["x"].tolist() == [0, 1, 2]


def test_counts_go_with_their_columns() -> None:
    column = np.asarray([7, 8])
    assert [*map(np.ndarray.tolist, counted_columns([2, 0], column=column))] == [[7, 8], [2, 0]]
    assert counted_columns(None, column=column)[1] is None
    with pytest.raises(ValueError, match="column: expected at least one sample, got none"):
        counted_columns([0, 0], column=column)
