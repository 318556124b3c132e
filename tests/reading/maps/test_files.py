"""The files of several places, and what their headers state."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

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
