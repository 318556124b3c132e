"""The numbers from a data set on disk are those from its arrays, in every layout, to the last bit."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.reading.maps.layouts import NAMES
from openworld_metrics.reading.maps.sources import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.reading.maps.trees import CATEGORIES, TREES, Drawn, assert_as_arrays, columns_of, write_tree

OPTIONS = {"integration_limits": [0.3, 0.05], "image_reduction": 5}


def groups_of(layout: str, made: list[Drawn]) -> dict[str, dict[str, Any]]:
    """The columns of each group."""
    groups = {}
    for category in CATEGORIES if layout != "folders" else ("data",):
        own, by_defect = [one for one in made if category in (one.category, "data")], TREES[layout].by_defect
        kinds = {f"{category}/{defect}": ("", defect) for defect in TREES[layout].defects}
        for name, defects in kinds.items() if by_defect else ((category, None),):
            groups[name] = columns_of([one for one in own if defects is None or one.defect in defects], by_defect)
    return groups


@pytest.mark.parametrize("options", [{}, OPTIONS, {"levels": "pixel"}], ids=["defaults", "options", "pixels"])
@pytest.mark.parametrize("layout", TREES)
def test_numbers_are_those_of_arrays(layout: str, options: dict[str, Any], tmp_path: Path) -> None:
    made = write_tree(layout, tmp_path)
    groups = groups_of(layout, made)
    found = assert_as_arrays((tmp_path / "maps", tmp_path / "data"), groups, **options)
    table = found["groups"]
    assert table["group"] == sorted(table["group"])
    rows = [table["group"].index(name) for name in groups]
    for key in [key for key in table if key not in ("group", "images", "anomalous_images")]:
        if key.endswith("threshold"):
            assert key not in found
        else:
            assert found[key] == math.fsum(table[key][row] for row in rows) / len(rows)
    assert found["evaluation"]["layout"] == layout
    assert found["evaluation"]["files"]["maps"] == len(made)


def test_every_layout_is_tested() -> None:
    assert set(TREES) == set(NAMES)


def test_loco_by_kind_of_anomaly(tmp_path: Path) -> None:
    write_tree("mvtec-loco", tmp_path)
    found = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")
    table = found["groups"]
    kinds = [f"{name}{kind}" for name in CATEGORIES for kind in ("", "/logical_anomalies", "/structural_anomalies")]
    assert table["group"] == kinds
    for i in (0, 3):
        for key in ("image_auroc", "aupro@0.05", "auspro@0.05"):
            assert table[key][i] == math.fsum(table[key][i + 1 : i + 3]) / 2
    assert table["images"] == [12, 6, 6] * 2  # the normal ones are in both
    assert table["pixel_f1_max_threshold"][0] is None
    assert found["evaluation"]["files"] == {
        "images": 18,
        "maps": 18,
        "masks": 24,
        "empty_masks_of_anomalous_images": 0,
    }


@pytest.mark.parametrize("layout", sorted(set(TREES) - {"folders", "list"}))
def test_one_category(layout: str, tmp_path: Path) -> None:
    """By its name, by its folder in the data set, by its folders in both: all the same."""
    write_tree(layout, tmp_path)
    maps, data = tmp_path / "maps", tmp_path / "data"
    ways = [
        evaluate_anomaly_folder(maps, data, categories=["nut"]),
        evaluate_anomaly_folder(maps / "nut", data, categories=["nut"]),
        evaluate_anomaly_folder(maps, data / "nut"),
        evaluate_anomaly_folder(maps / "nut", data / "nut", layout=layout),
    ]
    for found in ways:
        assert found["evaluation"].pop("layout") == layout
        for name in ("maps", "data"):
            del found["evaluation"][name]
        assert found == ways[0]


def test_the_folders_of_defects_may_be_left_out_where_no_stem_repeats(tmp_path: Path) -> None:
    made = write_tree("mvtec-ad", tmp_path)
    wanted = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")["groups"]
    for number, one in enumerate(made):
        stem, defect = f"{one.number:03}", one.defect or "good"
        for path in (tmp_path / "data" / one.category).rglob(f"{defect}/{stem}*"):
            if "train" not in path.parts:
                path.rename(path.with_name(path.name.replace(stem, f"x{number}")))
        source = tmp_path / "maps" / one.category / "test" / defect / f"{stem}.tiff"
        source.rename(tmp_path / "maps" / one.category / f"x{number}.tiff")
    assert evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")["groups"] == wanted


def test_a_folder_of_masks_below_folders(tmp_path: Path) -> None:
    made = write_tree("folders", tmp_path)
    wanted = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")
    for folder in ("maps", "data"):
        (tmp_path / "deep" / folder).mkdir(parents=True)
        for path in (tmp_path / folder).iterdir():
            place = tmp_path / "deep" / folder / path.stem.split("_")[0] / path.name
            place.parent.mkdir(exist_ok=True)
            shutil.copy(path, place.with_stem(f"{path.stem}_mask") if folder == "data" else place)
    deep = tmp_path / "deep" / "maps", tmp_path / "deep" / "data"
    assert evaluate_anomaly_folder(*deep, layout="folders")["groups"] == wanted["groups"]
    found = evaluate_anomaly_folder(*deep)  # folders with images of both classes are categories
    assert found["groups"]["group"] == ["nut", "screw"]
    assert wanted["groups"]["images"] == [len(made)]
    assert sum(found["groups"]["images"]) == len(made)


@pytest.mark.parametrize("layout", sorted({*TREES} - {"folders"}))
def test_images_are_judged_without_masks(layout: str, tmp_path: Path) -> None:
    """By their folders, or lists; recognised without masks too."""
    made = write_tree(layout, tmp_path)
    maps, data = tmp_path / "maps", tmp_path / "data"
    wanted = evaluate_anomaly_folder(maps, data, levels="image", per_image=True, confidence_level=0.9, n_resamples=9)
    masks = {mask for image, _ in list_anomaly_maps(maps, data).pairs for mask in image.masks}
    for mask in masks:
        mask.unlink()
    found = evaluate_anomaly_folder(maps, data, levels="image", per_image=True, confidence_level=0.9, n_resamples=9)
    assert found["anomalous_images"] == wanted["anomalous_images"]
    assert found["groups"] == wanted["groups"]
    assert found["per_image"] == wanted["per_image"]
    assert found["evaluation"]["files"] == {
        "images": len(made),
        "maps": len(made),
        "masks": 0,
        "empty_masks_of_anomalous_images": 0,
    }
    with pytest.raises(
        ValueError,
        match=r"expected (a mask|masks|a folder) .*, got none.*; to judge images alone|expected the file that",
    ):
        evaluate_anomaly_folder(maps, data, levels=["image", "pixel"])
