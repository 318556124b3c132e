"""Join and split columns: rows by image, one value for each image, and parts of one argument."""

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
from ..reading.data import Data


class Owned(NamedTuple):
    """The detector of each row of column `side`, and the name of the detector to select."""

    side: str
    detectors: Any
    name: str

    @property
    def rows(self) -> np.ndarray:
        """Whether each row belongs to the selected detector, (N,) booleans."""
        return np.asarray(self.detectors).astype(str) == self.name

    def part(self, column: Any) -> np.ndarray:
        """The rows of a column that belong to the selected detector."""
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

    Images are in the order of their first rows. A column with one value a row, such as the group, must hold one value
    for all rows of an image, and is reduced to it.

    Parameters: ids, the image of each row, by column; origin, the index of each column's input, since inputs may order
    their images differently; owned, the detector of the rows to keep, or None for all rows. No image is dropped.
    """
    images_of = {name: _images(name, part) for name, part in ids.items()}
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

    A group is read from the image's rows, in either input. Raises ValueError for an image in several.
    """
    group_of: dict[Any, Any] = {}
    for side in ids:
        if {*names} <= {*sources[origin[side]].arrays}:
            own = np.asarray(column.take(names, sources[origin[side]]), dtype=object)
            for image, group in zip(_images(side, ids[side]), own):
                if not is_blank(group) and group_of.setdefault(image, group) != group:
                    got = f"{group_of[image]} and {group} for {image}"
                    raise ValueError(f"{names[0]}: expected one value for all rows of an image, got {got}")
    images = list(dict.fromkeys(image for side, part in ids.items() for image in _images(side, part)))
    groups = [group_of.get(image) for image in images]
    return groups, [str(image) for image, group in zip(images, groups) if group is None]


def _images(name: str, part: Any) -> list[Any]:
    """The image of each row."""
    images = np.asarray(part)
    if images.ndim != 1:
        raise ValueError(f"{name}: expected one column that names the image, got shape {images.shape}")
    if pd.isna(images).any():
        raise ValueError(f"{name}: expected an image for each row, got none for row {int(np.argmax(pd.isna(images)))}")
    return list(images.tolist())


def _splitter(rows: Sequence[Any], images: Sequence[Any]) -> Callable[[Any], list[np.ndarray]]:
    """A function that splits values by image, in the order of `images`; an image's values keep their order."""
    places = {image: i for i, image in enumerate(images)}
    place = np.fromiter(map(places.__getitem__, rows), np.int64, len(rows))
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(1, len(images)))
    return lambda values: np.split(np.asarray(values)[order], ends)[: len(images)]


def _one_each(name: str, parts: Sequence[np.ndarray], images: Sequence[Any]) -> np.ndarray:
    """The value of each image. Raises ValueError for an image whose rows have several."""
    values = []
    for image, part in zip(images, parts):
        distinct = pd.unique(part)
        if len(distinct) != 1:
            raise ValueError(f"{name}: expected one value for all rows of an image, got {len(distinct)} for {image}")
        values.append(distinct[0])
    return np.asarray(values)


def join_parts(page: Page, values: Mapping[str, Any]) -> dict[str, Any]:
    """The metric's arguments, joined from their parts without blank cells at their ends."""
    parts: dict[str, list[Any]] = {}
    for column in page.columns:
        if column.name in values:
            value = values[column.name]
            part = _without_trailing_blanks(value) if column.part_of else value
            parts.setdefault(column.part_of or column.name, []).append(part)
    return {name: several[0] if len(several) == 1 else tuple(several) for name, several in parts.items()}


def _without_trailing_blanks(column: Any) -> Any:
    """A column without blank cells at its end; whole numbers, which blank cells make floats, become ints again."""
    value = np.asarray(column)
    blank = pd.isna(value)
    if value.ndim != 1 or not blank.any():
        return column
    value = value[: np.flatnonzero(~blank)[-1] + 1] if not blank.all() else value[:0]
    return value.astype(int) if value.dtype.kind == "f" and (value == np.round(value)).all() else value
