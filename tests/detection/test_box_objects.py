"""Boxes as supervision and Ultralytics hold them: the numbers are those of dicts, and neither library is imported."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from openworld_metrics import OpenSetDetection, load, reading
from tests.detection import scenes

OPTIONS: dict[str, Any] = {"known_classes": scenes.KNOWN, "unknown_class_id": scenes.UNKNOWN_ID}


def supervision(boxes: Any) -> SimpleNamespace:
    confidence = boxes.get("scores")
    xyxy = boxes["boxes"].astype(np.float32)
    return SimpleNamespace(xyxy=xyxy, confidence=confidence, class_id=boxes["labels"], mask=None, data={})


def ultralytics(boxes: Any, path: str = "image0.jpg") -> SimpleNamespace:
    held = SimpleNamespace(xyxy=boxes["boxes"].astype(np.float32), conf=boxes["scores"], cls=boxes["labels"] * 1.0)
    return SimpleNamespace(boxes=held, orig_shape=(9, 9), names={}, path=path)


def as_float32(boxes: Any) -> Any:
    return {**boxes, "boxes": boxes["boxes"].astype(np.float32)}


@pytest.mark.parametrize("make", [supervision, ultralytics])
@pytest.mark.parametrize("door", ["class", "evaluate", "add"])
def test_the_numbers_are_those_of_dicts(make: Any, door: str) -> None:
    made = scenes.scene(3)
    references = [as_float32(boxes) for boxes in made.dataset.references]
    expected = OpenSetDetection(**OPTIONS).compute(
        predictions=[as_float32(boxes) for boxes in made.predictions], references=references
    )
    objects = [make(boxes) for boxes in made.predictions]
    metric = load("openset_detection", **OPTIONS) if door == "evaluate" else OpenSetDetection(**OPTIONS)
    if door == "add":
        for predicted, true in zip(objects, references):
            metric.add(predictions=predicted, references=true)
        assert metric.compute() == expected
    else:
        assert metric.compute(predictions=objects, references=references) == expected
    assert not {"supervision", "ultralytics"} & sys.modules.keys()


def test_true_boxes_of_supervision() -> None:
    made = scenes.scene(2)
    true = [supervision(boxes) for boxes in made.dataset.references]
    results = OpenSetDetection(**OPTIONS).compute(predictions=made.predictions, references=true)
    plain = [{key: as_float32(boxes)[key] for key in ("boxes", "labels")} for boxes in made.dataset.references]
    assert results == OpenSetDetection(**OPTIONS).compute(predictions=made.predictions, references=plain)
    dataset = reading.read_dicts(true)
    assert [boxes["labels"].tolist() for boxes in dataset.references] == [x["labels"].tolist() for x in plain]


def test_nothing_is_detected() -> None:
    """As `supervision.Detections.empty()` has it, or with None for the columns."""
    true = [{"boxes": [[0, 0, 4, 4]], "labels": [0]}]
    for column in (np.zeros(0), None):
        empty = SimpleNamespace(xyxy=np.zeros((0, 4)), confidence=column, class_id=column)
        assert OpenSetDetection(**OPTIONS).compute(predictions=[empty], references=true)["FN_known"] == 1


def test_results_of_files_are_found_by_name() -> None:
    made = scenes.scene(1)
    names = made.dataset.names
    results = [ultralytics(boxes, f"/data/{name}.jpg") for name, boxes in zip(names, made.predictions)]
    found = reading.read_dict_predictions(results[::-1], made.dataset)
    assert [boxes["labels"].tolist() for boxes in found.predictions] == [x["labels"].tolist() for x in made.predictions]
    in_order = [ultralytics(boxes, f"image{i}.jpg") for i, boxes in enumerate(made.predictions)]
    found = reading.read_dict_predictions(in_order, made.dataset)
    assert [boxes["labels"].tolist() for boxes in found.predictions] == [x["labels"].tolist() for x in made.predictions]


BOX = {"boxes": np.ones((1, 4)), "scores": np.ones(1), "labels": np.ones(1, dtype=np.int64)}
WRONG: dict[str, tuple[Any, dict[str, Any], type[Exception], str]] = {
    "one alone": (supervision(BOX), {}, TypeError, r"predictions: expected a list .*, got a single one: \[x\]"),
    "no class": (
        [SimpleNamespace(xyxy=np.ones((1, 4)), confidence=np.ones(1), class_id=None)],
        {},
        TypeError,
        r"predictions\[0\]: expected keys boxes, scores, labels, got boxes, scores",
    ),
    "no boxes": (
        [ultralytics(BOX), SimpleNamespace(boxes=None, orig_shape=(9, 9), names={})],
        {},
        TypeError,
        r"predictions\[1\]: expected results with boxes, got results that have other predictions only",
    ),
    "another form": (
        [supervision(BOX)],
        {"box_format": "xywh"},
        ValueError,
        r"predictions\[0\]: expected box_format='xyxy' with SimpleNamespace, got 'xywh'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_objects(name: str) -> None:
    predictions, options, kind, pattern = WRONG[name]
    with pytest.raises(kind, match=pattern):
        OpenSetDetection(**OPTIONS, **options).compute(predictions=predictions, references=[BOX])
