"""A real model of Ultralytics, with random weights, on generated images: `make test-ultralytics` runs this."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from PIL import Image

from demo import writers
from openworld_metrics import OpenSetDetection, reading, suites
from openworld_metrics.faces import summaries
from openworld_metrics.integrations.ultralytics import OpenSetValidator

ultralytics = pytest.importorskip("ultralytics")
pytestmark = pytest.mark.filterwarnings("ignore")

KNOWN, UNKNOWN_ID, CONF, IOU = [0, 2, 3], 1, 0.02, 0.6
OPTIONS: dict[str, Any] = {"unknown_class_id": UNKNOWN_ID, "conf_threshold": CONF, "iou_threshold": 0.1}


@pytest.fixture(scope="module")
def model() -> Any:
    """YOLO as its configuration file describes it; last layers that are spread make it say four classes."""
    import torch

    torch.manual_seed(0)
    model = ultralytics.YOLO("yolo11n.yaml")
    for branch in model.model.model[-1].cv3:
        torch.nn.init.normal_(branch[-1].weight, std=1e6)  # random features are tiny
        torch.nn.init.constant_(branch[-1].bias, -30.0)
        torch.nn.init.constant_(branch[-1].bias[:4], -2.0)
    return model


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Rectangles of four colours on noise, in images of several sizes; two have no label file."""
    folder, rng = tmp_path_factory.mktemp("ultralytics"), np.random.default_rng(0)
    for name in ("images/val", "labels/val"):
        (folder / name).mkdir(parents=True)
    for number in range(12):
        width, height = rng.integers(80, 320, 2).tolist()
        pixels = rng.integers(0, 60, (height, width, 3), dtype=np.uint8)
        lines = []
        for label in rng.integers(0, 5, 4 if number > 1 else 0).tolist():
            x1, y1 = rng.integers(0, [width // 2, height // 2]).tolist()
            x2, y2 = x1 + int(rng.integers(20, width // 2)), y1 + int(rng.integers(20, height // 2))
            pixels[y1:y2, x1:x2] = [50 * label, 255 - 50 * label, 128]
            center = (x1 + x2) / 2 / width, (y1 + y2) / 2 / height
            lines.append(f"{label} {center[0]:.6f} {center[1]:.6f} {(x2 - x1) / width:.6f} {(y2 - y1) / height:.6f}")
        Image.fromarray(pixels).save(folder / "images" / "val" / f"{number:012}.png")
        if lines:
            (folder / "labels" / "val" / f"{number:012}.txt").write_text("\n".join(lines))
    content = {"train": "images/val", "val": "images/val", "names": {i: f"class {i}" for i in range(80)}}
    (folder / "data.yaml").write_text(yaml.safe_dump(content))
    return folder / "data.yaml"


@pytest.fixture(scope="module")
def validator(model: Any, data: Path) -> OpenSetValidator:
    validator = OpenSetValidator(model, data, KNOWN, UNKNOWN_ID, CONF, IOU, iou_threshold=0.1)
    validator.validate("val")
    return validator


def test_the_numbers_are_those_of_the_files_that_it_saves(
    model: Any, data: Path, validator: OpenSetValidator, tmp_path: Path
) -> None:
    assert validator.detections is not None
    results = validator.validate("val")
    values = results["openset_metrics"]
    print(summaries.summary(results))
    assert sum(len(boxes["labels"]) for boxes in validator.detections.predictions) > 50
    assert values["total_known"] + values["total_unknown"] == 40
    assert min(values["TP_known"], values["TP_unknown"], values["FP_unknown"], values["FP_known"]) > 0
    assert list(results["standard_metrics"]) == ["mAP50", "mAP50-95", "precision", "recall"]

    writers.write_yolo_predictions(validator.detections, tmp_path / "yolo")
    writers.write_coco_results(validator.detections, tmp_path / "coco.json")
    writers.write_coco(validator.detections.dataset, tmp_path / "instances.json")
    for places in ((tmp_path / "yolo", data), (tmp_path / "coco.json", tmp_path / "instances.json")):
        saved = reading.read_detections(*places, unknown_class_id=UNKNOWN_ID)
        assert suites.evaluate_detections(saved, KNOWN, **OPTIONS) == results


def test_ultralytics_own_text_files_are_the_same_boxes(
    model: Any, data: Path, validator: OpenSetValidator, tmp_path: Path
) -> None:
    """They have six digits: boxes agree to a hundredth of a pixel, and counts but for ties."""
    for path in sorted((data.parent / "images" / "val").iterdir()):
        saving = {"save_txt": True, "save_conf": True, "project": str(tmp_path), "name": "run", "exist_ok": True}
        model.predict(str(path), conf=CONF, iou=IOU, verbose=False, **saving)
    saved = reading.read_detections(tmp_path / "run" / "labels", data, unknown_class_id=UNKNOWN_ID)
    assert validator.detections is not None
    for ours, theirs in zip(validator.detections.predictions, saved.predictions):
        np.testing.assert_allclose(theirs["boxes"], ours["boxes"], atol=0.01)
        np.testing.assert_allclose(theirs["scores"], ours["scores"], rtol=1e-5)
        assert theirs["labels"].tolist() == ours["labels"].tolist()
    read, expected = suites.evaluate_detections(saved, KNOWN, **OPTIONS), validator.validate("val")
    for name, count in expected["openset_metrics"].items():
        if isinstance(count, int):  # of IoUs that are equal but for the seventh digit, others may come first
            assert abs(read["openset_metrics"][name] - count) <= 3
    for name in ("mAP50", "mAP50-95"):
        assert read["standard_metrics"][name] == pytest.approx(expected["standard_metrics"][name], abs=0.001)


def test_the_command_with_a_configuration_file(data: Path, tmp_path: Path) -> None:
    given = ["--model", "yolo11n.yaml", "--data", str(data), "--known-classes", "0", "1", "2", "--save", "x.txt"]
    command = [str(Path(sys.executable).with_name("openworld-metrics")), "detect", *given, "--report", "report"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    assert json.loads(done.stdout.splitlines()[-1])["openset_metrics"]["total_known"] > 0
    assert (tmp_path / "x.txt").read_text().startswith("Standard metrics")
    assert (tmp_path / "report" / "index.html").exists()


def test_results_are_boxes(model: Any, data: Path) -> None:
    results = [
        model.predict(path, conf=CONF, verbose=False)[0] for path in sorted((data.parent / "images/val").iterdir())
    ]
    true = [{"boxes": one.boxes.xyxy.numpy()[:3], "labels": np.asarray([0, 2, 7])[: len(one.boxes)]} for one in results]
    assert sum(len(one.boxes) for one in results) > 12
    metric = OpenSetDetection(known_classes=KNOWN, unknown_class_id=UNKNOWN_ID)
    plain = [{"boxes": one.boxes.xyxy, "scores": one.boxes.conf, "labels": one.boxes.cls} for one in results]
    expected = metric.compute(predictions=plain, references=true)
    assert metric.compute(predictions=results, references=true) == expected
    supervision = pytest.importorskip("supervision")
    found = [supervision.Detections.from_ultralytics(one) for one in results]
    marked = [supervision.Detections(xyxy=one["boxes"], class_id=one["labels"]) for one in true]
    assert metric.compute(predictions=found, references=marked) == expected
