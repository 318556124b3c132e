"""What a person gave, read; refused are columns that are too many or that cannot be told apart or shown."""

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

from .columns import IMAGE_NAMES, plain
from .costs import MAX_SAMPLES, Cost, check_costs
from .inputs import read_sources
from .limits import MAX_COLUMNS, MAX_NAME, RefusedError
from .page import Page
from .uploads import Data

MAX_LINE = 1_000_000  # bytes of a line of names; a longer one is no table for pyarrow either
MAX_SPLIT = 500_000_000  # rows times images: each image is looked for among all rows


def checked_sources(page: Page, tables: Sequence[Any], files: Sequence[Any]) -> list[Data]:
    """As `read_sources`; RefusedError for columns that are too many or of one name, names too long or of no text."""
    for table in tables:
        if table is not None:
            check_names("table", [str(name).strip() for name in table.columns])
    for uploaded in files:
        for path in map(Path, uploaded if isinstance(uploaded, (list, tuple)) else [uploaded] if uploaded else []):
            check_number(path.name, columns_stated(path))
    sources = read_sources(page, tables, files)
    for data in sources:
        check_names("the data", list(data.arrays))
        if page.images:
            named = (array for name, array in data.arrays.items() if plain(name) in IMAGE_NAMES)
            check_costs(cost for images in named for cost in _split_costs(images))
    return sources


def check_names(where: str, names: Sequence[str]) -> None:
    """Raise RefusedError for too many columns, two of one name, a name that is too long, and one that is no text."""
    check_number(where, len(names))
    for name, count in Counter(names).items():
        if count > 1:
            raise RefusedError(f"{where}: expected columns of different names, got {count} named {name[:MAX_NAME]!r}")
        if len(name) > MAX_NAME:
            raise RefusedError(f"{where}: expected names of at most {MAX_NAME} letters, got one of {len(name):,}")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise RefusedError(f"{where}: expected names that UTF-8 can write, got {name!r}")


def check_number(where: str, number: int) -> None:
    """Raise RefusedError for too many columns."""
    if number > MAX_COLUMNS:
        raise RefusedError(f"{where}: expected at most {MAX_COLUMNS:,} columns, got {number:,}")


def columns_stated(path: Path) -> int:
    """How many columns a file says it has, in its first line, its footer or its table of contents; 0 if it does not.

    What is wrong with a file otherwise is for its reader to say.
    """
    try:
        if path.suffix.lower() == ".parquet":
            return int(pyarrow.parquet.read_metadata(path).num_columns)
        if path.suffix.lower() == ".npz":
            with zipfile.ZipFile(path) as archive:
                return len(archive.namelist())
        if path.suffix.lower() == ".csv":
            with path.open("rb") as file:
                return 1 + file.read(MAX_LINE).lstrip().partition(b"\n")[0].count(b",")
    except (OSError, ValueError, zipfile.BadZipFile, pa.ArrowException):
        pass
    return 0


def _split_costs(images: Any) -> Iterator[Cost]:
    """What it takes to split rows by the image that each belongs to."""
    if isinstance(images, np.ndarray) and images.ndim == 1:
        distinct = len(pd.unique(images))
        yield Cost("images", distinct, MAX_SAMPLES)
        yield Cost("rows times images", distinct * len(images), MAX_SPLIT)
