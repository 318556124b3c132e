"""Named arrays of a file: .npy, .npz, .csv, .tsv, .parquet, .json, .jsonl, .pt and tables of text; standard input.

Files are never unpickled: .npy and .npz hold numbers only, and .pt is read with weights_only.
"""

from __future__ import annotations

import codecs
import sys
import zipfile
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from itertools import chain, count as counting
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

import numpy as np
from numpy.lib.npyio import NpzFile

from ...arrays.checks import check_lengths
from ...extras import extra
from ..limits import COMMANDS, Limits
from ..objects import by_column, by_path, parse_json, parse_json_lines, read_torch_file
from ..places import unsigned
from ..reasons import named, rows_from

_Read = TypeVar("_Read")
_TRIES = 100


def read_npy(path: Path) -> np.ndarray:
    """The array of an .npy file, memory-mapped, so that it takes no more memory than the file's size."""
    return tried(lambda: _mapped(path))


def tried(read: Callable[[], _Read]) -> _Read:
    """Call a function that parses headers, again if it fails: CPython 3.11 may fail if threads parse concurrently.

    Its error is "SystemError: AST constructor recursion depth mismatch": the depth is counted once for all threads.
    """
    for _ in range(_TRIES):
        try:
            return read()
        except SystemError:
            continue
    return read()


def _mapped(path: Path) -> np.ndarray:
    try:
        with path.open("rb") as file:
            shape, dtype = npy_header(file)
        # to infer a missing length, NumPy divides by the item size, and so crashes the process if that is 0
        if not dtype.itemsize or min(shape, default=0) < 0:
            raise ValueError
        return np.asarray(np.lib.format.open_memmap(path, mode="r"))
    except (ValueError, RecursionError, MemoryError):  # the last two for a deeply nested header
        raise ValueError("expected numbers as numpy.save writes them, got objects, or no whole .npy file") from None


