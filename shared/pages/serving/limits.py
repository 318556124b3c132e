"""Limits on the size and contents of uploads, and the checks that enforce them."""

from __future__ import annotations

import re
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, ClassVar, NamedTuple

MAX_FILES = 200
MAX_BYTES = 50_000_000  # of all files of an input
MAX_JSON_BYTES = 10_000_000  # as Python objects they take about 50 times the memory
# for a request without files: a page's table, or a call of the endpoint. Gradio parses it on the thread that serves all
# visitors, in about 4 µs for a list or an object and 0.3 µs for a number: others wait 0.2 s, or up to 0.7 s on a busy
# machine
MAX_BODY = 1_000_000
MAX_LISTS = 50_000
MAX_UNPACKED = 200_000_000
MAX_MEMBERS = 5_000  # of an archive
_MAX_MEMBER = 400  # bytes of a member's entry in the list of contents
MAX_COLUMNS = 5_000  # of a table or file
MAX_NAME = 200  # characters of a column's name
MAX_POINTS = 2_000  # of a curve
MAX_IMAGES = 200
MAX_DETECTORS = 20
STATED = (
    f"At most {MAX_FILES} files of {MAX_BYTES // 1_000_000} MB together ({MAX_JSON_BYTES // 1_000_000} MB of JSON), "
    f"{MAX_UNPACKED // 1_000_000} MB unpacked. They are deleted within two hours. Tables and calls of the endpoint: "
    f"{MAX_BODY // 1_000_000} MB with {MAX_LISTS:,} rows; upload larger data as files."
)
SILENCE = 30.0  # seconds within which the next part of a body must arrive


class Allowance(NamedTuple):
    """Limits of one kind of request.

    size: bytes of a body
    lists: opening brackets in a body of JSON; None for other bodies
    at_once: bodies in transit
    seconds: time until a body is complete
    advice: an alternative to a larger body, as text
    of_each: bodies in transit from one client; 0 for as many as `at_once`
    kept: bytes of all bodies received within `kept_seconds`; a client may use a quarter. None for no limit
    """

    size: int
    lists: int | None
    at_once: int
    seconds: float
    advice: str = ""
    of_each: int = 0
    kept: int | None = None
    kept_seconds: float = 7200


MAX_KEPT = 4_000_000_000  # bytes of uploads, which gradio deletes within two hours
# the separators between the files of a form count as well
UPLOADS = Allowance(MAX_BYTES + 1_000_000, None, at_once=16, seconds=600, of_each=4, kept=MAX_KEPT)
CALLS = Allowance(
    MAX_BODY, MAX_LISTS, at_once=64, seconds=60, advice="; larger data can be uploaded as a file", of_each=16
)


class RefusedError(ValueError):
    """A file that is too large, or does not match its name. The message names the file, never its folder."""

    LIMIT: ClassVar[str] = "pages take at most {}"  # of a cost


class IntervalsError(RefusedError):
    """Intervals that cost too much; without them, the numbers can be computed."""

    LIMIT = "pages draw intervals of at most {}"


def check_header(where: str, names: Sequence[str]) -> None:
    """Raise RefusedError if the names in the first line include a decimal: a sample would be lost."""
    for name in names:
        if _DECIMAL.fullmatch(name.strip()):
            line = ", ".join(names[:5])
            raise RefusedError(
                f"{where}: expected names in the first line, or numbers only, got {line}; {name} is a value, so put a "
                "line of names above"
            )


_DECIMAL = re.compile(r"[-+]?\d*[.,]\d+([eE][-+]?\d+)?")


def check_files(paths: list[Path]) -> None:
    """Raise RefusedError if there are too many files or they are too large, without reading them."""
    if len(paths) > MAX_FILES:
        raise RefusedError(f"pages take at most {MAX_FILES} files at once, not {len(paths)}")
    total = sum(path.stat().st_size for path in paths)
    if total > MAX_BYTES:
        raise RefusedError(f"pages take at most {MAX_BYTES:,} bytes of files, not {total:,}")
    for path in paths:
        if path.suffix.lower() in (".json", ".jsonl") and path.stat().st_size > MAX_JSON_BYTES:
            size = path.stat().st_size
            raise RefusedError(f"{path.name}: pages take at most {MAX_JSON_BYTES:,} bytes of JSON, not {size:,}")


def check_unpacked(name: str, num_bytes: int) -> None:
    """Raise RefusedError if a file would take more memory than is allowed."""
    if num_bytes > MAX_UNPACKED:
        raise RefusedError(f"{name}: pages take at most {MAX_UNPACKED:,} bytes unpacked, not {num_bytes:,}")


def check_contents(path: Path) -> None:
    """Raise RefusedError for an archive of too many members, from the record at its end."""
    with path.open("rb") as file:
        check_listing(path.name, file)


def check_listing(name: str, file: IO[bytes]) -> None:
    """As `check_contents`, for an archive that is open or in memory."""
    end = file.seek(0, 2)
    file.seek(max(0, end - 65_557))
    tail = file.read()
    place = tail.rfind(b"PK\x05\x06")
    record = tail[place : place + 22] if place >= 0 else b""
    if len(record) == 22:  # otherwise its reader reports the error
        count, size = struct.unpack_from("<HL", record, 10)
        if b"PK\x06\x07" in tail[max(0, place - 20) : place] or count > MAX_MEMBERS or size > MAX_MEMBERS * _MAX_MEMBER:
            raise RefusedError(f"{name}: pages take archives of at most {MAX_MEMBERS:,} files, and this one has more")


def check_archive(path: Path) -> None:
    """Raise RefusedError for a zip archive that unpacks beyond the limit, from its table of contents."""
    with zipfile.ZipFile(path) as archive:
        # zipfile reads no more of a member than the size stated here
        check_unpacked(path.name, sum(member.file_size for member in archive.infolist()))


def without_paths(message: str) -> str:
    """Strip folders, but not those in archives, and memory addresses from a message.

    >>> without_paths("cannot identify '/tmp/gradio/1b2c/mask.png'"), without_paths("got <Call object at 0x7f50>")
    ("cannot identify '…/mask.png'", 'got <Call object>')
    """
    message = re.sub(r" at 0x[0-9a-fA-F]+(?=>)", "", message)
    return re.sub(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\":]+)+(?=[\\/])", "…", message)
