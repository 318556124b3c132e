"""Read an upload: named arrays, and the Python that reads the same ones from the same files.

Nothing is unpickled, and sizes are checked before a file is read whole. Errors name the file, never its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..serving.limits import RefusedError, check_files, without_paths
from .readers import READERS, Data, Reader


def read_table(frame: pd.DataFrame | None) -> Data:
    """Columns of the page's table. Rows and columns that are empty are left out; what is no number stays as it is."""
    frame = pd.DataFrame() if frame is None else frame.map(_filled).dropna(how="all").dropna(how="all", axis=1)
    return Data({str(name).strip(): _as_numbers(frame[name]) for name in frame.columns})


def _filled(cell: Any) -> Any:
    return np.nan if isinstance(cell, str) and not cell.strip() else cell


def _as_numbers(column: Any) -> Any:
    try:
        return pd.to_numeric(column).to_numpy()
    except (ValueError, TypeError):
        return column.to_numpy(dtype=object)


def read_files(paths: list[Path], readers: Mapping[str, Reader], tag: str = "") -> Data:
    """Pool the arrays of some files, each read by the reader of its suffix; a name that occurs twice gets its file's.

    Raises RefusedError for what is too large, of another kind than its suffix says, or of a kind that no reader takes.
    """
    check_files(paths)
    pooled, numbers = Data({}, [], {}, {}), count(1)
    kinds = {path: _kind(path, readers) for path in paths}
    for suffix in dict.fromkeys(kinds.values()):
        group = [path for path in paths if kinds[path] == suffix]
        reader = readers.get(suffix) or READERS.get(suffix)
        if reader is None:
            known = ", ".join([*readers, *READERS])
            raise RefusedError(f"{group[0].name}: expected one of {known}, got {suffix or 'no suffix'}")
        for part, number in zip([group] if suffix in readers else [[path] for path in group], numbers):
            found = _read(part, reader, tag + (f"_file{number}" if number > 1 else ""))
            pooled = joined_files(pooled, found, part[0].stem)
    return pooled


def joined_files(first: Data, more: Data, stem: str) -> Data:
    """What two files hold; of two arrays of one name, the second gets the name of its file before it."""
    arrays, code = dict(first.arrays), dict(first.code)
    for name, array in more.arrays.items():
        label = f"{stem}: {name}" if name in arrays else name
        arrays[label], code[label] = array, more.code[name]
    return Data(
        arrays,
        first.setup + more.setup,
        code,
        {**first.options, **more.options},
        {**first.names, **more.names},
        {**first.lines, **more.lines},
    )


def _kind(path: Path, readers: Mapping[str, Reader]) -> str:
    """The ending of a file, or the first that its reader takes: it reads all of these together, and archives."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return next(iter(readers), suffix)
    return next((kind for kind in readers if _function(readers.get(suffix)) is _function(readers[kind])), suffix)


def _function(reader: Reader | None) -> Any:
    return getattr(reader, "func", reader)  # `inputs` hands over partials


def _read(paths: list[Path], reader: Reader, tag: str) -> Data:
    try:
        return reader(paths, tag)
    except RefusedError:
        raise
    except MemoryError:
        raise RefusedError(f"{paths[0].name}: it takes more memory than there is") from None
    except Exception as error:  # of whatever library reads the format
        kind = paths[0].suffix.lower()[1:]
        reason = without_paths(str(error).splitlines()[0] if str(error) else type(error).__name__)[:200]
        raise RefusedError(f"{paths[0].name}: cannot be read as {kind}: {reason}") from None
