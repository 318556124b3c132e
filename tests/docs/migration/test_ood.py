"""OOD detection: OpenOOD, pytorch-ood, torchmetrics, scikit-learn, oodeel, torch-uncertainty, osr-metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics import scores
from openworld_metrics.suites import evaluate_ood
from tests.docs.migration.rows import row

TRAPEZOIDS = ("aupr_in_trapezoid", "aupr_out_trapezoid")
OOD = ("auroc", "aupr_in", "aupr_out", "fpr95tpr")
CONF, LABELS = np.asarray([0.9, 0.8, 0.7, 0.3, 0.6, 0.4, 0.2]), np.asarray([0, 1, 1, 0, -1, -1, -1])
TIED, HALF = np.repeat(np.arange(20.0), 2), np.tile([0, 1], 20)  # pairs of a known and an unknown sample


def ours(scores: Any, unknown: Any, *names: str) -> Any:
    results = om.OODBench(metrics=names).compute(predictions=scores, references=np.asarray(unknown).astype(int))
    return results[names[0]] if len(names) == 1 else results


@row("OpenOOD `")
def test_openood() -> None:
    """Its numbers at commit 3c35632: aupr_in 0.908333, aupr_out 0.763889, 0.75 each for constant scores."""
    results = evaluate_ood(-CONF[:4], {"near": -CONF[4:]}, metrics=OOD)
    assert (results["auroc"], results["fpr95tpr"]) == (pytest.approx(0.833333, abs=1e-6), 0.25)
    assert results["aupr_in"] == pytest.approx(0.916667, abs=1e-6)
    assert results["aupr_out"] == pytest.approx(0.805556, abs=1e-6)
    constant = ours(np.ones(6), [0, 0, 0, 1, 1, 1], *OOD)
    assert (constant["aupr_in"], constant["aupr_out"]) == (0.5, 0.5)
    assert list(ours(np.ones(6), [0, 0, 0, 1, 1, 1], *TRAPEZOIDS).values()) == [0.75, 0.75]
    assert list(ours(-CONF, LABELS < 0, *TRAPEZOIDS).values()) == pytest.approx([0.908333, 0.763889], abs=1e-6)
    assert ours(TIED, HALF, "fpr95tpr") == 0.95  # theirs 1.0


def test_pytorch_ood() -> None:
    """Version 0.4.0 printed, for the scores above, AUROC 5/6, AUPR-IN 0.908333, AUPR-OUT 0.763889, FPR95TPR 0.25."""
    assert ours(-CONF, LABELS < 0, "auroc") == pytest.approx(5 / 6, rel=1e-15)
    assert ours(-CONF, LABELS < 0, "fpr95tpr") == 0.25
    assert ours(np.arange(20, 60), np.arange(40) >= 20, "auroc") == 1.0


@row("pytorch-ood `pytorch_ood.metrics.OODMetrics()`")
def test_pytorch_ood_itself() -> None:
    metrics, torch = pytest.importorskip("pytorch_ood.metrics"), pytest.importorskip("torch")
    theirs = metrics.OODMetrics().update(torch.tensor(-CONF), torch.tensor(LABELS)).compute()
    assert theirs["AUROC"] == pytest.approx(ours(-CONF, LABELS < 0, "auroc"), rel=1e-14)
    assert theirs["FPR95TPR"] == 0.25
    areas = ours(-CONF, LABELS < 0, *TRAPEZOIDS)
    assert [theirs["AUPR-IN"], theirs["AUPR-OUT"]] == pytest.approx(list(areas.values()), rel=1e-14)
    assert metrics.OODMetrics().update(torch.tensor(TIED), torch.tensor(-HALF)).compute()["FPR95TPR"] == 0.95


@row("pytorch-ood `AUTC()`")
def test_scales_and_autc() -> None:
    known, unknown = np.asarray([0.0, 1.0]), np.asarray([4.0])
    every = [om.OODBench().compute(predictions=(known**power, unknown**power)) for power in (1, 2)]
    assert every[0] == every[1]
    metrics, torch = pytest.importorskip("pytorch_ood.metrics"), pytest.importorskip("torch")
    for power, area in ((1, 0.0625), (2, 0.03125)):
        metric = metrics.AUTC()
        metric.update(torch.tensor([0.0, 1.0, 4.0]) ** power, torch.tensor([0, 0, -1]))
        assert metric.compute() == {"AUTC": area}


@row("pytorch-ood `aurra", "pytorch-ood `oscr_score")
def test_risks_and_oscr_of_pytorch_ood() -> None:
    answers = om.OODBench(metrics="auarc")
    assert answers.compute(predictions=[0.5, 0.5], references=[0, 1]) == {"auarc": 0.5}
    metrics, torch = pytest.importorskip("pytorch_ood.metrics"), pytest.importorskip("torch")
    of_equal = [metrics.aurra(torch.full((2,), 0.5), torch.tensor(right)) for right in ([1.0, 0.0], [0.0, 1.0])]
    assert of_equal == [0.75, 0.25]
    rng = np.random.default_rng(0)
    scores, classes, predicted = rng.integers(0, 9, 60) / 8, rng.integers(0, 3, 60), rng.integers(0, 3, 60)
    labels = np.where(np.arange(60) % 3, classes, -1)
    theirs = metrics.oscr_score(*map(torch.tensor, (scores, predicted, labels)))
    exact = om.OpenAUC().compute(predictions=predicted, references=labels, open_scores=scores)
    assert theirs == pytest.approx(exact["openauc"], rel=1e-14)


SIDES = ([0.7, 0.3, 0.2, 0.1], [0.9, 0.8, 0.4])  # negatives and positives
EQUAL = ([0.5], [0.5])


@row("SpeechBrain `minDCF", "Kaldi's `compute_min_dcf.py`")
def test_speechbrain() -> None:
    """Version 1.1.2 printed 0.0033333 and, for two equal scores and a prior of 0.9, 0.9; Kaldi's script is read."""
    assert om.OODBench(metrics="mindcf@p1").compute(predictions=SIDES) == {"mindcf@p1": 1 / 3}
    both = om.OODBench(metrics=["mindcf@p1", "mindcf@p90"]).compute(predictions=EQUAL)
    assert both == {"mindcf@p1": 1.0, "mindcf@p90": 1.0}
    stats, torch = pytest.importorskip("speechbrain.utils.metric_stats"), pytest.importorskip("torch")
    negatives, positives = map(torch.tensor, SIDES)
    assert float(stats.minDCF(positives, negatives)[0]) == pytest.approx(0.01 / 3, rel=1e-6)
    negatives, positives = map(torch.tensor, EQUAL)
    assert float(stats.minDCF(positives, negatives, p_target=0.9)[0]) == pytest.approx(0.9, rel=1e-6)


