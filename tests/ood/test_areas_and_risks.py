"""Selective risk, the equal error rate, partial areas, and either class as positive: numbers of papers, and laws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import openworld_metrics as om
from tests.examples import seeds

RISKS = ["aurc", "e_aurc", "auarc", "augrc", "prr"]
SCORES, ERRORS = [0.1, 0.2, 0.3, 0.4, 0.5], [0, 0, 1, 0, 1]
POSITIVES, NEGATIVES = [0.9, 0.8, 0.4], [0.7, 0.3, 0.2, 0.1]


def risks(scores: Any, errors: Any, **options: Any) -> dict[str, Any]:
    return om.OODBench(metrics=RISKS, **options).compute(predictions=scores, references=errors)


def drawn(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores with ties, and labels of both classes."""
    rng = np.random.default_rng(seed)
    number = int(rng.integers(2, 60))
    scores, labels = rng.integers(0, rng.integers(1, 40), number) / 8, rng.integers(0, 2, number)
    labels[:2] = 0, 1
    return scores, labels


@given(seed=seeds)
def test_risks_are_those_of_risk_coverage(seed: int) -> None:
    scores, errors = drawn(seed)
    found = risks(scores, errors)
    both = om.risk_coverage(errors=scores[errors == 1], right=scores[errors == 0])
    assert {name: found[name] for name in both} == both
    columns = {"predictions": errors * 0, "references": errors, "open_scores": scores, "open_labels": errors}
    assert om.OpenAUC(risk_metrics=[*both]).compute(**columns)["aurc"] == found["aurc"]
    assert risks(np.exp(scores), errors) == found


