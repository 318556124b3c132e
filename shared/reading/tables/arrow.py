"""Convert Arrow columns to arrays.

Read columns of Parquet files: all as a table, or some in batches of rows. Checksums of pages are verified.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ...extras import extra
from ..reasons import named

with extra("files"):
    import pyarrow as pa
    import pyarrow.compute as pc

_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)


def from_arrow(column: Any, *, gaps: bool = False, first: int = 0) -> Any:
    """An Arrow column as an array: lists of equal lengths become (N, C) or (N, H, W), without Python objects.

    Raises ValueError for missing values, with the position of the first, where rows are counted from `first`; with
    `gaps`, missing numbers become NaN.
    """
    column = _one_array(column)
    if _refused_gaps(column, gaps):
        position = first + pc.index(pc.is_null(column), value=True).as_py()
        raise ValueError(f"expected no missing values, got {column.null_count}, the first at position {position}")
    if isinstance(column, pa.FixedShapeTensorArray):
        missing = column.storage.flatten().null_count
        if missing:
            raise ValueError(f"expected no missing values in tensors, got {missing}")
        return column.to_numpy_ndarray()
    if isinstance(column, pa.ExtensionArray):
        return from_arrow(column.storage, gaps=gaps, first=first)
    if not pa.types.is_nested(column.type):
        return _flat(column)
    if any(is_list(column.type) for is_list in _LISTS):
        lengths = np.unique(_flat(pc.list_value_length(column)))
        items = column.flatten()
        if _refused_gaps(items, gaps):
            raise ValueError(f"expected no missing values in lists, got {items.null_count}")
        inner = from_arrow(items, gaps=gaps)
        if len(lengths) == 1 and isinstance(inner, np.ndarray):
            return inner.reshape(len(column), int(lengths[0]), *inner.shape[1:])
    return column.to_pylist()


def ids_of(column: Any) -> Any:
    """A column of names as an array, in which missing ones are None or NaN: integers keep their digits, dates are text.

    >>> ids_of(pa.array([2**53 + 1, None])).tolist(), ids_of(pa.array([18262], pa.date32())).tolist()
    ([9007199254740993, None], ['2020-01-01'])
    """
    column = _one_array(column)
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_temporal(column.type):
        column = pc.cast(column, pa.string())
    if column.null_count and pa.types.is_integer(column.type):
        return np.asarray(column.to_pylist(), dtype=object)
    return from_arrow(column, gaps=True)


def column_of(table: Any, name: str, *, ids: bool = False, first: int = 0) -> Any:
    """The column of an Arrow table or batch as an array; with `ids`, by `ids_of`. Errors say the name."""
    with named(name):
        return ids_of(table.column(name)) if ids else from_arrow(table.column(name), first=first)


def _one_array(column: Any) -> Any:
    """A column in one piece; decimals without a fraction, as SQL's sum of integers gives them, are integers."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if pa.types.is_decimal(column.type) and column.type.scale == 0:
        return pc.cast(column, pa.int64())
    return column


def _refused_gaps(column: Any, gaps: bool) -> bool:
    """Whether values are missing, other than numbers that may be."""
    return bool(column.null_count) and not (gaps and not pa.types.is_nested(column.type))


def _flat(column: Any) -> np.ndarray:
    """A column without lists.

    Numbers and bools without gaps come from the buffer, since `to_numpy` imports pandas.
    """
    if not column.null_count and pa.types.is_boolean(column.type):
        return np.from_dlpack(pc.cast(column, pa.uint8())).astype(np.bool_)
    if not column.null_count and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        return np.from_dlpack(column)
    return column.to_numpy(zero_copy_only=False)


def read_parquet(path: Path, check: Callable[[int], None] = lambda num_bytes: None) -> Any:
    """All columns, as an Arrow table; `check` refuses the bytes read so far. Repeated strings take memory once."""
    import pyarrow.parquet as pq  # whose import takes 50 ms that other files need not wait

    footer = pq.read_metadata(path)
    check(8 * footer.num_rows * footer.num_columns)
    leaves = footer.schema
    strings = [leaf.path for leaf in map(leaves.column, range(len(leaves))) if leaf.physical_type == "BYTE_ARRAY"]
    batches, size = [], 0
    with pq.ParquetFile(path, read_dictionary=strings, page_checksum_verification=True) as file:
        for batch in file.iter_batches():
            check(size := size + batch.nbytes)
            batches.append(batch)
        return pa.Table.from_batches(batches, file.schema_arrow if not batches else None)


def read_batches(path: Path, names: Sequence[str], num_rows: int, *, ids: bool = False) -> Iterator[list[Any]]:
    """Arrays of the named columns, at most `num_rows` rows at a time; `ids` as of `column_of`."""
    import pyarrow.parquet as pq

    first = 0
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        for batch in file.iter_batches(num_rows, columns=names):
            yield [column_of(batch, name, ids=ids, first=first) for name in names]
            first += len(batch)
