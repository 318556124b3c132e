"""Members of an upload: its files, and the files within its .zip archives, read in memory.

Nothing is written to disk, and no member's name is ever used as a path on the server.
"""

from __future__ import annotations

import os
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ...reading.maps.listing import key_of as key_of_place
from ..serving.limits import RefusedError, check_contents, check_unpacked

_NAMED = 5  # names in a message
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may need gigabytes to unpack


FOLDER = "folder"  # the column with the folder of each image


class Member(NamedTuple):
    """A file: its name, with its folders in the archive, and its content, which is read on request.

    folder: the name of its archive, if there are several archives
    """

    name: str
    path: Path
    archive: zipfile.ZipFile | None = None
    folder: str = ""

    @property
    def key(self) -> str:
        """The name without its suffix, and without the folders that name a kind of file."""
        return key_of(PurePosixPath(self.label))

    @property
    def label(self) -> str:
        """The name, with that of its archive if there are several."""
        return str(PurePosixPath(self.folder, self.name))

    def read_bytes(self) -> bytes:
        """The content. Raises RefusedError for a member of an archive that cannot be read."""
        if self.archive is None:
            return self.path.read_bytes()
        try:
            return self.archive.read(self.name)
        except Exception as error:  # a damaged or encrypted member raises errors of many types
            raise RefusedError(f"{self.path.name}: {self.name} cannot be read: {error}") from None


def key_of(path: PurePosixPath) -> str:
    """A path without its suffix, and without the folders that name a kind of file.

    >>> key_of(PurePosixPath("nut/test/cut/000.png"))
    'nut/cut/000'
    """
    return key_of_place(path.with_suffix("").as_posix())


def members(paths: Sequence[Path], suffixes: tuple[str, ...], skipped: Sequence[str] = ()) -> list[Member]:
    """The files with these suffixes, sorted by name; with several archives, each archive's name is a folder.

    Raises RefusedError for an archive that is too large, an archive without such files, and two files of one name.
    """
    archives = [path for path in paths if path.suffix.lower() == ".zip"]
    files = [Member(path.name, path) for path in paths if path not in archives]
    total = 0
    for path in archives:
        check_contents(path)
        inside = [*_members_of(path, suffixes, skipped)]
        total += sum(size for _, size in inside)
        check_unpacked(path.name, total)
        if not inside:
            raise RefusedError(f"{path.name}: expected files that end in {' or '.join(suffixes)}, got none")
        files += [member._replace(folder=path.stem if len(archives) > 1 else "") for member, _ in inside]
    twice = [name for name, count in Counter(file.label for file in files).items() if count > 1]
    if twice:
        raise RefusedError(f"{twice[0]}: expected files of different names, got two; a .zip keeps folders apart")
    return sorted(files, key=lambda file: file.label)


def _members_of(path: Path, suffixes: tuple[str, ...], skipped: Sequence[str]) -> Iterator[tuple[Member, int]]:
    """The members of an archive with these suffixes, and their sizes."""
    archive = zipfile.ZipFile(path)
    infos = [info for info in archive.infolist() if _is_wanted(PurePosixPath(info.filename), suffixes, skipped)]
    for info in infos:
        if info.compress_type not in _METHODS or info.flag_bits & 1:
            raise RefusedError(f"{path.name}: expected a plain .zip, without a password, that any program opens")
        yield Member(info.filename, path, archive), info.file_size


def _is_wanted(name: PurePosixPath, suffixes: tuple[str, ...], skipped: Sequence[str]) -> bool:
    return name.suffix.lower() in suffixes and not _is_hidden(name) and name.name not in skipped


def _is_hidden(name: PurePosixPath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in name.parts)


def keys(names: Sequence[str]) -> tuple[int, list[str]]:
    """The number of last parts that distinguish names, and these parts: `000`, or `scratch/000` if there are two 000.

    >>> keys(["test/good/000", "test/scratch/000"]), keys(["a/1", "b/2"])
    ((2, ['good/000', 'scratch/000']), (1, ['1', '2']))
    """
    depth = max((name.count("/") + 1 for name in names), default=1)
    for parts in range(1, depth + 1):
        short = last_parts(names, parts)
        if len(set(short)) == len(short):
            return parts, short
    return depth, list(names)


def pairing_parts(names: Sequence[str], others: Sequence[str], parts: int) -> int:
    """The number of last parts, at least `parts`, by which names and others are paired: so many that no two of one pair
    lie in different folders. A folder that holds all of the names tells nothing, nor does one that holds all others,
    unless names have it, too.

    >>> pairing_parts(["train/1", "val/2"], ["val/1", "val/2"], 1), pairing_parts(["run/1", "run/2"], ["val/1"], 1)
    (2, 1)
    """
    paths = [PurePosixPath("/", name) for name in names]
    above = os.path.commonpath([path.parent for path in paths]) if paths else "/"
    own = [path.relative_to(above).as_posix() for path in paths]
    shared = PurePosixPath(os.path.commonpath([PurePosixPath("/", name).parent for name in others]) if others else "/")
    if not {*shared.parts[1:]} & {part for path in paths for part in path.parts[1:-1]}:
        others = [PurePosixPath("/", name).relative_to(shared).as_posix() for name in others]
    depth = max((name.count("/") + 1 for name in (*names, *others)), default=1)
    for more in range(parts, depth):
        places = dict(zip(last_parts(others, more), others))
        pairs = [(name, places[short]) for name, short in zip(own, last_parts(names, more)) if short in places]
        if all(f"/{one}".endswith(f"/{other}") or f"/{other}".endswith(f"/{one}") for one, other in pairs):
            return more
    return depth


def last_parts(names: Sequence[str], parts: int) -> list[str]:
    """The last `parts` parts of each name."""
    return ["/".join(name.split("/")[-parts:]) for name in names]


def folders_of(names: Sequence[str]) -> list[str]:
    """The folder of each name at the first depth where folders differ; an empty list if there is none.

    >>> folders_of(["mvtec/nut/0", "mvtec/nut/cut/1", "mvtec/bottle/0"]), folders_of(["mvtec/0", "1"])
    (['nut', 'nut', 'bottle'], [])
    """
    parts = [name.split("/")[:-1] for name in names]
    for place in range(min(map(len, parts), default=0)):
        folders = [part[place] for part in parts]
        if len(set(folders)) > 1:
            return folders
    return []


def are_data_sets(inputs: Sequence[Sequence[Path]]) -> bool:
    """Whether all inputs come as several archives of the same names, so that each is a data set."""
    stems = [sorted(path.stem for path in paths if path.suffix.lower() == ".zip") for paths in inputs]
    return len(stems) > 1 and len(stems[0]) > 1 and all(each == stems[0] for each in stems)


def some(names: Sequence[str]) -> str:
    """The first names, and the number of others.

    >>> some(["a", "b"]), some(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else "")
