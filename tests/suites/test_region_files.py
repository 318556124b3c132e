"""Masks on disk that hold the numbers of regions: .png, .tiff and .npy, of images and of clouds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from openworld_metrics.reading.maps.maps import file_problems
from openworld_metrics.reading.maps.pairing import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.suites.trees import assert_as_arrays

LABELS: dict[str, Any] = {"regions": "labels", "integration_limits": [1.0, 0.2]}


def write(path: Path, numbers: np.ndarray) -> None:
    """Numbers of regions as a file of 8 or 16 bits, or an array."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".png":
        Image.fromarray(numbers.astype(np.uint16 if numbers.max() > 255 else np.uint8)).save(path)
    elif path.suffix == ".tiff":
        tifffile.imwrite(path, numbers.astype(np.uint16))
    else:
        np.save(path, numbers)


def scene(folder: Path, suffix: str, top: int, shape: tuple[int, int] = (7, 9)) -> dict[str, list[np.ndarray]]:
    """Five images with regions that touch and that lie in several places, and three normal images."""
    rng, maps, masks = np.random.default_rng(top), [], []
    for i in range(8):
        masks.append(rng.choice([0, 0, 0, 1, 2, top], shape) if i < 5 else np.zeros(shape, int))
        maps.append(rng.random(shape).astype(np.float32) + 0.3 * (masks[-1] > 0))
        (folder / "maps").mkdir(parents=True, exist_ok=True)
        np.save(folder / "maps" / f"{i}.npy", maps[-1])
        if i < 5 or i == 7:
            write(folder / "masks" / f"{i}{suffix}", masks[-1])
    return {"predictions": maps, "references": masks}


@pytest.mark.parametrize("top", [3, 1000])
@pytest.mark.parametrize("suffix", [".png", ".tiff", ".npy"])
def test_numbers_are_those_of_arrays(suffix: str, top: int, tmp_path: Path) -> None:
    columns = scene(tmp_path, suffix, top)
    found = assert_as_arrays((tmp_path / "maps", tmp_path / "masks"), {"masks": columns}, **LABELS)
    grown = evaluate_anomaly_folder(
        tmp_path / "maps", tmp_path / "masks", mask_threshold=0, integration_limits=[1.0, 0.2]
    )
    assert grown["aupro@1.0"] != found["aupro@1.0"]
    assert grown["pixel_auroc"] == found["pixel_auroc"]


def test_void_pixels_are_of_no_region(tmp_path: Path) -> None:
    columns = scene(tmp_path, ".png", 200)
    assert_as_arrays((tmp_path / "maps", tmp_path / "masks"), {"masks": columns}, ignore_value=200, **LABELS)


def test_clouds_of_more_points_than_a_picture_has_columns(tmp_path: Path) -> None:
    columns = scene(tmp_path, ".npy", 3, (1, 70_000))
    assert_as_arrays((tmp_path / "maps", tmp_path / "masks"), {"masks": columns}, **LABELS)
    with pytest.raises(ValueError, match=r"expected a mask with rows and columns.*regions='labels'"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "masks", mask_threshold=0)


@pytest.mark.parametrize("wrong", [-1, 1.5])
def test_numbers_that_are_none_are_refused_with_the_file(wrong: float, tmp_path: Path) -> None:
    scene(tmp_path, ".npy", 3)
    mask = np.load(tmp_path / "masks" / "1.npy").astype(type(wrong))
    mask[2, 3] = wrong
    np.save(tmp_path / "masks" / "1.npy", mask)
    said = f"{tmp_path / 'masks' / '1.npy'}: expected the region of each pixel, an integer of at least 0, got {wrong}"
    assert file_problems(list_anomaly_maps(tmp_path / "maps", tmp_path / "masks"), regions="labels") == [said]
    with pytest.raises(ValueError, match=r"1\.npy: expected the region of each pixel"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "masks", **LABELS)
