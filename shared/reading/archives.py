"""Archives (.zip) as folders: each is unpacked to a folder of its own, which lives as long as what was read of it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from shutil import rmtree
from tempfile import mkdtemp
from weakref import finalize

from .limits import Limits, RefusedError

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may need gigabytes to unpack


class Archives:
    """The folders that archives are unpacked to; they are deleted with this object.

    Hidden files and those of macOS's resource forks are left where they are, as in a folder.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.folders: dict[Path, Path] = {}  # by archive
        self._root = ""
        self._unpacked = 0

    def folder(self, path: Path) -> Path:
        """The folder of an archive, named like the archive.

        Raises RefusedError for an archive that is too large, damaged, encrypted, or packed in an unusual way, and for
        a file whose path leaves it.
        """
        if path not in self.folders:
            if not self._root:
                self._root = mkdtemp(prefix="openworld-metrics-")
                finalize(self, rmtree, self._root, ignore_errors=True)
            folder = Path(self._root, str(len(self.folders)), path.stem)
            folder.mkdir(parents=True)
            with path.open("rb") as file:
                self.limits.check_members(path.name, file)
                self._unpack(path, folder)
            self.folders[path] = folder
        return self.folders[path]

    def _unpack(self, path: Path, folder: Path) -> None:
        try:
            with zipfile.ZipFile(path) as archive:
                infos = [info for info in archive.infolist() if not info.is_dir() and not _is_hidden(info.filename)]
                self._unpacked += sum(info.file_size for info in infos)
                self.limits.check_unpacked(path.name, self._unpacked)
                for info in infos:
                    self._extract(archive, info, path, folder)
        except RefusedError:
            raise
        except Exception as error:  # a damaged or encrypted archive raises errors of many types
            raise RefusedError(f"{path.name}: expected a .zip that can be unpacked, got {error}") from None

    def _extract(self, archive: zipfile.ZipFile, info: zipfile.ZipInfo, path: Path, folder: Path) -> None:
        """Unpack a file, of which zipfile writes no more than the size stated in the archive."""
        if info.compress_type not in _METHODS or info.flag_bits & 1:
            raise RefusedError(f"{path.name}: expected a plain .zip, without a password, that any program opens")
        name = PurePosixPath(info.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
            raise RefusedError(f"{path.name}: expected files within the archive, got {info.filename!r}")
        if (folder / name).exists():
            raise RefusedError(f"{path.name}: expected files of different names, got two {info.filename!r}")
        archive.extract(info, folder)

    def named(self, text: str) -> str:
        """A text in which the folders of archives have the names of their archives."""
        for path, folder in self.folders.items():
            text = text.replace(str(folder), str(path))
        return text

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Name archives, rather than the folders that they are unpacked to, in errors about values."""
        try:
            yield
        except (ValueError, TypeError) as error:
            error.args = tuple(self.named(part) if isinstance(part, str) else part for part in error.args)
            raise


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) and part not in ("..", ".") for part in PurePosixPath(name).parts)
