"""Void pixels, saturation areas and numbers of regions in masks on disk, and pixels without a point (MVTec 3D-AD).

The numbers are those of arrays, and what is wrong is said.
"""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tifffile
from PIL import Image

from openworld_metrics import AnomalySuite, read
from openworld_metrics.faces.report import write_anomaly_report
from openworld_metrics.reading.maps.files import file_problems
from openworld_metrics.reading.maps.sources import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.conftest import Run
from tests.reading.maps.trees import (
    CATEGORIES,
    INVALID,
    assert_as_arrays,
    columns_of,
    computed,
    write_map,
    write_mask,
    write_tree,
)


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


@pytest.mark.parametrize("inverted", [False, True])
@pytest.mark.parametrize("layout", ["mvtec", "folders"])
def test_inverted_masks_are_a_question(layout: str, inverted: bool, tmp_path: Path, run: Run) -> None:
    """In every door, of a layout and of plain folders; masks that cannot be read stay an error of their own."""
    rng = np.random.default_rng(2)
    normal = tmp_path / "data" / "nut" / "test" / "good" if layout == "mvtec" else None
    for i in range(4):
        mask = np.zeros((8, 8), bool)
        mask[1:4, 2:5] = True
        picture = ~mask if inverted else mask
        if normal is None:
            write_mask(tmp_path / "data" / f"{i}.png", picture)
            write_map(tmp_path / "maps" / f"{i}.npy", rng.random((8, 8)))
            continue
        for defect in ("good", "crack"):
            write_mask(normal.parent / defect / f"{i}.png", mask)
            write_map(tmp_path / "maps" / "nut" / defect / f"{i}.npy", rng.random((8, 8)))
        write_mask(tmp_path / "data" / "nut" / "ground_truth" / "crack" / f"{i}_mask.png", picture)
    question = (
        "of the first masks of defects, marks more than half of its pixels as anomalous: are these masks inverted?"
    )
    notes = read("anomaly_suite", tmp_path / "maps", tmp_path / "data").notes
    _, _, errors = run("anomaly", "--maps", "maps", "--data", "data", "--levels", "pixel")
    assert [question in text for text in ("".join(notes), errors)] == [inverted] * 2
    (tmp_path / "data").rename(tmp_path / "other")
    for path in (tmp_path / "other").rglob("0*.png"):
        path.write_bytes(b"no picture")
    assert run("anomaly", "--maps", "maps", "--data", "other", "--levels", "pixel")[0] == 2


def test_void_pixels_and_defects_of_loco(tmp_path: Path) -> None:
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
    for name in ("maps", "data"):
        shutil.rmtree(tmp_path / name / "screw")
    maps, data = {"maps": tmp_path / "maps"}, tmp_path / "data"
    run = computed(maps, data, shown=True, **options)
    groups = run.results("maps", run.done.models["maps"].summary)["groups"]
    for at, kind in enumerate(("logical_anomalies", "structural_anomalies"), 1):
        own = [i for i, one in enumerate(made) if one.defect in ("", kind)]
        wanted = AnomalySuite(**options).compute(
            predictions=[made[i].score_map for i in own], references=[references[i] for i in own]
        )
        assert {key: groups[key][at] for key in wanted} == wanted
    assert write_anomaly_report(run, tmp_path / "report").is_file()
    with pytest.raises(ValueError, match=r"ignore_value: expected a value of no defect in .*json, got 200"):
        computed(maps, data, ignore_value=200)


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


LABELS: dict[str, Any] = {"regions": "labels", "integration_limits": [1.0, 0.2]}


def write_regions(path: Path, numbers: np.ndarray) -> None:
    """Numbers of regions as a file of 8 or 16 bits, or an array."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".png":
        Image.fromarray(numbers.astype(np.uint16 if numbers.max() > 255 else np.uint8)).save(path)
    elif path.suffix == ".tiff":
        tifffile.imwrite(path, numbers.astype(np.uint16))
    else:
        np.save(path, numbers)


def write_scene(folder: Path, suffix: str, top: int, shape: tuple[int, int] = (7, 9)) -> dict[str, list[np.ndarray]]:
    """Five images with regions that touch and that lie in several places, and three normal images."""
    rng, maps, masks = np.random.default_rng(top), [], []
    for i in range(8):
        masks.append(rng.choice([0, 0, 0, 1, 2, top], shape) if i < 5 else np.zeros(shape, int))
        maps.append(rng.random(shape).astype(np.float32) + 0.3 * (masks[-1] > 0))
        (folder / "maps").mkdir(parents=True, exist_ok=True)
        np.save(folder / "maps" / f"{i}.npy", maps[-1])
        if i < 5 or i == 7:
            write_regions(folder / "masks" / f"{i}{suffix}", masks[-1])
    return {"predictions": maps, "references": masks}


@pytest.mark.parametrize("top", [3, 1000])
@pytest.mark.parametrize("suffix", [".png", ".tiff", ".npy"])
def test_numbers_of_regions(suffix: str, top: int, tmp_path: Path) -> None:
    columns = write_scene(tmp_path, suffix, top)
    found = assert_as_arrays((tmp_path / "maps", tmp_path / "masks"), {"masks": columns}, **LABELS)
    grown = evaluate_anomaly_folder(
        tmp_path / "maps", tmp_path / "masks", mask_threshold=0, integration_limits=[1.0, 0.2]
    )
    assert grown["aupro@1.0"] != found["aupro@1.0"]
    assert grown["pixel_auroc"] == found["pixel_auroc"]


def test_void_pixels_are_of_no_region(tmp_path: Path) -> None:
    columns = write_scene(tmp_path, ".png", 200)
    assert_as_arrays((tmp_path / "maps", tmp_path / "masks"), {"masks": columns}, ignore_value=200, **LABELS)


def test_clouds_of_more_points_than_a_picture_has_columns(tmp_path: Path) -> None:
    columns = write_scene(tmp_path, ".npy", 3, (1, 70_000))
    assert_as_arrays((tmp_path / "maps", tmp_path / "masks"), {"masks": columns}, **LABELS)
    with pytest.raises(ValueError, match=r"expected a mask with rows and columns.*regions='labels'"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "masks", mask_threshold=0)


@pytest.mark.parametrize("wrong", [-1, 1.5])
def test_numbers_that_are_none_are_refused_with_the_file(wrong: float, tmp_path: Path) -> None:
    write_scene(tmp_path, ".npy", 3)
    mask = np.load(tmp_path / "masks" / "1.npy").astype(type(wrong))
    mask[2, 3] = wrong
    np.save(tmp_path / "masks" / "1.npy", mask)
    said = f"{tmp_path / 'masks' / '1.npy'}: expected the region of each pixel, an integer of at least 0, got {wrong}"
    assert file_problems(list_anomaly_maps(tmp_path / "maps", tmp_path / "masks"), regions="labels") == [said]
    with pytest.raises(ValueError, match=r"1\.npy: expected the region of each pixel"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "masks", **LABELS)


@pytest.mark.parametrize("options", [{}, {"image_reduction": 3}, {"significant_bits": 5}], ids=["plain", "3", "bits"])
def test_pixels_without_a_point_are_void(options: dict[str, Any], tmp_path: Path) -> None:
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
    sure = ["--confidence-level", "0.9", "--n-resamples", "19"]
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
