"""Row groups of a Parquet data set: the caller lists them, and each is read in batches where it is reduced.

Checksums of pages are verified, if a file has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from ..metric.metric import Metric
from ..reading.reasons import named
from ..reading.tables.arrow import column_of
from .batches import OF_NAMES, chosen_columns

BATCH_BYTES = 1 << 24
BUFFER_BYTES = 1 << 22  # read at once from a column, which may be larger than memory


@dataclass(frozen=True)
class RowGroup:
    """A row group of a file, counted from 0."""

    file: str
    system: Any  # Arrow's file system with the file
    number: int
    num_rows: int
    num_bytes: int  # upper bound on the unpacked size of the columns to read

    def __str__(self) -> str:
        return f"{self.file}, row group {self.number}"


def list_row_groups(
    source: str | Path | Sequence[str | Path], columns: Mapping[str, str] | None, metric: Metric
) -> tuple[dict[str, str], list[RowGroup]]:
    """The columns to read, by their names in the metric, and the row groups of all files, from their footers.

    Raises ValueError for a file that is not Parquet or lacks a column, and where there is no file.
    """
    import pyarrow.dataset as ds  # takes pandas along, which workers need not import for it

    places = [source] if isinstance(source, (str, Path)) else source
    fragments = [file for place in places for file in ds.dataset(str(place), format="parquet").get_fragments()]
    if not fragments:
        raise ValueError(
            f"source: expected Parquet files, got none in {', '.join(map(str, places)) or 'an empty list'}"
        )
    # a column of any file is one of all: the next lines refuse files that lack it
    everywhere = {name for fragment in fragments for name in fragment.physical_schema.names}
    columns = chosen_columns(columns, everywhere, metric)
    names = list(columns.values())
    groups = []
    for fragment in fragments:
        with named(fragment.path):
            there = fragment.physical_schema.names
            missing = [name for name in names if name not in there]
            if missing:
                hint = "; names of folders are not read" if f"{missing[0]}=" in fragment.path else ""
                raise ValueError(f"expected a column {missing[0]}, got {', '.join(there)}{hint}")
            metadata = fragment.metadata
        for i in range(metadata.num_row_groups):
            group = metadata.row_group(i)
            size = group.total_byte_size + 8 * group.num_rows * len(names)
            groups.append(RowGroup(fragment.path, fragment.filesystem, i, group.num_rows, size))
    return columns, groups


def read_row_group(group: RowGroup, columns: Mapping[str, str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read columns as arrays, by their names in the metric, about 16 MB at a time, each time with the first row."""
    num_rows = max(1, BATCH_BYTES * group.num_rows // max(1, group.num_bytes))
    names = list(dict.fromkeys(columns.values()))
    ids = {columns.get(column) for column in OF_NAMES}
    reading = dict(page_checksum_verification=True, pre_buffer=False, buffer_size=BUFFER_BYTES)
    with group.system.open_input_file(group.file) as opened, pq.ParquetFile(opened, **reading) as file:
        footer = file.metadata
        there = footer.row_group(group.number).num_rows if group.number < footer.num_row_groups else 0
        if there != group.num_rows:
            raise ValueError(f"expected {group.num_rows} rows, as when the files were listed, got {there}")
        # a worker's other threads read row groups of their own
        first = 0
        for batch in file.iter_batches(num_rows, row_groups=[group.number], columns=names, use_threads=False):
            arrays = {name: column_of(batch, name, ids=name in ids, first=first) for name in names}
            yield first, {column: arrays[name] for column, name in columns.items()}
            first += len(batch)
