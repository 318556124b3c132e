"""The validator with a fake of a model: its numbers are those of the files that it saves."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from demo import writers
from openworld_metrics import reading, suites
from openworld_metrics.faces import summaries
from openworld_metrics.integrations.ultralytics import OpenSetValidator
from openworld_metrics.reading import Detections
from tests.detection import scenes
from tests.integrations.fake import FakeModel

OPTIONS: dict[str, Any] = {"unknown_class_id": scenes.UNKNOWN_ID, "conf_threshold": 0.25}


@pytest.fixture
def made(tmp_path: Path) -> Detections:
    made = scenes.scene(3, 12)
    scenes.write_as_yolo(made, tmp_path)
    return made


def test_a_model_and_its_files_give_the_same(made: Detections, tmp_path: Path) -> None:
    model = FakeModel(made)
    validator = OpenSetValidator(
        model=model,
        data=str(tmp_path / "data.yaml"),
        known_classes=scenes.KNOWN,
        unknown_class_id=scenes.UNKNOWN_ID,
        conf=0.25,
        iou=0.7,
        predict={"imgsz": 64},
    )
    results = validator.validate(split="val")
    assert model.calls == [{"conf": 0.25, "iou": 0.7, "verbose": False, "imgsz": 64}] * 12
    assert list(results) == ["standard_metrics", "openset_metrics", "kinds", "signature", "options"]
    assert list(results["standard_metrics"]) == ["mAP50", "mAP50-95", "precision", "recall"]
    assert 0 < results["openset_metrics"]["U-Recall"] < 1
    assert results == suites.evaluate_detections(made, scenes.KNOWN, **OPTIONS)
    assert validator.detections is not None
    writers.write_yolo_predictions(validator.detections, tmp_path / "saved")
    saved = reading.read_detections(tmp_path / "saved", tmp_path / "data.yaml", unknown_class_id=scenes.UNKNOWN_ID)
    assert results == suites.evaluate_detections(saved, scenes.KNOWN, **OPTIONS)


def test_names_options_and_saved_results(made: Detections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data, names = tmp_path / "data.yaml", [scenes.NAMES[label] for label in scenes.KNOWN]
    validator = OpenSetValidator(FakeModel(made), data, names, scenes.UNKNOWN_ID, matching="confidence", per_class=True)
    results = validator.validate(standard=False)
    assert list(results) == ["openset_metrics", "kinds", "signature", "options"]
    assert results["openset_metrics"]["per_class"]["name"] == [*names, "unknown"]
    monkeypatch.chdir(tmp_path)
    validator.save_results(results)
    validator.save_results(results, save_path="mine.json")
    assert json.loads(Path("mine.json").read_text()) == results
    text = Path("openset_results.txt").read_text()
    assert text == summaries.summary(results) + "\n"
    assert f"U-Recall          {results['openset_metrics']['U-Recall']:.6f}    share of the unknown objects" in text
    assert "   cat      0 " in text


def test_what_is_wrong(made: Detections, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"data.yaml: expected a split 'test', got val"):
        OpenSetValidator(FakeModel(made), tmp_path / "data.yaml", scenes.KNOWN).validate("test")
    with pytest.raises(ValueError, match=r"yak: expected the id or the name of a class, of 0 \(cat\), 1 \(dog\)"):
        OpenSetValidator(FakeModel(made), tmp_path / "data.yaml", ["yak"]).validate()
    with pytest.raises(TypeError, match=r"openset_detection has no argument 'iou_treshold'"):
        OpenSetValidator(FakeModel(made), tmp_path / "data.yaml", [0], iou_treshold=0.5).validate()


def test_a_path_imports_ultralytics_and_nothing_else_does(
    made: Detections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    validator = OpenSetValidator("yolo.pt", tmp_path / "data.yaml", scenes.KNOWN, scenes.UNKNOWN_ID)
    monkeypatch.setitem(sys.modules, "ultralytics", None)
    with pytest.raises(ImportError, match=r'\[ultralytics\]"; .*licence of ultralytics is AGPL-3.0$'):
        validator.validate()
    ultralytics = ModuleType("ultralytics")
    vars(ultralytics)["YOLO"] = lambda path: {"yolo.pt": FakeModel(made)}[path]
    monkeypatch.setitem(sys.modules, "ultralytics", ultralytics)
    expected = OpenSetValidator(FakeModel(made), tmp_path / "data.yaml", scenes.KNOWN, scenes.UNKNOWN_ID).validate()
    assert validator.validate() == expected

    def no_such_file(path: str) -> Any:
        raise FileNotFoundError(path)

    vars(ultralytics)["YOLO"] = no_such_file
    with pytest.raises(ValueError, match=r"yolo.pt: expected a model, got none"):
        validator.validate()


def test_nothing_heavy_is_imported_unasked() -> None:
    heavy = ["ultralytics", "torch", "pycocotools", "PIL", "yaml", "evaluate"]
    loads = "import sys, openworld_metrics.suites, openworld_metrics.command.cli"
    code = f"{loads}; print([n for n in %s if n in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", code % heavy], text=True).strip() == "[]"


def test_a_missing_package_is_named(made: Detections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ImportError, match=r"^expected pyyaml to be installed, got none: pip install"):
        reading.read_references(tmp_path / "data.yaml")
