"""The files that a command reads columns from and writes to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from ..formats.tables.columns import file_of
from ..reports.plots import check_picture
from .outputs import check_outputs


def files_of(places: Mapping[str, str]) -> Iterator[Path]:
    """The files that columns are read from, without standard input."""
    return filter(None, map(file_of, places.values()))


def check_json_and_picture(save: Path | None, plot: Path | None, inputs: Callable[[], Iterable[Path]]) -> None:
    """Check the suffixes of --save and --plot, and that matplotlib is installed, besides `check_outputs`."""
    if save is not None and save.suffix != ".json":
        raise ValueError(f"--save: expected a file ending in .json, got {save}")
    if plot is not None:
        check_picture(plot)
    check_outputs(filter(None, (save, plot)), inputs)


@contextmanager
def naming_files(places: Mapping[str, str]) -> Iterator[None]:
    """Prefix errors that begin with the name of a column with the file of the column."""
    try:
        yield
    except (ValueError, TypeError) as error:
        place = places.get(str(error).partition(":")[0])
        if place is None:
            raise
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{place}: {error}") from error
