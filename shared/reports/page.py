"""Check the folder of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ..written.files import check_file, check_folder, nearest_folder


def check_report_folder(folder: Path, read: Sequence[Path]) -> None:
    """Raise ValueError for a report among the input files, OSError for one that cannot be written."""
    for place in read:
        if folder.resolve().is_relative_to(place.resolve()):
            raise ValueError(f"{folder}: expected a report outside of {place}, which is an input")
    check_folder(nearest_folder(folder))
    if folder.is_dir():
        check_file(folder / "index.html")
