"""Find files below a folder, by suffix or path pattern."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path


def files_below(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files with one of the suffixes, in any case, in a folder and below it, sorted, without hidden ones.

    Links to folders are followed, since data sets are often linked; each folder is visited once. A folder that is
    hidden, such as .ipynb_checkpoints, is passed over.
    """
    files, seen, waiting = [], set(), [folder]
    while waiting:
        here = waiting.pop()
        status = here.stat()
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        own, folders = _entries(here, suffixes)
        files += own
        waiting += folders
    return sorted(files)


def files_in(folder: Path, suffixes: Collection[str]) -> list[Path]:
    """The files with one of the suffixes, in any case, in a folder alone, sorted, without hidden ones."""
    return sorted(_entries(folder, suffixes)[0]) if folder.is_dir() else []


def _entries(folder: Path, suffixes: Collection[str]) -> tuple[list[Path], list[Path]]:
    """The files with one of the suffixes, and the folders, in a folder."""
    with os.scandir(folder) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
    fitting = [entry for entry in shown if os.path.splitext(entry.name)[1].lower() in suffixes and entry.is_file()]
    return [Path(entry.path) for entry in fitting], [Path(entry.path) for entry in shown if entry.is_dir()]


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
