"""Columns of a metric from files: .npy, .npz, .csv, .parquet, .json, .pt, and standard input.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input.
Files are never unpickled: .npy and .npz hold numbers only, and .pt is read with weights_only.
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from ..core.columns import check_lengths
from .arrow import from_arrow, read_csv, side_by_side
from .torch_files import read_torch_file

BATCH = 8192  # rows


def open_column(place: str, column: str) -> Any:
    """Open a column of a file, or of standard input for "-": an array, a list, or a `ParquetColumn`, not yet read.

    In a file of several columns (.npz, .csv, .parquet, or a dict in .json or .pt) it is the one of that name, or the
    ones named after a colon in `place`, side by side. A .csv whose first line is numbers has no header: it is one
    column, as wide as it is, unless columns are named by their places, from 0.
    Raises ValueError, with the place, for what cannot be read.
    """
    path, names = _split(place)
    kind = "-" if str(path) == "-" else path.suffix.lower()
    if kind not in ("-", *_READERS):
        raise ValueError(f"{place}: expected a file ending in {', '.join(_READERS)}, or -")
    try:
        content = _standard_input() if kind == "-" else _READERS[kind](path)
        return _pick(read_csv(content, names) if isinstance(content, bytes) else content, column, names)
    except Exception as error:
        raise ValueError(f"{place}: {_reason(error)}") from error


def batches(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut open columns of one length into batches of at most `BATCH` rows; Parquet files are read as they go."""
    check_lengths(**columns)
    parts = {name: iter(x if isinstance(x, ParquetColumn) else [x]) for name, x in columns.items()}
    rest: dict[str, Any] = {name: next(cut, []) for name, cut in parts.items()}
    while rows := min(BATCH, *map(len, rest.values())):
        yield {name: part[:rows] for name, part in rest.items()}
        rest = {name: part[rows:] if len(part) > rows else next(parts[name], []) for name, part in rest.items()}


class ParquetColumn:
    """A column of a Parquet file, or several side by side, read in batches as it is iterated over."""

    def __init__(self, path: Path, names: list[str]) -> None:
        self.path, self.names = path, names

    def __len__(self) -> int:
        return int(pq.read_metadata(self.path).num_rows)

    def __iter__(self) -> Iterator[Any]:
        try:
            with pq.ParquetFile(self.path) as file:
                for batch in file.iter_batches(BATCH, columns=self.names):
                    yield _side_by_side([from_arrow(batch.column(name)) for name in self.names])
        except Exception as error:
            raise ValueError(f"{self.path}: {_reason(error)}") from error


def _split(place: str) -> tuple[Path, list[str]]:
    name, colon, names = place.rpartition(":")
    # a file that is there, or C:\… on Windows, has no column after its colon
    if not colon or Path(place).exists() or not (Path(name).suffix or name == "-"):
        return Path(place), []
    if not all(names.split(",")):
        raise ValueError(f"{place}: expected FILE:COLUMN,COLUMN, got a column without a name")
    return Path(name), names.split(",")


def _read_npy(path: Path) -> Any:
    try:
        return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))
    except ValueError:
        # NumPy's own message takes any other content for pickled objects, and advises to unpickle them
        raise ValueError("expected numbers as numpy.save writes them, got objects, or no whole .npy file") from None


def _read_npz(path: Path) -> dict[str, Any]:
    # NumPy leaves a broken file open
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _read_json(path: Path) -> Any:
    return _parsed_json(path.read_bytes())


def _parsed_json(text: bytes) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected JSON, got other text at line {error.lineno}, column {error.colno}") from None


def _read_pt(path: Path) -> Any:
    return read_torch_file(path, "expected tensors, or a dict of tensors, got other pickled objects or no .pt file")


def _open_parquet(path: Path) -> Any:
    return {name: ParquetColumn(path, [name]) for name in pq.read_schema(path).names}


# bytes are those of comma-separated values, whose header depends on the columns that are asked for
_READERS: dict[str, Callable[[Path], Any]] = {
    ".csv": Path.read_bytes,
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _open_parquet,
    ".json": _read_json,
    ".pt": _read_pt,
}


@cache
def _standard_input() -> Any:
    """What JSON holds, or the bytes of comma-separated values; read once, though several columns may come from it."""
    text = sys.stdin.buffer.read().removeprefix(codecs.BOM_UTF8).lstrip()
    if not text:
        raise ValueError("expected JSON or comma-separated values, got nothing")
    return _parsed_json(text) if text[:1] in b"[{" else text


def _pick(content: Any, column: str, names: list[str]) -> Any:
    """The columns named, side by side if there are several; or the one called `column`, or the only one."""
    if not isinstance(content, Mapping):
        if names:
            raise ValueError(f"expected named columns, to take {', '.join(names)} from, got a single one")
        return content
    names = names or ([*content] if len(content) == 1 else [column])
    missing = [name for name in names if name not in content]
    if missing:
        hint = "; name others as in FILE:COLUMN,COLUMN" if missing == [column] else ""
        raise ValueError(f"expected a column {missing[0]}, got {', '.join(content) or 'none'}{hint}")
    return _side_by_side([content[name] for name in names])


def _side_by_side(columns: list[Any]) -> Any:
    if isinstance(columns[0], ParquetColumn):
        return ParquetColumn(columns[0].path, [name for column in columns for name in column.names])
    return side_by_side(columns)


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"expected UTF-8 text, got the byte {error.object[error.start]:#04x} at place {error.start}"
    if isinstance(error, KeyError):  # its text is its argument's repr
        return str(error.args[0])
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
