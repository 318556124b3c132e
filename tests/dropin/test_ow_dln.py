"""OW-DLN's calls, as its guide makes them, with a fake of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import OpenSetDetection, suites
from openworld_metrics.detection.protocols import RATES as OF_OW_DLN
from openworld_metrics.dropin.ow_dln import (
    OpenSetDetectionMetrics,
    OpenSetValidator,
    mark_low_confidence_as_unknown,
)
from openworld_metrics.faces import summaries
from openworld_metrics.reading import Dataset, Detections
from tests.detection import scenes
from tests.integrations.fake import FakeModel, Tensor

BOXES = np.asarray([[10, 10, 50, 50, 0.9, 0], [60, 60, 100, 100, 0.8, 999], [110, 110, 150, 150, 0.7, 1]])
OBJECTS = np.asarray([[10, 10, 50, 50, 0], [60, 60, 100, 100, 5], [110, 110, 150, 150, 1]])
RATES = ("U-Recall", "WI", "A-OSE")


def rows(image: dict[str, np.ndarray]) -> np.ndarray:
    columns = [image[name] for name in ("boxes", "scores", "labels") if name in image]
    return np.column_stack(columns)


def test_three_boxes() -> None:
    metrics = OpenSetDetectionMetrics(known_classes=[0, 1, 2], unknown_class_id=999, iou_threshold=0.5)
    metrics.update(BOXES, OBJECTS)
    results = metrics.compute()
    assert [f"{results[name]:.4f}" for name in RATES] == ["1.0000", "0.0000", "0.0000"]
    assert metrics.get_summary() == summaries.summary({"openset_metrics": results})
    assert "U-Recall          1.000000    share of the unknown objects that are found" in metrics.get_summary()


def test_the_image_of_a_model() -> None:
    """Class 15 is none of the known ones, and not "unknown": its box on an unknown object is a false known object."""
    xyxy, conf, cls = (Tensor(column) for column in (BOXES[:, :4], BOXES[:, 4], np.asarray([0, 15, 1])))
    predictions = np.concatenate([xyxy.cpu(), conf.cpu().reshape(-1, 1), cls.cpu().reshape(-1, 1)], axis=1)
    metrics = OpenSetDetectionMetrics(list(range(5)), 999)
    metrics.update(predictions, OBJECTS)
    results = metrics.compute()
    assert (results["U-Recall"], results["WI"], results["A-OSE"]) == (0.0, 0.0, 2 / 3)
    assert (results["TP_known"], results["FP_known"], results["FN_unknown"]) == (2, 1, 1)


@pytest.mark.parametrize("options", [{}, {"iou_threshold": 0.75}, {"count_background": True}], ids=str)
def test_images_one_by_one(options: dict[str, Any]) -> None:
    """Results do not end the evaluation, as those of evaluate's metrics do."""
    scene = scenes.scene(0, 30)
    metrics = OpenSetDetectionMetrics(scenes.KNOWN, scenes.UNKNOWN_ID, **options)
    expected = OpenSetDetection(known_classes=scenes.KNOWN, unknown_class_id=scenes.UNKNOWN_ID, **options)
    images = [*zip(map(rows, scene.predictions), map(rows, scene.dataset.references))]
    for i, (predictions, ground_truth) in enumerate(images):
        metrics.update(predictions, ground_truth)
        part = [[image[column] for image in images[: i + 1]] for column in (0, 1)]
        exact = expected.compute(predictions=part[0], references=part[1])
        assert metrics.compute() == {**dict.fromkeys(OF_OW_DLN, 0.0), **exact}  # 0/0 is 0, as in its code
        assert [*metrics.compute()][: len(OF_OW_DLN)] == [*OF_OW_DLN]
    assert 0 < metrics.compute()["U-Recall"] < 1
    metrics.reset()
    with pytest.raises(ValueError, match="expected at least one sample, got none"):
        metrics.compute()


def test_false_unknown_boxes_of_the_code_and_of_the_guide() -> None:
    """Its code counts an "unknown" box without an object in FP_unknown, and so in WI; its guide does not."""
    for options, wrong in (({}, 0), ({"count_background": True}, 1)):
        metrics = OpenSetDetectionMetrics([0, 1, 2], -1, **options)
        metrics.update([[10, 10, 50, 50, 0.9, 0], [200, 200, 240, 240, 0.8, -1]], OBJECTS)
        results = metrics.compute()
        assert (results["FP_unknown"], results["WI"]) == (wrong, wrong / 2)


def one_image(folder: Path) -> Detections:
    """An object, and a box with an IoU of 14/25 = 0.56."""
    true = {"boxes": np.asarray([[0.0, 0, 25, 10]]), "labels": np.asarray([1]), "ignored": np.zeros(1, np.int64)}
    box = {"boxes": np.asarray([[0.0, 0, 14, 10]]), "scores": np.asarray([0.5]), "labels": np.asarray([1])}
    detections = Detections(Dataset(["0000"], [true], scenes.NAMES, [None], [(64, 128)], [0]), [box])
    scenes.write_as_yolo(detections, folder)
    return detections


