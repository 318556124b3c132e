"""Read columns of Parquet files: all as a table, or some in batches of rows. Checksums of pages are verified."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .arrow import column_of


def read_parquet(path: Path, check: Callable[[int], None] = lambda num_bytes: None) -> Any:
    """All columns, as an Arrow table; `check` refuses the bytes read so far. Repeated strings take memory once."""
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
    first = 0
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        for batch in file.iter_batches(num_rows, columns=names):
            yield [column_of(batch, name, ids=ids, first=first) for name in names]
            first += len(batch)
