"""The kernel's public functions: two sides by keyword, and arrays of every kind or a clear error."""

from __future__ import annotations

import inspect
import math
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.classification.ranks import listed_ranks
from openworld_metrics.classification.topk import accuracy
from openworld_metrics.detection.boxes import reduce_boxes
from openworld_metrics.loading import METRICS, metric_class
from openworld_metrics.open_set.samples import known_unknown_state
from openworld_metrics.ranking.counts import exceedance_counts

LARGE = 600_000  # scores, from which compiled loops are taken
FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{name: getattr(om, name) for name in om.__all__ if inspect.isfunction(getattr(om, name))},
    "accuracy": accuracy,
    "exceedance_counts": exceedance_counts,
    "known_unknown_state": known_unknown_state,
    "listed_ranks": listed_ranks,
    "reduce_boxes": reduce_boxes,
    "MacroOpenF().reduce": om.MacroOpenF().reduce,
    "OODBench().reduce": om.OODBench().reduce,
    "AnomalySuite.reduce": om.AnomalySuite().reduce,
    "OpenAUC().reduce": om.OpenAUC().reduce,
}
PARAMETERS = {name: inspect.signature(function).parameters for name, function in FUNCTIONS.items()}
SIDE = re.compile(
    r"((first|second)_)?(positives|negatives|unknown|known|errors|right|correct_known|out|inside|ood|ind)"
)
OF_SIDES = [name for name, parameters in PARAMETERS.items() if sum(map(bool, map(SIDE.fullmatch, parameters))) > 1]
SCORES_AND_LABELS = {"OODBench().reduce", "get_curve"}  # what these take


def test_every_function_of_two_sides_names_them() -> None:
    assert len(OF_SIDES) >= 17
    for name in OF_SIDES:
        parameters = PARAMETERS[name]
        assert {parameter.kind for parameter in parameters.values()} == {inspect.Parameter.KEYWORD_ONLY}, name
        if not {"errors", "unknown", "first_positives"} & {*parameters}:
            assert list(parameters)[:2] == ["positives", "negatives"]


@pytest.mark.parametrize("name", OF_SIDES)
def test_sides_by_position_are_refused_with_the_call_to_write(name: str) -> None:
    required = [key for key, parameter in PARAMETERS[name].items() if parameter.default is parameter.empty]
    call = re.escape(f"expected {name}({', '.join(f'{key}=...' for key in required)}): two sides of scores by keyword")
    for number in range(1, 1 + len(PARAMETERS[name])):
        with pytest.raises(TypeError, match=f"{call}, not scores with labels; got {number} by position"):
            FUNCTIONS[name](*[[0.5, 0.25]] * number)


@pytest.mark.parametrize("name", sorted({*FUNCTIONS} - SCORES_AND_LABELS))
def test_scores_with_labels_are_never_read_as_something_else(name: str) -> None:
    if {*PARAMETERS[name]} & {"state", "metric"}:
        pytest.skip("it takes neither scores nor labels")
    scores, labels = np.random.default_rng(0).random(20), np.arange(20) % 2
    for arrays in ((scores, labels), (labels, scores), (scores.tolist(), labels.tolist())):
        with pytest.raises((TypeError, ValueError)):
            FUNCTIONS[name](*arrays)


Columns = dict[str, Any]


