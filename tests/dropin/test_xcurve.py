"""XCurve's calls: its guide's numbers, and XCurve itself on random data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from openworld_metrics.dropin import xcurve
from openworld_metrics.dropin.xcurve import AUROC, AUTKC, Acc_At_TPR, ClosedSetAcc, MacroF, MicroF, OpenAUC, TopkAcc
from tests import seed_arrays

close = pytest.approx


@pytest.mark.parametrize(
    ("call", "arrays", "printed"),
    [(TopkAcc, seed_arrays.TOPK, [30, 80]), (AUTKC, seed_arrays.AUTKC, [50, 63.3333])],
    ids=["TopkAcc", "AUTKC"],
)
def test_top_k(call: Any, arrays: Any, printed: list[float]) -> None:
    y_true, y_pred = map(np.asarray, arrays)
    floats = call(y_pred, y_true, (1, 3))
    assert floats == close(printed, abs=5e-5)
    assert {type(value) for value in floats} == {float}
    assert call(y_pred, y_true, [3, 1, 3]) == [floats[1], *floats]
    assert call(y_pred, y_true) == floats[:1]
    torch = pytest.importorskip("torch")
    tensors = call(torch.tensor(y_pred), torch.LongTensor(y_true), (1, 3))
    assert [tensor.item() for tensor in tensors] == floats
    assert {tensor.shape for tensor in tensors} == {()}


@pytest.mark.parametrize(
    ("call", "arrays", "printed"),
    [
        (MacroF, seed_arrays.MACRO_F, seed_arrays.MACRO_F_PRINTED),
        (MicroF, seed_arrays.MICRO_F, seed_arrays.MICRO_F_PRINTED),
    ],
    ids=["MacroF", "MicroF"],
)
def test_open_set_f(call: Any, arrays: Any, printed: list[float]) -> None:
    """The guide prints the other function's formula: its numbers are an option, and the formula is the default."""
    columns = (*map(np.asarray, arrays), seed_arrays.T_LIST)
    assert call(*columns, as_printed=True) == close(printed, abs=1e-15)
    assert max(call(*columns, as_printed=True)) == close(max(printed), abs=1e-15)
    other = MicroF if call is MacroF else MacroF
    assert call(*columns) == other(*columns, as_printed=True) != call(*columns, as_printed=True)


def test_the_formula_of_macro_f() -> None:
    """At t = 0.6: P = (1/1 + 1/2 + 0/0)/3 and R = (1/2 + 1/1 + 0/1)/3; pooled, P = 2/3 and R = 2/4."""
    close_pred = np.eye(3)[[0, 1, 1, 1, 2]]
    columns = close_pred, [0, 1, 0, 0, 2], [0.1, 0.2, 0.9, 0.5, 0.7], [0, 0, 0, 1, 0], [0.6]
    assert MacroF(*columns) == close([1 / 2], rel=1e-15)
    assert MicroF(*columns) == close([4 / 7], rel=1e-15)


def test_numbers_of_the_guide() -> None:
    assert ClosedSetAcc(*map(np.asarray, seed_arrays.CLOSED_SET)) == 0.2
    open_pred, open_labels = map(np.asarray, seed_arrays.ACC_AT_TPR)
    assert Acc_At_TPR(open_pred, open_labels, 0.95) == Acc_At_TPR(open_pred, open_labels) == 0.7
    open_pred, open_labels = map(np.asarray, seed_arrays.AUROC)
    assert AUROC(y_true=open_labels, y_pred=open_pred) == close(0.523809523809524, abs=1e-15)
    assert OpenAUC(*map(np.asarray, seed_arrays.OPENAUC)) == close(0.04999999999999999, abs=1e-16)


