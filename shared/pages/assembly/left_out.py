"""Find the rows of a table with unreadable cells, and drop them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..columns.column import FLIPPED, Column
from ..page import Page
from ..reading.data import Data
from ..reading.names import runs
from .guesses import MadeOf

MAX_PLACES = 10  # lines that are named


class Unread(NamedTuple):
    """Rows that cannot be read.

    rows: (n,) their indices, from 0; size: the number of rows in the table
    wrong: a sentence for each column with such cells
    columns: the metric's column for each array with such cells, by the array's name
    line: the line of the table's first row in its file, None for data without lines
    """

    rows: np.ndarray
    size: int
    wrong: Sequence[str]
    columns: Mapping[str, Column]
    line: int | None

    @property
    def question(self) -> str:
        """The errors and how to resolve them."""
        rows = "this row" if len(self.rows) == 1 else f"these {len(self.rows):,} rows"
        return f"{'. '.join(self.wrong)}. Fix the file, or leave out {rows} of {self.size:,}."

    @property
    def note(self) -> str:
        """A sentence that says which rows are left out."""
        first = 1 if self.line is None else self.line
        places = ", ".join(f"{row + first:,}" for row in self.rows[:MAX_PLACES].tolist())
        more = f" and {len(self.rows) - MAX_PLACES:,} more" if len(self.rows) > MAX_PLACES else ""
        word = ("row" if self.line is None else "line") + ("s" if len(self.rows) > 1 else "")
        return f"Left out {len(self.rows):,} of {self.size:,} rows that could not be read: {word} {places}{more}."


def unread(page: Page, sources: Sequence[Data], made_of: MadeOf) -> Unread | None:
    """The rows with an unreadable cell in a column that is used.

    None if no row or every row is unreadable, if columns differ in length, and on pages of images, where rows are not
    samples.
    """
    if page.images or len(sources) > 1:
        return None
    (data,) = sources
    numbered = runs(data)
    used = {
        member: column
        for column in page.columns
        for name in made_of.get(column.name, ())
        for member in numbered.get(name.removeprefix(FLIPPED), [name.removeprefix(FLIPPED)])
        if member in data.arrays
    }
    wrong = {name: column.unreadable(data.arrays[name]) for name, column in used.items()}
    sizes = {len(cells) for cells in wrong.values()}
    if len(sizes) != 1:
        return None
    rows = np.flatnonzero(np.any([*wrong.values()], axis=0))
    if len(rows) in (0, *sizes):
        return None
    columns = {name: used[name] for name, cells in wrong.items() if cells.any()}
    sentences = [column.wrong(name, data.arrays[name], data.lines.get(name)) for name, column in columns.items()]
    return Unread(rows, sizes.pop(), sentences, columns, data.lines.get(next(iter(columns))))


def without(data: Data, out: Unread) -> Data:
    """The data without these rows; columns that held text or gaps only there become numbers."""
    kept = np.delete(np.arange(out.size), out.rows)
    arrays = dict(data.arrays)
    for name, array in data.arrays.items():
        if len(array) == out.size and isinstance(array, np.ndarray):
            arrays[name] = out.columns[name].cleaned(array[kept]) if name in out.columns else array[kept]
    words = {name: partial(_rows_of, read, kept) for name, read in data.words.items()}
    return data._replace(arrays=arrays, words=words, lines={})


def _rows_of(read: Callable[[], Any], rows: np.ndarray) -> np.ndarray:
    return np.asarray(read())[rows]
