"""Names of a table's arrays: how they are compared, runs of numbered columns, and columns of matrices."""

from __future__ import annotations

import re
from typing import Any

from ..tables.files import Streamed, Table

IMAGE_NAMES = ("image", "img", "imageid", "file", "filename", "frame")  # the likeliest first
SAMPLE_NAMES = ("name", "sample", "sampleid", "id", "path", "key")
_NUMBERED = re.compile(r"(.*?)[\s_.\-\[]*(\d{1,18})\]?")
_MAX_MEMBERS = 50  # the most columns of an array that are offered one by one


def plain(name: str) -> str:
    """A name reduced to lower-case letters and digits, for comparison."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def stem(name: str) -> str:
    """A name without the number at its end.

    >>> stem("class 10"), stem("logits[3]"), stem("score")
    ('class', 'logits', 'score')
    """
    match = _NUMBERED.fullmatch(name)
    return match[1] if match else name


def number_at_end(name: str) -> int | None:
    """The number at the end of a name; None if there is none.

    >>> number_at_end("logits[3]"), number_at_end("score")
    (3, None)
    """
    match = _NUMBERED.fullmatch(name)
    return int(match[2]) if match else None


def runs(table: Table) -> dict[str, list[str]]:
    """The runs of numbered columns ("class 0", "class 1", …), by a name that shows their first and last.

    They are in the order of their numbers, whatever their order in the file, since they may be the scores of classes;
    columns among whose numbers one is missing, or is there twice, are no run.
    """
    stems: dict[str, list[tuple[int, str]]] = {}
    for name, array in table.arrays.items():
        match = _NUMBERED.fullmatch(name)
        if match and num_dimensions(array) == 1:
            stems.setdefault(match[1], []).append((int(match[2]), name))
    by_name = {}
    for of_stem in stems.values():
        numbers, names = map(list, zip(*sorted(of_stem)))
        if len(names) > 1 and numbers == [*range(numbers[0], numbers[0] + len(names))]:
            by_name[f"{names[0]} … {names[-1]}"] = names
    return by_name


def num_dimensions(value: Any) -> int:
    """The number of dimensions of an array; three for a list of arrays, one for each image."""
    return 1 if isinstance(value, Streamed) else getattr(value, "ndim", 3)


def choices(table: Table) -> list[str]:
    """The names to choose from for a column of the metric: runs, arrays, and columns of two-dimensional arrays."""
    numbered = runs(table)
    hidden = {name for names in numbered.values() if len(names) > _MAX_MEMBERS for name in names}
    members = [
        f"{name}[:, {i}]"
        for name, array in table.arrays.items()
        if num_dimensions(array) == 2 and array.shape[1] <= _MAX_MEMBERS
        for i in range(array.shape[1])
    ]
    return [*numbered, *(name for name in table.arrays if name not in hidden), *members]


def member(name: str, table: Table) -> Any:
    """The array with this name, or the column of an array, such as logits[:, 1]; None if there is none."""
    if name in table.arrays:
        return table.arrays[name]
    match = re.fullmatch(r"(.*)\[:, (\d+)\]", name)
    array = table.arrays.get(match[1]) if match else None
    if match is None or array is None or num_dimensions(array) != 2 or int(match[2]) >= array.shape[1]:
        return None
    return array[:, int(match[2])]
