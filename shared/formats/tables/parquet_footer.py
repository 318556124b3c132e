"""Read the sizes of a Parquet file's column chunks from its footer.

Arrow's own column chunk objects crash the process if a chunk's statistics in the footer are damaged (an uncaught C++
exception; pyarrow 26, also through `pyarrow.dataset`). So the few numbers needed to estimate the memory for reading are
parsed here, from the structures of Parquet's format in Thrift's compact protocol.

Sources: parquet.thrift of apache/parquet-format, structs FileMetaData, RowGroup, ColumnChunk and ColumnMetaData; Thrift
compact protocol encoding, doc/specs/thrift-compact-protocol.md of apache/thrift.
"""

from __future__ import annotations

import struct
from typing import Any, BinaryIO, NamedTuple

_MAGIC = b"PAR1"


class Chunk(NamedTuple):
    """A column of a row group: its dotted path, its number of values, and its uncompressed size in bytes."""

    path: str
    num_values: int
    num_bytes: int


def column_chunks(file: BinaryIO) -> list[list[Chunk]]:
    """The chunks of each row group. Raises ValueError for a damaged footer."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 8))
    tail = file.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length + 8 > size:
        raise ValueError("expected a Parquet file, got one without a footer")
    file.seek(size - 8 - length)
    try:
        groups = _Compact(file.read(length)).struct().get(4, [])
        return [[_chunk(chunk[3]) for chunk in group[1]] for group in groups]
    except (IndexError, KeyError, TypeError, AttributeError, RecursionError, struct.error):
        raise ValueError("expected a Parquet file, got one with a damaged footer") from None


def _chunk(meta: dict[int, Any]) -> Chunk:
    return Chunk(b".".join(meta[3]).decode(errors="replace"), int(meta[5]), int(meta[6]))


class _Compact:
    """A reader of the compact protocol's values: structs become dicts by field number."""

    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def struct(self) -> dict[int, Any]:
        """The fields of a struct, up to the stop field."""
        fields: dict[int, Any] = {}
        field = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            field = field + step if step else self._integer()
            fields[field] = kind == 1 if kind in (1, 2) else self._value(kind)
        return fields

    def _value(self, kind: int) -> Any:
        if kind in (1, 2, 3):  # a bool in a list takes a byte too
            return self._byte()
        if kind in (4, 5, 6):
            return self._integer()
        if kind in (7, 13):
            return self._bytes(8 if kind == 7 else 16)
        if kind == 8:
            return self._bytes(self._varint())
        if kind in (9, 10):
            head = self._byte()
            number = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15) for _ in range(number)]
        if kind == 11:
            number = self._varint()
            kinds = self._byte() if number else 0
            return [(self._value(kinds >> 4), self._value(kinds & 15)) for _ in range(number)]
        if kind == 12:
            return self.struct()
        raise IndexError(kind)

    def _byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def _bytes(self, number: int) -> bytes:
        if self.at + number > len(self.data):
            raise IndexError(number)
        self.at += number
        return self.data[self.at - number : self.at]

    def _varint(self) -> int:
        number = shift = 0
        while True:
            byte = self._byte()
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number

    def _integer(self) -> int:
        zigzag = self._varint()
        return zigzag >> 1 ^ -(zigzag & 1)
