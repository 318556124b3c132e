"""Columns of Arrow as arrays, and tables of comma-separated values, which Arrow reads."""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def from_arrow(column: Any) -> Any:
    """A column of Arrow as an array: rows of one length become (N, C), or (N, H, W), without a Python object each."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if column.null_count:
        raise ValueError(f"expected no missing values, got {column.null_count}")
    if isinstance(column, pa.FixedShapeTensorArray):
        return column.to_numpy_ndarray()
    if isinstance(column, pa.ExtensionArray):
        return from_arrow(column.storage)
    if not pa.types.is_nested(column.type):
        return column.to_numpy(zero_copy_only=False)
    if any(is_list(column.type) for is_list in _LISTS):
        lengths = np.unique(pc.list_value_length(column).to_numpy(zero_copy_only=False))
        inner = from_arrow(column.flatten())
        if len(lengths) == 1 and isinstance(inner, np.ndarray):
            return inner.reshape(len(column), int(lengths[0]), *inner.shape[1:])
    return column.to_pylist()


def read_csv(data: bytes, names: Sequence[str]) -> Any:
    """Columns by name, or of a table without a header, the rows as one column if no names are asked for.

    The first line is a header unless all of it is values. Then names that are asked for decide: by the places of
    columns, from 0, they ask for a table without a header, by values of that line for one with it.
    Raises ValueError for what may be either.
    """
    text = data.removeprefix(codecs.BOM_UTF8).lstrip()
    if not text:
        raise ValueError("expected comma-separated values, got nothing")
    first = re.findall(rb"^[^\r\n]*", text)[0].decode()
    cells = next(csv.reader([first]))
    places = [str(i) for i in range(len(cells))]
    headless = all(map(_is_value, cells))
    if headless and names:
        by_name, by_place = set(names) <= set(cells), set(names) <= set(places)
        if by_name and by_place and cells != places:
            raise ValueError(f"expected names or values in the first line, got {first}, which may be either: {_HINT}")
        headless = by_place and not by_name
    options = pyarrow.csv.ReadOptions(column_names=places) if headless else None
    # the last line may be the only one, which Arrow takes with its end only
    table = pyarrow.csv.read_csv(io.BytesIO(text + b"\n"), read_options=options)
    if headless and not names and cells == places:
        _refuse_counted_header(table, first)
    columns = {name: from_arrow(table[name]) for name in table.column_names}
    return side_by_side([*columns.values()]) if headless and not names else columns


_HINT = "put a line of names above"


def _refuse_counted_header(table: pa.Table, first: str) -> None:
    """Raise ValueError if a first line 0,1,2 may be the names that pandas writes; one 0 above integers is a label."""
    if table.num_columns > 1 or not pa.types.is_integer(table.schema.types[0]):
        raise ValueError(
            f"expected names or values in the first line, got {first}, which may be either: "
            f"name the columns, as in FILE:{first}, or {_HINT}"
        )


def _is_value(cell: str) -> bool:
    """Whether a cell of the first line is a value, rather than the name of a column."""
    try:
        float(cell)
    except ValueError:
        return cell.lower() in ("true", "false")
    return True


def side_by_side(columns: list[Any]) -> Any:
    """A column alone as it is; several as the columns of a matrix."""
    return columns[0] if len(columns) == 1 else np.column_stack(columns)