def calls(rng: np.random.Generator) -> dict[str, tuple[Columns, Columns]]:
    """Columns and options of each public function of arrays; scores are integers, so every type holds them."""
    positives, negatives, others = (rng.integers(-6, 9, int(rng.integers(4, 30))).astype(float) for _ in range(3))
    sides = {"positives": positives, "negatives": negatives}
    known = {"unknown": positives, "correct_known": negatives}
    errors = {"errors": positives, "right": negatives}
    n = int(rng.integers(3, 30))
    scores, matrix = rng.integers(-6, 9, n).astype(float), rng.integers(0, 5, (n, 4)).astype(float)
    classes, labels = rng.integers(0, 4, n), rng.integers(0, 2, n)
    truth, counts = np.where(labels == 1, -1, classes), rng.integers(1, 5, n)
    listed = {"predictions": rng.permuted(np.tile(np.arange(6), (n, 1)), axis=1)[:, :3], "labels": classes}
    ranks = {"above": rng.integers(0, 4, n), "tied": rng.integers(0, 3, n), "counts": counts}
    samples = {"predicted": rng.integers(0, 4, n), "classes": truth, "scores": scores}
    open_set = {"predictions": matrix, "references": truth, "open_scores": scores}
    xcurve = {
        "open_set_pred_known": scores, "open_set_pred_unknown": positives, "close_set_pred_class": samples["predicted"],
        "close_set_labels": classes,
    }  # fmt: skip
    sizes = rng.integers(1, 4, int(rng.integers(1, 5)))
    pixels = {"region_scores": rng.integers(0, 9, sizes.sum()).astype(float), "region_sizes": sizes, "normal": others}
    maps, masks = rng.integers(0, 9, (3, 5, 6)).astype(float), rng.integers(0, 2, (3, 5, 6))
    corners = rng.integers(0, 5, (6, 2))
    boxes = np.concatenate([corners, corners + rng.integers(1, 9, (6, 2))], axis=1).astype(float)
    predictions = np.concatenate([boxes, rng.integers(1, 9, (6, 1)), rng.integers(0, 3, (6, 1))], axis=1)
    references = np.concatenate([boxes[::-1] + 1, rng.integers(0, 3, (6, 1))], axis=1)
    tp, fp = (np.cumsum(rng.integers(0, 3, 8)) for _ in range(2))
    point = {"rate": "fpr", "bounded": "tpr", "bound": 0.75}
    both = {f"{model}_{side}": rng.permuted(scores) for model in ("first", "second") for side, scores in sides.items()}
    return {
        "accuracy": ({"correct": labels == 1, "counts": counts}, {}),
        "accuracy_at_tpr": (sides, {"tpr": 0.75}),
        "aupr": (sides, {}),
        "aupro": (pixels, {"limits": [0.3, 1.0]}),
        "auroc": (sides, {}),
        "autkc": (ranks, {"k": 3}),
        "average_precision": (sides, {}),
        "box_iou": ({"boxes": boxes, "others": boxes[::-1] + 1}, {}),
        "ccr_at_fpr": (known, {"num_known": 40, "fpr": 0.25}),
        "delong": (sides, {}),
        "delong_test": (both, {}),
        "detection_accuracy": (sides, {}),
        "exceedance_counts": (sides, {}),
        "f1_max": (sides, {}),
        "guaranteed_coverage": (errors, {"risk": 0.75, "confidence_level": 0.5}),
        "listed_ranks": (listed, {}),
        "macro_open_f": ({**samples, "counts": counts}, {"num_classes": 4}),
        "match_boxes": (
            {"predictions": predictions, "references": references, "num_predictions": np.asarray([4, 2]),
             "num_references": np.asarray([3, 3])},
            {"iou_threshold": 0.25},
        ),
        "micro_open_f": ({**samples, "counts": counts}, {"t_list": [0.5, 3.0]}),
        "open_f_curve": (samples, {"num_classes": 4}),
        "openauc": (known, {"num_known": 40}),
        "operating_point": (sides, point),
        "oscr_curve": (known, {"num_known": 40}),
        "precision_recall_curve": (sides, {}),
        "pro_curve": (pixels, {}),
        "proportion_interval": ({"count": np.asarray(3), "total": np.asarray(n)}, {}),
        "reduce_boxes": (
            {"predictions": [predictions, predictions[:2]], "references": [references, references]},
            {"box_format": "xyxy"},
        ),
        "AnomalySuite.reduce": ({"predictions": maps, "references": masks}, {}),
        "known_unknown_state": (xcurve, {}),
        "OODBench().reduce": ({"predictions": scores, "references": labels}, {}),
        "MacroOpenF().reduce": (open_set, {}),
        "OpenAUC().reduce": (open_set, {}),
        "risk_coverage": ({**errors, "unknown": others}, {"metrics": ["aurc", "risk@cov80", "coverage@risk5"]}),
        "roc_curve": (sides, {}),
        "threshold_at_fpr": ({"known_scores": scores}, {"fpr": 0.25}),
        "topk_accuracy": (ranks, {"k": 2, "ties": "expected"}),
        "true_class_ranks": ({"predictions": matrix, "labels": classes}, {}),
        "voc_average_precision": ({"tp": tp, "fp": fp}, {"num_objects": 1 + int(tp[-1])}),
    }  # fmt: skip


# what functions take that hold no arrays of theirs
NO_ARRAYS = {"state", "data", "metric", "name", "results"}
TAKEN = sorted(calls(np.random.default_rng(0)))


def test_every_public_function_of_arrays_is_called() -> None:
    apart = {name for name, parameters in PARAMETERS.items() if {*parameters} & NO_ARRAYS}
    apart |= {"openset_detection_rates", "ftpn", "get_curve"}  # a mapping of ints; twins of oodeel's
    assert {*FUNCTIONS} - apart == {*TAKEN}


def as_tensor(array: np.ndarray, kind: str) -> Any:
    """A tensor; scores in the kind of it that is named."""
    torch = pytest.importorskip("torch")
    return torch.from_numpy(array).to(getattr(torch, kind)) if array.dtype.kind == "f" else torch.from_numpy(array)


