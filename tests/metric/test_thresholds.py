"""One convention: unknown (anomalous, OOD) iff score > threshold. Each threshold that is returned gives, put back, the
rates that it was returned with, to the last sample: by the option, and by a plain loop."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import (
    METRICS,
    AnomalySuite,
    OODBench,
    OpenAUC,
    f1_max,
    guaranteed_coverage,
    operating_point,
    roc_curve,
)
from openworld_metrics.loading import metric_class
from tests import cases
from tests.checking import bench
from tests.examples import many, seeds

POINTS = ["fpr95tpr", "tnr90tpr", "tpr5fpr", "fnr30fpr", "tpr100tnr"]


def rates(unknown: Any, known: Any, threshold: float) -> dict[str, float]:
    """What a loop over the samples gives, scores being compared as Python floats."""
    tp = sum(float(score) > threshold for score in unknown)
    fp = sum(float(score) > threshold for score in known)
    tpr, fpr = tp / len(unknown), fp / len(known)
    return {
        "tpr": tpr,
        "fpr": fpr,
        "fnr": (len(unknown) - tp) / len(unknown),
        "tnr": (len(known) - fp) / len(known),
        "accuracy": (tp + len(known) - fp) / (len(unknown) + len(known)),
        "f1": 2 * tp / (tp + fp + len(unknown)),
        "iou": tp / (fp + len(unknown)),
    }


def thresholds(results: dict[str, Any]) -> Iterator[tuple[str, float, float]]:
    """Each key with a threshold, its value and the threshold."""
    for key, threshold in results.items():
        if key.endswith("_threshold"):
            name = key.removesuffix("_threshold")
            yield name, results[name], threshold


def some_scores(rng: np.random.Generator, shape: Any) -> np.ndarray:
    """Scores of any type, with ties or without."""
    scores = np.round(rng.normal(size=shape), int(rng.integers(1, 9)))
    return scores.astype(rng.choice(["float16", "float32", "float64"]))


@many
@given(seed=seeds)
def test_ood_bench(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = some_scores(rng, 40), np.arange(40) % 3 == 0
    found = OODBench(metrics=[*POINTS, "detect_acc"], thresholds=True).compute(
        predictions=scores, references=labels.astype(int)
    )
    for name, value, threshold in thresholds(found):
        loop = rates(scores[labels], scores[~labels], threshold)
        assert value == loop["accuracy" if name == "detect_acc" else name[:3]]
        back = OODBench(metrics=["tpr", "fpr", "fnr", "tnr"], threshold=threshold)
        put_back = back.compute(predictions=scores, references=labels.astype(int))
        assert put_back == {key: loop[key] for key in put_back}


@many
@given(seed=seeds)
def test_openauc(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, unknown = some_scores(rng, 40), np.arange(40) % 3 == 0
    columns = {"predictions": rng.integers(0, 2, 40), "references": np.where(unknown, -1, 0), "open_scores": scores}
    tpr = float(rng.choice([0.5, 0.95, 1.0]))
    found = OpenAUC(tpr=tpr, per_sample=True).compute(**columns)
    ((_, value, threshold),) = thresholds(found)
    loop = rates(scores[unknown], scores[~unknown], threshold)
    assert (value, loop["tpr"] >= tpr) == (loop["accuracy"], True)
    called = [decision == "unknown" for decision in found["per_sample"]["decision"]]
    assert called == [float(score) > threshold for score in scores]


def test_openauc_without_a_threshold() -> None:
    columns = {"predictions": [0, 0], "references": [0, -1], "open_scores": [0.5, -np.inf]}
    assert OpenAUC().compute(**columns)["open_set_accuracy@tpr95"] == 0.5
    with pytest.raises(ValueError, match=r"thresholds: expected scores above -inf where open_set_accuracy@tpr95 is"):
        OpenAUC(per_sample=True).compute(**columns)


@many
@given(seed=seeds)
@pytest.mark.parametrize("name", ["macro_open_f", "micro_open_f"])
def test_open_f(name: str, seed: int) -> None:
    columns, _ = cases.draw(name, seed)
    found = metric_class(name)(per_sample=True).compute(**columns)
    ((key, value, threshold),) = thresholds(found)
    assert metric_class(name)(t_list=[threshold]).compute(**columns)[key] == value
    decisions = found["per_sample"]["decision"]
    assert decisions == ["unknown" if float(s) > threshold else "known" for s in columns["open_scores"]]


@many
@given(seed=seeds)
def test_anomaly_suite(seed: int) -> None:
    rng = np.random.default_rng(seed)
    maps, masks = some_scores(rng, (6, 5, 4)), rng.random((6, 5, 4)) < 0.3
    masks[:3] = False
    masks[3:, 0, 0] = True
    suite = AnomalySuite(points=POINTS, thresholds=True)
    found = suite.compute(predictions=maps, references=masks)
    images, anomalous = maps.max(axis=(1, 2)), masks.any(axis=(1, 2))
    sides = {"pixel": (maps[masks], maps[~masks]), "image": (images[anomalous], images[~anomalous])}
    seen = 0
    for name, value, threshold in thresholds(found):
        level, _, rate = name.partition("_")
        loop = rates(*sides[level], threshold)
        assert value == loop["f1" if rate == "f1_max" else rate[:3]], name
        put_back = AnomalySuite(levels=level, **{f"{level}_threshold": threshold}).compute(
            predictions=maps, references=masks
        )
        assert (put_back[f"{level}_f1"], put_back[f"{level}_recall"]) == (loop["f1"], loop["tpr"])
        if name == "pixel_f1_max":
            assert found["pixel_iou_max"] == loop["iou"]
        seen += 1
    assert seen == 2 * (len(POINTS) + 1)


@many
@given(seed=seeds)
def test_of_groups(seed: int) -> None:
    """Each group has a threshold of its own, which gives the group's numbers on the samples of the group."""
    rng = np.random.default_rng(seed)
    scores, labels, groups = some_scores(rng, 40), (np.arange(40) % 3 == 0).astype(int), np.arange(40) // 3 % 2
    names = [*POINTS, "detect_acc"]
    table = OODBench(metrics=names, thresholds=True).compute(predictions=scores, references=labels, groups=groups)
    for name in names:
        rows = zip(table["groups"]["group"], table["groups"][name], table["groups"][f"{name}_threshold"])
        for group, value, threshold in rows:
            mine = groups == int(group)
            loop = rates(scores[mine & (labels == 1)], scores[mine & (labels == 0)], threshold)
            assert value == loop["accuracy" if name == "detect_acc" else name[:3]]


