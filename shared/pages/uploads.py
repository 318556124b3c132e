"""Read an upload: named arrays, and the Python that reads the same ones from the same files.

Nothing is unpickled, and sizes are checked before a file is read whole. Errors name the file, never its folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow.parquet

from .limits import RefusedError, check_archive, check_files, check_unpacked, without_paths


class Data(NamedTuple):
    """Named arrays, the lines that read them, and an expression for each; nothing of these for a typed table.

    An array may be a list of arrays, one per image. `options` are those that the format brings with it.
    """

    arrays: dict[str, Any]
    setup: list[str] = []
    code: dict[str, str] = {}
    options: Mapping[str, Any] = {}


Reader = Callable[[list[Path], str], Data]  # the files, and what the names of its variables end on


def read_table(frame: pd.DataFrame | None) -> Data:
    """Columns of the page's table. Rows and columns that are empty are left out; what is no number stays as it is."""
    frame = pd.DataFrame() if frame is None else frame.map(_filled).dropna(how="all").dropna(how="all", axis=1)
    return Data({str(name).strip(): _as_numbers(frame[name]) for name in frame.columns})


def _filled(cell: Any) -> Any:
    return np.nan if isinstance(cell, str) and not cell.strip() else cell


def _as_numbers(column: Any) -> Any:
    try:
        return pd.to_numeric(column).to_numpy()
    except (ValueError, TypeError):
        return column.to_numpy(dtype=object)


def read_files(paths: list[Path], readers: Mapping[str, Reader], tag: str = "") -> Data:
    """Pool the arrays of some files, each read by the reader of its suffix; a name that occurs twice gets its file's.

    Raises RefusedError for what is too large, of another kind than its suffix says, or of a kind that no reader takes.
    """
    check_files(paths)
    pooled = Data({}, [], {}, {})
    for suffix in dict.fromkeys(path.suffix.lower() for path in paths):
        group = [path for path in paths if path.suffix.lower() == suffix]
        reader = readers.get(suffix) or READERS.get(suffix)
        if reader is None:
            known = ", ".join([*readers, *READERS])
            raise RefusedError(f"{group[0].name}: expected one of {known}, got {suffix or 'no suffix'}")
        for part in [group] if suffix in readers else [[path] for path in group]:
            found = _read(part, reader, tag + (f"_{len(pooled.setup)}" if pooled.setup else ""))
            for name, array in found.arrays.items():
                label = f"{part[0].stem}: {name}" if name in pooled.arrays else name
                pooled.arrays[label], pooled.code[label] = array, found.code[name]
            pooled = pooled._replace(setup=pooled.setup + found.setup, options={**pooled.options, **found.options})
    return pooled


def _read(paths: list[Path], reader: Reader, tag: str) -> Data:
    try:
        return reader(paths, tag)
    except RefusedError:
        raise
    except MemoryError:
        raise RefusedError(f"{paths[0].name}: it takes more memory than there is") from None
    except Exception as error:  # of whatever library reads the format
        kind = paths[0].suffix.lower()[1:]
        reason = without_paths(str(error).splitlines()[0] if str(error) else type(error).__name__)[:200]
        raise RefusedError(f"{paths[0].name}: cannot be read as {kind}: {reason}") from None


def read_csv(paths: list[Path], tag: str = "") -> Data:
    """Columns of a CSV file with a header."""
    name = paths[0].name
    table = pd.read_csv(paths[0], engine="pyarrow", compression=None)  # whose floats are exact in every pandas
    read = f'table{tag} = pd.read_csv({name!r}, engine="pyarrow")'
    return _frame(table, ["import pandas as pd", read], f"table{tag}")


