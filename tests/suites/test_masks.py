"""Void pixels and saturation areas of masks on disk: the numbers are those of arrays, and what is wrong is said."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from openworld_metrics import AnomalySuite
from openworld_metrics.faces.report import write_anomaly_report
from openworld_metrics.reading.maps.maps import file_problems
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.suites.trees import assert_as_arrays, write_map, write_mask, write_tree


def test_void_pixels_of_plain_folders(tmp_path: Path) -> None:
    """As of road anomalies: 0, 1 and 255, in images of several sizes, normal ones too."""
    rng = np.random.default_rng(0)
    maps, masks = [], []
    for i in range(6):
        shape = (int(rng.integers(5, 9)), 8)
        maps.append(rng.random(shape).astype(np.float32))
        masks.append(rng.choice([0, 0, 1, 255] if i < 4 else [0, 0, 255], shape).astype(np.uint8))
        maps[-1][masks[-1] == 255] = 2  # which would be the image's score
        write_map(tmp_path / "maps" / f"{i}.npy", maps[-1])
        write_mask(tmp_path / "masks" / f"{i}.png", masks[-1], 1)
    every: list[dict[str, Any]] = [{}, {"image_reduction": 3}, {"image_reduction": "mean", "significant_bits": 6}]
    for options in every:
        columns = {"predictions": maps, "references": masks}
        folders = tmp_path / "maps", tmp_path / "masks"
        found = assert_as_arrays(folders, {"masks": columns}, ignore_value=255, **options)
        assert found["evaluation"]["options"]["ignore_value"] == 255
    write_mask(tmp_path / "masks" / "5.png", np.full_like(masks[5], 255), 1)
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "masks")
    assert file_problems(listed, None, 255) == [
        f"{tmp_path / 'masks' / '5.png'}: expected a pixel that is not void, got none"
    ]
    without = file_problems(listed)  # of images that have void and anomalous pixels
    assert without
    assert all("expected a mask of 0 and one other value, got 1 to 255" in line for line in without)


def test_void_pixels_and_defects_of_loco(tmp_path: Path) -> None:
    from openworld_metrics.suites.anomaly import evaluate_maps

    made = [one for one in write_tree("mvtec-loco", tmp_path) if one.category == "nut"]
    rng, references = np.random.default_rng(1), []
    for one in made:
        masks = one.masks.astype(np.uint8) * np.asarray([200, 201], np.uint8)[:, None, None]
        if one.defect:
            void = rng.random(masks.shape) < 0.15
            masks[void] = 7
            folder = tmp_path / "data" / "nut" / "ground_truth" / one.defect / f"{one.number:03}"
            for i, mask in enumerate(masks):
                write_mask(folder / f"{i:03}.png", mask, 1)
            # areas are of what is left: the void pixels of either mask are out of both
            left = int(((masks[1] == 201) & ~void.any(axis=0)).sum())
            areas = [2, max(1, left // 2)]
            masks = np.where(masks == 7, 7, masks > 0)
        references.append({"masks": masks, "saturation_areas": areas if one.defect else [1, 1]})
    options: dict[str, Any] = {"ignore_value": 7, "integration_limits": [0.05, 0.3]}
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data", categories=["nut"])
    run = evaluate_maps(listed, curves=True, **options)
    for at, kind in enumerate(("logical_anomalies", "structural_anomalies"), 1):
        own = [i for i, one in enumerate(made) if one.defect in ("", kind)]
        wanted = AnomalySuite(**options).compute(
            predictions=[made[i].score_map for i in own], references=[references[i] for i in own]
        )
        assert {key: run.results["groups"][key][at] for key in wanted} == wanted
    assert write_anomaly_report(run, tmp_path / "report", images=1).is_file()
    with pytest.raises(ValueError, match=r"ignore_value: expected a value of no defect in .*json, got 200"):
        evaluate_maps(listed, ignore_value=200)


ENTRY = {"pixel_value": 200, "saturation_threshold": 2, "relative_saturation": False}


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "expected a list of defects, got dict"),
        ([3], "defect 0: expected pixel_value, saturation_threshold, relative_saturation, got int"),
        ([{"pixel_value": 3}], "defect 0: expected pixel_value, .*, got pixel_value"),
        ([{**ENTRY, "pixel_value": 0}], "defect 0: pixel_value: expected an int of at least 1"),
        ([{**ENTRY, "saturation_threshold": 0}], "saturation_threshold: expected an int of at least 1"),
        ([{**ENTRY, "saturation_threshold": 2.5}], "saturation_threshold: expected an int, got 2.5"),
        ([{**ENTRY, "relative_saturation": True}], r"saturation_threshold: expected a share in \(0, 1\], got 2.0"),
        ([{**ENTRY, "relative_saturation": "no"}], "relative_saturation: expected"),
        ([ENTRY, {**ENTRY, "saturation_threshold": 3}], "defect 1: expected one saturation of the pixel value 200"),
        ([{**ENTRY, "pixel_value": 9}], r"000.png: expected one of the pixel values 9, got 200"),
        ([ENTRY], r"001.png: expected one of the pixel values 200, got 201"),
    ],
)
def test_saturations_that_are_refused(config: Any, message: str, tmp_path: Path) -> None:
    write_tree("mvtec-loco", tmp_path)
    path = tmp_path / "data" / "nut" / "defects_config.json"
    path.write_text(json.dumps(config))
    with pytest.raises((ValueError, TypeError), match=message) as raised:
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")
    assert str(raised.value).startswith(str(tmp_path))
    problems = file_problems(list_anomaly_maps(tmp_path / "maps", tmp_path / "data"))
    assert any(re.search(message, line) for line in problems)


def test_a_mask_of_two_values_and_no_config(tmp_path: Path) -> None:
    made = write_tree("mvtec-loco", tmp_path)
    defect = next(one for one in made if one.defect)
    mask = tmp_path / "data" / "nut" / "ground_truth" / defect.defect / "000" / "000.png"
    write_mask(mask, defect.masks[0] * 200 + defect.masks[1], 1)
    with pytest.raises(ValueError, match=r"000.png: expected one of the pixel values 200, 201, got 1 to 200"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")
    (tmp_path / "data" / "nut" / "defects_config.json").unlink()
    with pytest.raises(ValueError, match=r"nut/defects_config.json: No such file"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")
