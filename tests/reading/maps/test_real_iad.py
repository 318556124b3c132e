"""Real-IAD: images by its lists, and products by the views that show them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from openworld_metrics.reading.maps.sources import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.reading.maps.trees import assert_as_arrays, columns_of, write_tree


def test_products_are_judged_by_their_highest_view(tmp_path: Path) -> None:
    made = [one for one in write_tree("real-iad", tmp_path) if one.category == "nut"]
    columns = {**columns_of(made), "samples": [f"{one.defect}{one.number // 2}" for one in made]}
    folders = tmp_path / "maps", tmp_path / "data"
    found = assert_as_arrays(folders, {"nut": columns}, {"categories": ["nut"]})
    assert found["evaluation"]["sample_pattern"] == "([^/]+)_C[0-9]_[^/]*$"


def test_samples_by_a_pattern(tmp_path: Path) -> None:
    made = [one for one in write_tree("mvtec-ad", tmp_path) if one.category == "nut"]
    folders = tmp_path / "maps", tmp_path / "data"
    pattern = r"/(\w+/\d\d)\d$"  # ten images a sample
    columns = {**columns_of(made), "samples": [one.defect or "good" for one in made]}
    found = assert_as_arrays(folders, {"nut": columns}, {"sample_pattern": pattern}, levels="image")
    assert "sample_auroc" in found
    assert found["evaluation"]["sample_pattern"] == pattern
    for wrong, message in (
        ("(", "sample_pattern: expected a regular expression, got '\\('"),
        (r"\d+", r"sample_pattern: expected a group, as in"),
        ("^(S[0-9]+)", r"maps.*: expected a name in which '\^\(S\[0-9\]\+\)' finds a sample, got '"),
    ):
        with pytest.raises(ValueError, match=message):
            evaluate_anomaly_folder(*folders, sample_pattern=wrong)


def test_a_view_that_shows_no_defect_is_normal(tmp_path: Path) -> None:
    write_tree("real-iad", tmp_path)
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
    before = sum(bool(image.anomalous) for image in listed.data.images)
    change(tmp_path, lambda content: content["test"][3].update(mask_path=None))
    change(tmp_path, lambda content: content["test"][4].update(anomaly_class="OK"))
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
    assert listed.problems == []
    assert sum(bool(image.anomalous) for image in listed.data.images) == before - 2
    image = next(image for image, _ in listed.pairs if "_C1_" in image.name and "/S0001/" in image.name)
    assert (image.defect, image.category) == ("BX", "nut")
    evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data")


def test_lists_where_their_archive_unpacks_to(tmp_path: Path) -> None:
    write_tree("real-iad", tmp_path)
    (tmp_path / "realiad_jsons").rename(tmp_path / "inner")
    (tmp_path / "realiad_jsons").mkdir()
    (tmp_path / "inner").rename(tmp_path / "realiad_jsons" / "realiad_jsons")
    assert len(list_anomaly_maps(tmp_path / "maps", tmp_path / "data").pairs) == 18
    (tmp_path / "realiad_jsons").rename(tmp_path / "elsewhere")
    with pytest.raises(ValueError, match=r"realiad_jsons/nut\.json: expected the list of the images of nut"):
        list_anomaly_maps(tmp_path / "maps", tmp_path / "data")


def change(folder: Path, how: Callable[[Any], object]) -> None:
    path = folder / "realiad_jsons" / "nut.json"
    content = json.loads(path.read_text())
    how(content)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize(
    ("how", "message"),
    [
        (lambda content: content.pop("meta"), "got another list: meta"),
        (lambda content: content["meta"].pop("prefix"), "got another list: prefix"),
        (lambda content: content.pop("test"), "got another list: test"),
        (
            lambda content: content["test"].__setitem__(2, 3),
            "expected meta with prefix and normal_class, and test with image_path",
        ),
        (lambda content: content["test"][2].update(image_path=3), "got another list: join() argument must be str"),
        (lambda content: content["test"][3].update(mask_path="../a.png"), "expected files in"),
        (lambda content: content["test"][3].update(image_path="/etc/passwd"), "expected files in"),
    ],
)
def test_lists_that_cannot_be_read(how: Callable[[Any], object], message: str, tmp_path: Path) -> None:
    write_tree("real-iad", tmp_path)
    change(tmp_path, how)
    with pytest.raises((ValueError, TypeError), match=r"nut\.json: .*" + re.escape(message)):
        list_anomaly_maps(tmp_path / "maps", tmp_path / "data")


def test_files_that_a_list_has_and_the_folder_not(tmp_path: Path) -> None:
    write_tree("real-iad", tmp_path)
    mask = next((tmp_path / "data" / "nut" / "NG" / "BX").rglob("*.png"))
    mask.unlink()
    (line,) = list_anomaly_maps(tmp_path / "maps", tmp_path / "data").problems
    row = 1 + [row["mask_path"] for row in json.loads((tmp_path / "realiad_jsons/nut.json").read_text())["test"]].index(
        mask.relative_to(tmp_path / "data" / "nut").as_posix()
    )
    said = f"{mask}: expected the file that row {row} of nut.json names, got none"
    assert line == f"{said}; to judge images alone, use levels='image'"
    change(tmp_path, lambda content: content["test"].append(content["test"][0]))
    with pytest.raises(ValueError, match=r"nut\.json: row 10: expected each image once, got OK/S0000/\w+ as in row 1$"):
        list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
