"""Files, folders, archives (.zip) and images, by their names.

Archives and lists of files are folders, which live as long as what was read of them. The sizes of images are read
without decoding them, which needs Pillow.
"""

from __future__ import annotations

import logging
import os
import weakref
import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from operator import attrgetter
from pathlib import Path, PurePosixPath
from shutil import rmtree
from tempfile import mkdtemp

from ..extras import extra
from .limits import Limits, RefusedError
from .reasons import reason

PICTURES = frozenset([".avif", ".bmp", ".jpeg", ".jpg", ".mpo", ".png", ".tif", ".tiff", ".webp"])
# of the images that Pillow or Ultralytics reads; readers of boxes name the files of other suffixes that they leave out
_MORE = """.apng .dib .dng .gif .heic .heif .j2c .j2k .jfif .jp2 .jpc .jpe .jpeg2000 .jpf .jpx .pbm .pcx .pfm .pgm .pnm
    .ppm .qoi .tga"""
IMAGE_SUFFIXES = PICTURES | {*_MORE.split()}
_ENDINGS = (".zip", ".json", ".pt")  # of files that hold many images, named after models


def files_below(folder: Path, suffixes: Collection[str] | None) -> list[Path]:
    """The files with one of the suffixes, in any case, or all, in a folder and below it, sorted, without hidden ones.

    Links to folders elsewhere are followed, since data sets are often linked. A folder that is hidden, such as
    .ipynb_checkpoints, is passed over. A link to nothing is listed, and is an error where it is read.
    """
    files: list[Path] = []
    waiting: list[tuple[Path, tuple[str, ...]]] = [(folder, ())]  # with the real folders above each
    while waiting:
        here, above = waiting.pop()
        real = os.path.realpath(here)
        # a folder above, or one that is found by its own name, too
        if any(real == other or (here.is_symlink() and _is_below(real, other)) for other in above):
            continue
        listed, folders = _entries(here, suffixes)
        files += listed
        waiting += [(path, (*above, real)) for path in folders]
    return _sorted(files)


def _sorted(paths: Iterable[Path]) -> list[Path]:
    """Paths in their own order, in a third of the time that comparisons of paths take."""
    return sorted(paths, key=attrgetter("parts"))


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def files_in(folder: Path, suffixes: Collection[str] | None) -> list[Path]:
    """The files with one of the suffixes, in any case, or all, in a folder alone, sorted, without hidden ones."""
    return _sorted(_entries(folder, suffixes)[0]) if folder.is_dir() else []


def files_by_name(folder: Path, suffixes: Collection[str], one: str, several: str) -> dict[str, Path]:
    """The files with one of the suffixes in a folder and below it, by their paths in it without the suffix.

    Raises ValueError if there are none, or two that differ only in the suffix; `one` and `several` name them.
    """
    files: dict[str, Path] = {}
    for path in files_below(folder, suffixes) if folder.is_dir() else []:
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name in files:
            raise ValueError(f"{path}: expected one {one} of that name, got {files[name].name} too")
        files[name] = path
    if not files:
        raise ValueError(
            f"{folder}: expected a folder with {several}, got {'none' if folder.is_dir() else 'no folder'}"
        )
    return files


def check_flat(folder: Path, suffixes: Collection[str]) -> None:
    """Raise ValueError if there are files with one of the suffixes in folders below a folder."""
    below = next((path for path in files_below(folder, suffixes) if path.parent != folder), None)
    if below is not None:
        raise ValueError(f"{below}: expected all {' and '.join(suffixes)} files in {folder} itself, got one below")


def _entries(folder: Path, suffixes: Collection[str] | None) -> tuple[list[Path], list[Path]]:
    """The files with one of the suffixes, and the folders, in a folder."""
    with os.scandir(folder) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
    folders = {entry.name: Path(entry.path) for entry in shown if _is_folder(entry)}
    fitting = [entry for entry in shown if suffixes is None or os.path.splitext(entry.name)[1].lower() in suffixes]
    files = [entry.path for entry in fitting if entry.name not in folders and _may_be_read(entry)]
    return [*map(Path, files)], [*folders.values()]


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself
        return False


def _may_be_read(entry: os.DirEntry[str]) -> bool:
    """Whether an entry is a file, or a link to nothing, which is an error where it is read."""
    return entry.is_file(follow_symlinks=False) or os.path.isfile(entry.path) or not os.path.exists(entry.path)


def ends_of(name: str) -> list[str]:
    """The ends of a path: the whole, and the paths below each of its folders.

    >>> ends_of("val/a/1")
    ['val/a/1', 'a/1', '1']
    """
    parts = name.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def places_by_end(names: Sequence[str]) -> dict[str, int]:
    """The indices of paths, by themselves and by each of their ends that is an end of no other.

    >>> places_by_end(["val/a/1", "val/b/1", "val/b/2"])
    {'a/1': 0, 'b/1': 1, 'b/2': 2, '2': 2, 'val/a/1': 0, 'val/b/1': 1, 'val/b/2': 2}
    """
    ends: dict[str, list[int]] = {}
    for i, name in enumerate(names):
        for end in ends_of(name)[1:]:
            ends.setdefault(end, []).append(i)
    unique = {end: places[0] for end, places in ends.items() if len(places) == 1}
    return {**unique, **{name: i for i, name in enumerate(names)}}


