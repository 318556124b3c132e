"""Tables of values separated by commas, semicolons, tabs or blanks, with or without a header.

Their first lines tell the separator, and `header` the header.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from contextlib import suppress
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ...arrays.arrays import reads_as_number
from ...extras import extra
from ..places import unsigned
from .arrow import ids_of
from .header import Header, reads_as

with extra("files"):
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

HINT = "put a line of names above"
BLANKS = " "  # one or more of them
_COMMA, _POINT = (re.compile(rf"[-+]?\d*{mark}\d+([eE][-+]?\d+)?") for mark in (",", r"\."))
_LINE = re.compile(r"[^\r\n]+")
_BETWEEN_BLANKS = re.compile(r"[^\s,]+|[-+]?\d+,\d+([eE][-+]?\d+)?")  # whose commas are in numbers
_LOOKED_AT = 100_000  # bytes
_LOOKED_AT_BELOW = 20_000
_STATED = re.compile(rb"sep=([!-~\t])(?:\r\n|\r|\n)(?=.)", re.IGNORECASE)  # Excel's line above a table


class Separators(NamedTuple):
    """The separator of values, and the decimal mark."""

    between: str
    decimal: str


def separators(text: bytes, stated: str = "", *, by_blanks: bool = False) -> Separators:
    r"""The characters between values and in numbers.

    Tabs or semicolons, if the first two lines have as many, and no comma but in numbers; blanks, on the same terms, if
    a line has numbers alone or if the file is one of values between blanks, where one of the lines suffices; otherwise
    commas, and points in numbers. Between other marks than commas, numbers have commas if one does in the first two
    lines or, if these have no fractions, in a column further below whose fractions all have commas.

    Parameters: stated, the mark that Excel's first line sep=; names; by_blanks, whether files of this name usually have
    values between blanks.

    >>> separators(b"score;label\n1;0\n0,5;1"), separators(b"a,b;c\n1,2")
    (Separators(between=';', decimal=','), Separators(between=',', decimal='.'))
    >>> separators(b"score;part\n0,5;1.1").decimal, separators(b"score;part\n1;1\n0.5;0,5").decimal
    (',', ',')
    >>> separators(b"1 0.5\n0  0.25").between, separators(b"a cat\na dog").between
    (' ', ',')
    """
    lines = _first_lines(text, 2)
    for mark in stated if stated else ("\t", ";"):
        rows = [[cell.strip().strip('"') for cell in line.split(mark)] for line in lines]
        first = [cell for row in rows for cell in row]
        alike = len(rows[0]) > 1 and len({*map(len, rows)}) == 1
        numbers = alike and all("," not in cell or _COMMA.fullmatch(cell) for cell in first)
        if numbers or (stated and stated != ","):
            return Separators(mark, _decimal_mark(first, text, mark))
    rows = [line.split() for line in _first_lines(text, 2, without_blank=True)]
    if not stated and any(len(row) > 1 for row in rows) and _are_between_blanks(rows, by_blanks):
        return Separators(BLANKS, _decimal_mark([cell for row in rows for cell in row], text, None))
    return Separators(",", ".")


def _first_lines(text: bytes, number: int | None = None, *, without_blank: bool = False) -> list[str]:
    """The first lines of a text that are not empty, by default all in its first 100,000 bytes."""
    lines = (line[0] for line in _LINE.finditer(text[:_LOOKED_AT].decode(errors="replace")))
    return [*islice((line for line in lines if not without_blank or line.strip()), number)]


def _are_between_blanks(rows: Sequence[Sequence[str]], by_blanks: bool) -> bool:
    """Whether the first two lines, cut at blanks, are rows."""
    if not all(_BETWEEN_BLANKS.fullmatch(cell) for row in rows for cell in row):
        return False
    lengths = {len(row) - (row[0] == "#") for row in rows}  # numpy.savetxt writes # before names
    return by_blanks or (
        len(lengths) == 1 and any(len(row) > 1 and all(map(_is_value, _with_point(row))) for row in rows)
    )


def _with_point(row: Sequence[str]) -> list[str]:
    return [cell.replace(",", ".") for cell in row]


def _decimal_mark(first: Sequence[str], text: bytes, mark: str | None) -> str:
    """The mark in fractions of the first cells or, if there are none, of a column, between marks or blanks."""
    commas, points = (any(map(pattern.fullmatch, first)) for pattern in (_COMMA, _POINT))
    if commas or points:
        return "," if commas else "."
    rows = [[cell.strip().strip('"') for cell in line.split(mark)] for line in _first_lines(text)]
    for cells in zip(*(row for row in rows if len(row) == len(rows[0]))):
        if any(map(_COMMA.fullmatch, cells)) and not any(map(_POINT.fullmatch, cells)):
            return ","
    return "."


def with_points(array: np.ndarray) -> np.ndarray:
    """A column of cells with points for decimal commas: Arrow keeps all as text beside a cell that is no number.

    >>> with_points(np.asarray(["0,5", "a,b", None, "25,5 %"], dtype=object)).tolist()
    ['0.5', 'a,b', None, '25.5 %']
    """
    if array.dtype.kind not in "OU":
        return array
    cells = [cell.replace(",", ".") if _COMMA.match(cell or "") and _is_number(cell) else cell for cell in array]
    return np.asarray(cells, dtype=object)


def _is_number(cell: str) -> bool:
    return _COMMA.fullmatch(cell.strip(" %")) is not None


def _check_marks(text: bytes, mark: str) -> None:
    """Raise ValueError for values in the first two lines that upright strokes separate."""
    lines = _first_lines(text, 2)
    expected = "expected commas, semicolons, tabs or blanks between values, got"
    strokes = {line.count("|") for line in lines}
    if len(lines) > 1 and len(strokes) == 1 and 0 not in strokes and all(mark not in line for line in lines):
        raise ValueError(f"{expected} |; of pandas, to_csv(sep=',') writes commas")


def _is_value(cell: str) -> bool:
    """Whether a cell is a value, rather than the name of a column."""
    return reads_as_number(cell) or cell.lower() in ("true", "false")


class Csv:
    """A table of separated values.

    table: in Arrow; without a header, its columns are named by their positions, from 0
    headless: whether it has no header
    wanted: the names that are wanted of it
    first_line: the line of the first row; None if lines cannot be counted, since some are blank
    """

    def __init__(
        self, data: bytes, names: Sequence[str] = (), *, are_of_several: bool = False, by_blanks: bool = False
    ) -> None:
        """Read a text.

        Parameters: names, the columns that are wanted, which tell a header of values from the first row;
        are_of_several, whether they are of any of several texts; by_blanks, whether files of this name usually have
        values between blanks. Raises ValueError for an empty text; for a row of another length, with its line; and if
        the first line may be either. So may 0,1,2 and so on, which is only taken for a header above at least three
        columns of fractions that are named.
        """
        self._text = _trimmed(data)
        if not self._text or self._text.isspace():
            raise ValueError("expected comma-separated values, got nothing")
        before = data[: len(data) + 1 - len(self._text)]
        self._lines_before = before.count(b"\n") + before.count(b"\r") - before.count(b"\r\n")
        stated = _STATED.match(self._text)
        if stated:
            self._text = self._text[stated.end() :]
            self._lines_before += 1
        self._marks = separators(self._text, stated[1].decode() if stated else "", by_blanks=by_blanks)
        self._are_blanks = self._marks.between == BLANKS
        if self._are_blanks:
            self._text, self._marks = _with_tabs(self._text), self._marks._replace(between="\t")
        _check_marks(self._text, self._marks.between)
        line = self._text[: self._text.index(b"\n")].partition(b"\r")[0].decode()
        cells = [cell.strip() for cell in next(csv.reader([line], delimiter=self._marks.between))]
        if len(cells) > 1:
            self._text = _without_blank_end(self._text)
        places = [str(i) for i in range(len(cells))]
        there = {*places, *cells}
        self.wanted = [name for name in names if not are_of_several or not there.isdisjoint((name, unsigned(name)))]
        self.headless = cells == places or self._is_headless(cells, line, self.wanted)
        self.table = self._read(places if self.headless else [])
        if cells == places and _is_counted_header(self.table, line, self.wanted):
            self.table, self.headless = self.table.slice(1), False
        blank = self._text.find(b"\n\n")
        counted = blank < 0 or self._text[blank:].isspace()
        self.first_line = self._lines_before + 2 - self.headless if counted else None

    def _is_headless(self, cells: Sequence[str], line: str, names: Sequence[str]) -> bool:
        """Whether the first line is a row. Raises ValueError if it may be either, and no names of columns decide it."""
        wanted, places = {*names}, {*map(str, range(len(cells)))}
        by_place = bool(names) and {*map(unsigned, names)} <= places
        by_name = bool(names) and {name if name in cells else unsigned(name) for name in wanted} <= {*cells}
        if all(_is_value(cell.replace(self._marks.decimal, ".")) for cell in cells):
            # only a line of different integers may be either
            if by_name and by_place and len({*cells}) == len(cells) and all(cell.isdecimal() for cell in cells):
                raise ValueError(f"expected names or values in the first line, got {line}, which may be either: {HINT}")
            return by_place or not by_name
        header = reads_as(cells, self._first_rows(), self._marks.decimal)
        if header is Header.EITHER and by_place == by_name:
            word = next(cell for cell in cells if cell and not _is_value(cell))
            at, shown = cells.index(word), ", ".join(cells[:5])
            raise ValueError(
                f"expected names or values in the first line, got {shown}, which may be either: choose columns by "
                f"position, such as {at}, if it is a row, or by name, such as {word}, if it is names, or {HINT}"
            )
        if header is Header.EITHER:
            return by_place
        return header is Header.ROW and not (by_name and not by_place)

    def _first_rows(self) -> list[list[str]]:
        """The cells of the lines below the first, of some 50."""
        text = self._text[:_LOOKED_AT_BELOW]
        lines = csv.reader(io.StringIO(text.decode(errors="replace"), newline=""), delimiter=self._marks.between)
        rows: list[list[str]] = []
        with suppress(csv.Error):  # of a cell that is cut off
            rows += ([cell.strip() for cell in cells] for cells in islice(lines, 52) if cells)
        return rows[1 : -1 if len(text) < len(self._text) else None]

    @property
    def decimal(self) -> str:
        """The decimal mark, a point or a comma."""
        return self._marks.decimal

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.table.column_names)

    def words(self, name: str) -> Any:
        """The cells of a column as they stand, (N,) strings without blanks around them: 007 and 7 are two names.

        Raises ValueError for text that is not in UTF-8.
        """
        table = self.table
        if pa.types.is_binary(table.column(name).type):
            cells = table[name].to_pylist()
            position = next(i for i, cell in enumerate(cells) if cell is not None and not _is_utf8(cell))
            raise ValueError(f"{name}: expected UTF-8 text, got {cells[position]!r} at position {position}")
        if not pa.types.is_string(table[name].type):
            as_text = {"column_types": {name: pa.string()}, "include_columns": [name]}
            table = self._read(self.names if self.headless else [], **as_text)
        return ids_of(pc.utf8_trim_whitespace(table[name]))

    def _read(self, names: list[str], **options: Any) -> pa.Table:
        """The table of the text; its first line is the header if there are no names. `options`, of ConvertOptions.

        Only blanks are missing: NA and null are words, and nan is a number.
        """
        form = {
            "parse_options": pyarrow.csv.ParseOptions(delimiter=self._marks.between),
            "convert_options": pyarrow.csv.ConvertOptions(
                decimal_point=self._marks.decimal, null_values=[""], **options
            ),
        }
        source = _in_arrow(self._text)
        with suppress(pa.ArrowInvalid):
            return pyarrow.csv.read_csv(
                pa.BufferReader(source), read_options=pyarrow.csv.ReadOptions(column_names=names), **form
            )
        # Arrow reads blocks of 1 MB; a line may extend into the next block but no further, a header not at all. Without
        # threads, which are slower for many columns, it knows the number of a wrong row
        wrong: list[Any] = []

        def keep(row: Any) -> str:
            wrong.append(row)
            return "error"

        if _is_utf8(self._text):  # Arrow decodes a row to hand it on
            form["parse_options"].invalid_row_handler = keep
        size = min(len(self._text), 2**31 - 1)
        whole = pyarrow.csv.ReadOptions(column_names=names, block_size=size, use_threads=False)
        try:
            return pyarrow.csv.read_csv(pa.BufferReader(source), read_options=whole, **form)
        except pa.ArrowInvalid as error:
            if wrong:
                raise ValueError(self._complaint(*wrong)) from None
            line = self._lines_before + 1
            raise ValueError(f"expected a table from line {line} on, got one that is not whole ({error})") from None

    def _complaint(self, row: Any) -> str:
        """The error for a row of another length than the first."""
        text = row.text.replace("\t", BLANKS) if self._are_blanks else row.text
        expected, came = row.expected_columns, f"{row.actual_columns}: {text!r:.100}"
        return f"expected {expected} values in line {self._line_of(row.number)}, as in the first, got {came}"

    def _line_of(self, row: int) -> int:
        """The line on which a row begins, both counted from 1; blank lines are no rows, and cells may have several."""
        reader = csv.reader(io.StringIO(self._text.decode("latin-1"), newline=""), delimiter=self._marks.between)
        begins = 1
        for cells in reader:
            row -= bool(cells)
            if not row:
                break
            begins = reader.line_num + 1
        return self._lines_before + begins


def _trimmed(data: bytes) -> bytes:
    """The text without blank lines and blanks before it, and with an end of its last line, which Arrow needs."""
    text = data.removeprefix(codecs.BOM_UTF8)
    blank = re.match(rb"(\s*[\r\n])? *", text)
    return text[blank.end() if blank else 0 :] + b"\n"


def _with_tabs(text: bytes) -> bytes:
    """The text with a tab for blanks between values, other than in quotes, and without # before names."""
    text = re.sub(rb"\A#[ \t]*|^[ \t]+|[ \t]+(?=\r?$)", b"", text, flags=re.M)
    if b'"' not in text:
        return re.sub(rb"[ \t]+", b"\t", text)
    return re.sub(rb'("[^"\r\n]*")|[ \t]+', lambda match: match[1] or b"\t", text)