@pytest.mark.parametrize(
    ("options", "hits"), [({}, 0), ({"iou": 0.5}, 1), ({"iou_threshold": 0.5}, 1), ({"iou": 0.55}, 1)], ids=str
)
def test_the_iou_of_a_validator_is_that_of_a_match_too(options: dict[str, float], hits: int, tmp_path: Path) -> None:
    model = FakeModel(one_image(tmp_path))
    validator = OpenSetValidator(model, str(tmp_path / "data.yaml"), scenes.KNOWN, **options)
    results = validator.validate(standard=False)["openset_metrics"]
    assert results["TP_known"] == hits
    assert (results["U-Recall"], results["WI"]) == (0.0, 0.0)  # keys of OW-DLN, also of a model that never says unknown
    assert [call["iou"] for call in model.calls] == [options.get("iou", 0.6)]
    assert [call["conf"] for call in model.calls] == [0.001]


def test_a_validation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene = scenes.scene(3, 12)
    scenes.write_as_yolo(scene, tmp_path)
    validator = OpenSetValidator(
        model=FakeModel(scene),
        data=str(tmp_path / "data.yaml"),
        known_classes=scenes.KNOWN,
        unknown_class_id=scenes.UNKNOWN_ID,
        conf=0.001,
        iou=0.6,
    )
    results = validator.validate(split="val")
    options = {"unknown_class_id": scenes.UNKNOWN_ID, "iou_threshold": 0.6, "conf_threshold": 0.001}
    assert results == suites.evaluate_detections(scene, scenes.KNOWN, **options)
    assert {*RATES} <= {*results["openset_metrics"]}
    assert 0 < results["standard_metrics"]["mAP50"] < 1
    monkeypatch.chdir(tmp_path)
    validator.save_results(results, save_path="my_results.txt")
    assert Path("my_results.txt").read_text() == summaries.summary(results) + "\n"


def test_low_confidence_is_unknown_whatever_the_class() -> None:
    before = BOXES.copy()
    marked = mark_low_confidence_as_unknown(BOXES, conf_threshold=0.8, unknown_id=-1)
    assert marked[:, 5].tolist() == [0, 999, -1]
    assert np.array_equal(marked[:, :5], BOXES[:, :5])
    assert np.array_equal(BOXES, before)
    assert mark_low_confidence_as_unknown(BOXES * [1, 1, 1, 1, 0.5, 1])[:, 5].tolist() == [999, 999, 999]
    assert mark_low_confidence_as_unknown([]).shape == mark_low_confidence_as_unknown(np.zeros((0, 6))).shape == (0, 6)


def test_unknown_below_relabels_known_classes_alone() -> None:
    """Of 200 scenes whose detectors know two classes more, some differ; none does if they only say known ones."""
    different = 0
    for seed in range(200):
        scene, rng = scenes.scene(seed), np.random.default_rng(seed)
        images = [rows(image) for image in scene.predictions]
        truth = [rows(image) for image in scene.dataset.references]
        for others in (False, True):
            if others:
                for image in images:
                    image[rng.random(len(image)) < 0.1, 5] = 4
            options = {"known_classes": scenes.KNOWN, "unknown_class_id": scenes.UNKNOWN_ID}
            below = OpenSetDetection(**options, unknown_below=0.5).compute(predictions=images, references=truth)
            marked = [mark_low_confidence_as_unknown(image, 0.5, scenes.UNKNOWN_ID) for image in images]
            results = OpenSetDetection(**options).compute(predictions=marked, references=truth)
            assert others or results == below
            different += results != below
    assert different > 20


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: OpenSetDetectionMetrics([0, 999], 999), ValueError, "known_classes: expected them without"),
        (lambda: OpenSetDetectionMetrics([0], 999, 0), ValueError, "iou_threshold: expected .* got 0"),
        (lambda: OpenSetDetectionMetrics([0], iou=0.5), TypeError, "no argument 'iou'"),
        (lambda: OpenSetDetectionMetrics([0]).update(OBJECTS, BOXES), ValueError, r"predictions\[0\]: .* swapped"),
        (lambda: OpenSetDetectionMetrics([0]).get_summary(), ValueError, "expected at least one sample"),
        (lambda: mark_low_confidence_as_unknown(OBJECTS), ValueError, r"rows of 6 numbers, got shape \(3, 5\)"),
        (lambda: mark_low_confidence_as_unknown(BOXES, np.nan), ValueError, "conf_threshold: expected"),
        (lambda: mark_low_confidence_as_unknown(BOXES, 0.5, 1.5), TypeError, "unknown_id: expected an int"),
    ],
)
def test_what_is_wrong(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
