"""Read columns of a metric from .npy, .npz, .csv, .tsv, .parquet, .json, .jsonl and .pt files, and standard input.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input.
Files are never unpickled: .npy and .npz hold numbers only, and .pt is read with weights_only.
"""

from __future__ import annotations

import codecs
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays.columns import check_lengths
from ...metric.groups import GROUPS
from ..json import by_column, parse_json, parse_json_lines
from ..reasons import reason
from ..torch_files import read_torch_file
from .npy import read_npy, read_npz

BATCH = 8192  # rows
_IDS = (GROUPS, "samples")  # columns of names, which may look like dates or long numbers


def open_columns(wanted: Sequence[tuple[str, str]]) -> list[Any]:
    """Open columns, each from a place: an array, a list, or a `ParquetColumn`, not yet read. Files are read once.

    In a file of several columns (.npz, .csv, .parquet, a dict in .json or .pt, or records in .json or .jsonl) it is the
    column of that name, or the columns named after a colon in its place, side by side. A .csv with numbers in its first
    line has no header: it is one column of all its numbers, unless columns are named by their positions, from 0.
    Values of the column `groups` may be missing. Raises ValueError, with the place, for errors in reading.

    Parameters: wanted, pairs of a column and its place. Returns the columns in that order.
    """
    parts = [_split(place) for _, place in wanted]
    names: dict[Path, list[str]] = {}
    for path, picked in parts:
        names.setdefault(path, []).extend(picked)
    contents: dict[Path, Any] = {}
    opened = []
    for (column, place), (path, picked) in zip(wanted, parts):
        try:
            if path not in contents:
                contents[path] = _content(path, names[path])
            opened.append(_pick(contents[path], column, picked))
        except Exception as error:
            raise ValueError(f"{place}: {reason(error)}") from error
    return opened


def open_column(place: str, column: str) -> Any:
    """Open one column from its place, with the errors of `open_columns`."""
    return open_columns([(column, place)])[0]


def file_of(place: str) -> Path | None:
    """The file that holds the column of a place; None for standard input."""
    path, _ = _split(place)
    return None if str(path) == "-" else path


def names_in(place: str) -> list[str]:
    """The columns that a place names; none if it is a file alone.

    >>> names_in("./scores.csv:cat,dog"), names_in("./scores.csv"), names_in("-:score")
    (['cat', 'dog'], [], ['score'])
    """
    return _split(place)[1]


def picked_names(there: list[str], column: str, names: list[str]) -> list[str]:
    """The requested names, or else the only name that there is, or the column's; blanks around names do not matter.

    Raises ValueError for a name that is not there.

    >>> picked_names(["conf", "label"], "scores", [" conf"])
    ['conf']
    """
    trimmed = {name.strip(): name for name in reversed(there)}
    names = names or (there if len(there) == 1 else [column])
    names = [name if name in there else trimmed.get(name.strip(), name) for name in names]
    missing = [name for name in names if name not in there]
    if missing:
        hint = "; name others as in FILE:COLUMN,COLUMN" if missing == [column] else ""
        raise ValueError(f"expected a column {missing[0]}, got {', '.join(there) or 'none'}{hint}")
    return names


