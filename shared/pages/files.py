"""Read files as the pages do; the Python code that a page shows calls these functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ..loading import metric_class
from ..reading.places import files_below
from .assembly.reading import read
from .columns.column import READ_AS
from .form.form import as_names
from .page import Page

Names = str | Sequence[str] | None  # of arrays
Files = str | Path | Sequence[str | Path]  # a file, a folder, or several files


def read_columns(
    metric: str,
    *inputs: Files,
    columns: Mapping[str, Names] | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> dict[str, Any]:
    """The columns of a metric from files, read as on its page and within the page's limits of size.

    Parameters: metric, its name; inputs, a file, a folder or a list of files for each input of the page, such as maps
    and masks; columns, a name or names of arrays for some columns, [] or None for one that is not used; the others are
    guessed from names and values; read_as, "scores" or "class ids", for whole numbers in a matrix, by default class
    ids; leave_out, whether rows with cells that cannot be read are left out.

    Returns the arguments of `compute`. Raises ValueError for an unknown metric, for files of several detectors (see
    `read_detectors`), and for files and cells that cannot be read; TypeError for a required column without arrays.
    """
    detectors = read_detectors(metric, *inputs, columns=columns, read_as=read_as, leave_out=leave_out)
    if len(detectors) > 1:
        raise ValueError(f"expected one detector, got {', '.join(detectors)}; read_detectors reads several")
    return next(iter(detectors.values()))


def read_detectors(
    metric: str,
    *inputs: Files,
    columns: Mapping[str, Names] | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
) -> dict[str, dict[str, Any]]:
    """The columns of a metric for each detector, by name; parameters and errors as for `read_columns`."""
    page = page_of(metric)
    chosen = {name: as_names(names) for name, names in (columns or {}).items()}
    _check(page, inputs, chosen, read_as)
    files = [_paths(one, page) for one in inputs] + [[]] * (len(page.sources) - len(inputs))
    reading = read(page, [], files, chosen, read_as, leave_out)
    for name, names in chosen.items():
        if names != [*reading.made_of[name]]:  # a page guesses instead
            available = ", ".join(reading.offers[name])
            raise ValueError(f"{name}: expected names of columns, got {', '.join(names)}; there are {available}")
    return {name: dict(arguments.columns) for name, arguments in reading.detectors().items()}


def page_of(metric: str) -> Page:
    """The `Page` of a metric. Raises ValueError for an unknown name."""
    metric_class(metric)
    page: Page = import_module(f".metrics.{metric}", __package__).PAGE
    return page


def _check(page: Page, inputs: Sequence[Files], columns: Mapping[str, list[str]], read_as: str) -> None:
    """Raise ValueError for too many inputs, an unknown column and an unknown `read_as`."""
    if len(inputs) > len(page.sources):
        labels = " and ".join(source.label for source in page.sources)
        raise ValueError(f"inputs: expected at most {len(page.sources)}, such as {labels}, got {len(inputs)}")
    known = [column.name for column in page.columns]
    unknown = [name for name in columns if name not in known]
    if unknown:
        raise ValueError(f"columns: expected names of {', '.join(known)}, got {', '.join(unknown)}")
    if read_as not in READ_AS:
        raise ValueError(f"read_as: expected one of {', '.join(READ_AS)}, got {read_as!r}")


def _paths(files: Files, page: Page) -> list[Path]:
    """The files of an input; for a folder that the page's reader does not take, all files below it, without hidden."""
    listed = [Path(files)] if isinstance(files, (str, Path)) else [*map(Path, files)]
    if len(listed) == 1 and listed[0].is_dir() and not page.takes([listed]):
        return files_below(listed[0], None)
    return listed
