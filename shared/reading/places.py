"""Find files below a folder by suffix, and match their names."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from pathlib import Path

PICTURES = frozenset([".avif", ".bmp", ".jpeg", ".jpg", ".mpo", ".png", ".tif", ".tiff", ".webp"])
# of the images that Pillow or Ultralytics reads; readers of boxes name the files of other suffixes that they leave out
_MORE = """.apng .dib .dng .gif .heic .heif .j2c .j2k .jfif .jp2 .jpc .jpe .jpeg2000 .jpf .jpx .pbm .pcx .pfm .pgm .pnm
    .ppm .qoi .tga"""
IMAGE_SUFFIXES = PICTURES | {*_MORE.split()}


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
        own, folders = _entries(here, suffixes)
        files += own
        waiting += [(path, (*above, real)) for path in folders]
    return sorted(files)


def _is_below(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip(os.sep) + os.sep)


def files_in(folder: Path, suffixes: Collection[str] | None) -> list[Path]:
    """The files with one of the suffixes, in any case, or all, in a folder alone, sorted, without hidden ones."""
    return sorted(_entries(folder, suffixes)[0]) if folder.is_dir() else []


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
    return os.path.isfile(entry.path) or not os.path.exists(entry.path)


def ends_of(name: str) -> list[str]:
    """The ends of a path: the whole, and what is below each of its folders.

    >>> ends_of("val/a/1")
    ['val/a/1', 'a/1', '1']
    """
    parts = name.split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def places_by_end(names: Sequence[str]) -> dict[str, int]:
    """The indices of paths, by themselves and by those of their ends that are an end of no other.

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


def unsigned(name: str) -> str:
    """The name of a column without the sign that a place gives it.

    >>> unsigned("-conf"), unsigned("+conf"), unsigned("a-b")
    ('conf', 'conf', 'a-b')
    """
    return name[1:] if name[:1] in ("-", "+") else name
