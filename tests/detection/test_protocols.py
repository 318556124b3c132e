"""Open-set detection in depth: ignored objects, tables, sweeps, wilderness impact, and mAP against COCO's tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from tests import cases
from tests.detection_references import openset_detection as slow
from tests.examples import many, seeds
from tests.splitting import rows

Load = Callable[..., Any]
DETECTION = "openset_detection"
KNOWN = {"known_classes": [0, 1], "unknown_class_id": 9}
CONFIDENCES = [0.5, -1.0, 0.0, 0.5, 1.25, 3.0]
PROTOCOLS: dict[str, cases.Options] = {
    "ow-dln": {"matching": "confidence"},
    "owod": {"protocol": "owod", "recall_level": None},
    "owod, unsure are unknown": {"protocol": "owod", "recall_level": None, "unknown_below": 0.5},
}
each_protocol = pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=[*PROTOCOLS])


def draw(seed: int) -> cases.Columns:
    return cases.draw(DETECTION, seed)[0]


def ignoring(columns: cases.Columns, rng: np.random.Generator, share: float = 0.3) -> list[np.ndarray]:
    return [(rng.random(len(true)) < share).astype(int) for true in columns["references"]]


def as_dicts(columns: cases.Columns, ignored: list[np.ndarray]) -> cases.Columns:
    objects = zip(columns["references"], ignored)
    return {
        "predictions": columns["predictions"],
        "references": [{"boxes": true[:, :4], "labels": true[:, 4], "ignored": flags} for true, flags in objects],
    }


def plain(value: Any) -> Any:
    """Results or a column of a table, with None for NaN, which equals no other."""
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    return [*map(plain, value)] if isinstance(value, list) else None if value != value else value


def as_lists(columns: cases.Columns) -> tuple[list[Any], list[Any]]:
    return cases.as_lists(columns["predictions"]), cases.as_lists(columns["references"])


@many
@given(seed=seeds)
def test_ignored_objects_equal_the_slow_reference(seed: int, load: Load) -> None:
    rng = np.random.default_rng(seed)
    columns, options = cases.draw(DETECTION, seed)
    ignored = ignoring(columns, rng)
    expected = slow(*as_lists(columns), **options, ignored=[flags.tolist() for flags in ignored])
    results = load(DETECTION).compute(**as_dicts(columns, ignored), **options)
    assert list(results) == list(expected)
    for name, value in results.items():
        want = expected[name]
        assert value == pytest.approx([float(x) for x in want] if isinstance(want, list) else float(want), abs=1e-14)


def test_crowds_are_ignored(load: Load) -> None:
    found = {"boxes": [[0, 0, 40, 40], [60, 0, 90, 30]], "scores": [0.9, 0.8], "labels": [0, 0]}
    true = {"boxes": [[0, 0, 40, 40], [60, 0, 90, 30]], "labels": [0, 0]}
    metric = load(DETECTION, known_classes=[0])
    expected = metric.compute(predictions=[found], references=[{**true, "ignored": [0, 1]}])
    assert metric.compute(predictions=[found], references=[{**true, "iscrowd": [0, 1]}]) == expected
    assert metric.compute(predictions=[found], references=[{**true, "ignored": [0, 0], "iscrowd": [0, 1]}]) == expected
    assert metric.compute(predictions=[found], references=[true]) != expected
    with pytest.raises(ValueError, match=r"references\[0\]: expected one length, got 2 boxes, 1 iscrowd"):
        metric.compute(predictions=[found], references=[{**true, "iscrowd": [1]}])


@each_protocol
@many
@given(seed=seeds)
def test_a_sweep_equals_a_call_for_each_confidence(protocol: cases.Options, seed: int, load: Load) -> None:
    columns = draw(seed)
    columns = as_dicts(columns, ignoring(columns, np.random.default_rng(seed)))
    metric = load(DETECTION, **KNOWN, **protocol)
    sweep = metric.compute(**columns, conf_threshold=-1.0, conf_list=CONFIDENCES)["sweep"]
    alone = [metric.compute(**columns, conf_threshold=confidence) for confidence in CONFIDENCES]
    for name in set(sweep) - {"confidence"}:
        assert plain(sweep[name]) == [results.get(name) for results in alone], name
    assert sweep["confidence"] == CONFIDENCES


@each_protocol
@many
@given(seed=seeds)
def test_a_row_by_image_is_that_image_alone(protocol: cases.Options, seed: int, load: Load) -> None:
    columns = draw(seed)
    columns = as_dicts(columns, ignoring(columns, np.random.default_rng(seed)))
    metric = load(DETECTION, **KNOWN, **protocol, conf_threshold=-1.0)
    table = metric.compute(**columns, per_image=True)["per_image"]
    assert table.pop("image") == [*range(len(columns["references"]))]
    for i in range(len(columns["references"])):
        alone = metric.compute(**rows(columns, [i]))
        assert {name: plain(column)[i] for name, column in table.items()} == {name: alone.get(name) for name in table}


@each_protocol
@many
@given(seed=seeds)
def test_rows_by_class_add_up(protocol: cases.Options, seed: int, load: Load) -> None:
    columns = draw(seed)
    columns = as_dicts(columns, ignoring(columns, np.random.default_rng(seed)))
    results = load(DETECTION, **KNOWN, **protocol, conf_threshold=-1.0).compute(**columns, per_class=True)
    table = results["per_class"]
    assert table["class"][-1] == 9
    assert {0, 1, 9} <= set(table["class"]) <= {0, 1, 2, 9}  # predictions of class 2 are of no known class
    for column, count in (("TP", "TP"), ("FP", "FP"), ("FN", "FN"), ("objects", "total")):
        assert sum(table[column][:-1]) == results[f"{count}_known"]
        assert table[column][-1] == results[f"{count}_unknown"]
    if protocol.get("protocol") == "owod":
        assert [value is None for value in plain(table["AP"])] == [not objects for objects in table["objects"]]
        if not any(table["objects"][:-1]):
            assert "mAP" not in results
            return
        known = [row for row, objects in zip(table["AP"][:-1], table["objects"]) if objects]
        assert results["mAP"] == pytest.approx(sum(known) / len(known), abs=1e-14)
        assert results.get("U-AP") == plain(table["AP"])[-1]
        assert sum(table["A-OSE(detections)"]) == results["A-OSE(detections)"]
    else:
        assert sum(table["called unknown"][:-1]) == results["FP_unknown"]
        assert table["called unknown"][-1] == results["TP_unknown"]


@many
@given(seed=seeds)
def test_wi_equals_the_slow_reference_or_says_why_not(seed: int, load: Load) -> None:
    rng = np.random.default_rng(seed)
    columns, level = draw(seed), float(rng.choice([0.1, 0.2, 0.25, 0.3, 0.5]))
    options: cases.Options = {**KNOWN, "protocol": "owod", "recall_level": level, "conf_threshold": -2.0}
    options["iou_threshold"] = 0.25
    try:
        expected = slow(*as_lists(columns), **options)
    except ValueError:
        with pytest.raises(ValueError, match="recall_level=None leaves WI out"):
            load(DETECTION).compute(**columns, **options)
        return
    assert load(DETECTION).compute(**columns, **options)["WI"] == float(expected["WI"])


def box(x: float, *rest: float) -> list[float]:
    return [x, 0, x + 10, 10, *rest]


# an image without unknown objects: two known objects, found, and a false one; an image with an unknown one taken for 0
FOUND = [
    [box(0, 0.9, 0), box(20, 0.6, 1), box(40, 0.3, 1)],
    [box(0, 0.8, 0), box(20, 0.7, 0), box(20, 0.5, 1), box(40, 0.65, -1)],
]
TRUE = [[box(0, 0), box(20, 1)], [box(0, 0), box(20, 5), box(40, 7)]]


def test_owod_of_two_images_by_hand(load: Load) -> None:
    metric = load(DETECTION, known_classes=[0, 1], protocol="owod", previously_known=[0], conf_list=[0.75])
    results = metric.compute(predictions=FOUND, references=TRUE)
    # recall 0.8 of the two known objects of the first image needs both: confidence 0.6, where its precision is 2/2,
    # and that of both images 3/4
    assert results.pop("WI") == 1 / 3  # 4/3 − 1
    # class 0 reaches 1/2 at 0.9 and 2/2 at 0.8 without an unknown object; class 1 reaches 1/1 at 0.6
    assert results.pop("WI(OWOD)") == [0.0] * 9
    assert results == {
        "WI(OWOD)@0.8": 0.0,
        "A-OSE": 1,
        "A-OSE(detections)": 2,
        "U-Recall": 1 / 2,
        "U-AP": 1 / 2,
        "mAP": 1.0,
        "mAP(previously known)": 1.0,
        "mAP(newly known)": 1.0,
        "Precision(U)": 1.0,
        "U-F1": 2 / 3,
        "Precision(K)": (2 / 3 + 1 / 3) / 2,
        "Recall(K)": 1.0,
        "TP_known": 3,
        "FP_known": 3,
        "FN_known": 0,
        "TP_unknown": 1,
        "FP_unknown": 0,
        "FN_unknown": 1,
        "total_known": 3,
        "total_unknown": 2,
        "sweep": {
            "confidence": [0.75],
            "U-Recall": [0.0],
            "WI": [0.0],
            "A-OSE": [0],
            "A-OSE(detections)": [0],
        },
    }


def test_empty_cases_of_owod(load: Load) -> None:
    metric = load(DETECTION, known_classes=[0, 1], protocol="owod")
    only_known = metric.compute(predictions=FOUND[:1], references=TRUE[:1])
    assert [only_known.get(name) for name in ("WI", "A-OSE", "U-Recall", "U-AP", "mAP")] == [0.0, 0, None, None, 1.0]
    nothing = metric.compute(predictions=[[]], references=[[]], recall_level=None, per_class=True, per_image=True)
    tables = [nothing.pop(name) for name in ("per_class", "per_image")]
    assert set(nothing.values()) == {0}
    assert {name for name in nothing if not name.startswith(("TP", "FP", "FN", "total", "A-OSE"))} == {"U-F1"}
    assert tables[0]["class"] == [0, 1, -1]
    assert tables[1]["image"] == [0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (dict(protocol="coco"), "protocol: expected one of 'ow-dln', 'owod', got 'coco'"),
        (dict(matching="best"), "matching: expected one of 'iou', 'confidence', got 'best'"),
        (dict(protocol="owod", matching="iou"), "matching: expected None, since protocol='owod' .*, got 'iou'"),
        (dict(protocol="owod", count_background=True), "count_background: expected False, since protocol='owod'"),
        (dict(previously_known=[0]), r"previously_known: expected None, since mAP is of protocol='owod', got \[0\]"),
        (dict(protocol="owod", previously_known=[0, 1]), "previously_known: expected some, not all, of known_classes"),
        (dict(protocol="owod", previously_known=[3]), r"previously_known: .* of known_classes \[0, 1\], got \[3\]"),
        (dict(protocol="owod", recall_level=80), r"recall_level: expected a number in \(0, 1\], got 80"),
        (dict(protocol="owod", conf_threshold=0.7), r"recall_level: expected at most 1/2 = 0.5, .* got 0.8; .*=None"),
        (dict(conf_list=[0.5]), "conf_list: expected matching='confidence'"),
        (dict(protocol="owod", conf_list=[]), "conf_list: expected at least one value"),
        (dict(protocol="owod", conf_list=[float("nan")]), "conf_list: expected a number, got nan"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together(options: dict[str, Any], message: str, load: Load) -> None:
    with pytest.raises(ValueError, match=message):
        load(DETECTION, known_classes=[0, 1]).compute(predictions=FOUND, references=TRUE, **options)


@pytest.mark.parametrize("option", ["per_class", "per_image", "plus_one"])
def test_flags(option: str, load: Load) -> None:
    with pytest.raises(TypeError, match=f"{option}: expected True or False, got 'yes'"):
        load(DETECTION, known_classes=[0]).compute(predictions=FOUND, references=TRUE, **{option: "yes"})


@pytest.mark.parametrize(
    ("ignored", "message"),
    [
        ([2], r"references\[0\]\['ignored'\]: expected 0 or 1, got 2"),
        ([1, 0], r"references\[0\]: expected one length, got 1 boxes, 2 ignored"),
    ],
)
def test_flags_of_objects(ignored: list[int], message: str, load: Load) -> None:
    true = {"boxes": [[0, 0, 1, 1]], "labels": [0], "ignored": ignored}
    with pytest.raises(ValueError, match=message):
        load(DETECTION, known_classes=[0]).compute(predictions=[[]], references=[true])


def test_boxes_that_are_lost_in_rounding(load: Load) -> None:
    metric = load("openset_detection", known_classes=[0], box_format="xywh")
    columns = dict(predictions=[[[1e16, 0, 1, 1, 0.9, 0]]], references=[[[1e16, 0, 1, 0.5, 0]]])
    assert metric.compute(**columns)["TP_known"] == 1
    assert metric.compute(**columns, iou_threshold=0.51)["TP_known"] == 0


def test_lost_boxes_are_ranked_by_their_exact_iou(load: Load) -> None:
    metric = load("openset_detection", known_classes=[0, 1], box_format="xywh")
    found = [[1.0, 0, 1e-11, 1.0, 0.1, 0], [1.0, 0, 1e-11, 0.6, 0.9, 1]]
    assert metric.compute(predictions=[found], references=[[[1.0, 0, 1e-11, 1.0, 0]]])["TP_known"] == 1


def test_many_equal_boxes_at_the_threshold(load: Load) -> None:
    box, count = [0.1, 0.2, 0.7, 0.9], 300
    metric = load("openset_detection", known_classes=[0], iou_threshold=1.0)
    columns = dict(predictions=[[[*box, 0.9, 0]] * count], references=[[[*box, 0]] * count])
    assert metric.compute(**columns)["TP_known"] == count
