"""Readers of tables and arrays, by the ending of a file: what it holds by name, and the Python that reads the same."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from ...formats.json import by_column, parse_json
from ...formats.tables.arrow import from_arrow
from ...formats.tables.csv import read_csv, separators
from ...formats.tables.npy import read_npy, read_npz
from ...formats.tables.parquet import read_parquet, unpacked_bytes
from ..serving.limits import RefusedError, check_archive, check_header, check_unpacked


class Data(NamedTuple):
    """Named arrays, the lines that read them, and an expression for each; nothing of these for a typed table.

    An array may be a list of arrays, one per image; `names` are those of its images. `options` are those that the
    format brings with it, `lines` the line of a column's first value in its file.
    """

    arrays: dict[str, Any]
    setup: list[str] = []
    code: dict[str, str] = {}
    options: Mapping[str, Any] = {}
    names: Mapping[str, list[str]] = {}
    lines: Mapping[str, int] = {}


Reader = Callable[[list[Path], str], Data]  # the files, and what the names of its variables end on


def _csv(paths: list[Path], tag: str) -> Data:
    """Columns of a CSV file; of one without a header, all as one array, named like it."""
    path, variable = paths[0], f"table{tag}"
    data = path.read_bytes()
    table, headless = read_csv(data)
    source, setup = repr(path.name), ["import pyarrow.csv"]
    if data.removeprefix(codecs.BOM_UTF8)[:1].isspace():
        source = f'io.BytesIO(Path({source}).read_text(encoding="utf-8-sig").lstrip().encode())'
        setup += ["import io", "from pathlib import Path"]
    options = ", read_options=pyarrow.csv.ReadOptions(autogenerate_column_names=True)" if headless else ""
    between, decimal = separators(data.removeprefix(codecs.BOM_UTF8).lstrip())
    options += f", parse_options=pyarrow.csv.ParseOptions(delimiter={between!r})" if between != "," else ""
    options += f", convert_options=pyarrow.csv.ConvertOptions(decimal_point={decimal!r})" if decimal != "." else ""
    found = _columns(table, [*setup, f"{variable} = pyarrow.csv.read_csv({source}{options})"], variable)
    if not headless:
        check_header(path.name, table.column_names)
        if not table.num_rows:
            raise RefusedError(
                f"{path.name}: expected rows below the names {', '.join(table.column_names[:5])}, got none"
            )
        blank = len(data) - len(data.removeprefix(codecs.BOM_UTF8).lstrip())
        line = 2 + data[:blank].count(b"\n")
        return found._replace(lines=dict.fromkeys(found.arrays, line) if b"\n\n" not in data[blank:].rstrip() else {})
    array, code = np.column_stack([*found.arrays.values()]), f"np.column_stack({variable}.columns)"
    if table.num_columns == 1:
        array, code = array[:, 0], f"{variable}[0].to_numpy()"
    return Data({path.stem: array}, found.setup, {path.stem: code})


def _parquet(paths: list[Path], tag: str) -> Data:
    """Columns of a Parquet file, of numbers, lists of numbers or strings."""
    path, variable = paths[0], f"table{tag}"
    check_unpacked(path.name, unpacked_bytes(path))
    setup = ["import pyarrow.parquet", f"{variable} = pyarrow.parquet.read_table({path.name!r})"]
    return _columns(read_parquet(path), setup, variable)


def _columns(table: Any, setup: list[str], variable: str) -> Data:
    """Columns of a table of Arrow. Gaps are NaN, since not all columns need to be as long as the table."""
    arrays = {name: from_arrow(table[name], gaps=True) for name in table.column_names}
    code = {name: _expression(f"{variable}[{name!r}]", table[name].type, array) for name, array in arrays.items()}
    return Data(arrays, setup, code)


def _expression(column: str, kind: Any, array: Any) -> str:
    """The Python that makes of a column of Arrow what `from_arrow` does."""
    if isinstance(kind, pa.FixedShapeTensorType):
        return f"{column}.combine_chunks().to_numpy_ndarray()"
    if not (pa.types.is_nested(kind) or pa.types.is_dictionary(kind)):
        return f"{column}.to_numpy()"
    return _as_array(f"{column}.to_pylist()", array)


def _as_array(code: str, value: Any) -> str:
    """An expression of lists, made one of an array if the value is an array."""
    return f"np.asarray({code})" if isinstance(value, np.ndarray) else code


def _npz(paths: list[Path], tag: str) -> Data:
    """Arrays of an .npz archive."""
    check_archive(paths[0])
    arrays, variable = read_npz(paths[0]), f"arrays{tag}"
    read = f"{variable} = np.load({paths[0].name!r}, allow_pickle=False)"
    return Data(arrays, ["import numpy as np", read], {name: f"{variable}[{name!r}]" for name in arrays})


def _npy(paths: list[Path], tag: str) -> Data:
    """The array of an .npy file, named like it."""
    path, variable = paths[0], f"array{tag}"
    read = f"{variable} = np.load({path.name!r}, allow_pickle=False)"
    return Data({path.stem: read_npy(path)}, ["import numpy as np", read], {path.stem: variable})


def read_json(paths: list[Path], tag: str) -> Data:
    """Columns of a JSON object of lists, or of a list of records; a list of anything else is named like its file."""
    path, variable = paths[0], f"data{tag}"
    setup = ["import json", "from pathlib import Path", f"{variable} = json.loads(Path({path.name!r}).read_bytes())"]
    content = parse_json(path.read_bytes())
    data = by_column(content)
    if data is not content:
        setup.append(f"{variable} = {{name: [row[name] for row in {variable}] for name in {variable}[0]}}")
    if isinstance(data, list):
        array = _array(data)
        return Data({path.stem: array}, setup, {path.stem: _as_array(variable, array)})
    if not isinstance(data, dict) or "boxes" in data:
        raise RefusedError(f"{path.name}: expected an object of lists or a list, got {type(data).__name__}")
    arrays = {name: _array(value) for name, value in data.items()}
    return Data(arrays, setup, {name: _as_array(f"{variable}[{name!r}]", array) for name, array in arrays.items()})


def _array(value: Any) -> Any:
    """An array of numbers or of strings if it is one; otherwise the lists as they came."""
    try:
        array = np.asarray(value)
    except ValueError:
        return value
    words = array.ndim == 1 and all(isinstance(cell, str) for cell in value)
    return array if array.dtype.kind in "biuf" or words else value


READERS: Mapping[str, Reader] = {
    ".csv": _csv,
    ".tsv": _csv,
    ".parquet": _parquet,
    ".npz": _npz,
    ".npy": _npy,
    ".json": read_json,
}
