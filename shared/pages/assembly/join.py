"""Columns that need more than taking: rows by image, one value an image, and sets of scores side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..page import Column, Page
from ..reading.archives import FOLDER
from ..reading.readers import Data
from .columns import Found, take
from .pairing import check_common


class Owned(NamedTuple):
    """Of a column of rows, the detector of each, and the one whose rows are to be taken."""

    side: str
    detectors: Found
    name: str

    @property
    def rows(self) -> np.ndarray:
        """Which rows are those of the one."""
        return np.asarray(self.detectors.value).astype(str) == self.name

    def part(self, column: Found) -> Found:
        """Its rows of a column."""
        if len(column.value) != len(self.rows):
            raise ValueError(f"detector: expected {len(column.value)} names, one for each row, got {len(self.rows)}")
        code = column.code and f"np.asarray({column.code})[detector == {self.name!r}]"
        return Found(np.asarray(column.value)[self.rows], code)


def split_images(
    page: Page,
    ids: Mapping[str, Found],
    found: dict[str, Found],
    origin: Mapping[str, int],
    owned: Owned | None = None,
) -> list[str]:
    """Split rows by the image they belong to, in place; return the lines of Python that do the same.

    ids: for each column of rows, the image of each row. Images keep the order in which they come first. Beside such a
    column, one of a value for each row holds the same for all rows of an image, and gives that. `origin` says which
    columns are of one input, since the images of another may come in another order. `owned` leaves the rows of other
    detectors out; the images stay.
    """
    listed = {name: _images(name, part) for name, part in ids.items()}
    check_common(listed)
    images = list(dict.fromkeys(image for rows in listed.values() for image in rows))
    split = {name: _splitter(rows, images) for name, rows in listed.items()}
    images_of = {name: f"{name}_image == image" for name in listed}
    setup = []
    for name, part in ids.items():
        value, code = found[name]
        if code:
            setup.append(f"{name}_image, {name}_rows = {part.code}, {code}")
        if len(value) != len(listed[name]):
            raise ValueError(f"{name}: expected an image for each row, got {len(listed[name])} for {len(value)} rows")
        if owned is not None and owned.side == name:
            rows = [image for image, kept in zip(listed[name], owned.rows.tolist()) if kept]
            split[name], value = _splitter(rows, images), np.asarray(value)[owned.rows]
            if code:
                setup.append(f"{name}_detector = np.asarray({owned.detectors.code}).astype(str)")
                images_of[name] = f"({images_of[name]}) & ({name}_detector == {owned.name!r})"
        found[name] = Found(split[name](value), code and f"[{name}_rows[{images_of[name]}] for image in images]")
    if setup:
        spread = ", ".join(f"*{name}_image.tolist()" for name, part in ids.items() if part.code)
        setup.append(f"images = list(dict.fromkeys([{spread}]))")
    for column in page.columns:
        if column.kind == "vector" and column.name in found:
            for side, rows in listed.items():
                together = origin[side] == origin[column.name] and len(found[column.name].value) == len(rows)
                if together and len(rows) > len(images) and (owned is None or owned.side != side):
                    parts = split[side](found[column.name].value)
                    found[column.name] = _one_each(column.name, found[column.name], side, parts, images)
    return setup


def group_images(
    column: Column, names: Sequence[str], sources: Sequence[Data], ids: Mapping[str, Found], origin: Mapping[str, int]
) -> tuple[Found, list[str], list[str]]:
    """The group of each image, the lines of Python for them, and the images of none.

    The group is that of the image's rows, in either input, or of its file. Raises ValueError for an image of several.
    """
    of: dict[Any, Any] = {}
    codes = []
    data = next((data for data in reversed(sources) if {*names} & {*data.arrays}), sources[0])
    if names[0] == FOLDER and FOLDER in data.names:
        of |= dict(zip(data.names["image"], data.names[FOLDER]))
        codes.append(data.code[FOLDER])
    else:
        for side in ids:
            if {*names} <= {*sources[origin[side]].arrays}:
                own = take(column, names, sources[origin[side]])
                codes.append(own.code and f"dict(zip({side}_image.tolist(), {own.code}))")
                for image, group in zip(_images(side, ids[side]), np.asarray(own.value, dtype=object)):
                    if not is_blank(group) and of.setdefault(image, group) != group:
                        got = f"{of[image]} and {group} for {image}"
                        raise ValueError(f"{names[0]}: expected one value for all rows of an image, got {got}")
    images = list(dict.fromkeys(image for side, part in ids.items() for image in _images(side, part)))
    setup = [f"group_of = {codes[0] if len(codes) == 1 else '{**' + ', **'.join(codes) + '}'}"] if all(codes) else []
    groups = [of.get(image) for image in images]
    found = Found(groups, "[group_of.get(image) for image in images]" if setup else "")
    return found, setup, [str(image) for image, group in zip(images, groups) if group is None]


def is_blank(cell: Any) -> bool:
    """Whether a cell of names holds none."""
    return bool(pd.isna(cell)) or not str(cell).strip()


def _images(name: str, part: Found) -> list[Any]:
    """The image of each row."""
    images = np.asarray(part.value)
    if images.ndim != 1:
        raise ValueError(f"{name}: expected one column that says the image, got shape {images.shape}")
    if pd.isna(images).any():
        raise ValueError(f"{name}: expected an image for each row, got none for row {int(np.argmax(pd.isna(images)))}")
    return list(images.tolist())


def _splitter(rows: Sequence[Any], images: Sequence[Any]) -> Callable[[Any], list[np.ndarray]]:
    """What splits values by the image of each, in the order of `images`; the values of an image keep their order."""
    places = {image: i for i, image in enumerate(images)}
    place = np.fromiter(map(places.__getitem__, rows), np.int64, len(rows))
    order = np.argsort(place, kind="stable")
    ends = np.searchsorted(place[order], np.arange(1, len(images)))
    return lambda values: np.split(np.asarray(values)[order], ends)[: len(images)]


def _one_each(name: str, found: Found, side: str, parts: Sequence[np.ndarray], images: Sequence[Any]) -> Found:
    values = []
    for image, part in zip(images, parts):
        distinct = pd.unique(part)
        if len(distinct) != 1:
            raise ValueError(f"{name}: expected one value for all rows of an image, got {len(distinct)} for {image!r}")
        values.append(distinct[0])
    return Found(np.asarray(values), found.code and f"[{found.code}[{side}_image == image][0] for image in images]")


def join_parts(page: Page, found: Mapping[str, Found]) -> dict[str, Found]:
    """The metric's arguments from their parts; blank cells at the end of a part are left out."""
    parts: dict[str, list[Found]] = {}
    for column in page.columns:
        if column.name in found:
            part = found[column.name]
            parts.setdefault(column.part_of or column.name, []).append(_ended(part) if column.part_of else part)
    return {name: several[0] if len(several) == 1 else _tuple(several) for name, several in parts.items()}


def _tuple(parts: list[Found]) -> Found:
    listed = ", ".join(part.code for part in parts)
    return Found(tuple(part.value for part in parts), f"({listed})" if parts[0].code else "")


def _ended(found: Found) -> Found:
    """A column of a table that is longer than it; whole numbers are ints again, which blank cells make floats."""
    value = np.asarray(found.value)
    blank = pd.isna(value)
    if value.ndim != 1 or not blank.any():
        return found
    value = value[: np.flatnonzero(~blank)[-1] + 1] if not blank.all() else value[:0]
    code = found.code and f"{found.code}[:{len(value)}]"
    if value.dtype.kind == "f" and (value == np.round(value)).all():
        return Found(value.astype(int), code and f"{code}.astype(int)")
    return Found(value, code)