@many
@given(seed=seeds)
def test_functions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = str(rng.choice(["float16", "float32", "float64"]))
    unknown, known = (some_scores(rng, size).astype(dtype) for size in (13, 27))
    sides = {"positives": unknown, "negatives": known}
    best, threshold = f1_max(**sides)
    assert rates(unknown, known, threshold)["f1"] == best
    for name in POINTS:
        point = operating_point(**sides, rate=name[:3], bounded=name[-3:], bound=float(name[3:-3]) / 100)
        loop = rates(unknown, known, point.threshold)
        assert (point.rate, point.fpr, point.tpr) == (loop[name[:3]], loop["fpr"], loop["tpr"])
        assert point.threshold in {*unknown.tolist(), *known.tolist(), -np.inf, np.inf}
    found = bench(**sides, metrics="fpr95tpr", thresholds=True)
    assert found["fpr95tpr_threshold"] == operating_point(**sides, rate="fpr", bounded="tpr", bound=0.95).threshold
    curve = roc_curve(**sides)
    for t, fpr, tpr in zip(curve["threshold"], curve["fpr"], curve["tpr"]):
        loop = rates(unknown, known, t)
        assert (fpr, tpr) == ((loop["fpr"], loop["tpr"]) if t > -np.inf else (1.0, 1.0))
    covered = guaranteed_coverage(errors=unknown[:2], right=known, risk=0.5, confidence_level=0.5)
    accepted = sum(float(score) <= covered.threshold for score in [*unknown[:2], *known])
    assert covered.coverage == accepted / (2 + len(known))


def test_scores_that_exceed_no_threshold() -> None:
    fpr_at_tpr = partial(operating_point, positives=[-np.inf, 1.0], negatives=[0.0], rate="fpr", bounded="tpr")
    assert fpr_at_tpr(bound=0.5) == (0.0, 0.0, 0.0, 0.5)
    point = fpr_at_tpr(bound=1.0)
    assert (point.rate, point.tpr, np.isnan(point.threshold)) == (1.0, 1.0, True)
    below = operating_point(positives=[0.0], negatives=[1.0], rate="tpr", bounded="fpr", bound=0.5)
    assert below.threshold == np.inf


@pytest.mark.parametrize("name", METRICS)
def test_no_metric_returns_another_threshold(name: str) -> None:
    """A metric that returns thresholds has a test above, or, of hos_max, in tests/open_set/test_decisions.py."""
    columns, options = cases.draw(name, 0)
    options = {key: value for key, value in options.items() if key != "t_list"}
    found = [key for key, *_ in thresholds(metric_class(name)(**options).compute(**columns))]
    tested = {
        "anomaly_suite": ["image_f1_max", "pixel_f1_max"],
        "macro_open_f": [name, "hos_max"],
        "micro_open_f": [name],
    }
    assert found == tested.get(name, [])
