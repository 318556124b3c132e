"""The demo's data set: what it says of its two detectors."""

from __future__ import annotations

from pathlib import Path

import pytest

from demo import anomaly_folder
from openworld_metrics.suites import evaluate_anomaly_folder


def test_the_detectors_that_know_what_is_normal_are_better(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(anomaly_folder, "VIEWS", {"flower": anomaly_folder.VIEWS["flower"]})
    for number, few in (("TRAINING", 6), ("GOOD", 6), ("EACH", 3)):
        monkeypatch.setattr(anomaly_folder, number, few)
    anomaly_folder.main(tmp_path)
    found = {
        name: evaluate_anomaly_folder(tmp_path / "maps" / name, tmp_path / "data") for name in ("patches", "contrast")
    }
    for results in found.values():
        assert results["evaluation"]["layout"] == "mvtec-ad"
        assert results["evaluation"]["files"] == {
            "images": 15,
            "maps": 15,
            "masks": 9,
            "empty_masks_of_anomalous_images": 0,
        }
    patches, contrast = found.values()
    assert patches["image_auroc"] > contrast["image_auroc"]
    assert 0.8 < patches["pixel_auroc"] < 1
    assert 0.5 < contrast["pixel_auroc"] < 0.7
