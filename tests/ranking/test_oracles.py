"""Independent implementations from PyPI agree on random inputs with many ties, where their definitions do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sklearn.metrics as sk

from tests import cases
from tests.checking import ulps

Load = Callable[..., Any]
seeds = pytest.mark.parametrize("seed", range(30))


def continuous(seed: int, *shape: int) -> np.ndarray:
    """Scores without ties."""
    size = int(np.prod(shape))
    return np.asarray(np.random.default_rng(seed).permutation(size) / size).reshape(shape)


@seeds
def test_ood_bench_against_scikit_learn(seed: int, load: Load) -> None:
    columns, _ = cases.draw("ood_bench", seed)
    scores, labels = columns["predictions"], columns["references"]
    fpr, tpr, _ = sk.roc_curve(labels, scores, drop_intermediate=False)
    accuracies = [np.mean((scores >= t) == labels) for t in [np.inf, *scores]]
    names = ["auroc", "aupr_out", "aupr_in", "fpr95tpr", "tpr5fpr", "detect_acc"]
    assert load("ood_bench").compute(**columns, metrics=names) == pytest.approx(
        {
            "auroc": sk.roc_auc_score(labels, scores),
            "aupr_out": sk.average_precision_score(labels, scores),
            "aupr_in": sk.average_precision_score(1 - labels, -scores),
            "fpr95tpr": fpr[tpr >= 0.95].min(),
            "tpr5fpr": tpr[fpr <= 0.05].max(),
            "detect_acc": max(accuracies),
        },
        abs=1e-14,
    )


@seeds
def test_scikit_learn_metrics_by_name_and_as_functions(seed: int, load: Load) -> None:
    columns, _ = cases.draw("ood_bench", seed)
    scores, labels = columns["predictions"], columns["references"]
    by_scores = ["roc_auc_score", "average_precision_score"]
    by_labels = ["accuracy_score", "balanced_accuracy_score", "matthews_corrcoef", "f1_score", "recall_score"]
    expected = {name: getattr(sk, name)(labels, scores) for name in by_scores}
    expected |= {name: getattr(sk, name)(labels, scores > 0.25) for name in by_labels}
    metric = load("ood_bench", threshold=0.25)
    assert metric.compute(**columns, metrics=by_scores + by_labels) == pytest.approx(expected, abs=1e-14)
    functions = [getattr(sk, name) for name in by_scores + by_labels]
    assert metric.compute(**columns, metrics=functions) == pytest.approx(expected, abs=1e-14)


@pytest.mark.filterwarnings("ignore")
@seeds
def test_sampled_curve_against_oodeel(seed: int, load: Load) -> None:
    oodeel = pytest.importorskip("oodeel.eval.metrics")
    columns, _ = cases.draw("ood_bench", seed)
    scores, labels = columns["predictions"], columns["references"]
    names = ["auroc", "fpr95tpr", "detect_acc", "tpr20fpr", "fnr70tnr"]
    for step in (1, 4, 7):
        ours = load("ood_bench").compute(**columns, metrics=names, step=step)
        assert ours == pytest.approx(oodeel.bench_metrics(scores, labels, metrics=names, step=step), abs=1e-15)


@seeds
def test_anomaly_suite_against_scikit_learn(seed: int, load: Load) -> None:
    columns, _ = cases.draw("anomaly_suite", seed)
    maps, masks = columns["predictions"], columns["references"]
    results = load("anomaly_suite").compute(predictions=maps, references=masks)
    levels = {
        "image": (masks.any(axis=(1, 2)).astype(int), maps.max(axis=(1, 2))),
        "pixel": (masks.reshape(-1), maps.reshape(-1)),
    }
    for level, (labels, scores) in levels.items():
        precision, recall, thresholds = sk.precision_recall_curve(labels, scores)
        f1 = sk.f1_score(labels, scores > results[f"{level}_f1_max_threshold"])
        assert results[f"{level}_auroc"] == pytest.approx(sk.roc_auc_score(labels, scores), abs=1e-14)
        assert results[f"{level}_ap"] == pytest.approx(sk.average_precision_score(labels, scores), abs=1e-14)
        assert results[f"{level}_aupr"] == pytest.approx(sk.auc(recall, precision), abs=1e-14)
        assert results[f"{level}_f1_max"] == pytest.approx(f1, abs=1e-14)
        assert f1 >= max(sk.f1_score(labels, scores >= t) for t in thresholds) - 1e-14


@seeds
def test_topk_against_scikit_learn_without_ties(seed: int, load: Load) -> None:
    scores = continuous(seed, 20, 6)
    labels = np.random.default_rng(seed).integers(0, 6, 20)
    ks = range(1, 6)
    expected = {f"accuracy@{k}": sk.top_k_accuracy_score(labels, scores, k=k, labels=range(6)) for k in ks}
    assert load("accuracyk").compute(predictions=scores, references=labels, k_list=ks) == pytest.approx(expected)


@seeds
def test_topk_against_xcurve_without_ties(seed: int, load: Load) -> None:
    torch = pytest.importorskip("torch")
    xcurve = pytest.importorskip("XCurve.Metrics.AUTKC")
    scores = torch.from_numpy(continuous(seed, 20, 6))
    labels = torch.from_numpy(np.random.default_rng(seed).integers(0, 6, 20))
    ks = (1, 2, 5)
    columns = dict(y_pred=scores, y_true=labels, k_list=ks, percent=True)
    accuracies, areas = (list(load(name).compute(**columns).values()) for name in ("accuracyk", "autkc"))
    assert accuracies == pytest.approx([float(x) for x in xcurve.TopkAcc(scores, labels, ks)], rel=1e-6)
    assert areas == pytest.approx([float(x) for x in xcurve.AUTKC(scores, labels, ks)], rel=1e-6)


@seeds
def test_open_set_metrics_against_xcurve(seed: int, load: Load) -> None:
    pytest.importorskip("torch")
    xcurve = pytest.importorskip("XCurve.Metrics.OpenAUC")
    columns, _ = cases.draw("openauc", seed)
    rng = np.random.default_rng(seed)
    n = len(columns["references"])
    columns |= {"predictions": cases.scores(rng, n, 5), "references": rng.integers(0, 5, n)}
    columns["open_labels"] = cases.both_classes(rng, n)
    t_list = [float(t) for t in cases.scores(rng, 5)]
    theirs = [columns[key] for key in ("predictions", "references", "open_scores", "open_labels")]
    # each under the other's name
    macro, micro = xcurve.MicroF(*theirs, t_list), xcurve.MacroF(*theirs, t_list)
    ours = {name: load(name).compute(**columns, t_list=t_list) for name in ("macro_open_f", "micro_open_f")}
    assert ours["macro_open_f"]["macro_open_f_curve"] == pytest.approx(macro, abs=1e-14)
    assert ours["micro_open_f"]["micro_open_f_curve"] == pytest.approx(micro, abs=1e-14)
    known = columns["open_labels"] == 0
    arrays = dict(
        open_set_pred_known=columns["open_scores"][known],
        open_set_pred_unknown=columns["open_scores"][~known],
        close_set_pred_class=columns["predictions"].argmax(axis=1)[known],
        close_set_labels=columns["references"][known],
    )
    assert load("openauc").compute(**arrays)["openauc"] == pytest.approx(xcurve.OpenAUC(**arrays), abs=1e-14)


@seeds
def test_against_torchmetrics(seed: int, load: Load) -> None:
    torch = pytest.importorskip("torch")
    torchmetrics = pytest.importorskip("torchmetrics.functional.classification")
    columns, _ = cases.draw("ood_bench", seed)
    # they take a sigmoid of anything outside [0, 1]
    scores = torch.from_numpy((columns["predictions"] + 2) / 4)
    labels = torch.from_numpy(columns["references"])
    ours = load("ood_bench").compute(predictions=scores, references=labels, metrics=["auroc", "aupr_out"])
    assert ours["auroc"] == pytest.approx(float(torchmetrics.binary_auroc(scores, labels)), abs=1e-6)
    assert ours["aupr_out"] == pytest.approx(float(torchmetrics.binary_average_precision(scores, labels)), abs=1e-6)
    logits, classes = continuous(seed, 20, 6), np.random.default_rng(seed).integers(0, 6, 20)
    top2 = torchmetrics.multiclass_accuracy(
        torch.from_numpy(logits), torch.from_numpy(classes), num_classes=6, top_k=2, average="micro"
    )
    ours = load("accuracyk").compute(predictions=logits, references=classes, k_list=2)
    assert ours == {"accuracy@2": pytest.approx(float(top2), abs=1e-6)}


def test_a_name_of_scikit_learn_gives_its_own_number(load: Load) -> None:
    labels, scores = np.arange(1_000_001) == 0, np.zeros(1_000_001)
    for name in ("average_precision_score", "roc_auc_score"):
        theirs = getattr(sk, name)(labels, scores)
        for metric in (name, getattr(sk, name)):
            assert load("ood_bench", metrics=[metric]).compute(predictions=scores, references=labels) == {name: theirs}


@pytest.mark.parametrize("num_classes", [100, 21_841])
def test_macro_f_of_many_classes_is_within_three_ulps_of_its_rational_value(num_classes: int, load: Load) -> None:
    for seed in range(3):
        rng = np.random.default_rng(seed)
        true, scores = rng.integers(0, num_classes, 4 * num_classes), rng.random(4 * num_classes)
        called = np.where(rng.random(len(true)) < 0.6, true, rng.integers(0, num_classes, len(true)))
        called[0], true[rng.random(len(true)) < 0.2] = num_classes - 1, -1
        found = load("macro_open_f").compute(predictions=called, references=true, open_scores=scores)
        accepted = scores <= found["macro_open_f_threshold"]
        parts = called[accepted & (called == true)], called[accepted], true[true >= 0]
        tp, of_called, of_true = (np.bincount(part, minlength=num_classes).tolist() for part in parts)
        precision, recall = (
            sum((Fraction(a, b or 1) for a, b in zip(tp, total)), Fraction()) / num_classes
            for total in (of_called, of_true)
        )
        assert ulps(found["macro_open_f"], 2 * precision * recall / (precision + recall)) <= 3
