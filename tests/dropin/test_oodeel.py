"""oodeel's calls, beside oodeel itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.dropin.oodeel import bench_metrics, ftpn, get_curve
from tests import cases

NAMES = ["auroc", "fpr95tpr", "detect_acc", "tpr20fpr", "fnr70tnr"]


def test_scores_and_labels_by_position_are_scores_and_labels() -> None:
    """They were taken for the scores of two sides at the top of the package, which gave 0.5635."""
    rng = np.random.default_rng(0)
    scores, labels = np.concatenate([rng.normal(0, 1, 500), rng.normal(1.5, 1, 500)]), np.repeat([0, 1], 500)
    for step in (4, None):
        assert round(bench_metrics(scores, labels, step=step)["auroc"], 4) == 0.8552
    assert bench_metrics(scores, labels) == bench_metrics((scores[:500], scores[500:]))
    assert bench_metrics(scores, labels, step=None) == om.OODBench().compute(predictions=scores, references=labels)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("seed", range(20))
def test_oodeel_itself(seed: int) -> None:
    theirs = pytest.importorskip("oodeel.eval.metrics")
    columns, _ = cases.draw("ood_bench", seed)
    scores, labels = columns["predictions"], columns["references"]
    sides = scores[labels == 0], scores[labels == 1]
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = [
        ((scores, labels), {}),
        ((scores, np.where(labels, 7, 5), 5, 7), {}),
        ((sides,), {}),
        ((sides, None, 3, 3, NAMES, None, 7), {}),
        *(((scores, labels), {"metrics": NAMES, "step": step}) for step in (1, 4, 7)),
    ]
    for arrays, options in calls:
        result = bench_metrics(*arrays, **options)
        assert result == pytest.approx(theirs.bench_metrics(*arrays, **options), abs=1e-15)
        assert {type(value) for value in result.values()} == {float}
    for threshold in (float(scores[0]), 0.5, -1e300, 1e300, np.inf, -np.inf):
        assert ftpn(scores, labels, threshold) == tuple(theirs.ftpn(scores, labels, threshold))
    for step in (1, 4):
        for curve, their_curve in (
            *zip(get_curve(scores, labels, step, True), theirs.get_curve(scores, labels, step, True)),
            (get_curve(scores, labels), theirs.get_curve(scores, labels)),
        ):
            assert len(curve) == len(their_curve)
            for column, their_column in zip(curve, their_curve):
                np.testing.assert_array_equal(column, their_column)


def test_metrics_of_scikit_learn() -> None:
    """By name or as functions; with scores for those that need them, where oodeel passes decisions."""
    sk = pytest.importorskip("sklearn.metrics")
    sides = np.asarray([0.1, 0.4, 0.35]), np.asarray([0.8, 0.3])
    functions = [sk.f1_score, sk.average_precision_score, sk.roc_auc_score]
    values = {"f1_score": 0.4, "average_precision_score": 0.75, "roc_auc_score": pytest.approx(2 / 3)}
    assert bench_metrics(sides, metrics=functions, threshold=0.3) == values
    assert bench_metrics(sides, metrics=[*values], threshold=0.3) == values


def test_where_oodeel_is_wrong() -> None:
    scores, labels = np.asarray([0.1, 0.6, 0.4, 0.9]), np.asarray([0, 0, 1, 1])
    assert bench_metrics(scores, 1 - labels, in_value=1, out_value=0) == bench_metrics(scores, labels)
    tied = np.zeros(20), np.tile([0, 1], 10)
    assert bench_metrics(*tied, metrics=["fpr95tpr"], step=None) == {"fpr95tpr": 1.0}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: bench_metrics(np.asarray([0.1, 0.2])), TypeError, "expected a label for each score, or .* a tuple"),
        (lambda: bench_metrics([0.1, 0.2], [0, 2]), ValueError, r"expected 0 \(in_value\) or 1 \(out_value\), got 2"),
        (lambda: bench_metrics([0.1, 0.2], [0, 1], metrics=["auc"]), ValueError, "unknown metric 'auc'"),
        (lambda: bench_metrics([0.1, 0.2], [0, 1], metrics=["tpr"]), ValueError, "threshold"),
        (lambda: bench_metrics([0.1, 0.2], [0, 1], step=0), ValueError, "step: expected an int of at least 1, got 0"),
        (lambda: ftpn([0.1, np.nan], [0, 1], 0.5), ValueError, "scores: expected no NaN, got NaN at position 1"),
        (lambda: ftpn([0.1, 0.2], [0, 1], np.nan), ValueError, "threshold: expected"),
        (lambda: ftpn([0.1, 0.2], [0, 2], 0.5), ValueError, "labels: expected 0 or 1, got 2"),
        (lambda: get_curve([0.1, 0.2], [0, 0]), ValueError, "expected samples of both classes"),
        (lambda: get_curve([0.1, 0.2], [0, 1, 1]), ValueError, "got 2 scores, 3 labels"),
    ],
)
def test_what_is_wrong(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
