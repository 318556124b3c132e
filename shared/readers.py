"""Columns of a metric from files: .npy, .npz, .csv, .parquet, .json, .pt, and standard input.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input.
Files are never unpickled: .npy and .npz hold numbers only, and .pt is read with weights_only.
"""

from __future__ import annotations

import io
import json
import pickle
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

BATCH = 8192  # rows


def open_column(place: str, column: str) -> Any:
    """Open a column of a file, or of standard input for "-": an array, a list, or a `ParquetColumn`, not yet read.

    In a file of several columns (.npz, .csv, .parquet, or a dict in .json or .pt) it is the one of that name, or the
    ones named after a colon in `place`, side by side. A .csv without a header is one column, as wide as it is.
    Raises ValueError, with the place, for what cannot be read.
    """
    path, names = _split(place)
    readers: dict[str, Callable[[Path], Any]] = {"-": _standard_input, ".parquet": _open_parquet, **_READERS}
    kind = "-" if str(path) == "-" else path.suffix
    if kind not in readers:
        raise ValueError(f"{place}: expected a file ending in .parquet, {', '.join(_READERS)}, or -")
    try:
        return _pick(readers[kind](path), column, names)
    except Exception as error:
        raise ValueError(f"{place}: {_reason(error)}") from error


def batches(columns: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Cut open columns of one length into batches of at most `BATCH` rows; Parquet files are read as they go."""
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        came = ", ".join(f"{length} {name}" for name, length in lengths.items())
        raise ValueError(f"expected columns of one length, got {came}")
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
        except (ValueError, OSError) as error:
            raise ValueError(f"{self.path}: {_reason(error)}") from error


def from_arrow(column: Any) -> Any:
    """A column of Arrow as an array: rows of one length become (N, C), or (N, H, W), without a Python object each."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count:
        raise ValueError(f"expected no missing values, got {column.null_count}")
    if not pa.types.is_nested(column.type):
        return column.to_numpy(zero_copy_only=False)
    if not pa.types.is_struct(column.type):
        lengths = np.unique(pc.list_value_length(column).to_numpy(zero_copy_only=False))
        inner = from_arrow(column.flatten())
        if len(lengths) == 1 and isinstance(inner, np.ndarray):
            return inner.reshape(len(column), int(lengths[0]), *inner.shape[1:])
    return column.to_pylist()


def _split(place: str) -> tuple[Path, list[str]]:
    name, colon, names = place.rpartition(":")
    # a file that is there, or C:\… on Windows, has no column after its colon
    if not colon or Path(place).exists() or not (Path(name).suffix or name == "-"):
        return Path(place), []
    return Path(name), names.split(",")


def _read_npy(path: Path) -> Any:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _read_npz(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}


def _read_csv(source: Any) -> Any:
    text = source.read_bytes() if isinstance(source, Path) else source
    first = text.split(b"\n", 1)[0].decode()
    headless = all(_is_number(cell) for cell in first.split(","))
    options = pyarrow.csv.ReadOptions(autogenerate_column_names=headless)
    table = pyarrow.csv.read_csv(io.BytesIO(text), read_options=options)
    columns = {name: from_arrow(table[name]) for name in table.column_names}
    return _side_by_side(list(columns.values())) if headless else columns


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _read_pt(path: Path) -> Any:
    import torch

    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError):
        # torch's own messages are long, and advise to switch the safeguard off
        raise ValueError("expected tensors, or a dict of tensors, got other pickled objects or no .pt file") from None


def _open_parquet(path: Path) -> Any:
    return {name: ParquetColumn(path, [name]) for name in pq.read_schema(path).names}


_READERS: dict[str, Callable[[Path], Any]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".json": _read_json,
    ".pt": _read_pt,
}


@cache
def _standard_input(_: Path) -> Any:
    """JSON, or a table of comma-separated values; read once, though several columns may come from it."""
    text = sys.stdin.buffer.read().lstrip()
    if not text:
        raise ValueError("expected JSON or comma-separated values, got nothing")
    return json.loads(text) if text[:1] in b"[{" else _read_csv(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
    if len(columns) == 1:
        return columns[0]
    if isinstance(columns[0], ParquetColumn):
        return ParquetColumn(columns[0].path, [name for column in columns for name in column.names])
    return np.column_stack(columns)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
