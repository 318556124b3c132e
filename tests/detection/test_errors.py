"""Fates of objects, kinds of false positives and what mending them gains, against plain loops in fractions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import OpenSetDetection, compare
from openworld_metrics.detection.errors import FALSE_POSITIVES, FATES, MISSED, share_of
from openworld_metrics.detection.outcomes import gain
from tests import cases
from tests.detection import slow_errors as slow
from tests.detection.test_protocols import as_dicts, as_lists, ignoring, plain
from tests.detection_references import ratio
from tests.examples import few, many, seeds

ERRORS = (*FALSE_POSITIVES, MISSED)
PAIRS = ("known called another known", "known called unknown", "unknown called known")


def draw(seed: int) -> tuple[cases.Columns, slow.Scene, cases.Options]:
    rng = np.random.default_rng(seed)
    columns, options = cases.draw("openset_detection", seed)
    if rng.random() < 0.5:
        options["unknown_below"] = float(rng.choice([0.0, 0.5, 1.0]))
    if options.get("protocol") == "owod":
        options["average_precision"] = str(rng.choice(["all", "11-point"]))
    flags = ignoring(columns, rng, 0.2)
    scene = slow.matched_scene(*as_lists(columns), [image.tolist() for image in flags], **options)
    return as_dicts(columns, flags), scene, options


@many
@given(seed=seeds)
def test_fates_equal_the_slow_reference(seed: int) -> None:
    columns, scene, options = draw(seed)
    results = OpenSetDetection(**options, errors=True, per_class=True, per_image=True).compute(**columns)
    table, became = results["fates"], slow.fates(scene)
    expected = Counter((side, fate) for side, fate, _ in became.values())
    assert [*zip(table["objects"], table["fate"])] == [*FATES]
    assert table["count"] == [expected[fate] for fate in FATES]
    for (side, fate), share in zip(FATES, table["share"]):
        if results[f"total_{side}"]:
            expected_share = float(ratio(expected[side, fate], results[f"total_{side}"]))
            assert share == results[share_of(side, fate)] == expected_share
        else:
            assert np.isnan(share)
            assert share_of(side, fate) not in results
    assert results.get(share_of("unknown", "found")) == results.get("U-Recall")
    by_image = Counter((scene.objects[i].image, side, fate) for i, (side, fate, _) in became.items())
    for side, fate in FATES:
        column = results["per_image"][f"{side} objects {fate}"]
        assert column == [by_image[image, side, fate] for image in range(len(column))]
    rows = results["per_class"]
    by_class = Counter((scene.objects[i].label, fate) for i, (_, fate, _) in became.items())
    called = Counter(label for side, fate, label in became.values() if (side, fate) == ("unknown", "called known"))
    for fate in dict.fromkeys(fate for _, fate in FATES):
        assert rows[fate] == [by_class[label, fate] for label in rows["class"]]
    assert rows["unknown objects called it"] == [called[label] for label in rows["class"]]
    assert rows["found"] == rows["TP"]


@many
@given(seed=seeds)
def test_kinds_and_gains_equal_the_slow_reference(seed: int) -> None:
    columns, scene, options = draw(seed)
    results = OpenSetDetection(**options, errors=True, per_image=True).compute(**columns)
    table, expected = results["errors"], slow.kinds(scene)
    assert table["error"] == [*ERRORS]
    assert table["count"][:-1] == [expected[kind] for kind in FALSE_POSITIVES]
    assert table["count"][-1] == sum(fate == "missed" for _, fate, _ in slow.fates(scene).values())
    for kind in FALSE_POSITIVES:
        assert sum(results["per_image"][f"FP {kind}"]) == expected[kind]
    gains = slow.gains(scene, ERRORS, options.get("average_precision", "all"))
    measures = slow.GAINS if options.get("protocol") == "owod" else slow.GAINS[-1:]
    assert list(table) == ["error", "count", *measures]
    for name in measures:
        exact = [gains[error][slow.GAINS.index(name)] for error in ERRORS]
        floats = [np.nan if value is None else float(value) for value in exact]
        assert table[name] == pytest.approx(floats, abs=1e-14, nan_ok=True)
        assert [value == 0 for value in table[name]] == [value == 0 for value in exact]
        assert plain(table[name]) == [results.get(gain(error, name.removeprefix("Δ"))) for error in ERRORS]


@few
@given(seed=seeds)
def test_equally_confident_boxes_have_no_order(seed: int) -> None:
    rng = np.random.default_rng(seed)
    columns, _, options = draw(seed)
    for found in columns["predictions"]:
        found[:, 4] = np.round(found[:, 4])
    orders = [rng.permutation(len(found)) for found in columns["predictions"]]
    shuffled = {**columns, "predictions": [f[order] for f, order in zip(columns["predictions"], orders)]}
    metric = OpenSetDetection(**options, errors=True, per_image=True, recall_budgets=[1, 2])
    assert plain(metric.compute(**columns)) == plain(metric.compute(**shuffled))


def box(x: float, *rest: float, height: float = 10) -> list[float]:
    return [x, 0, x + 10, height, *rest]


TRUE = [[box(0, 0), box(50, 1), box(100, 5), box(150, 6), box(200, 7)]]
FOUND = [
    [
        box(0, 0.9, 0),
        box(0, 0.8, 0, height=9),
        box(50, 0.7, -1),
        box(100, 0.6, 1),
        box(155, 0.5, -1),
        box(203, 0.4, 1),
        box(300, 0.3, 0),
        box(5, 0.2, -1),
    ]
]
OWOD: dict[str, Any] = {"protocol": "owod", "recall_level": None, "known_classes": [0, 1]}


def test_a_scene_by_hand() -> None:
    results = OpenSetDetection(**OWOD, errors=True).compute(predictions=FOUND, references=TRUE)
    assert [results[name] for name in ("mAP", "U-AP", "U-Recall", "A-OSE")] == [1 / 2, 0.0, 0.0, 2]
    fates = {
        (side, fate): n for side, fate, n in zip(*(results["fates"][c] for c in ("objects", "fate", "count"))) if n
    }
    assert fates == {
        ("known", "found"): 1,
        ("known", "called unknown"): 1,
        ("unknown", "called known"): 2,
        ("unknown", "badly placed"): 1,
    }
    assert results["fate(unknown, called known)"] == 2 / 3
    table = results["errors"]
    counts = dict(zip(table["error"], table["count"]))
    assert {error: n for error, n in counts.items() if n} == {
        "badly placed": 1,
        "known called unknown": 1,
        "unknown called known": 2,
        "duplicate": 1,
        "background called known": 1,
        "both, known called unknown": 1,
    }
    gains = {
        error: gained
        for error, *gained in zip(table["error"], table["ΔmAP"], table["ΔU-AP"], table["ΔU-Recall"])
        if any(gained)
    }
    assert gains == {
        "badly placed": [0, pytest.approx(1 / 6), 1 / 3],
        "known called unknown": [1 / 2, 0, 0],
        "unknown called known": [0, pytest.approx(1 / 3), 2 / 3],
    }


def one(*found: list[float], true: Sequence[list[float]] = (box(0, 0),), **options: Any) -> dict[str, Any]:
    metric = OpenSetDetection(**{"known_classes": [0, 1], "errors": True, **options})
    return metric.compute(predictions=[[*found]], references=[[*true]])


@pytest.mark.parametrize("protocol", [{}, {"protocol": "owod", "recall_level": None}], ids=["ow-dln", "owod"])
def test_intervals_groups_and_comparisons_hold_shares_and_gains(protocol: dict[str, Any]) -> None:
    columns, _ = cases.draw("openset_detection", 3)
    found, true = [*columns["predictions"]] * 2, [*columns["references"]] * 2
    metric = OpenSetDetection(known_classes=[0, 1], unknown_class_id=9, errors=True, recall_budgets=2, **protocol)
    groups = ["ab"[i % 2] for i in range(len(found))]
    results = metric.compute(predictions=found, references=true, groups=groups, confidence_level=0.9, n_resamples=20)
    for key in ("fate(unknown, missed)", "ΔU-Recall(unknown called known)", "AR@2"):
        assert results[f"{key}_low"] <= results[key] <= results[f"{key}_high"]
        assert results[key] == pytest.approx(np.mean(results["groups"][key]))
    alone = [metric.compute(predictions=found[start::2], references=true[start::2])["fates"] for start in (0, 1)]
    assert results["groups"]["fates"] == alone
    rows = compare(metric, found, [boxes[::-1] for boxes in found], references=true, n_resamples=10)
    assert {"fate(known, found)", "ΔU-Recall(missed)", "AR@2"} <= {*rows["key"]}
    assert set(rows["difference"]) == {0.0}


def test_a_threshold_below_a_tenth_is_refused() -> None:
    with pytest.raises(ValueError, match=r"errors: expected an iou_threshold of at least 0\.1, got 0\.05"):
        one(box(0, 0.9, 0), iou_threshold=0.05)
    with pytest.raises(TypeError, match="errors: expected True or False, got 1"):
        one(box(0, 0.9, 0), errors=1)


def apart(seed: int) -> tuple[list[list[list[float]]], list[list[list[float]]]]:
    """Scenes without equal IoUs or confidences, in which no prediction overlaps two objects."""
    rng = np.random.default_rng(seed)
    found, true = [], []
    for _ in range(6):
        number = int(rng.integers(1, 7))
        objects = [[40.0 * i, 0, 40.0 * i + 20, 20, int(rng.choice([0, 1, 7]))] for i in range(number)]
        predictions = []
        for i in rng.integers(0, number + 1, int(rng.integers(0, 15))):
            x, y = 40.0 * i + rng.uniform(-15, 15), rng.uniform(-6, 6)
            predictions.append([x, y, x + 20, y + 20, float(rng.random()), int(rng.choice([0, 1, -1]))])
        found.append(predictions)
        true.append(objects)
    return found, true


@pytest.mark.parametrize("seed", range(20))
def test_counts_equal_those_of_tidecv(seed: int) -> None:
    tidecv = pytest.importorskip("tidecv")
    found, true = apart(seed)
    results = OpenSetDetection(**OWOD, errors=True).compute(predictions=found, references=true)
    references, predictions = tidecv.Data("references"), tidecv.Data("predictions")
    for image, (boxes, objects) in enumerate(zip(found, true)):
        for x1, y1, x2, y2, label in objects:
            references.add_ground_truth(image, int(label) if label < 2 else 2, [x1, y1, x2 - x1, y2 - y1])
        for x1, y1, x2, y2, confidence, label in boxes:
            predictions.add_detection(image, int(label) % 3, confidence, [x1, y1, x2 - x1, y2 - y1])
    run = tidecv.TIDE().evaluate(references, predictions, mode=tidecv.TIDE.BOX)
    theirs = {kind.short_name: len(errors) for kind, errors in run.error_dict.items()}
    ours = dict(zip(results["errors"]["error"], results["errors"]["count"]))
    assert theirs["Loc"] == ours["badly placed"]
    assert theirs["Cls"] == sum(ours[pair] for pair in PAIRS)
    assert theirs["Dupe"] == ours["duplicate"]
    assert theirs["Bkg"] == ours["background called known"] + ours["background called unknown"]
    assert theirs["Both"] == sum(ours[f"both, {pair}"] for pair in PAIRS)
    fates = zip(results["fates"]["fate"], results["fates"]["count"])
    assert theirs["Miss"] == sum(count for fate, count in fates if fate in ("both", "missed"))