def batches(columns: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Cut open columns of one length into batches of at most `BATCH` rows, each with the number of its first row.

    Parquet files are read as they go.
    """
    check_lengths(**columns)
    parts = {name: iter(x if isinstance(x, ParquetColumn) else [x]) for name, x in columns.items()}
    rest: dict[str, Any] = {name: next(cut, []) for name, cut in parts.items()}
    first = 0
    while rows := min(BATCH, *map(len, rest.values())):
        yield first, {name: part[:rows] for name, part in rest.items()}
        first += rows
        rest = {name: part[rows:] if len(part) > rows else next(parts[name], []) for name, part in rest.items()}


def whole_column(opened: Any) -> Any:
    """An open column, with all the rows of a Parquet file in their type."""
    if not isinstance(opened, ParquetColumn):
        return opened
    parts = [*opened]
    return np.concatenate(parts) if parts else np.zeros(0)


class ParquetColumn:
    """A column of a Parquet file, or several side by side, read in batches as it is iterated over."""

    def __init__(self, path: Path, names: list[str], num_rows: int, *, ids: bool = False) -> None:
        self.path, self.names, self.num_rows = path, names, num_rows
        self.ids = ids  # whether values are names, of which some may be missing

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[Any]:
        from .parquet import read_batches

        try:
            yield from map(_side_by_side, read_batches(self.path, self.names, BATCH, ids=self.ids))
        except Exception as error:
            raise ValueError(f"{self.path}: {reason(error)}") from error


def _split(place: str) -> tuple[Path, list[str]]:
    name, colon, names = place.rpartition(":")
    # an existing file, or C:\… on Windows, has no column after its colon
    if not colon or os.path.exists(place) or not (Path(name).suffix or name == "-"):
        return Path(place), []
    if not all(names.split(",")):
        raise ValueError(f"{place}: expected FILE:COLUMN,COLUMN, got a column without a name")
    return Path(name), names.split(",")


def _read_json(path: Path) -> Any:
    return by_column(parse_json(path.read_bytes()))


def _read_json_lines(path: Path) -> Any:
    return by_column(parse_json_lines(path.read_bytes()))


def _read_pt(path: Path) -> Any:
    return read_torch_file(path, "expected tensors, or a dict of tensors, got other pickled objects or no .pt file")


def _open_parquet(path: Path) -> dict[str, ParquetColumn]:
    from pyarrow.parquet import read_metadata

    footer = read_metadata(path)
    return {name: ParquetColumn(path, [name], footer.num_rows) for name in footer.schema.to_arrow_schema().names}


# bytes are comma-separated values; whether they have a header depends on the requested columns
READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": Path.read_bytes,
    ".tsv": Path.read_bytes,
    ".npy": read_npy,
    ".npz": read_npz,
    ".parquet": _open_parquet,
    ".json": _read_json,
    ".jsonl": _read_json_lines,
    ".pt": _read_pt,
}


def _content(path: Path, names: Sequence[str]) -> Any:
    """The content of a file: a mapping of columns, a single column, or an Arrow table and whether it has no header."""
    kind = "-" if str(path) == "-" else path.suffix.lower()
    if kind not in ("-", *READERS):
        raise ValueError(f"expected a file ending in {', '.join(READERS)}, or -")
    content = _standard_input() if kind == "-" else READERS[kind](path)
    if not isinstance(content, bytes):
        return content
    from .csv import Csv

    return _Table(Csv(content, names))


class _Table(NamedTuple):
    csv: Any  # whose module imports Arrow, which takes time


@cache
def _standard_input() -> Any:
    """The content of JSON or of lines of it, or bytes of comma-separated values; read once for all columns."""
    if sys.stdin is None:
        raise ValueError("expected an open standard input, got a closed one")
    data = sys.stdin.buffer.read()
    text = data.removeprefix(codecs.BOM_UTF8).strip()
    if not text:
        raise ValueError("expected JSON or comma-separated values, got nothing")
    if text[:1] not in b"[{":
        return data
    first, _, more = text.partition(b"\n")
    return by_column(parse_json_lines(text) if more and _is_json(first) else parse_json(text))


def _is_json(line: bytes) -> bool:
    """Whether a line is a whole object, so that there are others below."""
    try:
        parse_json(line)
    except ValueError:
        return False
    return True


def _pick(content: Any, column: str, names: list[str]) -> Any:
    if isinstance(content, _Table):
        csv = content.csv
        names = csv.names if csv.headless and not names else picked_names(csv.names, column, names)
        return _side_by_side([csv.words(name) if column in _IDS else csv.column(name) for name in names])
    if isinstance(content, Mapping):
        return _side_by_side([content[name] for name in picked_names([*content], column, names)], ids=column in _IDS)
    if names:
        raise ValueError(f"expected named columns, to take {', '.join(names)} from, got a single one")
    return content


def _side_by_side(columns: list[Any], *, ids: bool = False) -> Any:
    """Join several columns as a matrix; a single one is returned as it is. `ids` is of Parquet columns."""
    if isinstance(columns[0], ParquetColumn):
        names = [name for column in columns for name in column.names]
        return ParquetColumn(columns[0].path, names, len(columns[0]), ids=ids)
    return columns[0] if len(columns) == 1 else np.column_stack(columns)
