"""Files of an upload as members, each with a name: files as they came, and those within .zip archives, in memory.

Nothing is written to disk, and no member's name is ever a path on the server.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from .limits import RefusedError, check_contents, check_unpacked

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may ask for gigabytes to unpack


class Member(NamedTuple):
    """A file: its name, with the folders that an archive has it in, and what it holds, read when it is asked for."""

    name: str
    path: Path
    archive: zipfile.ZipFile | None = None

    @property
    def key(self) -> str:
        """The name without its ending and, of a mask, without `_mask`."""
        return str(PurePosixPath(self.name).with_suffix("")).removesuffix("_mask")

    def read_bytes(self) -> bytes:
        """The content. Raises RefusedError for a member of an archive that cannot be read."""
        if self.archive is None:
            return self.path.read_bytes()
        try:
            return self.archive.read(self.name)
        except Exception as error:  # of a damaged or encrypted member
            raise RefusedError(f"{self.path.name}: {self.name} cannot be read: {error}") from None


def members(paths: Sequence[Path], suffixes: tuple[str, ...], skipped: Sequence[str] = ()) -> list[Member]:
    """The files of these endings, sorted by name; of several archives with the archive's name as a folder.

    Raises RefusedError for an archive that is too large, for one without such files, and for two of one name.
    """
    archives = [path for path in paths if path.suffix.lower() == ".zip"]
    found = [Member(path.name, path) for path in paths if path not in archives]
    total = 0
    for path in archives:
        check_contents(path)
        listed = [*_members_of(path, suffixes, skipped)]
        total += sum(size for _, size in listed)
        check_unpacked(path.name, total)
        if not listed:
            raise RefusedError(f"{path.name}: expected files that end on {' or '.join(suffixes)}, got none")
        found += [member for member, _ in listed]
    twice = [name for name, count in Counter(_label(member, len(archives)) for member in found).items() if count > 1]
    if twice:
        raise RefusedError(f"{twice[0]}: expected files of different names, got two; a .zip keeps folders apart")
    return sorted(found, key=lambda member: _label(member, len(archives)))


def _label(member: Member, archives: int) -> str:
    return f"{member.path.stem}/{member.name}" if member.archive is not None and archives > 1 else member.name


def _members_of(path: Path, suffixes: tuple[str, ...], skipped: Sequence[str]) -> Iterator[tuple[Member, int]]:
    """Members of an archive, and their sizes."""
    archive = zipfile.ZipFile(path)
    infos = [info for info in archive.infolist() if _is_wanted(PurePosixPath(info.filename), suffixes, skipped)]
    for info in infos:
        if info.compress_type not in _METHODS or info.flag_bits & 1:
            raise RefusedError(f"{path.name}: expected a plain .zip, without a password, that any program opens")
        yield Member(info.filename, path, archive), info.file_size


def _is_wanted(name: PurePosixPath, suffixes: tuple[str, ...], skipped: Sequence[str]) -> bool:
    hidden = any(part.startswith((".", "__MACOSX")) for part in name.parts)
    return name.suffix.lower() in suffixes and not hidden and name.name not in skipped


def keys(names: Sequence[str]) -> tuple[int, list[str]]:
    """How many last parts of names tell them apart, and these parts: `000`, or `scratch/000` where there are two 000.

    >>> keys(["test/good/000", "test/scratch/000"]), keys(["a/1", "b/2"])
    ((2, ['good/000', 'scratch/000']), (1, ['1', '2']))
    """
    depth = max((name.count("/") + 1 for name in names), default=1)
    for parts in range(1, depth + 1):
        short = last_parts(names, parts)
        if len(set(short)) == len(short):
            return parts, short
    return depth, list(names)


def last_parts(names: Sequence[str], parts: int) -> list[str]:
    """The last parts of names."""
    return ["/".join(name.split("/")[-parts:]) for name in names]
