"""Read COCO's JSON, results and annotations, as tables with a row for each box."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...reading.boxes.coco import Entries, coco_classes, coco_size, file_name, repeated_entries
from ...reading.json import parse_json
from ..serving.limits import RefusedError
from .archives import FOLDER, folders_of, key_of, some
from .data import DETECTOR, Data
from .image_names import FILES, IDS, check_distinct
from .uploads import read_files


def read_results(paths: list[Path], apart: bool = False) -> Data:
    """Read COCO's results; of several files, each is a detector with the file's name. Other JSON is read as a table.

    The images are known by their ids until `with_names` finds their names.
    """
    contents = _contents(paths)
    results = {path: rows for path, rows in contents.items() if _is_results(rows)}
    if not results and not any(map(_is_annotations, contents.values())):
        return read_files(paths, {})
    wrong = next((path for path in paths if path not in results), None)
    if wrong is not None:
        raise RefusedError(f"expected COCO's results, got {wrong.name}, which holds none")
    for path, entries in results.items():
        _checked(entries, f"{path.name}: results").numbers("score")
    data = _columns([row for entries in results.values() for row in entries], {"confidence": "score"})
    if len(results) > 1:
        owners = [path.stem for path, entries in results.items() for _ in entries]
        data.arrays[DETECTOR] = np.asarray(owners, dtype=object)
    return data


def read_annotations(paths: list[Path], apart: bool = False) -> Data:
    """Read COCO's annotations, one file. Other JSON is read as a table.

    The images are known by their ids until `with_names` finds their names.
    """
    contents = _contents(paths)
    truths = {path: content for path, content in contents.items() if _is_annotations(content)}
    if not truths and not any(map(_is_results, contents.values())):
        return read_files(paths, {})
    wrong = next((path for path in paths if path not in truths), None)
    if wrong is not None or len(truths) > 1:
        got = f"{len(truths)} files" if wrong is None else f"{wrong.name}, which holds none"
        raise RefusedError(f"expected COCO's annotations in one file, got {got}")
    ((path, content),) = truths.items()
    rows, images = content["annotations"], content.get("images")
    if not isinstance(rows, list) or not isinstance(images, list):
        raise RefusedError(f"{path.name}: expected lists of images and annotations")
    table = _checked(rows, f"{path.name}: annotations")
    crowds = int(np.count_nonzero(table.flags("iscrowd") | table.flags("ignore")))
    if crowds:
        raise RefusedError(
            f"{path.name}: expected no crowds (iscrowd), got {crowds:,}; the command openworld-metrics detect "
            "takes crowds"
        )
    repeated = repeated_entries(table, table.integers("category_id"))
    rows = [row for row, again in zip(rows, repeated) if not again]
    data = _columns(rows, {})
    ids, files = [one["id"] for one in images], _names_of_images([file_name(one) for one in images])
    check_distinct([*map(str, ids)], [*map(file_name, images)])
    unknown = {row["image_id"] for row in rows} - {*ids}
    if unknown:
        raise RefusedError(f"{path.name}: expected annotations of its images, got {some(sorted(map(str, unknown)))}")
    names: dict[str, Any] = {FILES: files, IDS: ids}
    folders = folders_of(files)
    if folders:
        folder, names[FOLDER] = dict(zip(ids, folders)), folders
        data.arrays[FOLDER] = np.asarray([folder[row["image_id"]] for row in rows], dtype=object)
    sizes = {file: size for file, one in zip(files, images) if (size := coco_size(one)) is not None}
    return data._replace(names=names, classes=_classes(content, path.name), sizes=sizes)


def _names_of_images(files: Sequence[str]) -> list[str]:
    """Names of images without suffixes; the paths as they are if the names would not differ."""
    keys = [key_of(PurePosixPath(file)) for file in files]
    if len({*keys}) == len(keys):
        return keys
    check_distinct(files, files)
    return [*files]


def _classes(content: Mapping[str, Any], name: str) -> dict[int, str]:
    """The names of the categories by id, if the file has any."""
    categories = content.get("categories") or []
    if not isinstance(categories, list):
        raise RefusedError(f"{name}: expected a list of categories, got {type(categories).__name__}")
    try:
        return coco_classes(categories, name)
    except ValueError as error:
        raise RefusedError(str(error)) from None


def _contents(paths: Sequence[Path]) -> dict[Path, Any]:
    return {path: parse_json(path.read_bytes()) for path in paths}


def _is_results(content: Any) -> bool:
    first = content[0] if isinstance(content, list) and content else None
    return isinstance(first, dict) and first.keys() >= {"image_id", "bbox", "score"}


def _is_annotations(content: Any) -> bool:
    return isinstance(content, dict) and "annotations" in content


def _checked(entries: Sequence[Any], where: str) -> Entries:
    """A table of entries, after a check that each has a box and a class."""
    ids = {entry.get("image_id") for entry in entries if isinstance(entry, dict)} - {None}
    table = Entries(entries, where, {image: i for i, image in enumerate(ids)})
    table.boxes()
    table.integers("category_id")
    return table


def _columns(rows: Sequence[Any], more: Mapping[str, str]) -> Data:
    """A column for the image, each number of the box, the class, and each of `more`, from column name to key."""
    boxes = np.asarray([row["bbox"] for row in rows], dtype=np.float64).reshape(-1, 4)
    arrays: dict[str, Any] = {"image": np.asarray([row["image_id"] for row in rows], dtype=object)}
    arrays |= {name: boxes[:, i] for i, name in enumerate("xywh")}
    arrays |= {name: np.asarray([row[key] for row in rows]) for name, key in {"class": "category_id", **more}.items()}
    return Data(arrays, {"box_format": "xywh"})