def npy_header(file: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """The shape and dtype in the header of an .npy file, read before any memory is allocated for the array."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = header(file)
    return shape, dtype


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz archive, by name."""

    def read() -> dict[str, np.ndarray]:
        # numpy.load treats other files as pickles, and suggests unsafe loading; it leaves a damaged file open
        with path.open("rb") as file, NpzFile(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}

    return tried(read)


BATCH = 8192  # rows of a Parquet file that are read at a time
STANDARD_INPUT = Path("-")
TEXTS = (".txt", ".scores", ".lst", ".dat", "")  # whose values usually stand between blanks
NAMED = (".csv", ".tsv", ".parquet", ".npz", ".npy", ".json", ".jsonl", ".pt")
SUFFIXES = (*NAMED, *TEXTS)
_RECORDS = "of pandas, to_json(orient='records') writes a list of rows"
_LONGEST_LINE = 1_000_000  # bytes of a line of names that is looked at


class Lines(NamedTuple):
    """The places of rows in their file.

    first: the line of the first row in the file; None for a file without lines, whose rows are counted from 1
    order: (N,) the row in the file of each row; None if they are in its order
    below: of rows of several files, one below another, the row that each begins with, its name and its own lines
    """

    first: int | None = None
    order: np.ndarray | None = None
    below: Sequence[tuple[int, str, Lines]] = ()

    def in_file(self, row: int) -> int:
        """The row in the file of a row."""
        return row if self.order is None else int(self.order[row])

    def place(self, row: int) -> str:
        """Where a row stands in the file, in words.

        >>> Lines(2).place(0), Lines().place(1_000), Lines(order=np.asarray([1, 0])).place(0)
        ('line 2', 'row 1001', 'row 2')
        """
        position = self.in_file(row)
        if self.below:
            start, file, lines = self.below[bisect_right([start for start, *_ in self.below], position) - 1]
            return f"{lines.place(position - start)} of {file}"
        return f"row {position + 1}" if self.first is None else f"line {position + self.first}"


class Table(NamedTuple):
    """Named arrays.

    arrays: (N,), (N, K) or (N, H, W) arrays, lists of arrays, or `Streamed` columns, by name
    words: by the name of a column, a function that reads its cells as names, as they stand in the file
    lines: the places of a column's rows in its file, where it has lines or another order
    files: the file of a column
    decimals: the decimal mark of a column's file, where it is no point
    alone: whether it is one array without a name, which is called like its file
    sources: the columns that a column is computed from
    """

    arrays: dict[str, Any]
    words: Mapping[str, Callable[[], Any]] = {}
    lines: Mapping[str, Lines] = {}
    files: Mapping[str, str] = {}
    decimals: Mapping[str, str] = {}
    alone: bool = False
    sources: Mapping[str, Sequence[str]] = {}

    def joined(self, more: Table, stem: str) -> Table:
        """The arrays of both; one whose name is taken is prefixed with the stem of its file, or "stem (2)"."""
        called = {}
        for name in more.arrays:
            names = chain([name, f"{stem}: {name}"], (f"{stem} ({number}): {name}" for number in counting(2)))
            called[name] = next(free for free in names if free not in self.arrays)
        arrays, words, lines, files, decimals = (
            {**part, **{called.get(name, name): value for name, value in other.items()}}
            for part, other in zip(self[:5], more[:5])
        )
        return Table(arrays, words, lines, files, decimals)

    def of_file_of(self, name: str) -> Table:
        """The arrays of the file of a column, and none where it is of no file."""
        file = self.files.get(unsigned(name))
        parts: list[Any] = [
            {key: value for key, value in part.items() if file and self.files.get(key) == file} for part in self[:5]
        ]
        return Table(*parts)


class Streamed:
    """A column of a Parquet file, or one made of several, read in batches as it is iterated over.

    In an order other than the file's, (N,) of its rows, all batches are read before the first.
    """

    def __init__(
        self,
        path: Path,
        names: Sequence[str],
        num_rows: int,
        build: Callable[[list[Any]], Any] = lambda arrays: arrays[0],
        *,
        ids: bool = False,
        order: np.ndarray | None = None,
    ) -> None:
        self.path, self.names, self.num_rows, self.build, self.ids, self.order = (
            path,
            names,
            num_rows,
            build,
            ids,
            order,
        )

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[Any]:
        if self.order is None:
            yield from self._batches()
            return
        rows = _all_of(self._batches())
        for start in range(0, len(self.order), BATCH):
            positions = self.order[start : start + BATCH]
            yield rows[positions] if isinstance(rows, np.ndarray) else [rows[row] for row in positions.tolist()]

    def _batches(self) -> Iterator[Any]:
        from .arrow import read_batches

        first = 0
        with named(self.path):
            for batch in read_batches(self.path, self.names, BATCH, ids=self.ids):
                with rows_from(first):
                    yield self.build(batch)
                first += len(batch[0])

    def mapped(self, change: Callable[[Any], Any]) -> Streamed:
        """The column with a function applied to each batch."""
        return self._with(lambda arrays: change(self.build(arrays)), self.order)

    def in_order(self, order: np.ndarray) -> Streamed:
        """The column with its rows in another order."""
        return self._with(self.build, order if self.order is None else self.order[order])

    def _with(self, build: Callable[[list[Any]], Any], order: np.ndarray | None) -> Streamed:
        return Streamed(self.path, self.names, self.num_rows, build, ids=self.ids, order=order)

    def whole(self) -> Any:
        """All rows."""
        return _all_of(self)


def _all_of(batches: Iterable[Any]) -> Any:
    """The rows of all batches."""
    parts = [*batches]
    if parts and isinstance(parts[0], list):  # of rows of different lengths, such as boxes
        return [row for part in parts for row in part]
    return np.concatenate(parts) if parts else np.zeros(0)


def side_by_side(columns: Sequence[Streamed], build: Callable[[list[Any]], Any]) -> Streamed:
    """A column that a function makes of several columns of one Parquet file."""
    names = [name for column in columns for name in column.names]
    builds = [(column.build, len(column.names)) for column in columns]

    def of_all(arrays: list[Any]) -> Any:
        start, parts = 0, []
        for build_part, width in builds:
            parts.append(build_part(arrays[start : start + width]))
            start += width
        return build(parts)

    first = columns[0]
    return Streamed(first.path, names, len(first), of_all, ids=first.ids, order=first.order)


def whole(column: Any) -> Any:
    """A column with all rows, also of a Parquet file that is read in batches."""
    return column.whole() if isinstance(column, Streamed) else column


def batches(columns: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cut columns of one length into batches of at most `BATCH` rows, each with the number of its first row."""
    check_lengths(**columns)
    parts = {name: iter(x if isinstance(x, Streamed) else [x]) for name, x in columns.items()}
    rest: dict[str, Any] = {name: next(cut, []) for name, cut in parts.items()}
    first = 0
    while rows := min(BATCH, *map(len, rest.values())):
        yield first, {name: part[:rows] for name, part in rest.items()}
        first += rows
        rest = {name: part[rows:] if len(part) > rows else next(parts[name], []) for name, part in rest.items()}


def read_table(
    path: Path,
    names: Sequence[str] = (),
    limits: Limits = COMMANDS,
    *,
    streamed: bool = False,
    are_of_several: bool = False,
    by_column: bool = False,
) -> Table:
    """The arrays of a file, or of "-", standard input.

    Parameters: names, the columns that are wanted, which tell a header of numbers in a table of text from the first
    row; streamed, whether columns of Parquet files are read only as they are iterated over; are_of_several, whether the
    names are wanted of any of several files, so that those that this one does not have say nothing; by_column, whether
    numbers without names, of which one column is of two whole numbers, are columns rather than a matrix.
    Raises ValueError, with the file's name, for a file that cannot be read, and RefusedError beyond the limits.
    """
    suffix = path.suffix.lower()
    if path != STANDARD_INPUT and suffix not in SUFFIXES:
        raise ValueError(f"{limits.shown(path)}: expected a file ending in {', '.join(filter(None, SUFFIXES))}, or -")
    of_text = partial(_of_text, names=names, are_of_several=are_of_several, by_column=by_column)
    with named(limits.shown(path)):
        check_names(_stated(path, suffix), limits)  # before a long list of them takes gigabytes
        if path == STANDARD_INPUT:
            content = _standard_input()
            table = of_text(content, path) if isinstance(content, bytes) else _of_json(content, "values", names)
        elif suffix in (".csv", ".tsv", *TEXTS):
            table = of_text(path.read_bytes(), path)
        elif suffix == ".parquet":
            table = _streamed(path) if streamed else _of_parquet(path, limits)
        elif suffix == ".npz":
            with path.open("rb") as file:
                limits.check_members(path.name, file)
            with zipfile.ZipFile(path) as archive:  # which is read no further than its stated sizes
                limits.check_unpacked(path.name, sum(member.file_size for member in archive.infolist()))
            table = Table(read_npz(path))
        elif suffix == ".npy":
            table = Table({path.stem: read_npy(path)}, alone=True)
        elif suffix == ".pt":
            table = _of_torch(path)
        else:
            parse = _parse_either if suffix == ".json" else parse_json_lines
            table = _of_json(parse(path.read_bytes()), path.stem, names)
        table = _with_rows(table)
        check_names([*table.arrays], limits)
    return table._replace(files=dict.fromkeys(table.arrays, limits.shown(path)))


def _with_rows(table: Table) -> Table:
    """A table without single values, which are no columns. Raises ValueError if it holds nothing else, or no row."""
    single = [name for name, x in table.arrays.items() if x is None or isinstance(x, str) or getattr(x, "ndim", 1) == 0]
    if single and len(single) == len(table.arrays):
        raise ValueError(f"expected columns with a value for each sample, got single values ({', '.join(single[:5])})")
    arrays = {name: x for name, x in table.arrays.items() if name not in single}
    if arrays and not any(map(len, arrays.values())):
        raise ValueError(f"expected rows, got none below {', '.join([*arrays][:5])}")
    return table._replace(arrays=arrays)


def _stated(path: Path, suffix: str) -> list[str]:
    """The columns that a file declares before it is read: names for .npz and .parquet, positions for .csv."""
    with suppress(Exception):  # of many types, which the file's reader reports
        if suffix == ".npz":
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()
        if suffix == ".parquet":
            from pyarrow.parquet import read_schema

            return list(read_schema(path).names)
        if suffix == ".csv":
            with path.open("rb") as file:
                line = file.read(_LONGEST_LINE).lstrip().partition(b"\n")[0]
            return [str(place) for place in range(1 + line.count(b","))]
    return []


def check_names(names: Sequence[str], limits: Limits) -> None:
    """Raise ValueError for too many columns, two of one name, and a name that is too long or invalid in UTF-8."""
    if len(names) > limits.columns:
        raise ValueError(f"expected at most {limits.columns:,} columns, got {len(names):,}")
    for name, count in Counter(names).items():
        if count > 1:
            raise ValueError(f"expected columns of different names, got {count} named {name[:99]!r}")
        if len(name) > limits.name:
            raise ValueError(f"expected names of at most {limits.name} characters, got one of {len(name):,}")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ValueError(f"expected names that can be encoded in UTF-8, got {name!r}")


def _of_text(content: bytes, path: Path, *, names: Sequence[str], are_of_several: bool, by_column: bool) -> Table:
    """Columns of separated values; without a header and words, one array of all, named after the file."""
    from .csv import Csv, with_points  # whose library takes time to import

    csv = Csv(content, names, are_of_several=are_of_several, by_blanks=path.suffix.lower() in TEXTS)
    check_names(csv.names, COMMANDS)
    arrays = {name: _array_of(csv.table[name]) for name in csv.names}
    if csv.decimal != ".":
        arrays = {name: with_points(array) for name, array in arrays.items()}
    words = {name: partial(csv.words, name) for name in csv.names}
    parts = [*arrays.values()]
    are_numbers = all(array.dtype.kind in "biuf" for array in parts)
    has_labels = csv.headless and by_column and len(parts) > 1 and any(map(_is_of_two, parts))
    if csv.headless and not csv.wanted and (len(parts) == 1 or (are_numbers and not has_labels)):
        return Table({path.stem: parts[0] if len(parts) == 1 else np.column_stack(parts)}, alone=True)
    lines = {} if csv.first_line is None else dict.fromkeys(arrays, Lines(csv.first_line))
    return Table(arrays, words, lines, decimals={} if csv.decimal == "." else dict.fromkeys(arrays, csv.decimal))


def _is_of_two(array: np.ndarray) -> bool:
    """Whether a column is of two whole numbers."""
    return array.dtype.kind in "iu" and len(np.unique(array)) == 2


def _of_parquet(path: Path, limits: Limits) -> Table:
    from .arrow import ids_of, read_parquet

    table = read_parquet(path, partial(limits.check_unpacked, path.name))
    arrays = {name: _array_of(table[name]) for name in table.column_names}
    return Table(arrays, {name: partial(ids_of, table[name]) for name in table.column_names})


def _array_of(column: Any) -> Any:
    """An array of an Arrow column; gaps among floats are NaN, among integers None."""
    import pyarrow as pa

    from .arrow import from_arrow, ids_of

    return ids_of(column) if column.null_count and pa.types.is_integer(column.type) else from_arrow(column, gaps=True)


def _streamed(path: Path) -> Table:
    with extra("files"):
        from pyarrow.parquet import read_metadata

    footer = read_metadata(path)
    names = footer.schema.to_arrow_schema().names
    return Table(
        {name: Streamed(path, [name], footer.num_rows) for name in names},
        {name: partial(Streamed, path, [name], footer.num_rows, ids=True) for name in names},
    )


def _of_torch(path: Path) -> Table:
    content = read_torch_file(path, "expected tensors, or a dict of tensors, got other pickled objects or no .pt file")
    return Table(dict(content)) if isinstance(content, Mapping) else Table({path.stem: content}, alone=True)


def _of_json(content: Any, stem: str, names: Sequence[str] = ()) -> Table:
    """Columns of an object of lists, or of records; any other list is named after the file.

    Lists in nested objects are named by their paths, such as predictions.real. Raises ValueError for other content, and
    for a wanted name that leads to no list.
    """
    content = by_column(content)
    if isinstance(content, list):
        return Table({stem: _as_array(content)}, alone=True)
    if not isinstance(content, dict) or "boxes" in content:
        raise ValueError(f"expected an object of lists or a list, got {type(content).__name__}")
    values = [*by_path(content)]
    for name, count in Counter(name for name, _ in values).items():
        if count > 1:
            raise ValueError(f"expected one value at each path, got {count} at {name!r}")
    columns = dict(values)
    lists = [name for name, value in values if isinstance(value, list)]
    objects = [*dict.fromkeys(name.rpartition(".")[0] for name, _ in values if name not in content)]
    for name in map(unsigned, names if objects else ()):
        below = [each for each in lists if each.startswith(f"{name}.")]
        if name not in columns and any(f"{each}.".startswith(f"{name}.") for each in objects):
            reason = f"its lists are {', '.join(below[:9])}" if below else _RECORDS
            raise ValueError(f"{name}: expected a list, got an object; {reason}")
        if name in columns and name not in lists:
            raise ValueError(f"{name}: expected a list, got {columns[name]!r:.40}; there are {', '.join(lists[:9])}")
    if objects and not lists:
        raise ValueError(f"{objects[0]}: expected a list, got an object; {_RECORDS}")
    return Table({name: _as_array(value) for name, value in columns.items()})


def _as_array(value: Any) -> Any:
    """A list as an array of numbers, strings or, if they are mixed or some are missing, objects; else unchanged."""
    try:
        array = np.asarray(value)
    except (ValueError, OverflowError):
        return value
    if array.dtype.kind in "biuf":
        return array
    if not isinstance(value, list) or not all(cell is None or isinstance(cell, (str, int, float)) for cell in value):
        return value
    if array.dtype.kind == "U" and all(isinstance(cell, str) for cell in value):
        return array
    cells = np.empty(len(value), object)
    cells[:] = value
    return cells


@cache
def _standard_input() -> Any:
    """The content of JSON or of lines of it, or bytes of separated values; read once for all columns."""
    if sys.stdin is None:
        raise ValueError("expected an open standard input, got a closed one")
    data = sys.stdin.buffer.read()
    text = data.removeprefix(codecs.BOM_UTF8).strip()
    if not text:
        raise ValueError("expected JSON or comma-separated values, got nothing")
    return _parse_either(text) if text[:1] in b"[{" else data


def _parse_either(data: bytes) -> Any:
    """The content of JSON, or the contents of lines of JSON, of which the first then is whole."""
    text = data.removeprefix(codecs.BOM_UTF8).strip()
    first, _, more = text.partition(b"\n")
    if more:
        try:
            parse_json(first)
        except ValueError:  # it is no whole object, of which there are others below
            return parse_json(data)
        return parse_json_lines(text)
    return parse_json(data)