@row("PyOD `precision_n_scores")
@pytest.mark.filterwarnings("ignore")
def test_pyod() -> None:
    """Version 3.6.7 printed 0.0 and 1.0 for these."""
    ties, outliers = np.asarray([0.5, 0.5, 0.5, 0.9, 0.1]), np.asarray([1, 0, 0, 1, 0])
    assert ours(ties, outliers, "precision@n") == 2 / 3
    assert ours(ties[:2], outliers[:2], "precision@n") == 0.5
    precision_n_scores = pytest.importorskip("pyod.utils.utility").precision_n_scores
    assert precision_n_scores(outliers, ties) == 1.0
    assert precision_n_scores(outliers[:2], ties[:2]) == 0.0
    apart = np.random.default_rng(0).permutation(40)
    assert precision_n_scores(np.arange(40) % 3 == 0, apart) == ours(apart, np.arange(40) % 3 == 0, "precision@n")


@row("ood-metrics `detection_error")
def test_ood_metrics() -> None:
    """Version 1.1.2 printed 0.107142857, which is 3/28."""
    names = ["detect_acc", "detection_error"]
    assert om.OODBench(metrics=names).compute(predictions=SIDES) == dict(zip(names, (6 / 7, 1 / 8)))
    module = pytest.importorskip("ood_metrics")
    theirs = module.detection_error([*SIDES[0], *SIDES[1]], [0, 0, 0, 0, 1, 1, 1])
    assert theirs == pytest.approx(3 / 28, rel=1e-14)


@row("torchmetrics `BinaryAUROC`", "torchmetrics `MulticlassAccuracy")
def test_torchmetrics() -> None:
    torch = pytest.importorskip("torch")
    metrics = pytest.importorskip("torchmetrics.classification")
    scores, labels = torch.tensor(1 - CONF), torch.tensor((LABELS < 0).astype(int))
    results = ours(scores, labels, "auroc", "aupr_out")
    assert float(metrics.BinaryAUROC()(scores, labels)) == pytest.approx(results["auroc"], abs=1e-6)
    assert float(metrics.BinaryAveragePrecision()(scores, labels)) == pytest.approx(results["aupr_out"], abs=1e-6)
    perfect, half = torch.arange(20.0, 60.0), torch.arange(40) >= 20
    assert float(metrics.BinaryAUROC()(perfect, half.int())) == 0.5
    assert ours(perfect, half, "auroc") == 1.0
    rows, classes = np.random.default_rng(0).random((20, 5)), np.arange(20) % 5
    accuracy = metrics.MulticlassAccuracy(5, top_k=2, average="micro")
    assert om.AccuracyK(k_list=2).compute(predictions=rows, references=classes)["accuracy@2"] == pytest.approx(
        float(accuracy(torch.tensor(rows), torch.tensor(classes))), abs=1e-6
    )
    tied = metrics.MulticlassAccuracy(3, top_k=2, average="micro")(torch.zeros(3, 3), torch.arange(3))
    assert float(tied) == pytest.approx(2 / 3, abs=1e-6)
    zeros = {"predictions": np.zeros((3, 3)), "references": [0, 1, 2]}
    assert om.AccuracyK(k_list=2).compute(**zeros) == {"accuracy@2": 0.0}
    assert om.AccuracyK(k_list=2, ties="expected").compute(**zeros)["accuracy@2"] == pytest.approx(2 / 3)


