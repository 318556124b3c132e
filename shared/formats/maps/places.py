"""Find files below a folder, by suffix or path pattern."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path


def files_below(folder: Path, suffixes: Iterable[str]) -> list[Path]:
    """The files with one of the suffixes in a folder and below it, sorted, without hidden files.

    Links to folders are followed, since data sets are often linked; each folder is visited once.
    """
    files, seen, waiting = [], set(), [folder]
    while waiting:
        here = waiting.pop()
        status = here.stat()
        if (status.st_dev, status.st_ino) in seen:
            continue
        seen.add((status.st_dev, status.st_ino))
        for path in here.iterdir():
            if path.is_dir():
                waiting.append(path)
            elif path.suffix.lower() in suffixes and not path.name.startswith(".") and path.is_file():
                files.append(path)
    return sorted(files)


def files_by_place(folder: Path, pattern: str, suffixes: Iterable[str], level: int = 0) -> dict[str, list[Path]]:
    """Files by their paths in the folder without suffixes, or by their `level`-th parent folders, sorted."""
    by_place: dict[str, list[Path]] = defaultdict(list)
    glob = pattern.replace("{defect}", "*").replace("{stem}", "*")
    # a suffix follows a complete name, as in 000_mask.png
    for path in sorted(folder.glob(f"{glob}.*" if not glob.endswith("*") else glob)):
        if path.suffix.lower() in suffixes and not path.name.startswith(".") and path.is_file():
            place = path.relative_to(folder)
            by_place[(place.parents[level - 1] if level else place.with_suffix("")).as_posix()].append(path)
    return dict(by_place)
