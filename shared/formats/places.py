"""Find files below a folder, by suffix or path pattern."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path


def files_below(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files with one of the suffixes, in any case, in a folder and below it, sorted, without hidden ones.

    Links to folders are followed, since data sets are often linked, but not into a folder above. A folder that is
    hidden, such as .ipynb_checkpoints, is passed over. A link to nothing is listed, and is an error where it is read.
    """
    files: list[Path] = []
    waiting: list[tuple[Path, tuple[tuple[int, int], ...]]] = [(folder, ())]  # with the folders above each
    while waiting:
        here, above = waiting.pop()
        status = here.stat()
        place = status.st_dev, status.st_ino
        if place not in above:
            own, folders = _entries(here, suffixes)
            files += own
            waiting += [(path, (*above, place)) for path in folders]
    return sorted(files)


def lost_files(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files that `files_below` does not list, though they are not hidden: those of other suffixes."""
    shown = (
        path for path in folder.rglob("*") if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    return sorted(path for path in shown if path.is_file() and path.suffix.lower() not in suffixes)


def files_in(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files with one of the suffixes, in any case, in a folder alone, sorted, without hidden ones."""
    return sorted(_entries(folder, suffixes)[0]) if folder.is_dir() else []


def check_flat(folder: Path, suffixes: Collection[str]) -> None:
    """Raise ValueError if there are files with one of the suffixes in folders below a folder."""
    below = next((path for path in files_below(folder, suffixes) if path.parent != folder), None)
    if below is not None:
        raise ValueError(f"{below}: expected all {' and '.join(suffixes)} files in {folder} itself, got one below")


def _entries(folder: Path, suffixes: Collection[str]) -> tuple[list[Path], list[Path]]:
    """The files with one of the suffixes, and the folders, in a folder."""
    with os.scandir(folder) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
    fitting = [entry for entry in shown if os.path.splitext(entry.name)[1].lower() in suffixes]
    files = [entry.path for entry in fitting if entry.is_file() or _leads_nowhere(entry)]
    return [*map(Path, files)], [Path(entry.path) for entry in shown if entry.is_dir()]


def _leads_nowhere(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() and not os.path.exists(entry.path)


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


def files_by_place(folder: Path, pattern: str, suffixes: Iterable[str], level: int = 0) -> dict[str, list[Path]]:
    """Files by their paths in the folder without suffixes, or by their `level`-th parent folders, sorted."""
    by_place: dict[str, list[Path]] = defaultdict(list)
    glob = pattern.replace("{defect}", "*").replace("{stem}", "*")
    # a suffix follows a complete name, as in 000_mask.png
    for path in sorted(folder.glob(f"{glob}.*" if not glob.endswith("*") else glob)):
        place = path.relative_to(folder)
        shown = not any(part.startswith(".") for part in place.parts)
        if path.suffix.lower() in suffixes and shown and path.is_file():
            by_place[(place.parents[level - 1] if level else place.with_suffix("")).as_posix()].append(path)
    return dict(by_place)