def matched(paths: Sequence[str], names: Sequence[str], *, strip: bool = False, cut: bool = False) -> list[int | None]:
    """The index of the name that each path belongs to, None if there is none.

    A path belongs to a name if it is the name, or an end of it and of no other name. With `strip`, so does a path
    without the folder that holds all of them; with `cut`, it belongs to the longest name that is its end. So train/1
    beside others does not belong to val/1.

    >>> matched(["run/1", "run/2"], ["val/1", "val/2"], strip=True)
    [0, 1]
    >>> matched(["train/1", "val/2"], ["val/1", "2"], cut=True)
    [None, 1]
    """
    by_end, whole = places_by_end(names), {name: i for i, name in enumerate(names)}
    above = os.path.commonpath([os.path.dirname(path) or "." for path in paths]) if strip and paths else "."

    def place(path: str) -> int | None:
        below = os.path.relpath(path, above) if above != "." else path
        at = by_end.get(path, by_end.get(below.replace(os.sep, "/")))
        return next((whole[end] for end in ends_of(path) if end in whole), None) if at is None and cut else at

    return [*map(place, paths)]


def without_suffix(path: str) -> str:
    """A path without its suffix, if that is of an image.

    >>> without_suffix("val/a.JPG"), without_suffix("val/v1.5")
    ('val/a', 'val/v1.5')
    """
    stem, suffix = os.path.splitext(path)
    return stem if suffix.lower() in IMAGE_SUFFIXES else path


def stems_of(paths: Sequence[Path]) -> list[str]:
    """Names of folders, and of files without their endings, with as many of the folders above as tell them apart.

    >>> stems_of([Path("runs/one.zip"), Path("runs/v1.0")]), stems_of([Path("runs/a/maps"), Path("runs/b/maps")])
    (['one', 'v1.0'], ['a/maps', 'b/maps'])
    """
    places = [path.with_suffix("") if path.suffix.lower() in _ENDINGS else path for path in paths]
    depths = range(1, max((len(place.parts) for place in places), default=0) + 1)
    names = [["/".join(place.parts[-depth:]) for place in places] for depth in depths]
    return next((level for level in names if len({*level}) == len(level)), names[0] if names else [])


def unsigned(name: str) -> str:
    """The name of a column without the sign that a place gives it.

    >>> unsigned("-conf"), unsigned("+conf"), unsigned("a-b")
    ('conf', 'conf', 'a-b')
    """
    return name[1:] if name[:1] in ("-", "+") else name


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
            target = self.folder(path) if path.suffix.lower() == ".zip" else path.absolute()
            link = folder / (path.name if flat else path.absolute().relative_to(shared))
            link = link.with_suffix("") if target.is_dir() else link
            if os.path.lexists(link):
                raise ValueError(f"{path}: expected files of different names, got two; a .zip keeps folders apart")
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(target, target_is_directory=target.is_dir())
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
        """A text in which temporary folders have the names of their archives."""
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


Size = tuple[int, int]  # width and height
_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)  # EXIF orientations rotated by 90°

# without a handler, Pillow's log of a damaged file would be printed beside the error
logging.getLogger("PIL").addHandler(logging.NullHandler())


def find_images(folder: str | Path) -> dict[str, Path]:
    """Find the images in a folder and below it: files by their paths in the folder without the suffix.

    Raises ValueError if there are none, or two that differ only in the suffix.
    """
    return files_by_name(Path(folder), IMAGE_SUFFIXES, "image", "images")


def implied_images(labels: Path, folder: str = "labels", images: str = "images") -> Path | None:
    """The folder of the images by the layout, …/labels/val → …/images/val, or the labels' own; None without images."""
    parts = labels.absolute().parts
    if folder in parts:
        last = len(parts) - 1 - parts[::-1].index(folder)
        beside = Path(*parts[:last], images, *parts[last + 1 :])
        if beside.is_dir():
            return beside
    return labels if files_below(labels, IMAGE_SUFFIXES) else None


def checked_size(path: Path | None, stated: Size | None, where: object) -> Size | None:
    """The size of an image that a file of annotations states, compared with the image if its file is at hand.

    Raises ValueError if they differ.
    """
    if path is None or stated is None or (size := image_size(path)) == stated:
        return stated
    swapped = "; they are swapped, as where only one of two tools turned the image by its EXIF orientation"
    hint = swapped if stated == size[::-1] else ""
    raise ValueError(
        f"{path}: expected {stated[0]} × {stated[1]} pixels, as {where} states, got {size[0]} × {size[1]}{hint}"
    )


def image_size(path: str | Path) -> Size:
    """The width and height of an image in pixels as displayed, rotated by its EXIF orientation.

    Raises ValueError for a file that Pillow cannot open.
    """
    with extra("detection"):
        from PIL import Image
    try:
        with Image.open(path) as image:
            width, height = image.size
            # getting the orientation of other formats would decode them, and readers do not rotate them
            turned = image.format in ("JPEG", "MPO") and image.getexif().get(_ORIENTATION) in _TURNED
    except Exception as error:  # Pillow's formats raise errors of many types
        raise ValueError(f"{path}: expected an image, got {reason(error)}") from error
    return (height, width) if turned else (width, height)
