"""Columns that need more than taking: rows by image, one value an image, and sets of scores side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..columns.arrays import Images
from ..columns.cells import is_blank
from ..columns.column import Column
from ..columns.samples import Names
from ..page import Page
from ..reading.archives import FOLDER
from ..reading.data import Data
from .pairing import check_common


class Owned(NamedTuple):
    """The detector of each row of a column, and the detector to select."""

    side: str
    detectors: Any
    name: str

    @property
    def rows(self) -> np.ndarray:
        """The rows of the detector, (N,) booleans."""
        return np.asarray(self.detectors).astype(str) == self.name

    def part(self, column: Any) -> np.ndarray:
        """Its rows of a column."""
        if len(column) != len(self.rows):
            raise ValueError(f"detector: expected {len(column)} names, one for each row, got {len(self.rows)}")
        return np.asarray(column)[self.rows]


def split_images(
    page: Page,
    ids: Mapping[str, Any],
    values: dict[str, Any],
    origin: Mapping[str, int],
    owned: Owned | None = None,
) -> None:
    """Split rows by the image they belong to, in place.

    Images keep the order in which they come first. Beside a column of rows, one of a value for each row holds the same
    for all rows of an image, and gives that.

    Parameters: ids, for each column of rows, the image of each row; origin, which columns are of one input, since the
    images of another may come in another order; owned, the detector of the rows to keep; all images stay.
    """
    images_of = {name: _images(name, part) for name, part in ids.items()}
    check_common(images_of)
    images = list(dict.fromkeys(image for rows in images_of.values() for image in rows))
    split = {name: _splitter(rows, images) for name, rows in images_of.items()}
    for name, rows in images_of.items():
        value = values[name]
        if len(value) != len(rows):
            raise ValueError(f"{name}: expected an image for each row, got {len(rows)} for {len(value)} rows")
        if owned is not None and owned.side == name:
            kept = [image for image, own in zip(rows, owned.rows.tolist()) if own]
            split[name], value = _splitter(kept, images), np.asarray(value)[owned.rows]
        values[name] = split[name](value)
    for column in page.columns:
        if column.name in values and not isinstance(column, (Images, Names)):
            for side, rows in images_of.items():
                together = origin[side] == origin[column.name] and len(values[column.name]) == len(rows)
                if together and len(rows) > len(images) and (owned is None or owned.side != side):
                    values[column.name] = _one_each(column.name, split[side](values[column.name]), images)


def group_images(
    column: Column, names: Sequence[str], sources: Sequence[Data], ids: Mapping[str, Any], origin: Mapping[str, int]
) -> tuple[list[Any], list[str]]:
    """The group of each image, None for an image without one, and the names of the images without one.

    The group is that of the image's rows, in either input, or of its file. Raises ValueError for an image of several.
    """
    of: dict[Any, Any] = {}
    data = next((data for data in reversed(sources) if {*names} & {*data.arrays}), sources[0])
    if names[0] == FOLDER and FOLDER in data.names:
        of |= dict(zip(data.names["image"], data.names[FOLDER]))
    else:
        for side in ids:
            if {*names} <= {*sources[origin[side]].arrays}:
                own = np.asarray(column.take(names, sources[origin[side]]), dtype=object)
                for image, group in zip(_images(side, ids[side]), own):
                    if not is_blank(group) and of.setdefault(image, group) != group:
                        got = f"{of[image]} and {group} for {image}"
                        raise ValueError(f"{names[0]}: expected one value for all rows of an image, got {got}")
    images = list(dict.fromkeys(image for side, part in ids.items() for image in _images(side, part)))
    groups = [of.get(image) for image in images]
    return groups, [str(image) for image, group in zip(images, groups) if group is None]


def _images(name: str, part: Any) -> list[Any]:
    """The image of each row."""
    images = np.asarray(part)
    if images.ndim != 1:
        raise ValueError(f"{name}: expected one column that says the image, got shape {images.shape}")
    if pd.isna(images).any():
        raise ValueError(f"{name}: expected an image for each row, got none for row {int(np.argmax(pd.isna(images)))}")
    return list(images.tolist())


def _splitter(rows: Sequence[Any], images: Sequence[Any]) -> Callable[[Any], list[np.ndarray]]:
    """Make the function that splits values by image, in the order of `images`; an image's values keep their order."""
    places = {image: i for i, image in enumerate(images)}
    place = np.fromiter(map(places.__getitem__, rows), np.int64, len(rows))
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(1, len(images)))
    return lambda values: np.split(np.asarray(values)[order], ends)[: len(images)]


def _one_each(name: str, parts: Sequence[np.ndarray], images: Sequence[Any]) -> np.ndarray:
    """The one value of each image."""
    values = []
    for image, part in zip(images, parts):
        distinct = pd.unique(part)
        if len(distinct) != 1:
            raise ValueError(f"{name}: expected one value for all rows of an image, got {len(distinct)} for {image!r}")
        values.append(distinct[0])
    return np.asarray(values)


def join_parts(page: Page, values: Mapping[str, Any]) -> dict[str, Any]:
    """The metric's arguments from their parts; blank cells at the end of a part are left out."""
    parts: dict[str, list[Any]] = {}
    for column in page.columns:
        if column.name in values:
            value = values[column.name]
            parts.setdefault(column.part_of or column.name, []).append(_ended(value) if column.part_of else value)
    return {name: several[0] if len(several) == 1 else tuple(several) for name, several in parts.items()}


def _ended(column: Any) -> Any:
    """A column of a table that is longer than it; whole numbers are ints again, which blank cells make floats."""
    value = np.asarray(column)
    blank = pd.isna(value)
    if value.ndim != 1 or not blank.any():
        return column
    value = value[: np.flatnonzero(~blank)[-1] + 1] if not blank.all() else value[:0]
    return value.astype(int) if value.dtype.kind == "f" and (value == np.round(value)).all() else value
