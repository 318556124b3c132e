"""Where people come from: for each library of docs/coming-from.md its own call beside ours, and where they differ.

Theirs runs where it is installed; the numbers of the others were printed by the versions that are named.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.evaluation import evaluate_ood

ROOT = Path(__file__).resolve().parents[2]
SECTION = (ROOT / "docs" / "coming-from.md").read_text(encoding="utf-8").partition("\n## Their call")[2]
LIBRARIES = [
    "OpenOOD",
    "pytorch-ood",
    "torchmetrics",
    "scikit-learn",
    "osr-metrics",
    "ARPL",
    "anomalib ≤ 2.2",
    "anomalib ≥ 2.3",
    "adeval",
]
TRAPEZOIDS = ("aupr_in_trapezoid", "aupr_out_trapezoid")
OOD = ("auroc", "aupr_in", "aupr_out", "fpr95tpr")
CONF, LABELS = np.asarray([0.9, 0.8, 0.7, 0.3, 0.6, 0.4, 0.2]), np.asarray([0, 1, 1, 0, -1, -1, -1])
TIED, HALF = np.repeat(np.arange(20.0), 2), np.tile([0, 1], 20)  # pairs of a known and an unknown sample


def ours(scores: Any, unknown: Any, *names: str) -> Any:
    results = om.OODBench(metrics=names).compute(predictions=scores, references=np.asarray(unknown).astype(int))
    return results[names[0]] if len(names) == 1 else results


@pytest.mark.parametrize("library", LIBRARIES)
def test_there_is_a_row(library: str) -> None:
    rows = [line.strip("|").split(" | ") for line in SECTION.splitlines()]
    theirs, call, why = next(row for row in rows if library in row[0])
    assert "`" in theirs
    assert call.strip()
    assert why.strip()


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


def test_pytorch_ood_itself() -> None:
    metrics, torch = pytest.importorskip("pytorch_ood.metrics"), pytest.importorskip("torch")
    theirs = metrics.OODMetrics().update(torch.tensor(-CONF), torch.tensor(LABELS)).compute()
    assert theirs["AUROC"] == pytest.approx(ours(-CONF, LABELS < 0, "auroc"), rel=1e-14)
    assert theirs["FPR95TPR"] == 0.25
    areas = ours(-CONF, LABELS < 0, *TRAPEZOIDS)
    assert [theirs["AUPR-IN"], theirs["AUPR-OUT"]] == pytest.approx(list(areas.values()), rel=1e-14)
    assert metrics.OODMetrics().update(torch.tensor(TIED), torch.tensor(-HALF)).compute()["FPR95TPR"] == 0.95


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


# scores of known samples, whether their classes are right, scores of unknown ones; exact, osr-metrics 0.5.0, ARPL's
# script: DEFINITIONS §1
OSCR: dict[str, Any] = {
    "plain": ([0.1, 0.4, 0.2, 0.7], [1, 1, 0, 1], [0.3, 0.5, 0.8], 1 / 2, 0.5, 0.416667),
    "one unknown": ([0.1, 0.4, 0.2], [1, 1, 0], [0.6], 2 / 3, 0.666667, 0.5),
    "ties": ([1, 2, 2, 3], [1, 1, 0, 1], [2, 3, 3], 13 / 24, 0.541667, 0.375),
    "constant": ([1, 1, 1, 1], [1, 1, 0, 1], [1, 1], 3 / 8, 0.0, 0.0),
    "perfect": ([1, 2, 3], [1, 1, 1], [4, 5], 1, 1.0, 0.916667),
    "two samples": ([0.1], [1], [0.6], 1, 1.0, 0.5),
}


def oscr_columns(case: str) -> dict[str, np.ndarray]:
    known, right, unknown = OSCR[case][:3]
    return {
        "predictions": np.asarray([*right, *([0] * len(unknown))]),
        "references": np.asarray([1] * len(known) + [-1] * len(unknown)),
        "open_scores": np.asarray([*known, *unknown], dtype=np.float64),
    }


@pytest.mark.parametrize("case", OSCR)
def test_the_arpl_script(case: str) -> None:
    exact, script = OSCR[case][3], OSCR[case][5]
    assert om.OpenAUC().compute(**oscr_columns(case))["openauc"] == pytest.approx(exact, rel=1e-15)
    assert abs(exact - script) > 0.08


@pytest.mark.parametrize("case", OSCR)
def test_osr_metrics(case: str) -> None:
    osr_metrics = pytest.importorskip("osr_metrics")
    predicted, true, scores = oscr_columns(case).values()
    theirs = osr_metrics.compute_aoscr(scores, (true < 0).astype(int), predicted, true)
    assert theirs == pytest.approx(OSCR[case][4], abs=1e-6)
    assert osr_metrics.fpr_at_95tpr(TIED, HALF) == 1.0


def test_risk_of_osr_metrics() -> None:
    """Theirs takes the mean over tied samples, as ours; a loss of 1 where a sample must not be accepted."""
    osr_metrics = pytest.importorskip("osr_metrics")
    rng = np.random.default_rng(0)
    for levels in (2, 9, 1000):
        scores, errors = rng.integers(0, levels, 60), rng.random(60) < 0.3
        theirs = osr_metrics.aurc(scores, errors.astype(float))
        assert om.risk_coverage(scores[errors], scores[~errors])["aurc"] == pytest.approx(theirs, rel=1e-13)


MASKS = np.zeros((2, 8, 8), dtype=int)
MASKS[0, 2:5, 2:5] = 1


@pytest.mark.parametrize("shift", [0.0, 30.0])
def test_anomalib_up_to_2_2(shift: float) -> None:
    """It gave 0.5 for a perfect binary map, and NaN for one shifted by 30: FINDINGS §4."""
    assert om.AnomalySuite().compute(predictions=MASKS + shift, references=MASKS)["aupro@0.3"] == 1.0


def test_anomalib_from_2_3() -> None:
    torch = pytest.importorskip("torch")
    anomalib = pytest.importorskip("anomalib.metrics.aupro")
    maps = torch.rand(2, 8, 8, generator=torch.Generator().manual_seed(0))
    theirs = anomalib._AUPRO(fpr_limit=0.3)
    theirs.update(maps, torch.tensor(MASKS))
    exact = om.AnomalySuite().compute(predictions=maps, references=MASKS)["aupro@0.3"]
    assert float(theirs.compute()) == pytest.approx(exact, abs=1e-5)


def test_adeval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np, "trapz", np.trapezoid, raising=False)  # the name that it uses, which NumPy 2.4 took away
    adeval = pytest.importorskip("adeval", exc_type=ImportError)
    masks = np.zeros((3, 16, 16), np.uint8)
    masks[0, 2:6, 2:6] = masks[1, 8:10, 3:9] = 1
    maps = np.random.default_rng(0).random((3, 16, 16)) + 0.5 * masks

    def both(maps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        results = om.AnomalySuite().compute(predictions=maps, references=masks)
        keys = ("pixel_auroc", "pixel_aupr", "aupro@0.3")
        theirs = adeval.auroc_aupr_aupro([*maps], [*masks])
        return np.asarray([results[key] for key in keys]), np.asarray(theirs, dtype=float)

    exact, theirs = both(maps)
    assert np.abs(exact - theirs).max() < 0.05
    maps[2, 15, 15] = 1000  # one bright pixel of a normal image
    brighter, moved = both(maps)
    assert abs(brighter[0] - exact[0]) < 0.001
    assert abs(moved[0] - theirs[0]) > 0.1