def test_auroc_takes_its_arrays_in_each_order_that_xcurve_has() -> None:
    scores, labels = map(np.asarray, seed_arrays.AUROC)
    value = AUROC(y_true=labels, y_pred=scores)
    assert AUROC(labels, scores) == AUROC(scores, labels) == value
    assert AUROC(open_set_preds=scores, open_set_labels=labels) == value
    decisions = (scores > 0.2).astype(int)
    with pytest.raises(ValueError, match=r"expected scores and labels by name, .*; got two arrays of 0 and 1"):
        AUROC(labels, decisions)
    assert AUROC(y_true=labels, y_pred=decisions) != AUROC(y_true=decisions, y_pred=labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("levels", [4, 30, 10**6])
@pytest.mark.parametrize("seed", range(10))
def test_xcurve_itself(seed: int, levels: int) -> None:
    theirs, torch = pytest.importorskip("XCurve.Metrics"), pytest.importorskip("torch")
    rng = np.random.default_rng(seed)
    number, classes = int(rng.integers(5, 60)), int(rng.integers(2, 7))
    close_pred, close_labels = rng.random((number, classes)), rng.integers(0, classes, number)
    open_pred, unknown_pred = rng.integers(0, levels, number) / levels, rng.integers(0, levels, 7) / levels
    open_labels = np.r_[0, 1, rng.integers(0, 2, number - 2)]
    columns: dict[str, tuple[Any, ...]] = {
        name: (torch.tensor(close_pred), torch.tensor(close_labels), tuple(range(1, classes)))
        for name in ("TopkAcc", "AUTKC")
    }
    open_set = close_pred, close_labels, open_pred, open_labels, sorted({*open_pred, 0, 0.5, 2})
    columns |= {"MacroF": open_set, "MicroF": open_set, "ClosedSetAcc": (close_pred, close_labels)}
    columns |= {"OpenAUC": (open_pred, unknown_pred, close_pred.argmax(axis=1), close_labels)}
    for name, arrays in columns.items():
        options = {"as_printed": True} if name in ("MacroF", "MicroF") else {}
        ours = getattr(xcurve, name)(*arrays, **options)
        rounding = 1e-4 if name in ("TopkAcc", "AUTKC") else 1e-14  # percent in float32
        np.testing.assert_allclose(ours, getattr(theirs, name)(*arrays), rtol=0, atol=rounding, err_msg=name)
    named = {"y_true": open_labels, "y_pred": open_pred}
    assert AUROC(**named) == close(theirs.AUROC(**named), abs=1e-14)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: TopkAcc(np.eye(3), [0, 1, 2], (4,)), ValueError, "k_list: expected an int .* at most 3, got 4"),
        (lambda: AUTKC(np.eye(3), [0, 1, 3]), ValueError, "references: expected class ids .*, got 3"),
        (lambda: TopkAcc(np.eye(3), [0, 1]), ValueError, "got 3 predictions, 2 references"),
        (lambda: TopkAcc(np.eye(3, dtype=int), [0, 1, 2]), ValueError, "expected .* floating scores, got int64"),
        (lambda: ClosedSetAcc([[np.nan, 0.0]], [0]), ValueError, "predictions: expected no NaN"),
        (lambda: MacroF(np.eye(2), [0, 1], [0.1, 0.2], [0, 2], [0.5]), ValueError, "open_labels: expected 0 or 1"),
        (lambda: MicroF(np.eye(2), [0, 1], [0.1, 0.2], [0, 1], []), ValueError, "t_list: expected"),
        (lambda: MacroF(np.eye(2), [0, 1], [0.1, 0.2], [0, 1], [0.5], as_printed=1), TypeError, "as_printed: expected"),
        (lambda: Acc_At_TPR([0.1, 0.2], [0, 1], 95), ValueError, r"r: expected .* got 95"),
        (lambda: Acc_At_TPR([0.1, 0.2], [1, 1]), ValueError, "expected samples of both classes"),
        (lambda: Acc_At_TPR([0, 1], [0.1, 0.2]), ValueError, "open_set_labels: expected integers, got 0.1"),
        (lambda: Acc_At_TPR([0.1, 0.2], [0, 1, 1]), ValueError, "got 2 open_set_preds, 3 open_set_labels"),
        (lambda: AUROC(y_true=[0, 2], y_pred=[0.1, 0.2]), ValueError, "y_true: expected 0 or 1, got 2"),
        (lambda: AUROC([0.1, 0.2], [0.3, 0.4]), ValueError, "y_true: expected integers, got 0.3"),
        (lambda: AUROC([0.1, 0.2]), TypeError, "expected y_true and y_pred, .*; got by position"),
        (lambda: AUROC([0, 1], y_pred=[0.1, 0.2]), TypeError, "got by position, y_pred"),
        (lambda: AUROC(y_true=[0, 1], scores=[0.1, 0.2]), TypeError, "got y_true, scores"),
        (lambda: OpenAUC([0.1], [], [0], [0]), ValueError, "expected samples of both classes"),
    ],
)
def test_what_is_wrong(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
