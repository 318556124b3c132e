"""Cells and columns of tables: numbers, blanks, words; names, numbered columns, matrices."""

from __future__ import annotations

import math
import re
import string
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..sides import side_of
from ..tables.files import Streamed, Table

LOOKED_AT = 1_000
_INTEGER = re.compile(r"[-+]?[0-9]{1,19}")
_NUMBER = re.compile(r"(\d{1,18})\]?\Z")
_BEFORE_NUMBERS = string.whitespace + "_.-["
_CONFIDENCE = re.compile(
    r"(?<![a-z])(conf|confidences?|certainty|max[_ -]?(softmax|prob(abilit(y|ies))?))(?![a-z])", re.I
)
_MAX_MEMBERS = 50  # the most columns of an array that are offered one by one


def number_of(cell: Any) -> float | None:
    """The number of a cell, also of a percentage; None if it is none.

    >>> number_of("0.5"), number_of("25 %"), number_of("n/a")
    (0.5, 0.25, None)
    """
    try:
        if isinstance(cell, str) and cell.rstrip().endswith("%"):
            value = float(cell.rstrip()[:-1]) / 100
        else:
            value = float(cell)
    except (ValueError, TypeError):
        return None
    except OverflowError:  # an integer too large for a float, which the metric refuses with a message
        return math.inf
    return None if math.isnan(value) else value


def header(name: str) -> str:
    """The name that a column has in its file, without the name of the file, which stands before it among others'.

    >>> header("run2: msp"), header("run2: logit_0 … run2: logit_2")
    ('msp', 'logit_0 … logit_2')
    """
    return " … ".join(part.rpartition(": ")[2] for part in name.split(" … "))


def says_confidence(name: str) -> bool:
    """Whether the name of scores says that they are higher for known samples.

    >>> says_confidence("max_softmax"), says_confidence("energy")
    (True, False)
    """
    return bool(_CONFIDENCE.search(name))


def as_it_stands(name: str) -> str:
    """The choice of scores with the sign that they have: of a confidence, with a plus.

    >>> as_it_stands("max_softmax"), as_it_stands("energy")
    ('+max_softmax', 'energy')
    """
    return f"+{name}" if says_confidence(name) else name


def noun_of(names: Sequence[str]) -> str:
    """The singular noun of a column that names things; "" where its name is none, or of several columns.

    >>> noun_of(["scores: Speaker_ID"]), noun_of(["x7"]), noun_of(["class"])
    ('speaker', '', '')
    """
    noun = re.sub(r"[ _-]?ids?$", "", header(names[0]).lower()) if len(names) == 1 else ""
    return noun if noun.isalpha() and noun[-1] not in "sxyh" else ""


def are_numbers(value: np.ndarray) -> np.ndarray:
    """Whether each cell is a number, as (N,) booleans, by the rules of `number_of`."""
    return np.asarray([number_of(cell) is not None for cell in value.tolist()], dtype=bool)


def as_numbers(value: np.ndarray) -> np.ndarray:
    """A column of cells as integers if all are written so, else as floats; unchanged if one is no number."""
    cells = value.tolist()
    if all(isinstance(cell, int) or (isinstance(cell, str) and _INTEGER.fullmatch(cell.strip())) for cell in cells):
        whole = [*map(int, cells)]
        if all(-(2**63) <= cell < 2**63 for cell in whole):
            return np.asarray(whole, np.int64)
    numbers = [*map(number_of, cells)]
    return value if None in numbers else np.asarray(numbers, np.float64)


def is_blank(cell: Any) -> bool:
    """Whether a cell holds nothing: it is empty, white space, None, NaN, or pandas' NA or NaT."""
    if isinstance(cell, str):
        return not cell.strip()
    if isinstance(cell, (int, float)):
        return cell != cell
    return cell is None or str(cell) in ("<NA>", "NaT")


def are_blank(value: np.ndarray) -> np.ndarray:
    """Whether each cell holds nothing, as (N,) booleans: NaN, None or blank text."""
    if value.dtype.kind == "f":
        return np.isnan(value)
    return np.asarray([*map(is_blank, value.tolist())], dtype=bool)


