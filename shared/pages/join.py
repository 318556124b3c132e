"""Columns that need more than taking: rows by image, one value an image, and sets of scores side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from .columns import Found
from .page import Page


def split_images(page: Page, ids: Mapping[str, Found], found: dict[str, Found], origin: Mapping[str, int]) -> list[str]:
    """Split rows by the image they belong to, in place; return the lines of Python that do the same.

    ids: for each column of rows, the image of each row. Images keep the order in which they come first. Beside such a
    column, one of a value for each row holds the same for all rows of an image, and gives that. `origin` says which
    columns are of one input, since the images of another may come in another order.
    """
    images = list(dict.fromkeys(image for part in ids.values() for image in np.asarray(part.value).tolist()))
    setup = []
    for name, part in ids.items():
        value, code = found[name]
        if code:
            setup.append(f"{name}_image, {name}_rows = {part.code}, {code}")
        rows = [value[np.asarray(part.value) == image] for image in images]
        found[name] = Found(rows, code and f"[{name}_rows[{name}_image == image] for image in images]")
    if setup:
        listed = ", ".join(f"*{name}_image.tolist()" for name, part in ids.items() if part.code)
        setup.append(f"images = list(dict.fromkeys([{listed}]))")
    for column in page.columns:
        if column.kind == "vector" and column.name in found:
            for side, part in ids.items():
                together = origin[side] == origin[column.name] and len(found[column.name].value) == len(part.value)
                if together and len(part.value) > len(images):
                    found[column.name] = _one_each(column.name, found[column.name], side, part, images)
    return setup


def _one_each(name: str, found: Found, rows: str, ids: Found, images: list[Any]) -> Found:
    values = []
    for image in images:
        distinct = pd.unique(np.asarray(found.value)[np.asarray(ids.value) == image])
        if len(distinct) != 1:
            raise ValueError(f"{name}: expected one value for all rows of an image, got {len(distinct)} for {image!r}")
        values.append(distinct[0])
    return Found(np.asarray(values), found.code and f"[{found.code}[{rows}_image == image][0] for image in images]")


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
