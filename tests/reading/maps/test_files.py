"""The files of several places, and what their headers state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from openworld_metrics import read
from openworld_metrics.reading.maps.listing import Tree
from openworld_metrics.reading.maps.planes import stated_shape


def test_files_of_folders_and_single_ones(tmp_path: Path) -> None:
    for name in ("x/a.png", "y/a.png", "b.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    places = [tmp_path / "x", tmp_path / "y", tmp_path / "b.png"]
    assert Tree.of(places).names == ["b.png", "x/a.png", "y/a.png"]
    assert Tree.of(places[1:2]).names == ["a.png"]


def test_a_cloud_of_points_may_be_one_long_row(tmp_path: Path) -> None:
    for shape in ((1, 1 << 16), (2, 1 << 16)):
        np.save(tmp_path / f"{shape[0]}.npy", np.zeros(shape, np.uint8))
    assert stated_shape(tmp_path / "1.npy") == (1, 1 << 16)
    with pytest.raises(ValueError, match=r"2\.npy: expected .* pixels, at most 65,535 a side, got"):
        stated_shape(tmp_path / "2.npy")


def test_a_data_set_of_one_map(tmp_path: Path) -> None:
    for folder, image in (("maps", np.eye(4, dtype=np.float32)), ("masks", np.eye(4, dtype=bool))):
        (tmp_path / folder).mkdir()
        np.save(tmp_path / folder / "a.npy", image)
    reading = read("anomaly_suite", tmp_path / "maps", tmp_path / "masks")
    assert [image.tolist() for image in reading.columns["predictions"]] == [np.eye(4).tolist()]
    assert "1 maps, paired with their masks by name." in reading.notes
