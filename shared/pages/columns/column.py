"""Find the metric's columns among the arrays of a table or file, by their names, and put them together.

Columns whose names differ by a number only ("class 0", "class 1", …) are offered as one: the rows of a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..page import Column
from ..reading.readers import Data
from .cells import check_cells
from .words import as_labels

NUMBERED = re.compile(r"(.*?)[\s_.\-\[]*(\d+)\]?")
_MAX_MEMBERS = 50  # columns of an array that are offered one by one
IMAGE_NAMES = ("image", "img", "imageid", "file", "filename", "frame")
FLIPPED = "−"  # before the name of scores whose sign is turned
UNUSED = {"group": "no groups", "detector": "one detector"}  # of a kind, what is chosen where there is no such column
KINDS = ("automatic", "scores", "class ids")


class Found(NamedTuple):
    """A value for a column of the metric, and the expression that gives it (empty where it is to be spelt out)."""

    value: Any
    code: str = ""


def groups(data: Data) -> dict[str, list[str]]:
    """The runs of numbered columns, by a name that shows their first and last."""
    stems: dict[str, list[str]] = {}
    for name, array in data.arrays.items():
        match = NUMBERED.fullmatch(name)
        if match and num_dimensions(array) == 1:
            stems.setdefault(match[1], []).append(name)
    return {f"{names[0]} … {names[-1]}": names for names in stems.values() if len(names) > 1}


def num_dimensions(value: Any) -> int:
    """Dimensions of an array; of a list of arrays, one per image, three."""
    return value.ndim if isinstance(value, np.ndarray) else 3


def choices(data: Data) -> list[str]:
    """What a column of the metric may be made of: groups, arrays, and the columns of two-dimensional arrays."""
    runs = groups(data)
    grouped = {name for names in runs.values() if len(names) > _MAX_MEMBERS for name in names}
    members = [
        f"{name}[:, {i}]"
        for name, array in data.arrays.items()
        if num_dimensions(array) == 2 and array.shape[1] <= _MAX_MEMBERS
        for i in range(array.shape[1])
    ]
    return [*runs, *(name for name in data.arrays if name not in grouped), *members]


def plain(name: str) -> str:
    """A name in small letters and digits only, as names are compared."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def take(column: Column, chosen: Sequence[str], data: Data, read_as: str = "automatic") -> Found:
    """The arrays that were chosen for a column, side by side if there are several.

    Raises ValueError for a name that the data do not have.
    """
    runs = groups(data)
    names = [member for name in chosen for member in runs.get(name, [name])]
    parts = [_one(column, name, data) for name in names]
    for name, part in zip(names, parts if column.kind != "group" else ()):
        check_cells(column, name, part.value, data.lines.get(name.removeprefix(FLIPPED)))
    if len(parts) == 1 and not (column.kind in ("matrix", "scores") and num_dimensions(parts[0].value) == 1):
        found = parts[0]
    else:
        listed = ", ".join(part.code for part in parts)
        code = f"np.column_stack([{listed}])" if data.code else ""
        found = Found(np.column_stack([part.value for part in parts]), code)
    if column.kind == "label":
        return _as_labels(names[0], found, data.lines.get(names[0]))
    if column.kind == "scores":
        return _read_as(found, "scores")
    return _read_as(found, read_as) if column.kind in ("matrix", "classes") else found


def _as_labels(name: str, found: Found, line: int | None) -> Found:
    try:
        converted = as_labels(np.asarray(found.value), line)
    except ValueError as error:
        raise ValueError(f"{name}, {error}") from None
    return found if converted is None else Found(converted[0], found.code and converted[1].format(found.code))


def _one(column: Column, name: str, data: Data) -> Found:
    if name in data.arrays:
        return Found(data.arrays[name], data.code.get(name, ""))
    if column.kind == "score" and name.startswith(FLIPPED):
        return _flipped(_one(column, name.removeprefix(FLIPPED), data))
    match = re.fullmatch(r"(.*)\[:, (\d+)\]", name)
    array = data.arrays.get(match[1]) if match else None
    if match is None or array is None or num_dimensions(array) != 2 or int(match[2]) >= array.shape[1]:
        raise ValueError(f"{column.name}: expected names of columns, got {name!r}; there are {', '.join(data.arrays)}")
    return Found(array[:, int(match[2])], f"{data.code[match[1]]}[:, {match[2]}]")


def _flipped(found: Found) -> Found:
    """The scores with the other sign, since higher was more in-distribution."""
    array = np.asarray(found.value)
    if array.dtype.kind not in "iuf":
        return found  # the metric says what is wrong with it
    code = found.code and (f"-{found.code}" if array.dtype.kind == "f" else f"-np.asarray({found.code}, float)")
    return Found(-array if array.dtype.kind == "f" else -array.astype(np.float64), code)


def _read_as(found: Found, read_as: str) -> Found:
    if read_as == "automatic":
        return found
    array, kind = np.asarray(found.value), float if read_as == "scores" else int
    if (
        array.dtype.kind not in "biuf"
        or array.dtype.kind == np.dtype(kind).kind
        or (kind is int and (array != np.round(array)).any())
    ):
        return found  # the metric says what is wrong with it
    return Found(array.astype(kind), found.code and f"np.asarray({found.code}).astype({kind.__name__})")
