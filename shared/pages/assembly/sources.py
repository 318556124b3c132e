"""Read and check a page's inputs, files or tables."""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet

from ..page import Page
from ..reading.archives import are_data_sets
from ..reading.data import Data
from ..reading.names import IMAGE_NAMES, plain
from ..reading.uploads import read_files, read_table
from ..serving.costs import MAX_SAMPLES, Cost, check_costs
from ..serving.limits import MAX_COLUMNS, MAX_NAME, RefusedError, check_contents

MAX_LINE = 1_000_000  # bytes of a line of names; a longer one is no table for pyarrow either


def read_sources(page: Page, tables: Sequence[Any], files: Sequence[Any]) -> list[Data]:
    """Read the files of each source, or the tables if there are no files."""
    paths = [[Path(path) for path in _listed(uploaded)] for uploaded in files]
    if not any(paths):
        return [read_table(table) for table in tables]
    apart = are_data_sets(paths)
    data = [
        read_files(sorted(part, key=lambda path: path.name), source.readers, apart)
        for source, part in zip(page.sources, paths)
    ]
    for one in data:
        check_names("the data", list(one.arrays))  # before any pattern looks at them
    return page.joined(data)


def _listed(value: Any) -> list[Any]:
    return [] if value is None else list(value) if isinstance(value, (list, tuple)) else [value]


def checked_sources(page: Page, tables: Sequence[Any], files: Sequence[Any]) -> list[Data]:
    """Read the sources, with the names of columns checked before and after. Raises RefusedError as `check_names`."""
    for table in tables:
        if table is not None:
            check_names("table", [str(name).strip() for name in table.columns])
    for uploaded in files:
        for path in map(Path, _listed(uploaded)):
            if path.suffix.lower() in (".npz", ".zip"):
                check_contents(path)
            check_names(path.name, names_stated(path))
    sources = read_sources(page, tables, files)
    for data in sources:
        check_names("the data", list(data.arrays))
        if page.images:
            named = (array for name, array in data.arrays.items() if plain(name) in IMAGE_NAMES)
            check_costs(cost for images in named for cost in _image_costs(images))
    return sources


def check_names(where: str, names: Sequence[str]) -> None:
    """Raise RefusedError for too many columns, two of one name, and a name that is too long or invalid in UTF-8."""
    if len(names) > MAX_COLUMNS:
        raise RefusedError(f"{where}: expected at most {MAX_COLUMNS:,} columns, got {len(names):,}")
    for name, count in Counter(names).items():
        if count > 1:
            raise RefusedError(f"{where}: expected columns of different names, got {count} named {name[:MAX_NAME]!r}")
        if len(name) > MAX_NAME:
            raise RefusedError(f"{where}: expected names of at most {MAX_NAME} characters, got one of {len(name):,}")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise RefusedError(f"{where}: expected names that can be encoded in UTF-8, got {name!r}")


def names_stated(path: Path) -> list[str]:
    """The columns that a file declares before it is read: names for .npz, positions for .csv and .parquet.

    Any other error in the file is left to its reader.
    """
    kind, number = path.suffix.lower(), 0
    try:
        if kind == ".npz":
            with zipfile.ZipFile(path) as archive:
                return archive.namelist()
        if kind == ".parquet":
            number = pyarrow.parquet.read_metadata(path).num_columns
        elif kind == ".csv":
            with path.open("rb") as file:
                number = 1 + file.read(MAX_LINE).lstrip().splitlines()[0].count(b",")
    except (OSError, LookupError, ValueError, NotImplementedError, zipfile.BadZipFile, pa.ArrowException):
        pass
    return [str(place) for place in range(number)]


def _image_costs(images: Any) -> Iterator[Cost]:
    """The number of images that the rows belong to, as a cost."""
    if isinstance(images, np.ndarray) and images.ndim == 1:
        yield Cost("images", len(pd.unique(images)), MAX_SAMPLES)
