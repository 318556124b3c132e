"""Read lists of a data set's test images: a table of splits (VisA), or a .json for each category (Real-IAD)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from ..json import parse_json
from ..reasons import named
from .layouts import Layout


def images_of_the_test(table: Path, category: str) -> set[str]:
    """The paths, below their category, of the images in the test split of a table."""
    with named(table), table.open(encoding="utf-8-sig", newline="") as file:
        rows = csv.DictReader(file)
        wanted = {"split", "image"} - {*(rows.fieldnames or ())}
        if wanted:
            raise ValueError(f"expected columns split and image, got {', '.join(rows.fieldnames or ()) or 'none'}")
        images = [PurePosixPath(row["image"] or "") for row in rows if row["split"] == "test"]
    return {image.relative_to(category).as_posix() for image in images if image.is_relative_to(category)}


def list_of(folder: Path, layout: Layout) -> Path:
    """The file that lists a category's images, beside the categories' folder. Raises ValueError if there is none."""
    root = folder.parent.parent
    places = [root / place.format(category=folder.name) for place in layout.lists]
    for place in places:
        if place.is_file():
            return place
    raise ValueError(f"{places[0]}: expected the list of the images of {folder.name}, got no such file")


def read_list(path: Path, folder: Path) -> list[tuple[Path, Path | None]]:
    """The test images of a category of Real-IAD with their masks; None for a normal image.

    Parameters: path of {"meta": {"prefix": …, "normal_class": …}, "test": [{"image_path": …, "mask_path": … or null,
    "anomaly_class": …}, …]}, with paths below the prefix, a folder beside the category's own; folder, of the category.
    As in the official code, an image without a mask is normal, and so is one of the normal class.
    Raises ValueError and TypeError, with the file and the row, for a malformed list, and for paths elsewhere.
    """
    with named(path):
        content = parse_json(path.read_bytes())
        meta = _mapping(content, "the list").get("meta")
        prefix, normal = (_text(_mapping(meta, "meta"), name, "meta") for name in ("prefix", "normal_class"))
        rows = content.get("test")
        if not isinstance(rows, list) or not rows:
            raise ValueError(
                f"expected test images in a list 'test', got {'none' if not rows else type(rows).__name__}"
            )
        listed: list[tuple[Path, Path | None]] = []
        for i, row in enumerate(rows):
            where = f"test[{i}]"
            kind = _text(_mapping(row, where), "anomaly_class", where)
            image = _below(folder, prefix, _text(row, "image_path", where), where)
            unmasked = row.get("mask_path") is None or kind == normal
            listed.append((image, None if unmasked else _below(folder, prefix, _text(row, "mask_path", where), where)))
        return listed


def _mapping(value: Any, name: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{name}: expected a dict, got {type(value).__name__}")
    return value


def _text(row: Mapping[str, Any], name: str, where: str) -> str:
    if not isinstance(row.get(name), str):
        raise TypeError(f"{where}: expected a text as {name}, got {row.get(name)!r:.100}")
    return str(row[name])


def _below(folder: Path, prefix: str, place: str, where: str) -> Path:
    """The path of a list's entry. Raises ValueError for a path outside the folder of the category."""
    path = folder.parent / prefix / place
    if ".." in path.parts or not path.is_relative_to(folder) or path == folder:
        raise ValueError(f"{where}: expected a file in {folder}, got {prefix}/{place}")
    return path