def _without_blank_end(text: bytes) -> bytes:
    """The text without last lines of blanks, which are no rows of a table of several columns."""
    last = text[-99:]  # to copy no large text
    content = last.rstrip(b" \r\n")
    if content and b" " not in last[len(content) :]:
        return text
    end = re.compile(rb"[\r\n]").search(text, len(text.rstrip(b" \r\n")))
    return text[: end.start()] + b"\n" if end and b" " in text[end.start() :] else text


def _in_arrow(text: bytes) -> pa.Buffer:
    """Copy a text into Arrow's own memory.

    A thread of Arrow may let go of its source only when Python is already ending. With a source of Python's, such as
    io.BytesIO, it then asks for the interpreter, and the process aborts, as 5 of some 1,200 commands did.
    """
    buffer = pa.allocate_buffer(len(text))
    np.frombuffer(buffer, np.uint8)[:] = np.frombuffer(text, np.uint8)
    return buffer


def _is_counted_header(table: pa.Table, line: str, names: Sequence[str]) -> bool:
    """Whether a first line 0,1,2 is the header that pandas writes: of three or more columns of fractions, if named.

    A single 0 above integers is a label. Raises ValueError for others: 0,1 may be probabilities, or score and label.
    """
    kinds = table.schema.types
    if len(kinds) == 1 and pa.types.is_integer(kinds[0]):
        return False
    fractions = len(kinds) > 2 and all(map(pa.types.is_floating, kinds))
    if fractions and names:
        return True
    way = f"on a command line name the columns, as in FILE:{line}, or " if fractions else ""
    raise ValueError(f"expected names or values in the first line, got {line}, which may be either: {way}{HINT}")


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
