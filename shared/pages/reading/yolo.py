"""Read YOLO's text files, one for each image, as a table with a row for each box."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...reading.boxes.yolo import class_names, read_yaml
from ...reading.boxes.yolo_lines import LISTS_OF_CLASSES, read_texts
from ..serving.limits import RefusedError
from .archives import FOLDER, Member, folders_of, keys, members
from .data import DETECTOR, Data
from .image_names import FILES, check_distinct


def read_predictions(paths: list[Path], apart: bool = False) -> Data:
    """Read predictions: lines of class, cx, cy, w, h and confidence.

    Archives that share file names are detectors, each with its archive's name; with `apart` they are data sets. Images
    are known by the paths of their files until `with_names` shortens these.
    """
    detectors = {} if apart else _by_detector(paths)
    if not detectors:
        return _boxes(_texts(paths), confidence=True)
    tables = {name: _boxes(files, confidence=True, folders=False) for name, files in detectors.items()}
    return Data(
        {
            **{
                column: np.concatenate([table.arrays[column] for table in tables.values()])
                for column in next(iter(tables.values())).arrays
            },
            DETECTOR: _repeated([*tables], [len(table.arrays["image"]) for table in tables.values()]),
        },
        {"box_format": "cxcywh"},
        {
            FILES: [file for table in tables.values() for file in table.names[FILES]],
            **{name: table.names[FILES] for name, table in tables.items()},
        },
    )


def read_objects(paths: list[Path], apart: bool = False) -> Data:
    """Read objects: lines of class, cx, cy, w, h, or of a class and a polygon, which becomes its bounding box.

    A line that repeats another of its file is not another object.
    """
    return _boxes(_texts(paths), confidence=False)


def read_classes(paths: list[Path], apart: bool = False) -> Data:
    """Read the names of the classes in a data.yaml."""
    if len(paths) > 1:
        raise RefusedError(f"expected one file with names of classes, got {paths[0].name} and {paths[1].name}")
    return Data({}, classes=class_names(read_yaml(paths[0]), Path(paths[0].name)))


def _texts(paths: Sequence[Path]) -> list[Member]:
    return members(paths, (".txt",), LISTS_OF_CLASSES)


def _boxes(texts: Sequence[Member], confidence: bool, folders: bool = True) -> Data:
    """The lines of all files; with `folders`, also the folder of each row if there are several folders."""
    try:
        tables = read_texts(texts, [text.name for text in texts], confidence=confidence).tables
    except ValueError as error:
        raise RefusedError(str(error)) from None
    table, sizes, files = np.concatenate(tables), [*map(len, tables)], [text.key for text in texts]
    check_distinct(files, [text.name for text in texts])
    columns = ("class", "cx", "cy", "w", "h", "confidence")[: table.shape[1]]
    arrays = {"image": _repeated(files, sizes), **{name: table[:, i] for i, name in enumerate(columns)}}
    names = {FILES: files}
    of_files = folders_of(files) if folders else []
    if of_files:
        arrays[FOLDER], names[FOLDER] = _repeated(of_files, sizes), of_files
    return Data(arrays, {"box_format": "cxcywh"}, names)


def _by_detector(paths: Sequence[Path]) -> dict[str, list[Member]]:
    """The files of each archive if archives share file names; otherwise nothing."""
    archives = [path for path in paths if path.suffix.lower() == ".zip"]
    if len(archives) < 2 or len(archives) < len(paths):
        return {}
    _texts(archives)  # raises the errors of all archives together
    files = {path.stem: _texts([path]) for path in archives}
    images = [set(keys([member.key for member in part])[1]) for part in files.values()]
    return files if len(set().union(*images)) < sum(map(len, images)) else {}


def _repeated(values: Sequence[str], sizes: Sequence[int]) -> np.ndarray:
    return np.repeat(np.asarray(values, dtype=object), sizes)
