"""What an upload may be: its size, its contents, and what is said of it when it is refused."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

MAX_FILES = 200
MAX_BYTES = 50_000_000  # of all files of an input
MAX_JSON_BYTES = 10_000_000  # as Python objects they take some 50 times that
MAX_BODY = 10_000_000  # of a request that uploads no file: the table of a page, or a call of the endpoint
MAX_UNPACKED = 200_000_000
MAX_POINTS = 2_000  # of a curve
MAX_IMAGES = 200
STATED = (
    f"At most {MAX_FILES} files of {MAX_BYTES // 1_000_000} MB together ({MAX_JSON_BYTES // 1_000_000} MB of JSON), "
    f"{MAX_UNPACKED // 1_000_000} MB unpacked. They are deleted within two hours. Tables and calls of the endpoint: "
    f"{MAX_BODY // 1_000_000} MB."
)


class RefusedError(ValueError):
    """A file that is too large, or not what its name says. The message names the file, never its folder."""


def check_files(paths: list[Path]) -> None:
    """Raise RefusedError if there are too many files or they are too large; nothing is read."""
    if len(paths) > MAX_FILES:
        raise RefusedError(f"expected at most {MAX_FILES} files, got {len(paths)}")
    total = sum(path.stat().st_size for path in paths)
    if total > MAX_BYTES:
        raise RefusedError(f"expected at most {MAX_BYTES:,} bytes of files, got {total:,}")
    for path in paths:
        if path.suffix.lower() == ".json" and path.stat().st_size > MAX_JSON_BYTES:
            raise RefusedError(f"{path.name}: expected at most {MAX_JSON_BYTES:,} bytes, got {path.stat().st_size:,}")


def check_unpacked(name: str, num_bytes: int) -> None:
    """Raise RefusedError if a file would take more memory than is allowed."""
    if num_bytes > MAX_UNPACKED:
        raise RefusedError(f"{name}: expected at most {MAX_UNPACKED:,} bytes unpacked, got {num_bytes:,}")


def check_archive(path: Path) -> None:
    """Raise RefusedError for a zip archive that unpacks beyond the limit, from its table of contents."""
    with zipfile.ZipFile(path) as archive:
        # zipfile reads no more of a member than it states here
        check_unpacked(path.name, sum(member.file_size for member in archive.infolist()))


def without_paths(message: str) -> str:
    """A message of a library, without the folders it names.

    >>> without_paths("cannot identify '/tmp/gradio/1b2c/mask.png'")
    "cannot identify '…/mask.png'"
    """
    return re.sub(r"(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\":]+)+(?=[\\/])", "…", message)
