"""Read tables of values separated by commas, semicolons or tabs, with or without a header."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv

from ...arrays.arrays import reads_as_number
from .arrow import has_exact_floats

_HINT = "put a line of names above"


def read_csv(data: bytes, names: Sequence[str] = ()) -> tuple[Any, bool]:
    """An Arrow table, and whether it has no header; columns are then named by their positions, from 0.

    The first line is a header unless it consists of values. In that case the requested names decide: positions of
    columns mean that there is no header, values of the first line mean that it is the header.
    Raises ValueError if both are possible, which takes a first line of different integers. For 0,1,2 see
    `_is_counted_header`.
    """
    text = _trimmed(data)
    if not text.strip():
        raise ValueError("expected comma-separated values, got nothing")
    first = re.findall(rb"^[^\r\n]*", text)[0].decode()
    marks = separators(text)
    cells = [cell.strip() for cell in next(csv.reader([first], delimiter=marks.between))]
    places = [str(i) for i in range(len(cells))]
    headless = all(_is_value(cell.replace(marks.decimal, ".")) for cell in cells)
    counted = headless and cells == places
    if headless and names and not counted:
        by_name, by_place = set(names) <= set(cells), set(names) <= set(places)
        if not _may_be_names(cells):
            headless = by_place or not by_name
        elif by_name and by_place:
            raise ValueError(f"expected names or values in the first line, got {first}, which may be either: {_HINT}")
        else:
            headless = by_place and not by_name
    table = _read_table(text, places if headless else [], marks)
    if counted and _is_counted_header(table, first, names):
        return table.slice(1), False
    return table, headless


def with_ids(data: bytes, table: pa.Table, headless: bool, names: Sequence[str]) -> pa.Table:
    """The table, where dates, times and long numbers of the named columns are text: Arrow rounds long integers."""
    texts = [name for name in names if not _keeps_ids(table[name])]
    if not texts:
        return table
    text, there = _trimmed(data), table.column_names
    types = dict.fromkeys(texts, pa.string())
    other = _read_table(text, there if headless else [], separators(text), column_types=types, include_columns=texts)
    columns = [other[name] if name in texts else table.column(i) for i, name in enumerate(there)]
    return pa.Table.from_arrays(columns, names=there)


def _keeps_ids(column: pa.ChunkedArray) -> bool:
    if pa.types.is_floating(column.type):
        return has_exact_floats(column)
    return any(kept(column.type) for kept in _KEPT)


_KEPT = (pa.types.is_integer, pa.types.is_string, pa.types.is_binary, pa.types.is_null)


def _trimmed(data: bytes) -> bytes:
    """The text without blank lines and blanks before it, and with an end of its last line, which Arrow needs."""
    return re.sub(rb"\A(\s*[\r\n])? *", b"", data.removeprefix(codecs.BOM_UTF8)) + b"\n"


def check_text(table: pa.Table, names: Sequence[str]) -> None:
    """Raise ValueError for a column whose text is not in UTF-8; Arrow reads it as bytes."""
    for name in names:
        if pa.types.is_binary(table[name].type):
            cells = table[name].to_pylist()
            position = next(i for i, cell in enumerate(cells) if cell is not None and not _is_utf8(cell))
            raise ValueError(f"{name}: expected UTF-8 text, got {cells[position]!r} at position {position}")


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True


def separators(text: bytes) -> Separators:
    r"""The characters between values and in numbers.

    Tabs or semicolons, if the first line has some and no comma but in numbers; otherwise commas, and points in numbers.

    >>> separators(b"score;label\n0,5;1"), separators(b"a,b;c\n1,2")
    (Separators(between=';', decimal=','), Separators(between=',', decimal='.'))
    """
    lines = re.findall(r"[^\r\n]+", text[:_LOOKED_AT].decode(errors="replace"))[:2]
    for mark in ("\t", ";"):
        cells = [line.split(mark) for line in lines]
        flat = [cell for row in cells for cell in row]
        if (
            len(cells[0]) > 1
            and len({*map(len, cells)}) == 1
            and all("," not in cell or _COMMA.match(cell) for cell in flat)
        ):
            return Separators(mark, "," if any("," in cell for cell in flat) else ".")
    return Separators(",", ".")


class Separators(NamedTuple):
    """The separator of values, and the decimal mark."""

    between: str
    decimal: str


_COMMA = re.compile(r"\s*[-+]?\d*,\d+([eE][-+]?\d+)?\s*$")
_LOOKED_AT = 100_000  # bytes


def _read_table(text: bytes, names: list[str], marks: Separators, **options: Any) -> pa.Table:
    """The table of a text; its first line is the header, unless names are given. `options`: of ConvertOptions.

    Only blanks are missing: NA and null are words, and nan is a number.
    """
    form = {
        "parse_options": pyarrow.csv.ParseOptions(delimiter=marks.between),
        "convert_options": pyarrow.csv.ConvertOptions(decimal_point=marks.decimal, null_values=[""], **options),
    }
    source = _in_arrow(text)
    try:
        return pyarrow.csv.read_csv(
            pa.BufferReader(source), read_options=pyarrow.csv.ReadOptions(column_names=names), **form
        )
    except pa.ArrowInvalid as error:
        # Arrow reads blocks of 1 MB; a line may extend into the next block but no further, a header not at all
        if not re.search("straddling object|Empty CSV file or block", str(error)):
            raise
    # threads are slower for many columns
    whole = pyarrow.csv.ReadOptions(column_names=names, block_size=min(len(text), 2**31 - 1), use_threads=False)
    return pyarrow.csv.read_csv(pa.BufferReader(source), read_options=whole, **form)


def _in_arrow(text: bytes) -> pa.Buffer:
    """Copy a text into Arrow's own memory.

    A thread of Arrow may let go of its source only when Python is already ending. With a source of Python's, such as
    io.BytesIO, it then asks for the interpreter, and the process aborts, as 5 of some 1,200 commands did.
    """
    buffer = pa.allocate_buffer(len(text))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(text, np.uint8)
    return buffer


def _is_counted_header(table: pa.Table, first: str, names: Sequence[str]) -> bool:
    """Whether a first line 0,1,2 is pandas' header, of at least three columns of fractions that are named.

    A single 0 above integers is a label. Raises ValueError for others: 0,1 may be probabilities, or score and label.
    """
    kinds = table.schema.types
    if len(kinds) == 1 and pa.types.is_integer(kinds[0]):
        return False
    fractions = len(kinds) > 2 and all(map(pa.types.is_floating, kinds))
    if fractions and names:
        return True
    way = f"on a command line name the columns, as in FILE:{first}, or " if fractions else ""
    raise ValueError(f"expected names or values in the first line, got {first}, which may be either: {way}{_HINT}")


def _may_be_names(cells: Sequence[str]) -> bool:
    """Whether values may be the names of columns, as pandas writes them or as ids of classes."""
    return len({*cells}) == len(cells) and all(cell.isdecimal() for cell in cells)


def _is_value(cell: str) -> bool:
    """Whether a cell of the first line is a value, rather than the name of a column."""
    return reads_as_number(cell) or cell.lower() in ("true", "false")
