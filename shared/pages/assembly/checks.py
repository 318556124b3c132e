"""Check what columns are made of, where a wrong combination would give wrong numbers in silence."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..columns.arrays import Classes
from ..columns.column import Column
from ..page import Page
from ..reading.data import Data
from ..reading.names import number_of, runs
from .guesses import MadeOf, columns_of, source_of


def is_used(column: Column, names: Sequence[str]) -> bool:
    """Whether any array is chosen for a column."""
    return bool(names) and not (column.unused and column.unused in names)


def check_parts(page: Page, made_of: MadeOf) -> None:
    """Raise ValueError for a column with an entry for each row beside columns that are parts of an argument."""
    parts = [column.name for column in columns_of(page, made_of) if column.part_of]
    by_row = [column for column in page.columns if column.unused and is_used(column, made_of[column.name])]
    if parts and by_row:
        names = f"{', '.join(parts[:-1])} and {parts[-1]}"
        raise ValueError(
            f"{by_row[0].name}: expected none beside {names}, which are samples of several kinds; choose "
            f"{by_row[0].unused!r} under Columns, or give each sample a row with its label"
        )


def check_first_class(page: Page, sources: Sequence[Data], made_of: MadeOf, values: Mapping[str, Any]) -> None:
    """Raise ValueError for columns numbered from 1 beside labels from 1: the first column is class 0."""
    for column in page.columns:
        if not isinstance(column, Classes) or column.name not in values or "references" not in values:
            continue
        names = made_of[column.name]
        members = runs(source_of(column, names, sources)).get(names[0], [""])
        labels = np.asarray(values["references"])
        known = labels[labels >= 0] if labels.dtype.kind in "iuf" else labels[:0]
        if number_of(members[0]) == 1 and len(known) and known.min() >= 1:
            raise ValueError(
                f"references: expected classes from 0, since the first column of scores, {members[0]}, is class 0, got "
                f"{known.min()} to {known.max()}; if these are the numbers of the columns, subtract 1"
            )


def check_order(names: Sequence[str]) -> None:
    """Raise ValueError if a file 10 comes before a file 2: a stack of images beside them is hardly in that order."""
    parts = [
        [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)] for name in names
    ]
    if parts != sorted(parts):
        last = next(i for i, (one, other) in enumerate(pairwise(parts)) if one > other)
        raise ValueError(
            f"images: expected names on both sides, since files are in the order of their names, {names[last]} before "
            f"{names[last + 1]}, which a stack may not be"
        )
