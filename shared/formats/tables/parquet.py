"""Read columns of Parquet files: all as a table, or some in batches of rows. Checksums of pages are verified."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from .arrow import column_of
from .parquet_footer import column_chunks


def read_parquet(path: Path) -> Any:
    """All columns, as an Arrow table. Strings are dictionary-encoded, so repeated ones take memory once."""
    leaves = pq.read_metadata(path).schema
    strings = [leaf.path for leaf in map(leaves.column, range(len(leaves))) if leaf.physical_type == "BYTE_ARRAY"]
    with pq.ParquetFile(path, read_dictionary=strings, page_checksum_verification=True) as file:
        return file.read()


def read_batches(path: Path, names: Sequence[str], num_rows: int, *, ids: bool = False) -> Iterator[list[Any]]:
    """Arrays of the named columns, at most `num_rows` rows at a time; `ids` as of `column_of`."""
    first = 0
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        for batch in file.iter_batches(num_rows, columns=names):
            yield [column_of(batch, name, ids=ids, first=first) for name in names]
            first += len(batch)


def unpacked_bytes(path: Path) -> int:
    """An upper bound on the memory of all columns, from the file's footer."""
    with path.open("rb") as file:
        return sum(8 * chunk.num_values + chunk.num_bytes for group in column_chunks(file) for chunk in group)
