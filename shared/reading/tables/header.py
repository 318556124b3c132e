"""Whether the first line of a table is names of columns or a row, by the lines below it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from os.path import splitext

from ...arrays.arrays import reads_as_number
from ..sides import side_of, side_of_column

_FRACTION = re.compile(r"[-+]?\d*\.\d+([eE][-+]?\d+)?|[-+]?\d+[eE][-+]?\d+")


class Header(Enum):
    """Kinds of first lines: names of columns, a row, or either."""

    NAMES = auto()
    ROW = auto()
    EITHER = auto()


def reads_as(first: Sequence[str], below: Sequence[Sequence[str]], decimal: str = ".") -> Header:
    """Tell names from a row in a first line with a word, by the cells of some lines below it, without blanks.

    A word above numbers is a name. A fraction above numbers is a value, and so is a word that differs from one below it
    in its digits alone, or ends on the same suffix of a file; unless some word is a name, so is one that stands below
    it, too, or that means known or unknown as one below does, but is no usual name for such a column. The line is open
    if it has names and values, and if it has values and words that are neither. Whole numbers say nothing: 0, 1 and 2
    may be the names of classes.

    >>> reads_as(["image", "score"], [["a_1.wav", "0.5"]]), reads_as(["a_2.wav", "0.25"], [["a_1.wav", "0.5"]])
    (<Header.NAMES: 1>, <Header.ROW: 2>)
    >>> reads_as(["cat", "0.25"], [["dog", "0.5"]]), reads_as(["cat", "1"], [["dog", "0"]])
    (<Header.EITHER: 3>, <Header.NAMES: 1>)
    """
    columns = [*zip(*(row for row in below if len(row) == len(first)))] or [()] * len(first)
    places = range(len(first))
    words = [place for place in places if re.search(r"\w", first[place]) and not _is_value(first[place], decimal)]
    are_names = any(_are_values([x for x in columns[place] if x != first[place]], decimal) for place in words)
    values = [place for place in places if _is_like(first[place], columns[place], decimal)]
    if are_names:
        return Header.EITHER if values else Header.NAMES
    sides = {place for place in words if side_of(first[place]) is not None and any(map(_has_side, columns[place]))}
    usual = {place for place in sides if side_of_column(first[place]) is not None}
    repeated = {place for place in words if first[place] in columns[place]}
    rest = {*words} - {*values} - sides - repeated
    if not values and not (sides | repeated) - usual:
        return Header.NAMES
    return Header.EITHER if rest else Header.ROW


def _is_like(cell: str, column: Sequence[str], decimal: str) -> bool:
    """Whether a cell of the first line is a fraction above numbers, or has the form of a word below it."""
    if not cell or _is_value(cell, decimal):
        return _FRACTION.fullmatch(cell.replace(decimal, ".")) is not None and _are_values(column, decimal)
    shape, suffix = _shape(cell), splitext(cell)[1]
    is_numbered = shape != cell and shape in map(_shape, (one for one in column if one != cell))
    return is_numbered or (bool(suffix) and suffix in (splitext(one)[1] for one in column))


def _has_side(cell: str) -> bool:
    return side_of(cell) is not None


def _is_value(cell: str, decimal: str) -> bool:
    return reads_as_number(cell if decimal == "." else cell.replace(decimal, ".")) or cell.lower() in ("true", "false")


def _are_values(column: Sequence[str], decimal: str) -> bool:
    cells = [cell for cell in column if cell]
    return bool(cells) and all(_is_value(cell, decimal) for cell in cells)


def _shape(cell: str) -> str:
    """A word with a space for each run of digits, which no cell of blanks has."""
    return re.sub(r"\d+", " ", cell)
