"""Find the metric's columns among the arrays of a table or file, by their names, and put them together.

Columns whose names differ by a number only ("class 0", "class 1", …) are offered as one: the rows of a matrix.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .page import Column, Page
from .uploads import Data

_NUMBERED = re.compile(r"(.*?)[\s_.\-\[]*(\d+)\]?")
_MAX_MEMBERS = 50  # columns of an array that are offered one by one
IMAGE_NAMES = ("image", "img", "imageid", "file", "filename", "frame")
KINDS = ("automatic", "scores", "class ids")


class Found(NamedTuple):
    """A value for a column of the metric, and the expression that gives it (empty where it is to be spelt out)."""

    value: Any
    code: str = ""


def groups(data: Data) -> dict[str, list[str]]:
    """The runs of numbered columns, by a name that shows their first and last."""
    stems: dict[str, list[str]] = {}
    for name, array in data.arrays.items():
        match = _NUMBERED.fullmatch(name)
        if match and _ndim(array) == 1:
            stems.setdefault(match[1], []).append(name)
    return {f"{names[0]} … {names[-1]}": names for names in stems.values() if len(names) > 1}


def _ndim(value: Any) -> int:
    """Dimensions of an array; of a list of arrays, one per image, three."""
    return value.ndim if isinstance(value, np.ndarray) else 3


def choices(data: Data) -> list[str]:
    """What a column of the metric may be made of: groups, arrays, and the columns of two-dimensional arrays."""
    runs = groups(data)
    grouped = {name for names in runs.values() if len(names) > _MAX_MEMBERS for name in names}
    members = [
        f"{name}[:, {i}]"
        for name, array in data.arrays.items()
        if _ndim(array) == 2 and array.shape[1] <= _MAX_MEMBERS
        for i in range(array.shape[1])
    ]
    return [*runs, *(name for name in data.arrays if name not in grouped), *members]


def guess(page: Page, sources: Sequence[Data]) -> dict[str, list[str]]:
    """Guess what each column of the metric is made of; an empty list where nothing fits."""
    guesses: dict[str, list[str]] = {}
    for column in page.columns:
        if column.part_of:
            guesses[column.name] = _named(column, list(sources[column.source].arrays), alike=False)
            continue
        taken = {name for names in guesses.values() for name in names}
        guesses[column.name] = _guess(column, sources[column.source], taken)
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = _named(column, list(sources[0].arrays), alike=False)
    return guesses


def _guess(column: Column, data: Data, taken: set[str]) -> list[str]:
    runs, free = groups(data), [name for name in data.arrays if name not in taken]
    if column.kind == "images":
        return _guess_images(column, data, runs)
    if column.kind in ("matrix", "scores", "classes"):
        stems = {plain(_stem(names[0])): run for run, names in runs.items()}
        named = [stems[plain(name)] for name in (column.name, *column.names) if plain(name) in stems]
        only = list(stems.values()) if len(stems) == 1 else []
        return named[:1] or _named(column, free, alike=False) or only or _named(column, free)
    return _named(column, [name for name in free if _ndim(data.arrays[name]) == 1])


def _guess_images(column: Column, data: Data, runs: Mapping[str, list[str]]) -> list[str]:
    """A stack of images by its name; otherwise, of a table, the image column and the columns in their order."""
    stacks = [name for name, array in data.arrays.items() if _ndim(array) != 1]
    named = _named(column, stacks) or (stacks if len(stacks) == 1 else [])
    if named:
        return named
    image = [name for name in data.arrays if plain(name) in IMAGE_NAMES][:1]
    fields = [_named(Column(field, (field, *aliases)), list(data.arrays)) for field, *aliases in _FIELDS]
    if all(fields[:4]):
        return image + [name for field in fields for name in field]
    return [*image, *runs] if len(runs) == 1 else []


_FIELDS = (
    ("x1", "xmin", "left", "x", "cx", "xcenter"),
    ("y1", "ymin", "top", "y", "cy", "ycenter"),
    ("x2", "xmax", "right", "w", "width"),
    ("y2", "ymax", "bottom", "h", "height"),
    ("confidence", "conf", "score", "scores"),
    ("class", "cls", "label", "category", "categoryid", "classid"),
)


def _stem(name: str) -> str:
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else name


def plain(name: str) -> str:
    """A name in small letters and digits only, as names are compared."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _named(column: Column, names: Sequence[str], alike: bool = True) -> list[str]:
    """The first of the names that the column goes by; if `alike`, a name that contains one is the second choice."""
    known = [plain(name) for name in (column.name, *column.names)]
    for alias in known:
        exact = [name for name in names if plain(name.rpartition(": ")[2]) == alias]
        if exact:
            return exact[:1]
    return [name for alias in known if alike and len(alias) > 4 for name in names if alias in plain(name)][:1]


def take(column: Column, chosen: Sequence[str], data: Data, read_as: str = "automatic") -> Found:
    """The arrays that were chosen for a column, side by side if there are several.

    Raises ValueError for a name that the data do not have.
    """
    runs = groups(data)
    names = [member for name in chosen for member in runs.get(name, [name])]
    parts = [_one(column, name, data) for name in names]
    if len(parts) == 1 and not (column.kind in ("matrix", "scores") and _ndim(parts[0].value) == 1):
        found = parts[0]
    else:
        listed = ", ".join(part.code for part in parts)
        code = f"np.column_stack([{listed}])" if data.code else ""
        found = Found(np.column_stack([part.value for part in parts]), code)
    if column.kind == "scores":
        return _read_as(found, "scores")
    return _read_as(found, read_as) if column.kind in ("matrix", "classes") else found


def _one(column: Column, name: str, data: Data) -> Found:
    if name in data.arrays:
        return Found(data.arrays[name], data.code.get(name, ""))
    match = re.fullmatch(r"(.*)\[:, (\d+)\]", name)
    array = data.arrays.get(match[1]) if match else None
    if match is None or array is None or _ndim(array) != 2 or int(match[2]) >= array.shape[1]:
        raise ValueError(f"{column.name}: expected names of columns, got {name!r}; there are {', '.join(data.arrays)}")
    return Found(array[:, int(match[2])], f"{data.code[match[1]]}[:, {match[2]}]")


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
