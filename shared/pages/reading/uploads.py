"""Read an upload as named arrays.

Nothing is unpickled, and sizes are checked before a file is read in full. Errors name the file, never its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..serving.limits import RefusedError, check_files, without_paths
from .data import Data
from .names import IMAGE_NAMES, SAMPLE_NAMES, num_dimensions, plain
from .tables import READERS

Reader = Callable[[list[Path], bool], Data]  # takes all files of its suffix, and whether archives are data sets


def read_table(frame: pd.DataFrame | None) -> Data:
    """Columns of the page's table, without empty rows and columns; columns of numbers become numeric."""
    frame = pd.DataFrame() if frame is None else frame.map(_filled).dropna(how="all").dropna(how="all", axis=1)
    return Data({str(name).strip(): _as_numbers(frame[name]) for name in frame.columns})


def _filled(cell: Any) -> Any:
    return np.nan if isinstance(cell, str) and not cell.strip() else cell


def _as_numbers(column: Any) -> Any:
    try:
        return pd.to_numeric(column).to_numpy()
    except (ValueError, TypeError):
        return column.to_numpy(dtype=object)


def read_files(paths: list[Path], readers: Mapping[str, Reader], apart: bool = False) -> Data:
    """Join the arrays of files, each read by the reader of its suffix; a repeated name is prefixed with its file's.

    Parameters: readers, readers of this input only, each of which takes all files of its suffix; apart, whether
    archives are data sets, not detectors.

    Raises RefusedError for a file that is too large, does not match its suffix, or has a suffix without a reader.
    """
    check_files(paths)
    pooled = Data({})
    kinds = {path: _kind(path, readers) for path in paths}
    for suffix in dict.fromkeys(kinds.values()):
        group = [path for path in paths if kinds[path] == suffix]
        if suffix in readers:
            pooled = pooled.joined(_read(group, partial(readers[suffix], group, apart)), group[0].stem)
        elif suffix in READERS:
            for path in group:
                pooled = pooled.joined(_read([path], partial(READERS[suffix], path)), path.stem)
        else:
            endings = ", ".join([*readers, *READERS])
            raise RefusedError(f"{group[0].name}: expected one of {endings}, got {suffix or 'no suffix'}")
    _check_rows(pooled)
    return pooled


def _check_rows(data: Data) -> None:
    """Raise RefusedError for two tables that name their rows, but not in one order: columns are joined row by row."""
    first: dict[str, Any] = {}
    for name, array in data.arrays.items():
        column = name.rpartition(": ")[2]
        if plain(column) not in (*IMAGE_NAMES, *SAMPLE_NAMES) or num_dimensions(array) != 1:
            continue
        other = first.setdefault(column, array)
        if len(other) == len(array) and sorted(map(str, other)) == sorted(map(str, array)) and (other != array).any():
            raise RefusedError(
                f"{name}: expected the rows of all files in one order, got another; sort them by {column}"
            )


def _kind(path: Path, readers: Mapping[str, Reader]) -> str:
    """The suffix of a file; for archives, and for files that share a reader, the first suffix of that reader."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return next(iter(readers), suffix)
    return next((kind for kind in readers if readers.get(suffix) is readers[kind]), suffix)


def _read(paths: list[Path], read: Callable[[], Data]) -> Data:
    try:
        return read()
    except RefusedError:
        raise
    except MemoryError:
        raise RefusedError(f"{paths[0].name}: not enough memory to read it") from None
    except Exception as error:  # libraries raise errors of many types
        kind = paths[0].suffix.lower()[1:]
        reason = without_paths(str(error).splitlines()[0] if str(error) else type(error).__name__)[:200]
        raise RefusedError(f"{paths[0].name}: cannot be read as {kind}: {reason}") from None
