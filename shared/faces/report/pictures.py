"""The photographs of a report. Needs Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...extras import extra
from ...reading.limits import COMMANDS
from ...reading.places import find_images
from ...reading.reasons import named
from ...reading.rows.inputs import file_of, read_column


def list_images(place: str, count: int) -> list[Path]:
    """The image of each sample.

    place: a folder, whose images belong to the samples in the order of their names; or a .txt with a path in each line,
        or a file of columns, as in images.csv:path, in the order of the samples: paths are relative to the file
    count: the number of samples. Raises ValueError for another number of images, and for unreadable files.
    """
    paths = list(find_images(place).values()) if Path(place).is_dir() else _listed(place)
    if len(paths) != count:
        raise ValueError(f"{place}: expected an image for each of {count} samples, got {len(paths)} images")
    return paths


def _listed(place: str) -> list[Path]:
    file = file_of(place)
    names: Sequence[Any]
    if file is not None and file.suffix.lower() == ".txt":
        with named(place):
            names = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        if file is not None and not file.suffix:
            raise ValueError(f"{place}: expected a folder of images, or a file of their paths, got none")
        names = read_column(place, "images")
    if any(not isinstance(name, str) for name in names):
        odd = next(name for name in names if not isinstance(name, str))
        raise ValueError(f"{place}: expected paths of images, got {odd}")
    return [(Path() if file is None else file.parent) / name for name in names]


def photograph(path: Path, side: int) -> str:
    """An image as a data: URI, at most `side` pixels wide and high. Raises ValueError for a file that is no image."""
    with extra("cli"):
        from ...answers.pictures import Photograph, data_url, read_photograph
    return data_url(read_photograph(Photograph(path), side, COMMANDS)[0], quality=82)
