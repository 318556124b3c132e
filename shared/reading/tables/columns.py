"""Read columns of a metric from .npy, .npz, .csv, .tsv, .parquet, .json, .jsonl and .pt files, and standard input.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input. A
name may have a sign: "scores.csv:-conf" is the negated column, "scores.csv:+conf" the column as it stands.

Scores of unknown samples are the higher ones, so a column whose name says confidence is refused as such without a sign:
no format and no command guesses its direction.

Files are never unpickled: .npy and .npz hold numbers only, and .pt is read with weights_only.
"""

from __future__ import annotations

import codecs
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...arrays.arrays import widen
from ...arrays.checks import as_numbers, check_lengths
from ...metric.groups import GROUPS
from ..json import by_column, parse_json, parse_json_lines
from ..places import unsigned
from ..reasons import reason
from ..torch_files import read_torch_file
from .arrays import read_npy, read_npz

BATCH = 8192  # rows
_IDS = (GROUPS, "samples")  # columns of names, which may look like dates or long numbers


def open_columns(wanted: Sequence[tuple[str, str]], unknownness: Collection[str] = ()) -> list[Any]:
    """Open columns, each from a place: an array, a list, or a `ParquetColumn`, not yet read. Files are read once.

    In a file of several columns (.npz, .csv, .parquet, a dict in .json or .pt, or records in .json or .jsonl) it is the
    column of that name, or the columns named after a colon in its place, side by side. A .csv with numbers in its first
    line has no header: it is one column of all its numbers, unless columns are named by their positions, from 0.
    Values of the column `groups` may be missing.

    Parameters: wanted, pairs of a column and its place; unknownness, the columns that are higher for unknown samples.
    Returns the columns in the order of `wanted`. Raises ValueError, with the place, for errors in reading, and for a
    confidence without a sign as one of `unknownness`.
    """
    parts = [_split(place) for _, place in wanted]
    names: dict[Path, list[str]] = {}
    for path, picked in parts:
        names.setdefault(path, []).extend(picked)
    files: dict[Path, OpenFile] = {}
    opened = []
    for (column, place), (path, picked) in zip(wanted, parts):
        try:
            if path not in files:
                files[path] = OpenFile(_content(path, names[path]))
            signed = files[path].picked(column, picked)
            if column in unknownness:
                check_direction(signed)
            opened.append(files[path].column(signed, ids=column in _IDS))
        except Exception as error:
            raise ValueError(f"{place}: {reason(error)}") from error
    return opened


def open_column(place: str, column: str) -> Any:
    """Open one column from its place, with the errors of `open_columns`."""
    return open_columns([(column, place)])[0]


class Signed(NamedTuple):
    """A column by its name in a file, "" for the only one, which has none; and the sign that the caller gives it."""

    name: str
    sign: str = ""


class OpenFile:
    """A file of named columns, or of a single one without a name.

    names: of the columns; None for a single one
    """

    def __init__(self, content: Any) -> None:
        self._content = content
        named = isinstance(content, Mapping)
        self.names: list[str] | None = (
            content.csv.names if isinstance(content, _Table) else [*content] if named else None
        )

    @classmethod
    def at(cls, place: str) -> OpenFile:
        """Open the file of a place."""
        return cls(_content(*_split(place)))

    def picked(self, column: str, names: list[str]) -> list[Signed]:
        """The requested columns, or else the only one that there is, or the one of that name.

        Raises ValueError for a name that is not there.
        """
        if self.names is None:
            if names:
                raise ValueError(f"expected named columns, to take {', '.join(names)} from, got a single one")
            return [Signed("")]
        if isinstance(self._content, _Table) and self._content.csv.headless and not names:
            return [*map(Signed, self.names)]
        return picked_names(self.names, column, names)

    def column(self, picked: Sequence[Signed], *, ids: bool = False) -> Any:
        """Columns side by side, each with its sign; `ids` says whether values are names."""
        return _side_by_side([_signed(self._column(name, ids), name, sign) for name, sign in picked], ids=ids)

    def _column(self, name: str, ids: bool) -> Any:
        if isinstance(self._content, _Table):
            return self._content.csv.words(name) if ids else self._content.csv.column(name)
        return self._content if self.names is None else self._content[name]


def check_direction(picked: Sequence[Signed]) -> None:
    """Raise ValueError for a confidence without a sign, where higher scores are to mean unknown samples.

    >>> check_direction([Signed("energy"), Signed("conf", "-")])
    """
    for name, sign in picked:
        if not sign and _CONFIDENCE.search(name):
            raise ValueError(
                f"expected scores that are higher for unknown samples, got {name}, whose name says confidence: write "
                f"FILE:-{name} to negate it, or FILE:+{name} to take it as it is; --flip of ood negates all files"
            )


_CONFIDENCE = re.compile(
    r"(?<![a-z])(conf|confidences?|certainty|max[_ -]?(softmax|prob(abilit(y|ies))?))(?![a-z])", re.I
)


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


def picked_names(there: list[str], column: str, names: list[str]) -> list[Signed]:
    """The requested names, or else the only name that there is, or the column's; blanks around names do not matter.

    Raises ValueError for a name that is not there.

    >>> picked_names(["conf", "label"], "scores", [" conf", "-label"])
    [Signed(name='conf', sign=''), Signed(name='label', sign='-')]
    """
    known = {name.strip(): name for name in reversed(there)} | {name: name for name in there}
    picked = []
    for name in names or (there if len(there) == 1 else [column]):
        trimmed = name.strip()
        spellings = ((name, ""), (trimmed, ""), (unsigned(trimmed).strip(), trimmed[:1]))
        signed = next((Signed(known[each], sign) for each, sign in spellings if each in known), None)
        if signed is None:
            hint = "; name others as in FILE:COLUMN,COLUMN" if name == column else ""
            raise ValueError(f"expected a column {name}, got {', '.join(there) or 'none'}{hint}")
        picked.append(signed)
    return picked


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

    def __init__(self, path: Path, columns: list[Signed], num_rows: int, *, ids: bool = False) -> None:
        self.path, self.columns, self.num_rows = path, columns, num_rows
        self.ids = ids  # whether values are names, of which some may be missing

    def __len__(self) -> int:
        return self.num_rows

    def __iter__(self) -> Iterator[Any]:
        from .parquet import read_batches

        try:
            for batch in read_batches(self.path, [name for name, _ in self.columns], BATCH, ids=self.ids):
                yield _side_by_side([_signed(array, *column) for array, column in zip(batch, self.columns)])
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
    return {
        name: ParquetColumn(path, [Signed(name)], footer.num_rows) for name in footer.schema.to_arrow_schema().names
    }


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


def _signed(column: Any, name: str, sign: str) -> Any:
    """A column with its sign; integers are widened first, since unsigned ones would wrap."""
    if sign != "-":
        return column
    if isinstance(column, ParquetColumn):
        return ParquetColumn(column.path, [Signed(name, sign)], len(column))
    name = name or "scores"
    return -widen(as_numbers(column, name), name)


def _side_by_side(columns: list[Any], *, ids: bool = False) -> Any:
    """Join several columns as a matrix; a single one is returned as it is. `ids` is of Parquet columns."""
    if isinstance(columns[0], ParquetColumn):
        signed = [part for column in columns for part in column.columns]
        return ParquetColumn(columns[0].path, signed, len(columns[0]), ids=ids)
    return columns[0] if len(columns) == 1 else np.column_stack(columns)
