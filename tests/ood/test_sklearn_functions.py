"""Functions of scikit-learn that ood_bench calls: with what, and that their results stand as they are."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

import openworld_metrics as om
from openworld_metrics.ood.bench import bench_metrics

metrics = pytest.importorskip("sklearn.metrics")
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, 60)
SCORES = np.round(RNG.random(60) + LABELS / 3, 1)
COLUMNS: dict[str, Any] = {"predictions": SCORES, "references": LABELS}


def same(found: Any, expected: Any) -> bool:
    if isinstance(expected, tuple):
        return isinstance(found, tuple) and all(map(same, found, expected))
    return type(found) is type(expected) and bool(np.all(found == expected))


@pytest.mark.parametrize(
    "name",
    [
        "confusion_matrix",
        "precision_recall_fscore_support",
        "classification_report",
        "class_likelihood_ratios",
        "mean_absolute_error",
        "adjusted_rand_score",
        "fowlkes_mallows_score",
    ],
)
def test_functions_of_decisions(name: str) -> None:
    function = getattr(metrics, name)
    expected = function(LABELS, (SCORES > 0.7).astype(int))
    found = om.OODBench(metrics=["auroc", function], threshold=0.7).compute(**COLUMNS)
    assert list(found) == ["auroc", name]
    assert same(found[name], expected)
    sides = {"positives": SCORES[LABELS == 1], "negatives": SCORES[LABELS == 0]}
    assert same(bench_metrics(**sides, metrics=function, threshold=0.7)[name], expected)
    with pytest.raises(ValueError, match=f"threshold: expected a number, since '{name}' judges scores > threshold"):
        om.OODBench(metrics=function).compute(**COLUMNS)


@pytest.mark.parametrize("name", ["roc_curve", "det_curve", "precision_recall_curve"])
def test_functions_of_scores(name: str) -> None:
    function = getattr(metrics, name)
    assert same(om.OODBench(metrics=function).compute(**COLUMNS)[name], function(LABELS, SCORES))


def test_a_partial_function() -> None:
    function = functools.partial(metrics.confusion_matrix, normalize="true")
    found = om.OODBench(metrics=[function], threshold=0.7).compute(**COLUMNS)["confusion_matrix"]
    assert found.tolist() == function(LABELS, SCORES > 0.7).tolist()


def test_results_have_neither_mean_nor_interval() -> None:
    options: dict[str, Any] = {"metrics": ["auroc", metrics.mean_absolute_error], "threshold": 0.7}
    plain = om.OODBench(**options).compute(**COLUMNS)
    both = om.OODBench(**options, confidence_level=0.9, n_resamples=20).compute(**COLUMNS)
    assert [*both] == ["auroc", "auroc_low", "auroc_high", "mean_absolute_error"]
    assert both["mean_absolute_error"] == plain["mean_absolute_error"]
    groups = ["a"] * 30 + ["b"] * 30
    grouped = om.OODBench(**options).compute(**COLUMNS, groups=groups)
    assert [*grouped] == ["auroc", "groups"]
    wrong = (SCORES > 0.7) != LABELS
    assert grouped["groups"]["mean_absolute_error"] == [np.mean(wrong[:30]), np.mean(wrong[30:])]
    table = om.compare("ood_bench", COLUMNS, COLUMNS, n_resamples=20, **options)
    assert table["key"] == ["auroc"]


def test_what_is_no_metric_of_scikit_learn() -> None:
    for functions in ([len], [np.mean]):
        with pytest.raises(ValueError, match="metrics: unknown metric"):
            om.OODBench(metrics=functions, threshold=0.5).compute(**COLUMNS)
    twice = [metrics.confusion_matrix, functools.partial(metrics.confusion_matrix, normalize="true")]
    with pytest.raises(ValueError, match="metrics: expected each name once"):
        om.OODBench(metrics=twice, threshold=0.5).compute(**COLUMNS)


@pytest.mark.parametrize(
    ("names", "idle"),
    [
        (["auroc", "fpr95tpr", "detect_acc", "roc_auc_score"], True),
        (["auroc", "tpr"], False),
        ("f1_score", False),
        ([metrics.confusion_matrix], False),
        ([metrics.det_curve, functools.partial(metrics.roc_auc_score, max_fpr=0.1)], True),
        ([functools.partial(metrics.fbeta_score, beta=2)], False),
    ],
)
def test_a_threshold_that_judges_nothing_is_idle(names: Any, idle: bool) -> None:
    columns: Any = dict(predictions=[0.1, 0.6, 0.4, 0.9, 0.2], references=[0, 0, 1, 1, 0])
    assert [*om.OODBench(metrics=names, threshold=0.5).idle_options] == ["threshold"] * idle
    assert [*om.OODBench(metrics=names, threshold=0.5, per_sample=True).idle_options] == []
    assert [*om.OODBench(metrics=names).idle_options] == []
    results = [om.OODBench(metrics=names, threshold=t).compute(**columns) for t in (0.3, 0.5)]
    assert (repr(results[0]) == repr(results[1])) == idle
