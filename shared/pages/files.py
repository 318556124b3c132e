"""Files read as the pages read them: what the Python that a page shows begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from .assembly.reading import read
from .page import Page

Files = str | Path | Sequence[str | Path]  # a file, a folder, or several files


def read_columns(
    metric: str,
    *inputs: Files,
    columns: Mapping[str, Sequence[str]] | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> dict[str, Any]:
    """The columns of a metric from files, as its page reads them.

    Args:
        metric: its name.
        inputs: a file, a folder or a list of files for each input of the page, such as maps and masks.
        columns: what each column is made of, by names of arrays in the files; guessed from names and values by default.
        read_as: "scores" or "class ids", for matrices of whole numbers; by default they are class ids.
        leave_out: whether to leave out rows with cells that cannot be read.

    Returns the arguments of `compute`. Raises ValueError for files of several detectors, which `read_detectors` reads,
    for files that cannot be read or are larger than a page takes, and for cells that cannot be read.
    """
    detectors = read_detectors(metric, *inputs, columns=columns, read_as=read_as, leave_out=leave_out)
    if len(detectors) > 1:
        raise ValueError(f"expected one detector, got {', '.join(detectors)}; read_detectors reads several")
    return next(iter(detectors.values()))


def read_detectors(
    metric: str,
    *inputs: Files,
    columns: Mapping[str, Sequence[str]] | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> dict[str, dict[str, Any]]:
    """As `read_columns`, for each of several detectors by its name."""
    page: Page = import_module(f"openworld_metrics.pages.metrics.{metric}").PAGE
    files = [*map(_paths, inputs), *[[]] * (len(page.sources) - len(inputs))]
    reading = read(page, [], files, columns, read_as, leave_out)
    return {name: dict(arguments.columns) for name, arguments in reading.detectors().items()}


def _paths(files: Files) -> list[Path]:
    """The files of an input; of a folder all that are in it."""
    listed = [Path(files)] if isinstance(files, (str, Path)) else [*map(Path, files)]
    if len(listed) == 1 and listed[0].is_dir():
        return sorted(path for path in listed[0].rglob("*") if path.is_file())
    return listed
