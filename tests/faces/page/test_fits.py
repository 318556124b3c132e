"""Files of the front page lead to the pages that can read them, and to no others."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from openworld_metrics.faces.page.fits import fitting

LABELS = "0 .3 .3 .2 .2\n7 .7 .7 .2 .2\n"
PREDICTIONS = "0 .3 .3 .2 .2 .9\n999 .7 .7 .2 .2 .8\n"
TABLE = "\n".join(["image,msp,label", *(f"{i}.png,0.{i % 7}1,{('id', 'ood')[i % 2]}" for i in range(40))])


def side(name: str) -> str:
    return "\n".join(["image,msp", *(f"{name}{i}.png,0.{ord(name) * i % 97}" for i in range(40))])


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("L", (16, 16)).save(file, "PNG")
    return file.getvalue()


def array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.eye(16))
    return file.getvalue()


# of an archive, its files, and the pages that fit
ARCHIVES: Mapping[str, tuple[Mapping[str, str | bytes], list[str]]] = {
    "YOLO labels": ({f"{i}.txt": LABELS for i in range(3)}, ["openset_detection"]),
    "YOLO predictions": ({f"pred/{i}.txt": PREDICTIONS for i in range(3)}, ["openset_detection"]),
    "YOLO labels and images": (
        {
            f"{folder}/{i}.{suffix}": LABELS
            for i in range(3)
            for folder, suffix in (("labels", "txt"), ("images", "jpg"))
        },
        ["openset_detection"],
    ),
    "VOC": ({"Annotations/1.xml": "<annotation/>"}, ["openset_detection"]),
    "COCO": ({"instances.json": '{"images": [], "annotations": []}'}, ["openset_detection"]),
    "maps": ({f"bottle/{i}.png": picture() for i in range(3)}, ["anomaly_suite"]),
    "arrays of maps": ({f"{i}.npy": array() for i in range(3)}, ["anomaly_suite"]),
    "a table": ({"scores.csv": TABLE, "__MACOSX/._scores.csv": ""}, ["ood_bench"]),
    "a table a side": ({"id.csv": side("a"), "ood.csv": side("b")}, ["ood_bench"]),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_a_lone_archive_fits_by_its_files(name: str, tmp_path: Path) -> None:
    files, expected = ARCHIVES[name]
    path = tmp_path / "files.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for member, content in files.items():
            archive.writestr(member, content)
    assert [metric for metric, _ in fitting([str(path)])] == expected


def test_a_damaged_archive_fits_no_page(tmp_path: Path) -> None:
    path = tmp_path / "files.zip"
    path.write_bytes(b"PK\x03\x04 no archive")
    assert fitting([str(path)]) == []
