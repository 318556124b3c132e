"""Archives (.zip) and lists of files as folders, which live as long as what was read of them."""

from __future__ import annotations

import os
import weakref
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path, PurePosixPath
from shutil import rmtree
from tempfile import mkdtemp

from .limits import Limits, RefusedError

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may need gigabytes to unpack


class Archives:
    """The folders that archives are unpacked to, and lists of files are linked in; they are deleted with this object.

    Hidden files and those of macOS's resource forks are left where they are, as in a folder.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.folders: dict[Path, str] = {}  # and what each stands for
        self._of_archives: dict[Path, Path] = {}
        self._unpacked = 0

    @cached_property
    def _root(self) -> str:
        root = mkdtemp(prefix="openworld-metrics-")
        weakref.finalize(self, rmtree, root, ignore_errors=True)
        return root

    def place(self, paths: Sequence[Path], *, in_folder: bool = False) -> Path:
        """A file or a folder as it is; the folder of an archive; several of them, or a file `in_folder`, in one folder.

        Files keep their names if these differ, and otherwise the folders in which they lie, too.
        """
        if len(paths) == 1 and not in_folder:
            return self.folder(paths[0]) if paths[0].suffix.lower() == ".zip" else paths[0]
        shared = Path(os.path.commonpath([os.path.abspath(path.parent) for path in paths]))
        one = all(path.parent == paths[0].parent for path in paths)
        folder = self._made(f"{paths[0].parent}" if one else "")
        flat = len({path.stem for path in paths}) == len(paths)
        for path in paths:
            own = self.folder(path) if path.suffix.lower() == ".zip" else path.absolute()
            link = folder / (path.name if flat else path.absolute().relative_to(shared))
            link = link.with_suffix("") if own.is_dir() else link
            if os.path.lexists(link):
                raise ValueError(f"{path}: expected files of different names, got two; a .zip keeps folders apart")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(own, target_is_directory=own.is_dir())
        return folder

    def folder(self, path: Path) -> Path:
        """The folder of an archive, named like the archive.

        Raises RefusedError for an archive that is too large, damaged, encrypted, or packed in an unusual way, and for
        a file whose path leaves it.
        """
        if path not in self._of_archives:
            folder = self._made(str(path), path.stem)
            with path.open("rb") as file:
                self.limits.check_members(path.name, file)
                self._unpack(path, folder)
            self._of_archives[path] = folder
        return self._of_archives[path]

    def _made(self, name: str, last: str = "") -> Path:
        folder = Path(self._root, str(len(self.folders)), last)
        folder.mkdir(parents=True)
        self.folders[folder] = name
        return folder

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
        if info.compress_type not in METHODS or info.flag_bits & 1:
            raise RefusedError(f"{path.name}: expected a plain .zip, without a password, that any program opens")
        name = PurePosixPath(info.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or ":" in name.parts[0]:
            raise RefusedError(f"{path.name}: expected files within the archive, got {info.filename!r}")
        if (folder / name).exists():
            raise RefusedError(f"{path.name}: expected files of different names, got two {info.filename!r}")
        archive.extract(info, folder)

    def named(self, text: str) -> str:
        """A text in which folders have the names of what they stand for."""
        for folder, name in self.folders.items():
            text = text.replace(str(folder), name) if name else text.replace(f"{folder}{os.sep}", "")
        return text

    @contextmanager
    def naming(self) -> Iterator[None]:
        """Name archives and files in errors as they are named outside."""
        try:
            yield
        except (ValueError, TypeError) as error:
            error.args = tuple(self.named(part) if isinstance(part, str) else part for part in error.args)
            raise


def _is_hidden(name: str) -> bool:
    return any(part.startswith((".", "__MACOSX")) and part not in ("..", ".") for part in PurePosixPath(name).parts)
