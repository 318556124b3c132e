"""Joins of tables whose rows are of the same samples: by the names of the rows where there are any, else by position.

A key is a column of each of two tables, whatever it is called, in which every cell is there once, and that has the same
cells in both. Which columns are looked at:

- Columns of words, dates or whole numbers, also of text or floats that are whole numbers. Fractions are never names,
  so that no score is a key, and neither are columns of a metric (`label`, `score`, `pred`, …), columns that are chosen
  as such, words for known and unknown, and words that are headers, such as classes. A blank cell is a name like others.
- Words under any two headers; whole numbers under one header, or under two that name rows (`id`, `image`, `file_name`,
  pandas' index without a name, …). A running number, 0 … N − 1 or 1 … N in any order, only where both name rows, since
  it may be a rank.

Words win over numbers, and both over a running number. Two keys of one kind that join rows differently are an error.

Two columns of names that share half of their cells or more, or that have one header, or that both have a header of row
names, but that differ in a cell, are an error rather than no key. Without a key, rows are taken by position, which is
said unless all are arrays without columns; columns of one header must then name rows alike, also where names repeat.
So permuting the rows of a table changes no result, or is an error, if anything in the tables names them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from ...arrays.arrays import MAX_EXACT
from ..columns.cells import LOOKED_AT, is_blank, num_dimensions, number_of, plain
from ..columns.kinds import Names
from ..columns.metrics import LAYOUTS
from ..cures import CurableError, Cure
from ..places import unsigned
from ..sides import Place, side_of, side_of_column
from ..tables.files import Lines, Streamed, Table, whole

_ROWS = (
    "image|img|picture|photo|file|filename|basename|stem|frame|sample|row|item|example|instance|record|case|scan|slide|"
    "tile|patch|video|clip|patient|subject|study|document|query"
)
_NAMES = "id|idx|index|indice|uid|uuid|guid|key|name|path|url|uri|hash|md5|timestamp|no|nr"
_OF_ROWS = re.compile(rf"(?:{_ROWS})(?:{_NAMES}|number|file)?|{_NAMES}")
# of other names, such as class_id and model_name
_OF_OTHERS = re.compile(
    "clas(s|se)?|cls?|cat|categor(y|ie)|label|target|truth?|true|gt|pred|predict(ed|ion)|score|prob|logit|model|method|"
    "detector|group|dataset|set"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_INDEX = re.compile(r"|unnamed: 0|__index_level_0__|level_0", re.I)  # as pandas writes an index without a name
_WHOLE = re.compile(r"[-+]?[0-9]+(\.0*)?")
_DATA = frozenset(
    plain(name)
    for layout in LAYOUTS.values()
    for column in layout.columns
    if not isinstance(column, Names)
    for name in (column.name, *column.names)
)


AS_THEY_STAND = Cure("to take rows as they stand", {"by_position": True})


def names_rows(header: str) -> bool:
    """Whether the header of a column says that it names rows.

    >>> [header for header in ("image", "ImageId", "file_names", "class_id", "image_width") if names_rows(header)]
    ['image', 'ImageId', 'file_names']
    """
    words = [word.lower().removesuffix("s") for word in _WORDS.findall(header)]
    return bool(words and _OF_ROWS.fullmatch(words[-1])) and not any(map(_OF_OTHERS.fullmatch, words))


class Sheet(NamedTuple):
    """A table whose rows are of the same samples as the rows of others.

    name: of its file, in sentences
    taken: the columns that are chosen for the metric, which name no rows
    """

    name: str
    table: Table
    taken: Sequence[str] = ()

    @property
    def num_rows(self) -> int:
        """The length of its chosen columns, or else the one that most of its arrays have."""
        names = [unsigned(name) if name not in self.table.arrays else name for name in self.taken]
        there = [self.table.arrays[name] for name in names if name in self.table.arrays]
        lengths = Counter(len(array) for array in there or self.table.arrays.values() if num_dimensions(array))
        return max(lengths, key=lambda length: (lengths[length], length), default=0)


def joined(sheets: Sequence[Sheet], *, first: int = 0) -> tuple[list[Table], list[str], list[list[str]]]:
    """Tables with their rows in the order of the first, sentences on the keys that join them, and each table's keys.

    Parameters: sheets, of the same samples; first, the index of the sheet whose order stays. A column that joins two
    tables under one header stays in one of them. See above for the rule.

    Raises ValueError for names that are in one table only, for names that repeat in another order, for two keys that
    join rows differently, and for rows without names beside tables that have them in different orders.
    """
    if len(sheets) < 2:
        return [sheet.table for sheet in sheets], [], [[] for _ in sheets]
    headers = {name for sheet in sheets for name in sheet.table.arrays}
    columns = [[*_name_columns(sheet, headers)] for sheet in sheets]
    waiting = [first, *(place for place in range(len(sheets)) if place != first)]
    orders: dict[int, np.ndarray] = {}
    repeated: dict[int, list[str]] = {place: [] for place in waiting}
    parts: list[list[int]] = []  # of sheets that keys connect
    notes: dict[str, None] = {}
    keys: list[list[str]] = [[] for _ in sheets]
    while waiting:
        parts.append([waiting.pop(0)])
        orders[parts[-1][0]] = np.arange(sheets[parts[-1][0]].num_rows)
        for place in _neighbours(parts[-1], waiting, columns):
            key = _key(parts[-1], place, columns, orders)
            waiting.remove(place)
            parts[-1].append(place)
            orders[place] = key.order
            repeated[place] = [key.column.name] if key.of.name == key.column.name else []
            notes[key.note] = None
            for sheet, column in ((key.sheet, key.of), (place, key.column)):
                keys[sheet] += [column.name] if column.name not in keys[sheet] else []
    if len(parts) > 1:
        _check_positions(sheets, columns, parts, orders)
        are_bare = all(sheet.table.alone for sheet in sheets)  # arrays have nothing but their positions
        if len({sheet.num_rows for sheet in sheets}) == 1 and not are_bare:
            titles = sorted(sheets[part[0]].name for part in parts)
            listed = f"{', '.join(titles[:-1])} and {titles[-1]}"
            notes[f"rows of {listed} are matched by position, since no column names them in both"] = None
    tables = [_taken(sheet.table, orders[place], repeated[place]) for place, sheet in enumerate(sheets)]
    return tables, [*notes], keys


def order_by_key(one: Sheet, other: Sheet) -> tuple[np.ndarray, str] | None:
    """The row of a sheet for each row of another, (N,), and a sentence on the key that joins them; None without one.

    Raises the errors of `joined`.
    """
    headers = {*one.table.arrays, *other.table.arrays}
    columns, order = [[*_name_columns(sheet, headers)] for sheet in (one, other)], np.arange(one.num_rows)
    if any(_is_key(a, b) for a in columns[0] for b in columns[1]):
        key = _key([0], 1, columns, {0: order})
        return key.order, key.note
    _check_positions([one, other], columns, [[0], [1]], {0: order, 1: np.arange(other.num_rows)})
    return None


def row_names(table: Table) -> Iterator[tuple[str, list[str], bool]]:
    """The columns that may name the rows of a table, the likeliest first: a name, its cells, and whether it says so.

    Words whose header says that they name rows are first, then other words, then whole numbers under such a header.
    """
    columns = _name_columns(Sheet("", table), {*table.arrays})
    likely = (column for column in columns if column.names_rows or (column.are_words and column.are_distinct))
    for column in sorted(likely, key=lambda column: (not column.are_words, not column.names_rows)):
        cells = whole(table.words[column.name]()) if column.name in table.words else column.cells
        yield column.shown, [str(cell).strip() for cell in cells.tolist()], column.are_words and column.names_rows


@dataclass(frozen=True, eq=False)
class _Column:
    """A column that may name the rows of a sheet.

    sheet, name: where it stands
    header: reduced for comparison, "" for an index without a name, None for one that is equal to no other
    cells: (N,) integers or words
    """

    sheet: str
    name: str
    header: str | None
    cells: np.ndarray
    are_words: bool

    @cached_property
    def names_rows(self) -> bool:
        return self.header == "" or names_rows(self.name)

    @cached_property
    def rows(self) -> dict[Any, int]:
        """The last row of each name."""
        return {cell: row for row, cell in enumerate(self.cells.tolist())}

    @cached_property
    def are_distinct(self) -> bool:
        return len(self.rows) == len(self.cells)

    @cached_property
    def is_running(self) -> bool:
        """Whether it holds 0 … N − 1, or 1 … N, in any order."""
        if self.cells.dtype.kind not in "iu" or not self.are_distinct:
            return False
        low, high = min(self.rows), max(self.rows)
        return low in (0, 1) and high - low == len(self.cells) - 1

    @cached_property
    def is_position(self) -> bool:
        """Whether it says no more than the position, as the index of a new data frame."""
        return self.is_running and bool((np.diff(self.cells) == 1).all())

    @property
    def shown(self) -> str:
        return self.name.strip() if self.header != "" else "the unnamed first column"


def _name_columns(sheet: Sheet, headers: set[str]) -> Iterator[_Column]:
    """The columns that may name the rows of a sheet; words that are `headers` of a sheet are classes."""
    table, num_rows = sheet.table, sheet.num_rows
    taken = {each for name in sheet.taken for each in (name, unsigned(name))}
    if table.alone:
        return
    index = [name for name in table.words if name not in table.arrays]  # of a data frame
    for place, name in enumerate([*index, *table.arrays]):
        header: str | None = plain(name) or name.strip().lower()
        if name.strip().isdecimal():  # the position of a column without a header
            header = None if place else ""
        elif _INDEX.fullmatch(name.strip()):
            header = None if place and not name.strip() else ""
        is_data = header in _DATA or "pred" in (header or "") or side_of_column(name, Place.COLUMN) is not None
        if name in taken or is_data:
            continue
        is_named = header == "" or names_rows(name)
        try:
            read = _cells(table, name, is_named=is_named)
        except ValueError as error:  # of text that is not in UTF-8
            if is_named:
                raise ValueError(f"{sheet.name}: {error}") from error
            continue
        if read is not None and len(read[0]) == num_rows > 0 and not (read[0][0] in headers and {*read[0]} <= headers):
            yield _Column(sheet.name, name, header, *read)


def _cells(table: Table, name: str, *, is_named: bool) -> tuple[np.ndarray, bool] | None:
    """The cells of a column as names, and whether they are words; None for one that names no rows."""
    array = table.arrays.get(name)
    read: Callable[[], Any] = table.words.get(name, lambda: array)
    is_streamed = isinstance(array, Streamed)
    if array is None or is_streamed:
        array = next(iter(read()), None) if is_streamed else read()
    kinds = "fiuOUTMm" if is_named else "iuOUTMm"
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in kinds:
        return None
    cells = whole(read()) if is_streamed or array.dtype.kind not in "iu" else array
    if cells.dtype.kind in "iu":
        return cells, False
    if cells.dtype.kind == "f" and bool((np.abs(cells) >= MAX_EXACT).any()):
        return None
    items = cells if cells.dtype.kind in "Mm" else cells.tolist()
    texts = ["" if is_blank(item) else str(item).strip() for item in items]
    there = [text for text in texts if text]
    if all(map(_WHOLE.fullmatch, there)):
        numbers: list[Any] = [*map(_whole_number, texts)]
        if len({*numbers}) == len({*texts}):  # 1 and 01 are two words
            is_int64 = len(there) == len(texts) and -(2**63) <= min(numbers) <= max(numbers) < 2**63
            return (np.asarray(numbers, np.int64) if is_int64 else _objects(numbers), False) if there else None
    elif _are_fractions(there[:LOOKED_AT]) or None not in map(side_of, there):
        return None
    return _objects(texts), True


def _are_fractions(texts: Sequence[str]) -> bool:
    """Whether most texts are numbers, and not all of these are whole."""
    numbers = [text for text in texts if number_of(text) is not None]
    return 2 * len(numbers) > len(texts) and not all(map(_WHOLE.fullmatch, numbers))


def _whole_number(cell: Any) -> Any:
    """A word as a whole number, if it is one."""
    return int(cell.partition(".")[0]) if isinstance(cell, str) and _WHOLE.fullmatch(cell) else cell


def _objects(cells: Sequence[Any]) -> np.ndarray:
    array = np.empty(len(cells), object)
    array[:] = cells
    return array


def _are_comparable(one: _Column, other: _Column) -> bool:
    """Whether two columns may hold names of one kind."""
    if one.are_words != other.are_words:
        return False
    return one.are_words or _have_one_header(one, other) or (one.names_rows and other.names_rows)


def _have_one_header(one: _Column, other: _Column) -> bool:
    return one.header is not None and one.header == other.header


def _is_key(one: _Column, other: _Column) -> bool:
    """Whether two columns have the same names, each once."""
    if len(one.cells) != len(other.cells) or not _are_comparable(one, other) or not one.are_distinct:
        return False
    if one.is_running and not (one.names_rows and other.names_rows):
        return False
    return np.array_equal(one.cells, other.cells) or one.rows.keys() == other.rows.keys()


class _Key(NamedTuple):
    """A key: two columns, the first of a sheet, the rows of the second in its order, and a sentence on it."""

    sheet: int
    of: _Column
    column: _Column
    order: np.ndarray
    note: str


def _neighbours(part: Sequence[int], waiting: Sequence[int], columns: Sequence[Sequence[_Column]]) -> Iterator[int]:
    """The sheets that a key connects with a part, which grows meanwhile, one after another."""
    while True:
        pairs = ((one, other) for other in waiting for one in part)
        place = next(
            (other for one, other in pairs if any(_is_key(a, b) for a in columns[one] for b in columns[other])), None
        )
        if place is None:
            return
        yield place


def _key(part: Sequence[int], place: int, columns: Sequence[Sequence[_Column]], orders: dict[int, np.ndarray]) -> _Key:
    """The likeliest key between a sheet and the sheets of a part. Raises ValueError if others of its kind differ."""
    keys = sorted(
        (
            (_rank(one, other), one, other, member)
            for member in part
            for one in columns[member]
            for other in columns[place]
            if _is_key(one, other)
        ),
        key=lambda key: key[0],
    )
    rank, of, column, sheet = keys[0]
    order = _order(of, column, orders[sheet])
    otherwise: dict[str, None] = {}
    for other_rank, one, other, member in keys[1:]:
        if np.array_equal(_order(one, other, orders[member]), order):
            continue
        if other_rank in (rank, _NUMBERS):
            raise CurableError(
                f"{column.sheet}: expected one way to join its rows with those of {of.sheet}, got two that differ, "
                f"{_shown(of, column)} and {_shown(one, other)}",
                AS_THEY_STAND,
            )
        otherwise[_shown(one, other)] = None
    rest = f", not by {' and '.join(otherwise)}, which would join them otherwise" if otherwise else ""
    return _Key(sheet, of, column, order, f"rows joined by {_shown(of, column)}{rest}")


_NUMBERS = 2


def _rank(one: _Column, other: _Column) -> int:
    """The place of a key among others: words, under headers that name rows; other words; numbers; running numbers."""
    if one.are_words:
        return 0 if _have_one_header(one, other) or (one.names_rows and other.names_rows) else 1
    return 3 if one.is_running else _NUMBERS


def _order(of: _Column, column: _Column, order: np.ndarray) -> np.ndarray:
    """The row of `column` for each row of `of`, whose rows are in an order."""
    names = of.cells[order]
    if np.array_equal(names, column.cells):
        return np.arange(len(names))
    return np.fromiter(map(column.rows.__getitem__, names.tolist()), np.int64, len(names))


def _shown(one: _Column, other: _Column) -> str:
    if _have_one_header(one, other):
        return other.shown
    return f"{one.shown} of {one.sheet} and {other.shown} of {other.sheet}"


def _check_positions(
    sheets: Sequence[Sheet],
    columns: Sequence[Sequence[_Column]],
    parts: Sequence[Sequence[int]],
    orders: dict[int, np.ndarray],
) -> None:
    """Raise ValueError if columns contradict that rows without a key are of the same samples by position."""
    pairs = [(one, other) for a, b in combinations(parts, 2) for one in a for other in b]
    for one, other in pairs:
        for a in columns[one]:
            for b in columns[other]:
                _check_sets(a, b)
    if len({sheet.num_rows for sheet in sheets}) > 1:
        return  # the lengths are the error
    for one, other in pairs:
        for a in columns[one]:
            for b in columns[other]:
                _check_order(a, b)
    for part in parts:
        moved = [place for place in part if not np.array_equal(orders[place], np.arange(len(orders[place])))]
        if moved:
            bare = next(sheets[other[0]].name for other in parts if other is not part)
            are_even = len({sheet.num_rows for sheet in sheets}) == 1
            raise CurableError(
                f"{bare}: expected a column that names its rows, since {sheets[part[0]].name} and "
                f"{sheets[moved[0]].name} name the same rows in different orders",
                *([AS_THEY_STAND] if are_even else []),
            )


def _check_sets(one: _Column, other: _Column) -> None:
    """Raise ValueError for two columns of names of which one lacks names of the other, or has one twice."""
    if one.rows.keys() == other.rows.keys() and len(one.cells) == len(other.cells):
        return
    alike, both = _have_one_header(one, other), one.names_rows and other.names_rows
    are_positions = one.is_position or other.is_position
    are_distinct, is_one_distinct = (each((one.are_distinct, other.are_distinct)) for each in (all, any))
    names, others = ({*map(_whole_number, each.rows)} for each in (one, other))
    shared = len(names & others)
    half = 2 * shared >= max(len(names), len(others)) and is_one_distinct
    if one.are_words != other.are_words:
        says = alike and not (one.header == "" and are_positions)
        are_names = (says and (is_one_distinct if both else are_distinct)) or (half and (alike or both))
    elif alike and both:
        are_names = is_one_distinct
    else:
        says = (alike and one.are_words) or (both and not are_positions)
        are_names = (says and are_distinct) or (half and _are_comparable(one, other))
    if not are_names:
        return
    cures = [AS_THEY_STAND] if len(one.cells) == len(other.cells) else []
    expected = f"{other.sheet}: expected in {other.shown} the {len(one.cells):,} names of {one.shown} in {one.sheet}"
    for column in (one, other):
        if not column.are_distinct:
            ((name, times),) = Counter(column.cells.tolist()).most_common(1)
            where = "" if column is other else f" in {one.sheet}"
            raise CurableError(f"{expected}, each once, got {name!r} {times} times{where}", *cures)
    lacking = next((name for name in one.rows if name not in other.rows), None)
    extra = next((name for name in other.rows if name not in one.rows), None)
    got = f"no {lacking!r}" if lacking is not None else f"{extra!r} too"
    counts = f"{len(one.cells):,} there, {len(other.cells):,} here, {shared:,} in both"
    raise CurableError(f"{expected}, got {got} ({counts})", *cures)


def _check_order(one: _Column, other: _Column) -> None:
    """Raise ValueError for two columns of one header that name rows otherwise, and cannot join them."""
    is_name = one.are_words or one.names_rows or one.are_distinct
    if not _have_one_header(one, other) or one.are_words != other.are_words or not is_name:
        return
    differ = np.flatnonzero(one.cells != other.cells)
    if not len(differ):
        return
    reordered = Counter(one.cells.tolist()) == Counter(other.cells.tolist())
    if not reordered and not one.names_rows:
        return
    row = int(differ[0])
    why = ", whose names repeat and so cannot join rows" if not one.are_distinct else ", a running number"
    raise CurableError(
        f"{other.sheet}: expected {other.shown} row by row as in {one.sheet}{why}, got {other.cells.item(row)!r} for "
        f"{one.cells.item(row)!r} in row {row + 1:,}{', in another order' if reordered else ''}",
        AS_THEY_STAND,
    )


def _taken(table: Table, order: np.ndarray, repeated: Sequence[str]) -> Table:
    """A table with its rows in another order, without columns that another table has, too."""
    arrays = {name: array for name, array in table.arrays.items() if name not in repeated}
    words = {name: read for name, read in table.words.items() if name not in repeated}
    if np.array_equal(order, np.arange(len(order))):
        return table._replace(arrays=arrays, words=words)
    return table._replace(
        arrays={name: _in_order(array, order) for name, array in arrays.items()},
        words={name: partial(_read_in_order, read, order) for name, read in words.items()},
        lines={name: Lines(table.lines.get(name, Lines()).first, order) for name in table.arrays},
    )


def _read_in_order(read: Callable[[], Any], order: np.ndarray) -> Any:
    return _in_order(read(), order)


def _in_order(array: Any, order: np.ndarray) -> Any:
    """An array, a list of arrays, or a streamed column, with its rows in another order, if it has as many."""
    if not num_dimensions(array) or len(array) != len(order):
        return array
    if isinstance(array, Streamed):
        return array.in_order(order)
    return array[order] if isinstance(array, np.ndarray) else [array[row] for row in order.tolist()]
