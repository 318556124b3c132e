"""Pixels without a point in the clouds of MVTec 3D-AD: normal as in its script, or void."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from openworld_metrics.reading.maps.maps import file_problems
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.conftest import Run
from tests.suites.trees import (
    CATEGORIES,
    INVALID,
    assert_as_arrays,
    columns_of,
    write_map,
    write_mask,
    write_tree,
)


@pytest.mark.parametrize("options", [{}, {"image_reduction": 3}, {"significant_bits": 5}], ids=["plain", "3", "bits"])
def test_numbers_are_those_of_void_pixels(options: dict[str, Any], tmp_path: Path) -> None:
    made = write_tree("mvtec-3d", tmp_path)
    found = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", void_where_invalid=True, **options)
    for at, category in enumerate(CATEGORIES):
        columns = columns_of([one for one in made if one.category == category])
        masks = columns["references"] = [mask.astype(int) for mask in columns["references"]]
        for mask in masks:
            mask[INVALID] = 255
        wanted = AnomalySuite(ignore_value=255, **options).compute(**columns)
        assert {key: found["groups"][key][at] for key in wanted} == wanted
    assert found["evaluation"]["void_where_invalid"] is True
    assert found["evaluation"]["options"]["ignore_value"] is None


def test_a_value_of_masks_and_regions_beside_it(tmp_path: Path) -> None:
    made = [one for one in write_tree("mvtec-3d", tmp_path) if one.category == "nut"]
    rng, references = np.random.default_rng(0), []
    for one in made:
        mask = np.where(one.mask, 1 + one.masks[1], 0)
        mask[rng.random(mask.shape) < 0.1] = 7
        write_mask(tmp_path / "data" / "nut" / "test" / (one.defect or "good") / "gt" / f"{one.number:03}.png", mask, 1)
        mask[INVALID] = 7
        references.append(mask)
    options: dict[str, Any] = {"ignore_value": 7, "regions": "labels", "integration_limits": [1.0, 0.1]}
    groups = {"nut": {**columns_of(made), "references": references}}
    files = {"categories": ["nut"], "void_where_invalid": True}
    assert_as_arrays((tmp_path / "maps", tmp_path / "data"), groups, files, **options)


def test_the_command_and_its_comparison(tmp_path: Path, run: Run) -> None:
    write_tree("mvtec-3d", tmp_path)
    options = ["--maps", "maps", "--data", "data", "--void-where-invalid", "--levels", "pixel", "--compare", "maps"]
    sure = ["--confidence-level", "0.9", "--n-resamples", "9"]
    code, output, errors = run("anomaly", *options, *sure, "--report", "r")
    assert (code, errors) == (0, "")
    found = json.loads(output)
    assert found["pixel_auroc"] == evaluate_anomaly_folder("maps", "data", void_where_invalid=True)["pixel_auroc"]
    assert set(found["comparison"]["difference"]) == set(found["comparison"]["low"]) == {0.0}
    assert (tmp_path / "r" / "index.html").is_file()


def test_clouds_that_cannot_be_used(tmp_path: Path) -> None:
    write_tree("mvtec-3d", tmp_path)
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
    clouds = tmp_path / "data" / "nut" / "test" / "good" / "xyz"
    write_map(clouds / "000.tiff", np.ones((10, 12), np.float32))
    write_map(clouds / "001.tiff", np.ones((10, 11, 3), np.float32))
    (clouds / "002.tiff").unlink()
    write_map(tmp_path / "data" / "nut" / "test" / "crack" / "xyz" / "000.tiff", np.zeros((10, 12, 3), np.float32))
    assert file_problems(listed) == []
    lines = file_problems(listed, void_where_invalid=True)
    assert [line.partition(": ")[2] for line in lines] == [
        "expected a pixel that is not void, got none",
        "expected points (H, W, 3) of real numbers, got float32 of shape (10, 12)",
        "expected 10 × 12 points, got 10 × 11",
        "No such file or directory",
    ]
    assert all("nut/test" in line for line in lines)


@pytest.mark.parametrize("layout", ["mvtec-ad", "folders"])
def test_layouts_without_clouds(layout: str, tmp_path: Path) -> None:
    write_tree(layout, tmp_path)
    with pytest.raises(ValueError, match=f"void_where_invalid: .* which mvtec-3d is, got {layout}"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", void_where_invalid=True)