@pytest.mark.parametrize("number", [300, 10**5, 10**9])
def test_risks_of_many_samples(number: int) -> None:
    """Of equal scores, and of the perfect order; `counts` stand for the samples."""
    scores, labels, counts = [1.0, 1.0], [0, 1], [number - number // 5, number // 5]
    metric = om.OODBench(metrics=RISKS)
    tied = metric.compute(predictions=scores, references=labels, counts=counts)
    assert (tied["aurc"], tied["prr"]) == (0.2, 0.0)
    apart = metric.compute(predictions=labels, references=labels, counts=counts)
    assert (apart["e_aurc"], apart["prr"]) == (0.0, 1.0)
    assert apart["aurc"] + tied["e_aurc"] == pytest.approx(0.2, rel=1e-14)
    assert apart["auarc"] == pytest.approx(1 - apart["aurc"], rel=1e-15)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("name", [*RISKS, "eer", "pauroc@fpr10", "pauroc@fpr10_mcclish", "pauroc@tpr80"])
def test_a_missing_class(name: str, label: int) -> None:
    with pytest.raises(ValueError, match="references: expected samples of both classes"):
        om.OODBench(metrics=name).compute(predictions=[0.1, 0.2], references=[label, label])


@given(seed=seeds)
def test_laws_of_areas_and_points(seed: int) -> None:
    scores, labels = drawn(seed)

    def values(scores: np.ndarray, labels: np.ndarray, *names: str, **options: Any) -> list[float]:
        return [*om.OODBench(metrics=names, **options).compute(predictions=scores, references=labels).values()]

    rates = ("fpr95tpr", "tpr5fpr", "pauroc@fpr10", "pauroc@tpr80", "pauroc@fpr30_mcclish")
    assert values(scores, labels, "pauroc@fpr100") == values(scores, labels, "auroc")
    # the classes change places where labels and scores are turned
    assert values(scores, labels, *rates, positive="in") == values(-scores, 1 - labels, *rates)
    assert values(scores, labels, "fpr95tpr", "pauroc@fnr20", positive="in") == values(
        scores, labels, "fnr95tnr", "pauroc@fpr20"
    )
    assert values(scores, labels, "eer", positive="in") == values(-scores, 1 - labels, "eer")
    # the area above a TPR is that up to an FNR
    assert values(scores, labels, "pauroc@tpr80", "pauroc@tnr80") == values(
        scores, labels, "pauroc@fnr20", "pauroc@fpr20"
    )
    assert values(scores, labels, "tpr", threshold=1, positive="in") == values(scores, labels, "tnr", threshold=1)


@given(seed=seeds)
def test_openauc_has_the_numbers_of_its_roc_curve(seed: int) -> None:
    scores, labels = drawn(seed)
    names = ["eer", "pauroc@fpr10", "pauroc@fnr30", "pauroc@tpr80_mcclish"]
    columns = {"predictions": labels * 0, "references": scores > 1, "open_scores": scores, "open_labels": labels}
    for bits in (None, 4):
        theirs = om.OODBench(metrics=names, significant_bits=bits).compute(predictions=scores, references=labels)
        ours = om.OpenAUC(roc_metrics=names, significant_bits=bits).compute(**columns)
        assert {key: ours[key] for key in theirs} == theirs


@pytest.mark.parametrize("name", ["auroc", "pauroc@fpr0", "pauroc@fpr101", "pauroc", "eer ", 3])
def test_unknown_names_of_the_roc_curve(name: Any) -> None:
    with pytest.raises(ValueError, match=r"roc_metrics: unknown metric .*; known are eer, pauroc@"):
        om.OpenAUC(roc_metrics=name)


@pytest.mark.parametrize("limit", [0.001, 0.05, 0.1, 0.5, 0.77, 1])
def test_partial_areas_of_scikit_learn(limit: float) -> None:
    theirs = pytest.importorskip("sklearn.metrics").roc_auc_score
    for seed in range(20):
        scores, labels = drawn(seed)
        for name, one, other in (("fpr", scores, labels), ("fnr", -scores, 1 - labels)):
            found = om.OODBench(metrics=f"pauroc@{name}{100 * limit:g}_mcclish").compute(
                predictions=scores, references=labels
            )
            assert [*found.values()] == pytest.approx([theirs(other, one, max_fpr=limit)], rel=1e-12)


@pytest.mark.parametrize("fpr", [0.01, 0.1, 0.3])
def test_identification_in_an_open_set(fpr: float) -> None:
    """TPIR at FPIR is ccr@fpr, of the negated highest similarity, and the most similar identity of the gallery."""
    rng = np.random.default_rng(0)
    similarity = rng.random((300, 20))
    identity = np.where(np.arange(300) < 200, np.arange(300) % 20, -1)
    similarity[np.arange(200), identity[:200]] += 0.2
    highest, rank_one = similarity.max(axis=1), similarity.argmax(axis=1)
    mated = identity >= 0
    tpir = max(
        np.mean((highest >= t) & (rank_one == identity), where=mated)
        for t in [*np.unique(highest), np.inf]
        if np.mean(highest[~mated] >= t) <= fpr
    )
    found = om.OpenAUC(fpr_list=fpr).compute(predictions=rank_one, references=identity, open_scores=-highest)
    assert found[f"ccr@fpr{100 * fpr:g}"] == tpir


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("pauroc@fpr0", ""),
        ("pauroc@fpr100.5", ""),
        ("pauroc@tpr100", ""),
        ("pauroc@tpr0", ""),
        ("pauroc@10", "; did you mean"),
        ("e-aurc", "; did you mean 'e_aurc'"),
        ("pauroc@fpr10_mclish", "; did you mean 'pauroc@fpr10_mcclish'"),
    ],
)
def test_unknown_names(name: str, hint: str) -> None:
    with pytest.raises(ValueError, match=f"metrics: unknown metric '{name}'; known are .*pauroc@<rate>.*{hint}"):
        om.OODBench(metrics=name)


def test_which_class_is_positive() -> None:
    with pytest.raises(ValueError, match=r"positive: expected .*out.*in.*, got 'ood'"):
        om.OODBench(positive="ood")
    with pytest.raises(ValueError, match=r"references: expected 0 \(in_value\) or 1 \(out_value\), got 7"):
        om.OODBench(positive="in").compute(predictions=[0.1, 0.2], references=[0, 7])
    columns = {"predictions": [0.1, 0.6, 0.4, 0.9], "references": [0, 0, 1, 1]}
    point = om.OODBench(metrics="fpr95tpr", thresholds=True, positive="in").compute(**columns)
    rates = om.OODBench(metrics=["tpr", "fpr"], threshold=point["fpr95tpr_threshold"], positive="in").compute(**columns)
    assert rates == {"tpr": 1.0, "fpr": point["fpr95tpr"]}
    table = om.OODBench(metrics="fpr95tpr", per_sample=True, positive="in").compute(**columns)["per_sample"]
    assert table["decision"] == ["known", "known", "known", "unknown"]