@row("scikit-learn `roc_auc_score", "scikit-learn `roc_curve`", "scikit-learn `top_k_accuracy_score")
def test_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    results = ours(-CONF, LABELS < 0, "auroc", "aupr_out")
    assert metrics.roc_auc_score(LABELS < 0, -CONF) == pytest.approx(results["auroc"], rel=1e-14)
    assert metrics.average_precision_score(LABELS < 0, -CONF) == pytest.approx(results["aupr_out"], rel=1e-14)
    for drop, theirs in ((True, 1.0), (False, 0.95)):
        fpr, tpr, _ = metrics.roc_curve(HALF, TIED, drop_intermediate=drop)
        assert fpr[np.argmax(tpr >= 0.95)] == theirs
    assert ours(TIED, HALF, "fpr95tpr") == 0.95
    rows, classes = np.random.default_rng(0).random((20, 5)), np.arange(20) % 5
    assert om.AccuracyK(k_list=2).compute(predictions=rows, references=classes) == {
        "accuracy@2": metrics.top_k_accuracy_score(classes, rows, k=2)
    }
    assert metrics.top_k_accuracy_score([0, 1, 2], np.zeros((3, 3)), k=2) == pytest.approx(2 / 3)


@row("pytorch-ood `MaxSoftmax`")
def test_detectors_of_pytorch_ood() -> None:
    torch, detectors = pytest.importorskip("torch"), pytest.importorskip("pytorch_ood.detector")
    logits = np.random.default_rng(0).normal(0, 3, (20, 6))
    names = {"MaxSoftmax": scores.msp, "MaxLogit": scores.max_logit, "EnergyBased": scores.energy}
    names |= {"Entropy": scores.entropy, "GEN": scores.gen}
    for name, score in names.items():
        theirs, exact = getattr(detectors, name).score(torch.tensor(logits)).numpy(), score(logits)
        theirs = theirs + 1 if name == "MaxSoftmax" else theirs * 6 if name == "GEN" else theirs
        np.testing.assert_allclose(theirs, exact, rtol=1e-12, atol=1e-12, err_msg=name)


@row("oodeel `bench_metrics(scores")
@pytest.mark.filterwarnings("ignore")
def test_oodeel() -> None:
    oodeel = pytest.importorskip("oodeel.eval.metrics")
    rng = np.random.default_rng(0)
    both, unknown = rng.normal(size=101), rng.integers(0, 2, 101)
    names = ["auroc", "fpr95tpr", "detect_acc"]
    theirs = oodeel.bench_metrics(both, unknown, metrics=names)
    bench = om.OODBench(metrics=names).compute
    assert bench(predictions=both, references=unknown, step=4) == pytest.approx(theirs, abs=1e-14)
    tied = dict(predictions=np.zeros(20), references=np.tile([0, 1], 10))
    assert oodeel.bench_metrics(*tied.values(), metrics=["fpr95tpr"]) == {"fpr95tpr": 0.0}
    assert om.OODBench(metrics="fpr95tpr").compute(**tied) == {"fpr95tpr": 1.0}


@row("oodeel `bench_metrics((id")
@pytest.mark.filterwarnings("ignore")
def test_functions_of_scikit_learn_in_oodeel() -> None:
    oodeel, sk = pytest.importorskip("oodeel.eval.metrics"), pytest.importorskip("sklearn.metrics")
    sides = np.asarray([0.1, 0.4, 0.35]), np.asarray([0.8, 0.3])
    functions = [sk.f1_score, sk.average_precision_score]
    theirs = oodeel.bench_metrics(sides, metrics=[*functions, "f1_score"], threshold=0.3)
    results = om.OODBench(metrics=functions, threshold=0.3).compute(predictions=sides)
    assert theirs == {"f1_score": 0.4, "average_precision_score": pytest.approx(11 / 30)}
    assert results == {"f1_score": 0.4, "average_precision_score": 0.75}


@row("torch-uncertainty `FPR95", "osr-metrics `fpr_at_95tpr")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("library", ["torch_uncertainty", "osr_metrics"])
def test_fpr_at_95_tpr(library: str) -> None:
    rng = np.random.default_rng(0)
    cases = [(rng.integers(0, levels, 60), rng.integers(0, 2, 60)) for levels in (3, 30, 10**6)]
    if library == "osr_metrics":
        theirs = pytest.importorskip("osr_metrics").fpr_at_95tpr
        assert theirs(TIED, HALF) == 1.0
        cases = cases[2:]
    else:
        torch, metrics = pytest.importorskip("torch"), pytest.importorskip("torch_uncertainty.metrics.classification")

        def theirs(both: np.ndarray, unknown: np.ndarray) -> float:
            metric = metrics.FPR95(pos_label=1)
            metric.update(torch.tensor(both, dtype=torch.float64), torch.tensor(unknown))
            return float(metric.compute())

        cases.append((TIED, HALF))
    for both, unknown in cases:
        assert theirs(both, unknown) == pytest.approx(ours(both, unknown, "fpr95tpr"), abs=1e-6)
