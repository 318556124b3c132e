"""Tell from the first lines of a table whether it has a header, and which characters separate its values."""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from typing import NamedTuple

from ...arrays.arrays import reads_as_number

HINT = "put a line of names above"
_COMMA, _POINT = (re.compile(rf"[-+]?\d*{mark}\d+([eE][-+]?\d+)?") for mark in (",", r"\."))
_LOOKED_AT = 100_000  # bytes


class Separators(NamedTuple):
    """The separator of values, and the decimal mark."""

    between: str
    decimal: str


def separators(text: bytes) -> Separators:
    r"""The characters between values and in numbers.

    Tabs or semicolons, if the first two lines have as many, and no comma but in numbers; otherwise commas, and points
    in numbers. Between tabs or semicolons, numbers have commas if one does in the first two lines or, if these have no
    fractions, in a column further below whose fractions all have commas.

    >>> separators(b"score;label\n1;0\n0,5;1"), separators(b"a,b;c\n1,2")
    (Separators(between=';', decimal=','), Separators(between=',', decimal='.'))
    >>> separators(b"score;part\n0,5;1.1").decimal, separators(b"score;part\n1;1\n0.5;0,5").decimal
    (',', ',')
    """
    lines = re.findall(r"[^\r\n]+", text[:_LOOKED_AT].decode(errors="replace"))
    for mark in ("\t", ";"):
        rows = [[cell.strip().strip('"') for cell in line.split(mark)] for line in lines]
        first = [cell for row in rows[:2] for cell in row]
        alike = len(rows[0]) > 1 and len({*map(len, rows[:2])}) == 1
        if alike and all("," not in cell or _COMMA.fullmatch(cell) for cell in first):
            return Separators(mark, _decimal_mark(first, rows))
    return Separators(",", ".")


def _decimal_mark(first: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """The mark in fractions of the first cells or, if there are none, of a column."""
    for cells in (first, *zip(*(row for row in rows if len(row) == len(rows[0])))):
        commas, points = (any(map(pattern.fullmatch, cells)) for pattern in (_COMMA, _POINT))
        if commas and (cells is first or not points):
            return ","
        if points and cells is first:
            return "."
    return "."


class FirstLine(NamedTuple):
    """The first line of a table.

    text, cells: the line, and its parts
    holds_values: whether it is the first row, rather than the names of the columns
    """

    text: str
    cells: list[str]
    holds_values: bool

    @property
    def places(self) -> list[str]:
        """The positions of the cells, from 0."""
        return [str(i) for i in range(len(self.cells))]

    @property
    def counts(self) -> bool:
        """Whether it is 0,1,2 and so on, which may also be the header that pandas writes: what is below must tell."""
        return self.holds_values and self.cells == self.places


def first_line(text: bytes, marks: Separators, names: Sequence[str]) -> FirstLine:
    """The first line of a table, which is a header unless it consists of values.

    In that case the requested names decide: if they are positions, there is no header; if they are values of the line,
    it is the header. Raises ValueError if they may be either, which takes a line of different integers.
    """
    line = re.findall(rb"^[^\r\n]*", text)[0].decode()
    cells = [cell.strip() for cell in next(csv.reader([line], delimiter=marks.between))]
    names = [name if name in cells else unsigned(name) for name in names]
    first = FirstLine(line, cells, all(_is_value(cell.replace(marks.decimal, ".")) for cell in cells))
    if not first.holds_values or first.counts or not names:
        return first
    by_name, by_place = {*names} <= {*cells}, {*names} <= {*first.places}
    if not _may_be_names(cells):
        return first._replace(holds_values=by_place or not by_name)
    if by_name and by_place:
        raise ValueError(f"expected names or values in the first line, got {line}, which may be either: {HINT}")
    return first._replace(holds_values=by_place)


def unsigned(name: str) -> str:
    """The name of a column without the sign that a place gives it.

    >>> unsigned("-conf"), unsigned("+conf"), unsigned("a-b")
    ('conf', 'conf', 'a-b')
    """
    return name[1:] if name[:1] in ("-", "+") else name


def _may_be_names(cells: Sequence[str]) -> bool:
    """Whether values may be the names of columns, as pandas writes them or as ids of classes."""
    return len({*cells}) == len(cells) and all(cell.isdecimal() for cell in cells)


def _is_value(cell: str) -> bool:
    """Whether a cell is a value, rather than the name of a column."""
    return reads_as_number(cell) or cell.lower() in ("true", "false")
