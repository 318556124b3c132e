"""Rates over no objects: whichever way objects are missing, they are left out, or NaN in a row of a table."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from openworld_metrics import OpenSetDetection, compare
from openworld_metrics.detection.no_objects import no_objects_notes
from openworld_metrics.written.results import as_json
from tests import cases
from tests.detection.test_protocols import as_dicts, ignoring
from tests.examples import few, many, seeds

KNOWN = (0, 1, 2)
VICTIMS: dict[str, Any] = {
    "a class": lambda label: label == 1,
    "known": lambda label: label in KNOWN,
    "unknown": lambda label: label not in KNOWN,
    "all": lambda label: True,
}
WAYS = ("none", "ignored", "iscrowd")
each_victim = pytest.mark.parametrize("victim", VICTIMS.values(), ids=[*VICTIMS])
each_protocol = pytest.mark.parametrize("protocol", ["ow-dln", "owod"])
OF_KNOWN = {"ow-dln": ["WI", "Recall(Known)"], "owod": ["mAP", "Precision(K)", "Recall(K)", "WI(OWOD)", "WI(OWOD)@0.8"]}
OF_UNKNOWN = {"ow-dln": ["U-Recall", "AR@2"], "owod": ["U-Recall", "U-AP", "AR@2"]}


def without(columns: cases.Columns, victim: Any, way: str) -> cases.Columns:
    """The columns without the objects of some classes."""
    references = []
    for image in columns["references"]:
        gone = np.asarray([victim(label) for label in image["labels"].tolist()], dtype=bool)
        if way == "none":
            references.append({name: column[~gone] for name, column in image.items()})
        else:
            references.append({**image, way: (image["ignored"].astype(bool) | gone).astype(int)})
    return {**columns, "references": references}


def draw(seed: int, victim: Any, protocol: str) -> tuple[cases.Columns, dict[str, Any], str]:
    rng = np.random.default_rng(seed)
    columns, _ = cases.draw("openset_detection", seed)
    columns = as_dicts(columns, ignoring(columns, rng, 0.1))
    way = WAYS[seed % 3]
    options: dict[str, Any] = {"known_classes": KNOWN, "unknown_class_id": 9, "protocol": protocol}
    options |= {"recall_level": None, "errors": True, "recall_budgets": [2], "conf_threshold": -9.0}
    options["iou_threshold"] = 0.25
    return without(columns, victim, way), options, way


@each_protocol
@each_victim
@many
@given(seed=seeds)
def test_a_rate_over_no_objects_is_left_out(victim: Any, protocol: str, seed: int) -> None:
    columns, options, _ = draw(seed, victim, protocol)
    results = OpenSetDetection(**options, per_class=True, per_image=True).compute(**columns)
    numbers = {name: value for name, value in results.items() if not isinstance(value, dict)}
    assert not any(np.isnan(value).any() for value in numbers.values())
    known, unknown = results["total_known"], results["total_unknown"]
    for name in OF_KNOWN[protocol]:
        assert (name in results) == (known > 0), name
    for name in OF_UNKNOWN[protocol]:
        assert (name in results) == (unknown > 0), name
    if protocol == "ow-dln":
        assert ("A-OSE" in results) == (known + unknown > 0)
        assert ("Precision(Known)" in results) == (known + results["TP_known"] + results["FP_known"] > 0)
    else:
        assert ("Precision(U)" in results) == (unknown + results["TP_unknown"] + results["FP_unknown"] > 0)
        assert "U-F1" in results
    for side, total in (("known", known), ("unknown", unknown)):
        assert (f"fate({side}, found)" in results) == (total > 0)
    table = results["per_class"]
    for column in ("Recall", "AP") if protocol == "owod" else ("Recall",):
        assert [math.isnan(value) for value in table[column]] == [not objects for objects in table["objects"]]
    for objects, tp, fp, precision in zip(*(table[name] for name in ("objects", "TP", "FP", "Precision"))):
        assert math.isnan(precision) == (objects + tp + fp == 0)
    by_image = results["per_image"]
    recalls = zip(by_image["U-Recall"], by_image["total_unknown"])
    assert all(math.isnan(recall) == (total == 0) for recall, total in recalls)
    assert "NaN" not in as_json(results)
    assert json.loads(as_json(results))["per_class"]["Recall"] == [
        None if math.isnan(value) else value for value in table["Recall"]
    ]


@each_protocol
@each_victim
@few
@given(seed=seeds)
def test_means_over_classes_leave_out_those_without_objects(victim: Any, protocol: str, seed: int) -> None:
    """A known class that has neither objects nor predictions changes no number."""
    columns, options, _ = draw(seed, victim, protocol)
    results = OpenSetDetection(**options).compute(**columns)
    assert OpenSetDetection(**{**options, "known_classes": [*KNOWN, 77]}).compute(**columns) == results


@each_protocol
@each_victim
@few
@given(seed=seeds)
def test_resamples_comparisons_and_groups(victim: Any, protocol: str, seed: int) -> None:
    columns, options, _ = draw(seed, victim, protocol)
    plain = {**options, "errors": False}
    metric = OpenSetDetection(**plain, confidence_level=0.9, n_resamples=20)
    alone = metric.compute(**columns)
    rates = [*OpenSetDetection(**plain).summary(**columns).rates()]
    assert {name for name in alone if name.endswith("_low")} <= {f"{name}_low" for name in rates}
    ends = [alone[f"{name}_{end}"] for name in rates for end in ("low", "high") if f"{name}_{end}" in alone]
    assert np.isfinite(ends).all()
    table = compare(
        OpenSetDetection(**plain),
        columns["predictions"],
        columns["predictions"][::-1],
        n_resamples=20,
        references=columns["references"],
    )
    assert {*table["key"]} <= {*rates}
    assert not np.isnan([value for name in ("difference", "low", "high") for value in table[name]]).any()
    # a group without an object, beside all images
    more = {name: [*column, column[0]] for name, column in columns.items()}
    more["references"][-1] = {name: column[:0] for name, column in more["references"][-1].items()}
    groups = [*["all"] * len(columns["references"]), "none"]
    both = OpenSetDetection(**plain).compute(**more, groups=groups)
    known = alone["total_known"]
    for name in ("Recall(K)", "mAP") if protocol == "owod" else ("Recall(Known)",):
        assert name not in both
        assert both["groups"].get(name, [None, None]) == [alone.get(name), None]
        if known:
            skipping = OpenSetDetection(**plain, groups_without="skip").compute(**more, groups=groups)
            assert (skipping[name], skipping["groups_skipped"]) == (alone[name], 1)


def test_sentences() -> None:
    none = np.zeros(0)
    known, unknown = no_objects_notes(none, none.astype(bool), [0, 1])
    assert known == "there are no known objects: recall, mAP and other rates of them are left out"
    assert unknown == "there are no unknown objects: U-Recall and other rates of them are left out"
    labels = np.asarray([0, 0, 5])
    assert no_objects_notes(labels, np.asarray([True, True, False]), [0, 1]) == [
        "there are no known objects, but 2 ignored: recall, mAP and other rates of them are left out"
    ]
    (note,) = no_objects_notes(labels, labels > 9, [0, 1, 2, 3, 7], {1: "cat"})
    assert note == (
        "no objects of 4 of 5 known classes (cat, 2, 3, 7): they have no recall or AP, and means over classes leave"
        " them out"
    )
    assert no_objects_notes(labels, labels > 9, [0]) == []