def is_text(array: np.ndarray) -> bool:
    """Whether all cells of a column are strings, rather than numbers or of mixed types."""
    return array.dtype.kind == "U" or (array.dtype.kind == "O" and all(isinstance(cell, str) for cell in array))


def are_words(value: np.ndarray) -> bool:
    """Whether a column holds words rather than numbers beside some other cells."""
    return value.dtype.kind in "OU" and bool(2 * np.count_nonzero(are_numbers(value)) < len(value))


def is_score(array: np.ndarray) -> bool:
    """Whether a column holds floats that are not labels, or text that is mostly numbers."""
    if array.dtype.kind in "OU" and len(array):
        return bool(np.mean(are_numbers(array[:LOOKED_AT])) > 0.5)
    return array.dtype.kind == "f" and not is_label(array)


def is_label(array: np.ndarray) -> bool:
    """Whether a column holds two distinct values, whole numbers or words, or mostly words for labels.

    Empty cells are ignored.

    >>> is_label(np.asarray([1.0, 0.0, np.nan])), is_label(np.asarray(["1", "0", "x", "y"], dtype=object))
    (True, False)
    """
    if array.ndim != 1:
        return False
    if array.dtype.kind in "fOU":
        array = _without_gaps(array)
    if len(array) < 2 or (array.dtype.kind == "O" and not is_text(array)):
        return False
    first = array[:LOOKED_AT].tolist()
    if is_text(array) and 2 * sum(side_of(cell) is not None for cell in first) > len(first):
        return True
    values = {*first} if len({*first}) > 2 else {*array.tolist()}
    return len(values) == 2 and (is_text(array) or bool((array == np.round(array)).all()))


def _without_gaps(array: np.ndarray) -> np.ndarray:
    """The numbers of a column that is mostly numbers, otherwise its cells that are not empty."""
    if array.dtype.kind != "f":
        numbers = [number_of(cell) for cell in array.tolist()]
        if 2 * sum(number is not None for number in numbers) > len(array):
            return np.asarray([number for number in numbers if number is not None])
    return array[~are_blank(array)]


def distinct(array: np.ndarray) -> list[str]:
    """The distinct words of a column, as strings, in the order of their first rows."""
    return [*dict.fromkeys(map(str, array.tolist()))]


@lru_cache(maxsize=512)  # a reading reduces each name some forty times
def plain(name: str) -> str:
    """A name reduced to lower-case letters and digits, for comparison."""
    return re.sub(r"[^a-z0-9]", "", name.lower())


def stem(name: str) -> str:
    """A name without the number at its end.

    >>> stem("class 10"), stem("logits[3]"), stem("score")
    ('class', 'logits', 'score')
    """
    return _numbered(name)[0]


def number_at_end(name: str) -> int | None:
    """The number at the end of a name; None if there is none."""
    return _numbered(name)[1]


@lru_cache(maxsize=512)
def _numbered(name: str) -> tuple[str, int | None]:
    """A name without the number at its end, and the number, of at most 18 digits."""
    match = _NUMBER.search(name[-19:])  # a regular expression of the whole is slow for names of a million characters
    return (name.removesuffix(match[0]).rstrip(_BEFORE_NUMBERS), int(match[1])) if match else (name, None)


def runs(table: Table) -> dict[str, list[str]]:
    """The runs of numbered columns ("class 0", "class 1", …), by a name that shows their first and last.

    They are in the order of their numbers, whatever their order in the file, since they may be the scores of classes;
    columns among whose numbers one is missing, or is there twice, are no run.
    """
    stems: dict[str, list[tuple[int, str]]] = {}
    for name, array in table.arrays.items():
        base, number = _numbered(name)
        if number is not None and num_dimensions(array) == 1:
            stems.setdefault(base, []).append((number, name))
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
    match = re.fullmatch(r"(.*)\[:, (\d+)\]", name)
    if name in table.arrays or match is None:
        return table.arrays.get(name)
    array = table.arrays.get(match[1])
    if array is None or num_dimensions(array) != 2 or int(match[2]) >= array.shape[1]:
        return None
    return array[:, int(match[2])]
