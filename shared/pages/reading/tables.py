"""Readers of tables and arrays, by the suffix of a file."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from ...reading.json import by_column, parse_json, parse_json_lines
from ...reading.tables.arrays import read_npy, read_npz
from ...reading.tables.arrow import from_arrow, ids_of
from ...reading.tables.csv import Csv
from ...reading.tables.parquet import read_parquet
from ..serving.limits import RefusedError, check_archive, check_header, check_unpacked
from .data import Data


def _csv(path: Path) -> Data:
    """Columns of a CSV file; without a header, one array of all columns, named after the file."""
    content = path.read_bytes()
    csv = Csv(content)
    data = _columns(csv.table)
    if csv.headless:
        arrays = [*data.arrays.values()]
        return Data({path.stem: arrays[0] if len(arrays) == 1 else np.column_stack(arrays)})
    check_header(path.name, csv.names)
    if not csv.table.num_rows:
        raise RefusedError(f"{path.name}: expected rows below the names {', '.join(csv.names[:5])}, got none")
    data = data._replace(words={name: partial(csv.words, name) for name in csv.names})
    blank = len(content) - len(content.removeprefix(codecs.BOM_UTF8).lstrip())
    line = 2 + content[:blank].count(b"\n")
    return data._replace(lines=dict.fromkeys(data.arrays, line) if b"\n\n" not in content[blank:].rstrip() else {})


def _parquet(path: Path) -> Data:
    """Columns of a Parquet file: numbers, lists of numbers or strings."""
    table = read_parquet(path, partial(check_unpacked, path.name))
    words = {name: partial(ids_of, table[name]) for name in table.column_names}
    return _columns(table)._replace(words=words)


def _columns(table: Any) -> Data:
    """Columns of an Arrow table. Gaps in floats become NaN, since columns may be shorter than the table."""
    return Data({name: _array_of(table[name]) for name in table.column_names})


def _array_of(column: Any) -> Any:
    """An array of a column; integers beside gaps stay integers, beside None."""
    return ids_of(column) if column.null_count and pa.types.is_integer(column.type) else from_arrow(column, gaps=True)


def _npz(path: Path) -> Data:
    """Arrays of an .npz archive."""
    check_archive(path)
    return Data(read_npz(path))


def _npy(path: Path) -> Data:
    """The array of an .npy file, named after the file."""
    return Data({path.stem: read_npy(path)})


def _json(path: Path) -> Data:
    """Columns of a JSON object of lists, or of a list of records; any other list is named after the file."""
    return _from_json(path, parse_json(path.read_bytes()))


def _json_lines(path: Path) -> Data:
    """Columns of records, one in each line; any other values are named after the file."""
    return _from_json(path, parse_json_lines(path.read_bytes()))


def _from_json(path: Path, content: Any) -> Data:
    content = by_column(content)
    if isinstance(content, list):
        return Data({path.stem: _array(content)})
    if not isinstance(content, dict) or "boxes" in content:
        raise RefusedError(f"{path.name}: expected an object of lists or a list, got {type(content).__name__}")
    return Data({name: _array(value) for name, value in content.items()})


def _array(value: Any) -> Any:
    """A list as an array of numbers, strings or, if they are mixed or some are missing, objects; else unchanged."""
    try:
        array = np.asarray(value)
    except ValueError:
        return value
    if array.dtype.kind in "biuf":
        return array
    cells = isinstance(value, list) and all(cell is None or isinstance(cell, (str, int, float)) for cell in value)
    return (
        (array if array.dtype.kind == "U" and all(isinstance(x, str) for x in value) else _objects(value))
        if cells
        else value
    )


def _objects(cells: list[Any]) -> np.ndarray:
    array = np.empty(len(cells), object)
    array[:] = cells
    return array


READERS: Mapping[str, Callable[[Path], Data]] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
    ".npy": _npy,
    ".json": _json,
    ".jsonl": _json_lines,
}