def as_series(array: np.ndarray) -> Any:
    pandas = pytest.importorskip("pandas")
    return pandas.Series(array, index=np.arange(len(array))[::-1]) if array.ndim == 1 else array


KINDS: dict[str, Callable[[np.ndarray], Any]] = {
    "lists": np.ndarray.tolist,
    "float32 arrays": lambda array: array.astype(np.float32) if array.dtype.kind == "f" else array,
    "small integers": lambda array: array.astype(np.int8),
    "read-only arrays": lambda array: np.broadcast_to(array, array.shape),
    "Series": as_series,
    **{f"{kind} tensors": partial(as_tensor, kind=kind) for kind in ("float64", "float32", "bfloat16", "int64")},
}


def plain(result: Any) -> Any:
    """A result in lists and numbers of Python."""
    if isinstance(result, Mapping):
        return {key: plain(value) for key, value in result.items()}
    if isinstance(result, (tuple, list)):
        return [plain(value) for value in result]
    return result.tolist() if hasattr(result, "tolist") else result


def called(name: str, kind: Callable[[np.ndarray], Any], columns: Columns, options: Columns) -> Any:
    converted = {
        key: [*map(kind, column)] if isinstance(column, list) else kind(column) for key, column in columns.items()
    }
    result = FUNCTIONS[name](**converted, **options)
    # its threshold lies just below a score, in the type of the scores
    return result.coverage if name == "guaranteed_coverage" else plain(result)


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_array_gives_the_same_numbers(name: str, kind: str) -> None:
    if "int" in kind and name.startswith("reduce_topk"):
        pytest.skip("integers are class ids there")
    for seed in range(8):
        columns, options = calls(np.random.default_rng(seed))[name]
        expected = called(name, lambda array: array, columns, options)
        assert called(name, KINDS[kind], columns, options) == expected


