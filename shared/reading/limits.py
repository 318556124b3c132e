"""Limits on the size of files, checked before these are read or unpacked."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, NamedTuple

MAX_PIXELS = 89_478_485  # of a map, mask or photograph, as in Pillow
_MAX_SIDE = (1 << 16) - 1  # as in JPEG; each line takes memory, however short it is
_MEMBER = 400  # bytes of a member's entry in the list of an archive's contents
_JSON = (".json", ".jsonl")


class Limits(NamedTuple):
    """Limits of the sizes that a door takes.

    door: its name in errors
    files, size: the number of files of an input, and their bytes
    json: bytes of a file of JSON, which takes about 50 times the memory as Python objects
    unpacked: bytes that the files of an input take in memory or on disk when they are unpacked
    members: the number of files in an archive
    columns, name: the number of columns of a table, and the characters of their names
    """

    door: str
    files: int
    size: int
    json: int
    unpacked: int
    members: int
    columns: int
    name: int

    def shown(self, path: Path) -> str:
        """A file in errors: pages do not say its folder, which is the server's."""
        return path.name if self is PAGES else str(path)

    def check_files(self, paths: Iterable[Path]) -> None:
        """Raise RefusedError for too many files, or too many bytes, without reading them; not for links to nothing."""
        paths = [*paths]
        if len(paths) > self.files:
            raise RefusedError(f"{self.door} take at most {self.files:,} files at once, not {len(paths):,}")
        paths = [path for path in paths if path.exists()]
        sizes = [path.stat().st_size for path in paths]
        if sum(sizes) > self.size:
            raise RefusedError(f"{self.door} take at most {self.size:,} bytes of files, not {sum(sizes):,}")
        for path, size in zip(paths, sizes):
            if path.suffix.lower() in _JSON and size > self.json:
                raise RefusedError(f"{path.name}: {self.door} take at most {self.json:,} bytes of JSON, not {size:,}")

    def check_unpacked(self, name: str, num_bytes: int) -> None:
        """Raise RefusedError for a file that would take more memory, or disk, than is allowed."""
        if num_bytes > self.unpacked:
            raise RefusedError(f"{name}: {self.door} take at most {self.unpacked:,} bytes unpacked, not {num_bytes:,}")

    def check_members(self, name: str, file: IO[bytes]) -> None:
        """Raise RefusedError for an archive of too many files, from the record at its end."""
        end = file.seek(0, 2)
        file.seek(max(0, end - 65_557))
        tail = file.read()
        file.seek(0)
        place = tail.rfind(b"PK\x05\x06")
        record = tail[place : place + 22] if place >= 0 else b""
        if len(record) < 22:  # whose reader says what is wrong with it
            return
        count, size = struct.unpack_from("<HL", record, 10)
        large = b"PK\x06\x07" in tail[max(0, place - 20) : place] and self.members <= 0xFFFF
        if large or count > self.members or size > self.members * _MEMBER:
            raise RefusedError(
                f"{name}: {self.door} take archives of at most {self.members:,} files, and this one has more"
            )


class RefusedError(ValueError):
    """A file that is too large, or does not match its name."""


PAGES = Limits("pages", 200, 50_000_000, 10_000_000, 200_000_000, 5_000, 5_000, 200)
_ANY = 10**12
COMMANDS = Limits("commands", _ANY, 10**15, 10**15, 10**11, 10**7, 10**6, 10**6)


def size_text(shape: Sequence[int]) -> str:
    """The size of a map as text, rows × columns.

    >>> size_text((480, 640))
    '480 × 640'
    """
    return " × ".join(map(str, shape))


def check_size(shape: Sequence[int], *, is_array: bool = False) -> None:
    """Raise ValueError for a file with no pixels, or with more than MAX_PIXELS or _MAX_SIDE.

    A NumPy array may have one longer row, such as a cloud of points.
    """
    pixels = math.prod(shape)
    too_long = max(shape, default=0) > _MAX_SIDE and not (is_array and pixels == max(shape))
    if not 0 < pixels <= MAX_PIXELS or too_long:
        raise ValueError(
            f"expected 1 to {MAX_PIXELS:,} pixels, at most {_MAX_SIDE:,} a side, got {size_text(shape) or 'a number'}"
        )
