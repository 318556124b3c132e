"""Every number that the documents behind this collection print comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests import seed_arrays

Load = Callable[..., Any]


def test_topk_accuracy(load: Load) -> None:
    references, predictions = seed_arrays.TOPK
    results = load("accuracyk").compute(y_pred=predictions, y_true=references, k_list=(1, 3), percent=True)
    assert results == {"accuracy@1": 30.0, "accuracy@3": 80.0}


def test_autkc(load: Load) -> None:
    references, predictions = seed_arrays.AUTKC
    results = load("autkc").compute(y_pred=predictions, y_true=references, k_list=(1, 3), percent=True)
    assert results == {"autkc@1": 50.0, "autkc@3": pytest.approx(63.3333, abs=5e-5)}


@pytest.mark.parametrize(
    ("name", "arrays", "printed"),
    [
        ("micro_open_f", seed_arrays.MACRO_F, seed_arrays.MACRO_F_PRINTED),
        ("macro_open_f", seed_arrays.MICRO_F, seed_arrays.MICRO_F_PRINTED),
    ],
    ids=["MacroF-is-micro", "MicroF-is-macro"],
)
def test_open_set_f(name: str, arrays: tuple[Any, ...], printed: list[float], load: Load) -> None:
    close_pred, close_labels, open_pred, open_labels = arrays
    columns = dict(close_pred=close_pred, close_labels=close_labels, open_pred=open_pred, open_labels=open_labels)
    results = load(name).compute(**columns, t_list=seed_arrays.T_LIST)
    assert results[f"{name}_curve"] == pytest.approx(printed, abs=1e-15)
    assert results[name] == pytest.approx(max(printed), abs=1e-15)
    assert results[f"{name}_threshold"] == seed_arrays.T_LIST[int(np.argmax(printed))]


def test_closed_set_accuracy(load: Load) -> None:
    predictions, references = seed_arrays.CLOSED_SET
    assert load("accuracyk").compute(preds=predictions, labels=references) == {"accuracy": 0.2}
    columns = dict(predictions=[*predictions, predictions[0]], references=[*references, -1], open_scores=np.zeros(11))
    assert load("openauc").compute(**columns)["closed_set_accuracy"] == 0.2


def test_accuracy_at_tpr(load: Load) -> None:
    open_scores, open_labels = seed_arrays.ACC_AT_TPR
    columns = dict(predictions=[0] * 10, references=[0] * 10, open_scores=open_scores, open_labels=open_labels)
    assert load("openauc").compute(**columns)["open_set_accuracy@tpr95"] == 0.7


def test_open_set_auroc(load: Load) -> None:
    open_scores, open_labels = seed_arrays.AUROC
    printed = pytest.approx(0.523809523809524, abs=1e-15)
    columns = dict(predictions=[0] * 10, references=[0] * 10, open_scores=open_scores, open_labels=open_labels)
    assert load("openauc").compute(**columns)["open_set_auroc"] == printed
    assert load("ood_bench").compute(scores=open_scores, labels=open_labels)["auroc"] == printed


def test_openauc(load: Load) -> None:
    known, unknown, predicted, labels = seed_arrays.OPENAUC
    results = load("openauc").compute(
        open_set_pred_known=known,
        open_set_pred_unknown=unknown,
        close_set_pred_class=predicted,
        close_set_labels=labels,
    )
    assert results["openauc"] == pytest.approx(0.04999999999999999, abs=1e-16)


def test_ood_bench_defaults_are_those_of_oodeel(load: Load) -> None:
    results = load("ood_bench").compute(predictions=(np.asarray([0.1, 0.2, 0.3]), np.asarray([0.7, 0.9])))
    assert results == {"auroc": 1.0, "fpr95tpr": 0.0}


def test_openset_detection_of_three_boxes(load: Load) -> None:
    predictions = np.asarray([[10, 10, 50, 50, 0.9, 0], [60, 60, 100, 100, 0.8, 999], [110, 110, 150, 150, 0.7, 1]])
    ground_truth = np.asarray([[10, 10, 50, 50, 0], [60, 60, 100, 100, 5], [110, 110, 150, 150, 1]])
    metric = load("openset_detection", known_classes=[0, 1, 2], unknown_class_id=999, iou_threshold=0.5)
    metric.add_batch(predictions=[predictions], ground_truth=[ground_truth])
    results = metric.compute()
    assert {name: results[name] for name in ("U-Recall", "WI", "A-OSE")} == {"U-Recall": 1.0, "WI": 0.0, "A-OSE": 0.0}


@pytest.mark.parametrize("convert", [np.asarray, list], ids=["arrays", "lists"])
def test_accuracy_at_k_of_class_ids(convert: Any, load: Load) -> None:
    predictions = convert([[0, 7, 1, 3, 5], [0, 2, 9, 8, 4], [8, 4, 0, 1, 3]])
    metric = load("accuracyk")
    assert metric.compute(predictions=predictions, references=convert([3, 5, 0])) == {"accuracy": 2 / 3}
    assert metric.compute(predictions=predictions, references=convert([3, 4, 0])) == {"accuracy": 1.0}


def test_accuracy_at_1_of_class_ids(load: Load) -> None:
    predictions, references = np.asarray([3, 8, 1]), np.asarray([3, 4, 0])
    results = load("accuracyk").compute(predictions=np.expand_dims(predictions, axis=1), references=references)
    assert results == {"accuracy": 1 / 3}


def test_the_swapped_call_of_the_accuracyk_card_is_an_error(load: Load) -> None:
    logits = np.random.default_rng(0).normal(size=(6, 10))
    top5 = np.argpartition(logits, -5, axis=-1)[:, -5:]
    with pytest.raises(ValueError, match="predictions and references are swapped"):
        load("accuracyk").compute(references=top5, predictions=np.zeros(6, dtype=int))
