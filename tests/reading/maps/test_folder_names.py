"""Names of folders and masks that other data sets use: read, or named with a cure that works."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import openworld_metrics as om
from openworld_metrics.reading.read import read
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.reading.maps.trees import write_mask, write_tree

PAIRS = [("OK", "NG"), ("ok", "ng"), ("normal", "abnormal"), ("Normal", "Anomaly"), ("Good", "Bad"), ("GOOD", "crack")]


def renamed(folder: Path, normal: str, defect: str) -> None:
    """Each folder good becomes `normal`, and each folder crack `defect`."""
    for old, new in (("good", normal), ("crack", defect)):
        for path in [*folder.rglob(old)]:
            if new != old:
                path.rename(path.with_name(f"{new}-"))
                path.with_name(f"{new}-").rename(path.with_name(new))


def numbers(folder: Path, **options: Any) -> dict[str, Any]:
    found = evaluate_anomaly_folder(folder / "maps", folder / "data", **options)
    return {key: value for key, value in found.items() if isinstance(value, float)}


@pytest.mark.parametrize("masks", ["with masks", "without masks"])
@pytest.mark.parametrize(("normal", "defect"), PAIRS)
@pytest.mark.parametrize("layout", ["mvtec-ad", "visa-prepared"])
def test_folders_of_normal_images(layout: str, normal: str, defect: str, masks: str, tmp_path: Path) -> None:
    write_tree(layout, tmp_path)
    options: dict[str, Any] = {} if masks == "with masks" else {"levels": "image"}
    expected = numbers(tmp_path, **options)
    renamed(tmp_path, normal, defect)
    if options:
        for folder in [*(tmp_path / "data").rglob("ground_truth")]:
            shutil.rmtree(folder)
    assert numbers(tmp_path, **options) == expected
    if not options:
        reading = read("anomaly_suite", tmp_path / "maps", tmp_path / "data")
        said = "(layout btad)." if (layout, normal) == ("visa-prepared", "ok") else f"Normal images are in {normal}."
        assert reading.guesses[0].endswith(said)
        assert om.AnomalySuite().compute(**reading.columns)["image_auroc"] == expected["image_auroc"]


def test_two_folders_of_normal_images(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    test = tmp_path / "data/nut/test"
    (test / "OK").mkdir()
    (test / "good/000.png").rename(test / "OK/900.png")
    message = r"data/nut: expected one folder of normal images, got OK and good; put their images into one"
    for levels in ("image", ["image", "pixel"]):
        with pytest.raises(ValueError, match=message):
            evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", levels=levels)
    (test / "OK/900.png").rename(test / "good/000.png")  # the cure
    (test / "OK").rmdir()
    assert numbers(tmp_path)


def test_images_without_masks_have_two_cures(tmp_path: Path) -> None:
    write_tree("mvtec-ad", tmp_path)
    (tmp_path / "data/nut/ground_truth/crack/000_mask.png").unlink()
    with pytest.raises(ValueError, match=r"crack/000.png: expected a mask .*; to judge images alone, use") as error:
        numbers(tmp_path)
    assert "leave_out=True" in str(error.value)
    assert numbers(tmp_path, levels="image")
    assert numbers(tmp_path, leave_out=True)


def test_images_beside_a_folder_of_their_masks(tmp_path: Path) -> None:
    """As anomalib's Folder has them: good, crack and mask/crack."""
    write_tree("mvtec-ad", tmp_path)
    expected = numbers(tmp_path, categories=["nut"])
    data = tmp_path / "folder"
    shutil.copytree(tmp_path / "data/nut/test", data)
    shutil.copytree(tmp_path / "data/nut/ground_truth", data / "mask")
    maps = tmp_path / "maps/nut/test"
    with pytest.raises(ValueError, match="expected masks alone, got images in good beside masks in mask; ") as error:
        evaluate_anomaly_folder(maps, data)
    cure = str(error.value).split("; ")[1].removesuffix(" is the folder of masks")
    found = evaluate_anomaly_folder(maps, cure)
    assert {key: found[key] for key in expected} == expected


def test_several_masks_of_an_image_are_united(tmp_path: Path) -> None:
    """As AITEX has them: 0002_mask1.png and 0002_mask2.png."""
    made = write_tree("folders", tmp_path)
    expected = numbers(tmp_path)
    for one in made:
        whole = tmp_path / f"data/{one.category}_{one.defect}_{one.number}.png"
        for number, mask in enumerate(one.masks if one.defect else ()):
            write_mask(whole.with_name(f"{whole.stem}_mask{number + 1}.png"), mask)
        whole.unlink(missing_ok=True)
    assert len([*(tmp_path / "data").iterdir()]) == 2 * sum(bool(one.defect) for one in made)
    assert numbers(tmp_path) == expected
    alone = next((tmp_path / "data").glob("*_mask1.png"))
    shutil.copy(alone, alone.with_suffix(".bmp"))
    with pytest.raises(ValueError, match=f"{alone.stem}.png: expected one mask of that name, got .*bmp too"):
        numbers(tmp_path)