WRONG: dict[str, Callable[[Any], Any]] = {
    "text": lambda column: np.full(np.shape(column), "a"),
    "complex numbers": lambda column: np.asarray(column) * 1j,
    "one more dimension": lambda column: np.asarray(column)[None],
    "a mapping": lambda column: {"a": 1},
    "NaN": lambda column: np.full(np.shape(column), math.nan),
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_such_array_is_refused_by_its_name(name: str, wrong: str) -> None:
    columns, options = calls(np.random.default_rng(0))[name]
    for key, column in columns.items():
        if isinstance(column, list) or (name == "AnomalySuite.reduce" and wrong == "one more dimension"):
            continue
        with pytest.raises((TypeError, ValueError), match=key):
            FUNCTIONS[name](**{**columns, key: WRONG[wrong](column)}, **options)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32", "int64"])
@pytest.mark.parametrize("scores", ["float32", "float64"])
def test_macro_open_f_of_small_ids(dtype: str, scores: str) -> None:
    t = np.asarray([0.1, 0.2, 0.9], dtype=scores)
    best, threshold, _ = om.macro_open_f(np.asarray([0, 1, 1], dtype), np.asarray([0, 1, -1]), t, 2)
    assert (best, threshold) == (1.0, float(t[1]))


@pytest.mark.parametrize("num_classes", [2, 100, 10**6, 2**50, 2**61])
def test_the_number_of_classes_scales_macro_f_only(num_classes: int) -> None:
    predicted, classes = np.asarray([0, 1, 0, 0, 1, 0, 0, 0]), np.asarray([0, -1, -1, -1, 1, 1, 1, 1])
    best, threshold, _ = om.macro_open_f(predicted, classes, np.arange(8.0), num_classes)
    assert threshold == 0.0
    assert best == pytest.approx(0.5 * 2 / num_classes, rel=1e-15)


@pytest.mark.parametrize("size", [10, LARGE])
@pytest.mark.parametrize(("name", "label"), [("predicted", -1), ("predicted", 9), ("classes", 9)])
def test_macro_open_f_of_ids_out_of_range(name: str, label: int, size: int) -> None:
    columns = {"predicted": np.zeros(size, int), "classes": np.zeros(size, int)}
    columns[name][7] = label
    with pytest.raises(ValueError, match=f"{name}: expected class ids .*, got {label}"):
        om.macro_open_f(**columns, scores=np.zeros(size), num_classes=9)


@pytest.mark.parametrize("size", [10, LARGE])
def test_any_negative_class_is_unknown(size: int) -> None:
    classes = np.arange(size) % 5 - 3
    classes[classes == -3] = np.iinfo(np.int64).min
    columns = {"predicted": np.zeros(size, int), "scores": np.arange(size) % 1000}
    for function, more in ((om.macro_open_f, {"num_classes": 2}), (om.micro_open_f, {}), (om.open_f_curve, {})):
        assert function(**columns, classes=classes, **more) == function(
            **columns, classes=np.maximum(classes, -1), **more
        )


@pytest.mark.parametrize("label", [-1, 600])
def test_ranks_of_labels_out_of_range(label: int) -> None:
    labels = np.zeros(1000, dtype=int)
    labels[7] = label
    with pytest.raises(ValueError, match="labels: expected class ids"):
        om.true_class_ranks(np.zeros((1000, 600), np.float32), labels)


@pytest.mark.parametrize("dtype", ["float16", "int16", "int64", "float32"])
def test_sides_of_any_type(dtype: str) -> None:
    rng = np.random.default_rng(0)
    scores, labels = rng.integers(-50, 50, LARGE).astype(dtype), rng.integers(0, 2, LARGE)
    metric = om.OODBench()
    out, inside = (side.repeated() for side in metric.prepare(metric.reduce(scores, labels)).sides)
    assert np.array_equal(out, np.sort(scores[labels == 1].astype(np.float64)))
    assert np.array_equal(inside, np.sort(scores[labels == 0].astype(np.float64)))
    expected = om.accuracy_at_tpr(
        positives=scores[labels == 1].astype(np.float64), negatives=scores[labels == 0].astype(np.float64)
    )
    assert om.accuracy_at_tpr(positives=out, negatives=inside) == expected


def test_a_state_is_not_reordered() -> None:
    masks = np.zeros((2, 4, 4), dtype=np.uint8)
    masks[0, 1:3, 1:3] = 1
    metric = om.AnomalySuite(integration_limits=[0.3])
    state = metric.reduce(np.random.default_rng(0).random((2, 4, 4)), masks)
    before = {name: array.copy() for name, array in state.items()}
    for array in state.values():
        array.setflags(write=False)
    assert metric.prepare(state).rates() == metric.prepare(before).rates()
    assert all(np.array_equal(state[name], before[name]) for name in state)


def test_maps_that_are_not_there() -> None:
    assert len(om.AnomalySuite().reduce(np.zeros(0), np.zeros(0))["image_scores"]) == 0
    with pytest.raises(ValueError, match="expected maps with pixels"):
        om.AnomalySuite().reduce(np.zeros((2, 0, 5), dtype=np.int64), np.zeros((2, 0, 5), dtype=bool))


def test_regions_of_a_mask_of_numbers() -> None:
    scores, mask = np.arange(6.0).reshape(2, 3), np.asarray([[1, 0, 1], [0, 0, 1]], dtype=np.uint8)
    state = om.AnomalySuite().reduce([scores], [mask])
    assert [state[name].tolist() for name in ("normal", "anomalous", "region_sizes")] == [[1, 3, 4], [0, 2, 5], [1, 2]]


def test_nan_is_named_by_its_place() -> None:
    with pytest.raises(ValueError, match="positives: expected no NaN, got NaN at position 1"):
        exceedance_counts(positives=np.asarray([1.0, np.nan, 0.0]), negatives=np.asarray([0.0]))
    with pytest.raises(ValueError, match=r"predictions\[0\]: expected no NaN"):
        om.OODBench(metrics=["f1_score"], threshold=0.5).compute(predictions=([np.nan], [1.0]))


def test_public_names_come_when_they_are_asked_for() -> None:
    code = """
import sys
import openworld_metrics
assert "numpy" not in sys.modules
assert openworld_metrics.auroc is openworld_metrics.public.auroc
assert openworld_metrics.scores.msp([[0.0, 0.0]]) == 0.5
assert {"auroc", "OpenAUC"} <= set(dir(openworld_metrics)) and "auroc" in openworld_metrics.__all__
for name in ("nothing", "_nothing"):
    try:
        getattr(openworld_metrics, name)
    except AttributeError as error:
        assert str(error) == f"module 'openworld_metrics' has no attribute '{name}'"
from openworld_metrics import *
assert OpenAUC is openworld_metrics.OpenAUC
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_face_is_small_and_every_function_has_an_example() -> None:
    classes = {metric_class(name).__name__ for name in METRICS}
    assert classes <= {*om.__all__}, "each metric is in shared/public.py"
    assert len({*om.__all__} - classes) <= 37, "functions and the rest of shared/public.py"
    public = [getattr(om, name) for name in om.__all__]
    assert [each.__name__ for each in public if callable(each) and not _has_example(each)] == []


def _has_example(function: Any) -> bool:
    return function is om.Metric or ">>> " in (inspect.getdoc(function) or "")
