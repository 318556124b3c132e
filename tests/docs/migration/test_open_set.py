"""Open-set recognition and selective risk: XCurve, ARPL's script, osr-metrics, torch-uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from tests.docs.migration.rows import row

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


@row("The ARPL script")
@pytest.mark.parametrize("case", OSCR)
def test_the_arpl_script(case: str) -> None:
    exact, script = OSCR[case][3], OSCR[case][5]
    assert om.OpenAUC().compute(**oscr_columns(case))["openauc"] == pytest.approx(exact, rel=1e-15)
    assert abs(exact - script) > 0.08


@row("osr-metrics `compute_aoscr")
@pytest.mark.parametrize("case", OSCR)
def test_osr_metrics(case: str) -> None:
    osr_metrics = pytest.importorskip("osr_metrics")
    predicted, true, scores = oscr_columns(case).values()
    theirs = osr_metrics.compute_aoscr(scores, (true < 0).astype(int), predicted, true)
    assert theirs == pytest.approx(OSCR[case][4], abs=1e-6)


@row("osr-metrics `aurc")
def test_risk_of_osr_metrics() -> None:
    """Theirs takes the mean over tied samples, as ours; a loss of 1 where a sample must not be accepted."""
    osr_metrics = pytest.importorskip("osr_metrics")
    rng = np.random.default_rng(0)
    for levels in (2, 9, 1000):
        scores, errors = rng.integers(0, levels, 60), rng.random(60) < 0.3
        theirs = osr_metrics.aurc(scores, errors.astype(float))
        assert om.risk_coverage(errors=scores[errors], right=scores[~errors])["aurc"] == pytest.approx(
            theirs, rel=1e-13
        )


def in_order_of_rows(errors: list[int]) -> float:
    """The area under accuracy over rejections, if tied samples are taken in the order of the rows."""
    return float(np.mean(np.cumsum(1 - np.asarray(errors)) / np.arange(1, len(errors) + 1)))


@row("MAPIE `auarc(", "LM-Polygraph `Prediction")
def test_areas_of_rejection() -> None:
    """MAPIE and LM-Polygraph take tied samples in the order of the rows; the latter has a baseline of shuffles."""
    for errors, theirs in (([0, 0, 1, 1], 0.7917), ([1, 1, 0, 0], 0.2083)):
        assert in_order_of_rows(errors) == pytest.approx(theirs, abs=5e-5)
        found = om.OODBench(metrics=["auarc", "prr"]).compute(predictions=np.ones(4), references=errors)
        assert found == {"auarc": 0.5, "prr": 0.0}
    distinct = om.OODBench(metrics="prr").compute(predictions=np.arange(5), references=[0, 0, 1, 0, 1])
    by_row = (in_order_of_rows([0, 0, 1, 0, 1]) - 0.6) / (in_order_of_rows([0, 0, 0, 1, 1]) - 0.6)
    assert distinct["prr"] == pytest.approx(by_row)
    assert by_row == pytest.approx(0.7563, abs=5e-3)  # their baseline is random
    auarc = pytest.importorskip("mapie.metrics.uncertainty").auarc
    theirs_by_row = [auarc(right, np.ones(4)) for right in ([1, 1, 0, 0], [0, 0, 1, 1])]
    assert theirs_by_row == pytest.approx([0.7917, 0.2083], abs=5e-5)


@row("OLTR `F_measure", "OVANet:", "ADB `F_measure")
def test_decisions_of_papers() -> None:
    """True classes 0 0 0 1 1 U U U, called 0 0 1 1 U U U 0; the formulas of their scripts, in a line each."""
    truth, called = np.asarray([0, 0, 0, 1, 1, 2, 2, 2]), np.asarray([0, 0, 1, 1, 2, 2, 2, 0])
    counts = np.zeros((3, 3))
    np.add.at(counts, (truth, called), 1)
    columns = {"predictions": np.where(called == 2, 0, called), "references": np.where(truth == 2, -1, truth)}
    columns["open_scores"] = (called == 2) * 1.0
    found = om.MacroOpenF(threshold=0.5, decisions=True).compute(**columns)
    known, right = truth < 2, truth == called
    precision, recall = np.mean(right[known]), 3 / (3 + np.sum(~known & ~right))
    assert 2 * precision * recall / (precision + recall) == pytest.approx(2 / 3)
    assert om.MicroOpenF(t_list=0.5).compute(**columns)["micro_open_f"] == 0.6
    recalls = counts.diagonal() / counts.sum(axis=1)
    mean = recalls[:-1].mean()
    ovanet = (mean, recalls[-1], 2 * mean * recalls[-1] / (mean + recalls[-1]))
    assert [found[key] for key in ("os*", "unk", "hos")] == pytest.approx(ovanet)
    f1 = 2 * counts.diagonal() / (counts.sum(axis=0) + counts.sum(axis=1))
    assert [found[key] for key in ("f1(known)", "f1(unknown)", "f1(K+1)")] == pytest.approx(
        [f1[:-1].mean(), f1[-1], f1.mean()]
    )


@row("XCurve `TopkAcc", "XCurve `AUTKC", "XCurve `ClosedSetAcc")
def test_top_k_of_xcurve() -> None:
    torch, xcurve = pytest.importorskip("torch"), pytest.importorskip("XCurve.Metrics.AUTKC")
    rng = np.random.default_rng(0)
    logits, labels, ks = torch.tensor(rng.random((20, 6))), torch.tensor(rng.integers(0, 6, 20)), (1, 2, 5)
    columns = dict(y_pred=logits, y_true=labels, k_list=ks, percent=True)
    for metric, theirs in ((om.AccuracyK(), xcurve.TopkAcc), (om.AUTKC(), xcurve.AUTKC)):
        assert [*metric.compute(**columns).values()] == pytest.approx(
            [*map(float, theirs(logits, labels, ks))], rel=1e-6
        )
    tied = torch.zeros(3, 3), torch.arange(3)
    assert float(xcurve.TopkAcc(*tied, (2,))[0]) == pytest.approx(200 / 3)
    assert om.AccuracyK(k_list=2).compute(y_pred=tied[0], y_true=tied[1]) == {"accuracy@2": 0.0}
    with pytest.raises(RuntimeError, match="out of range"):
        xcurve.AUTKC(*tied, (3,))
    assert om.AUTKC(k_list=3).compute(y_pred=np.eye(3), y_true=[0, 1, 2]) == {"autkc@3": 1.0}
    accuracy = pytest.importorskip("XCurve.Metrics.OpenAUC").ClosedSetAcc(logits.numpy(), labels.numpy())
    assert om.AccuracyK().compute(preds=logits, labels=labels) == {"accuracy": accuracy}


@row("XCurve `MacroF", "XCurve `MicroF")
def test_f_of_xcurve() -> None:
    xcurve = pytest.importorskip("XCurve.Metrics.OpenAUC")
    rng = np.random.default_rng(0)
    columns = dict(close_pred=rng.random((40, 4)), close_labels=rng.integers(0, 4, 40))
    columns |= dict(open_pred=rng.random(40), open_labels=rng.integers(0, 2, 40))
    t_list = [0.1, 0.4, 0.8]
    micro, macro = (metric(t_list=t_list).compute(**columns) for metric in (om.MicroOpenF, om.MacroOpenF))
    assert micro["micro_open_f_curve"] == pytest.approx(xcurve.MacroF(*columns.values(), t_list), abs=1e-14)
    assert macro["macro_open_f_curve"] == pytest.approx(xcurve.MicroF(*columns.values(), t_list), abs=1e-14)


@row("XCurve `OpenAUC")
@pytest.mark.parametrize(("largest", "theirs"), [(1.0, 0.5), (2.0**36, 0.5), (2.0**37, 0.75)])
def test_openauc_of_xcurve(largest: float, theirs: float) -> None:
    """One known sample below both unknown ones, and one that is misclassified: exactly 1/2."""
    known, unknown = np.asarray([largest / 2, largest / 4]), np.asarray([largest, largest])
    columns = dict(open_set_pred_known=known, open_set_pred_unknown=unknown)
    columns |= dict(close_set_pred_class=np.asarray([0, 1]), close_set_labels=np.asarray([0, 0]))
    assert om.OpenAUC().compute(**columns)["openauc"] == 0.5
    assert pytest.importorskip("XCurve.Metrics.OpenAUC").OpenAUC(**columns) == theirs


@row("XCurve `Acc_At_TPR")
@pytest.mark.parametrize(("scale", "theirs"), [(1 / 20, 0.9), (100.0, 0.5)])
def test_accuracy_at_a_tpr_of_xcurve(scale: float, theirs: float) -> None:
    both, unknown = np.arange(20) * scale, np.arange(20) // 10
    results = om.OpenAUC(tpr=0.95).compute(predictions=[0] * 20, references=-unknown, open_scores=both)
    assert results["open_set_accuracy@tpr95"] == 1.0
    assert pytest.importorskip("XCurve.Metrics.OpenAUC").Acc_At_TPR(both, unknown, 0.95) == theirs


@row("torch-uncertainty `AURC`")
def test_risk_of_torch_uncertainty() -> None:
    torch, metrics = pytest.importorskip("torch"), pytest.importorskip("torch_uncertainty.metrics.classification")
    rng = np.random.default_rng(0)
    number = 60
    scores, errors = rng.permutation(number) / number / 2, rng.random(number) < 0.3
    exact = om.risk_coverage(errors=scores[errors], right=scores[~errors])
    coverage = np.arange(1, number + 1) / number
    risk = np.cumsum(errors[np.argsort(scores)]) / number / coverage
    assert exact["aurc"] == pytest.approx(risk.mean())
    for name, heights in {"AURC": risk, "AUGRC": risk * coverage}.items():
        metric = getattr(metrics, name)()
        metric.update(torch.tensor(np.stack([1 - scores, scores], axis=1)), torch.tensor(errors.astype(int)))
        assert float(metric.compute()) == pytest.approx(np.trapezoid(heights, coverage) / (1 - 1 / number), rel=1e-6)
        assert 0 < abs(float(metric.compute()) - exact[name.lower()]) < 0.003


@row("torch-uncertainty `SCODAURC")
@pytest.mark.parametrize(("cost", "theirs"), [(0.5, (0.129167, 0.1)), (0.75, (0.108333, 0.0875))])
def test_risk_with_costs_of_torch_uncertainty(cost: float, theirs: tuple[float, float]) -> None:
    """Scores 1 to 5: the third sample is misclassified and the fourth unknown."""
    torch, metrics = pytest.importorskip("torch"), pytest.importorskip("torch_uncertainty.metrics.classification")
    columns = torch.arange(1.0, 6.0), torch.tensor([0, 0, 1, 0, 0]), torch.tensor([0, 0, 0, 1, 0])
    for metric, number in zip((metrics.SCODAURC(ood_cost=cost), metrics.SCODAUGRC(ood_cost=cost)), theirs):
        metric.update(*columns)
        assert float(metric.compute()) == pytest.approx(number, abs=1e-6)
    exact = om.risk_coverage(errors=[3.0], right=[1.0, 2.0, 5.0], unknown=[4.0], ood_cost=cost)
    losses = np.asarray([0, 0, 1 - cost, cost, 0])
    assert exact["aurc"] == pytest.approx(np.mean(np.cumsum(losses) / np.arange(1, 6)))
