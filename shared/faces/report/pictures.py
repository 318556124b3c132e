"""Pictures within a report: photographs, and boxes with labels. Needs Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...answers.answer import Image
from ...extras import extra
from ...reading.limits import COMMANDS
from ...reading.places import find_images
from ...reading.reasons import named
from ...reading.rows.inputs import file_of, read_column
from .frame import Mark, Picture

_TILE = 176  # pixels of the narrowest tile, by which labels are placed
_LETTER, _LINE = 7.4, 15  # pixels of a label: of a letter, and its height
_LABELS = 12  # the most labels of a picture


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


def photograph(path: Path, side: int, quality: int = 82) -> str:
    """An image as a data: URI, at most `side` pixels wide and high; quality of the JPEG, up to 95.

    Raises ValueError for a file that is not an image.
    """
    with extra("cli"):
        from ...answers.pictures import Photograph, data_url, read_photograph
    return data_url(read_photograph(Photograph(path), side, COMMANDS)[0], quality=quality)


def picture_of(image: Image) -> Picture:
    """An image of an answer with its boxes, the first ones on top, and labels where they cover no other one."""
    labels = _labels(image) if image.boxes else {}
    marks = []
    for place, box in enumerate(image.boxes):
        left, top, right, bottom = (100 * end / side for end, side in zip(box.corners, 2 * image.size))
        sizes = max(0.0, right - left), max(0.0, bottom - top)
        left, top, wide, high = (round(value, 2) for value in (left, top, *sizes))
        x, y = labels.get(place, (0.0, 0.0))
        marks.append(Mark(box.role, left, top, wide, high, box.outcome, box.label if place in labels else "", x, y))
    return Picture(image.picture, image.alt or f"{image.name}: {image.said}", image.size, marks[::-1])


def _labels(image: Image) -> dict[int, tuple[float, float]]:
    """The places of labels in percent, by the index of their box: of the first errors that one fits beside."""
    with extra("cli"):
        from ...answers.pictures import label_places
    is_error = [bool(box.label) and box.role not in ("right", "object", "nothing") for box in image.boxes]
    order = sorted(range(len(is_error)), key=lambda place: not is_error[place])
    first = order[: min(_LABELS, sum(is_error))]
    size = _TILE, max(1, round(_TILE * image.size[1] / image.size[0]))
    scale = np.asarray([side / own for side, own in zip(size, image.size)] * 2)
    corners = [(scale * image.boxes[place].corners).round().astype(int).tolist() for place in order]
    widths = [round(_LETTER * len(image.boxes[place].label)) + 6 for place in first]
    spots = zip(first, label_places(widths, _LINE, corners, size))
    return {
        place: (round(100 * spot[0] / size[0], 2), round(100 * spot[1] / size[1], 2))
        for place, spot in spots
        if spot is not None
    }
