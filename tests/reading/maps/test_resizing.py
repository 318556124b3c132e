"""Maps of another size: resized only if asked, as torch and OpenCV do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from openworld_metrics.reading.maps.files import file_problems, resized_map
from openworld_metrics.reading.maps.planes import read_map
from openworld_metrics.reading.maps.sources import list_anomaly_maps
from openworld_metrics.suites import evaluate_anomaly_folder
from tests.reading.maps.trees import SHAPE, write_map, write_tree

SHAPES = [(10, 12), (20, 24), (7, 31), (3, 2), (1, 1)]


@pytest.mark.parametrize("way", ["nearest", "bilinear"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_as_torch(way: str, shape: tuple[int, int]) -> None:
    torch = pytest.importorskip("torch")
    score_map = np.random.default_rng(0).random(SHAPE)
    given = torch.from_numpy(score_map)[None, None]
    align = {"align_corners": False} if way == "bilinear" else {}
    wanted = torch.nn.functional.interpolate(given, size=shape, mode=way, **align)[0, 0].numpy()
    found = resized_map(score_map, shape, way)
    assert found.shape == shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-12 if way == "bilinear" else 0)


def test_types_and_infinities() -> None:
    half = np.asarray([[0, 1], [2, 3]], dtype=np.float16)
    assert resized_map(half, (4, 4), "bilinear").dtype == np.float32
    assert resized_map(half, (4, 4), "nearest").dtype == np.float16
    assert resized_map(half.astype(np.uint16), (4, 4), "bilinear").dtype == np.float64
    assert resized_map(half, (2, 2), "bilinear") is half
    one = np.asarray([[0.0, np.inf, np.inf]])
    assert resized_map(one, (1, 6), "bilinear").tolist() == [[0.0, np.inf, np.inf, np.inf, np.inf, np.inf]]


@pytest.mark.parametrize("layout", ["mvtec-ad", "folders"])
@pytest.mark.parametrize("way", ["nearest", "bilinear"])
def test_in_folders(layout: str, way: str, tmp_path: Path) -> None:
    """The numbers are those of maps that were resized before."""
    write_tree(layout, tmp_path)
    for path in sorted((tmp_path / "maps").rglob("*.*")):
        small = read_map(path)[::2, ::3]
        write_map(path, small)
        write_map(tmp_path / "large" / path.relative_to(tmp_path / "maps"), resized_map(small, SHAPE, way))
    found = evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", resize=way)
    wanted = evaluate_anomaly_folder(tmp_path / "large", tmp_path / "data")
    assert found["groups"] == wanted["groups"]
    assert (found["evaluation"]["resize"], wanted["evaluation"]["resize"]) == (way, None)


def test_normal_images_of_plain_folders_need_one_size(tmp_path: Path) -> None:
    write_tree("folders", tmp_path)
    np.save(tmp_path / "data" / "nut_crack_0.npy", np.ones((3, 3)))
    (tmp_path / "data" / "nut_crack_0.png").unlink()
    with pytest.raises(
        ValueError, match=r"maps: expected masks of one size, or of all images, .*nut_crack_0.npy of 3 × 3"
    ):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", resize="nearest")


def test_maps_of_a_plain_folder_without_masks_of_theirs(tmp_path: Path) -> None:
    write_tree("folders", tmp_path)
    for path in (tmp_path / "maps").rglob("*"):
        if path.is_file():
            path.rename(path.with_stem(f"other_{path.stem}"))
    with pytest.raises(ValueError, match="expected its map"):
        evaluate_anomaly_folder(tmp_path / "maps", tmp_path / "data", resize="nearest")
    listed = list_anomaly_maps(tmp_path / "maps", tmp_path / "data")
    assert file_problems(listed, "nearest") == listed.problems