def read_parquet(paths: list[Path], tag: str = "") -> Data:
    """Columns of a Parquet file, of numbers, lists of numbers or strings."""
    path = paths[0]
    with pyarrow.parquet.ParquetFile(path) as file:
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        chunks = [group.column(i) for group in groups for i in range(group.num_columns)]
        values = sum(chunk.num_values for chunk in chunks)
        check_unpacked(path.name, 8 * values + sum(chunk.total_uncompressed_size for chunk in chunks))
        strings = [chunk.path_in_schema for chunk in chunks if chunk.physical_type == "BYTE_ARRAY"]
    # as a dictionary, a string that is repeated takes no more memory than in the file
    table = pyarrow.parquet.ParquetFile(path, read_dictionary=sorted(set(strings))).read().to_pandas()
    name = f"table{tag}"
    return _frame(table, ["import pandas as pd", f"{name} = pd.read_parquet({path.name!r})"], name)


def _frame(table: pd.DataFrame, setup: list[str], variable: str) -> Data:
    arrays, code = {}, {}
    for name in table.columns:
        column = table[name]
        lists = column.dtype == object and len(column) and isinstance(column.iloc[0], (list, np.ndarray))
        arrays[str(name)] = np.stack([np.asarray(row) for row in column]) if lists else np.asarray(column)
        code[str(name)] = f"{variable}[{name!r}]" + (".tolist()" if lists else ".to_numpy()")
    return Data(arrays, setup, code)


def read_npz(paths: list[Path], tag: str = "") -> Data:
    """Arrays of an .npz archive."""
    check_archive(paths[0])
    with np.load(paths[0], allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}
    variable = f"arrays{tag}"
    read = f"{variable} = np.load({paths[0].name!r}, allow_pickle=False)"
    return Data(arrays, ["import numpy as np", read], {name: f"{variable}[{name!r}]" for name in arrays})


def read_npy(paths: list[Path], tag: str = "") -> Data:
    """The array of an .npy file, named like it."""
    path, variable = paths[0], f"array{tag}"
    with path.open("rb") as file:
        version = np.lib.format.read_magic(file)
        reader = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = reader(file)
        check_unpacked(path.name, dtype.itemsize * int(np.prod([float(n) for n in shape])))
    array = np.load(path, allow_pickle=False)
    read = f"{variable} = np.load({path.name!r}, allow_pickle=False)"
    return Data({path.stem: array}, ["import numpy as np", read], {path.stem: variable})


def read_json(paths: list[Path], tag: str = "") -> Data:
    """Columns of a JSON object of lists, or of a list of records; a list of anything else is named like its file."""
    variable = f"data{tag}"
    try:
        data = json.loads(paths[0].read_text(encoding="utf-8"))
    except RecursionError:
        raise RefusedError(f"{paths[0].name}: expected fewer lists in lists") from None
    setup = ["import json", "from pathlib import Path", f"{variable} = json.loads(Path({paths[0].name!r}).read_text())"]
    if isinstance(data, list) and data and all(isinstance(row, dict) and "boxes" not in row for row in data):
        setup.append(f"{variable} = {{name: [row[name] for row in {variable}] for name in {variable}[0]}}")
        data = {name: [row[name] for row in data] for name in data[0]}
    if isinstance(data, dict) and "boxes" not in data:
        return Data(
            {name: _array(value) for name, value in data.items()},
            setup,
            {name: f"{variable}[{name!r}]" for name in data},
        )
    if not isinstance(data, list):
        raise RefusedError(f"{paths[0].name}: expected an object of lists or a list, got {type(data).__name__}")
    return Data({paths[0].stem: _array(data)}, setup, {paths[0].stem: variable})


def _array(value: Any) -> Any:
    """An array of numbers if it is one; otherwise the lists as they came."""
    try:
        array = np.asarray(value)
    except ValueError:
        return value
    return array if array.dtype.kind in "biuf" else value


READERS: Mapping[str, Reader] = {
    ".csv": read_csv,
    ".parquet": read_parquet,
    ".npz": read_npz,
    ".npy": read_npy,
    ".json": read_json,
}
