"""Rows of a table with cells that cannot be read: the error, with their lines, or the table without them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ..columns.metrics import Layout, MadeOf
from ..cures import Advice, Cure, cures_of, reworded, sentence_of
from ..places import unsigned
from ..reasons import some
from ..tables.files import Lines, Streamed, Table

UNREADABLE = "that could not be read"
_NAMED = 10  # lines that are named


@dataclass(frozen=True)
class Unread:
    """Rows that cannot be read.

    rows: (n,) their indices, from 0; size: the number of rows in the table
    wrong: a sentence for each column with such cells
    lines: the places of the table's rows in its file
    """

    rows: np.ndarray
    size: int
    wrong: Sequence[str]
    lines: Lines

    @property
    def complaint(self) -> Advice:
        """The errors and their cures."""
        to_leave_out = Cure(f"to leave out {len(self.rows):,} of {self.size:,} rows", {"leave_out": True})
        cures = [cure for wrong in self.wrong for cure in cures_of(wrong)]
        return Advice(". ".join(map(sentence_of, self.wrong)), *cures, to_leave_out)

    @property
    def places(self) -> list[str]:
        """The lines, or the rows, in words."""
        return [*map(self.lines.place, sorted(self.rows.tolist(), key=self.lines.in_file))]

    @property
    def note(self) -> str:
        """A sentence that says which rows are left out."""
        return f"Left out {len(self.rows):,} of {self.size:,} rows {UNREADABLE}: {some(self.places, _NAMED)}."


def unread_rows(layout: Layout, table: Table, made_of: MadeOf) -> Unread | None:
    """The rows with an unreadable cell in a column that is used.

    None if no row or every row is unreadable, and if columns differ in length.
    """
    used = {
        unsigned(one) if one not in table.arrays else one: column
        for column in layout.columns
        for one in column.members(made_of[column.name], table)
    }
    wrong = {
        name: column.unreadable(table.arrays[name])
        for name, column in used.items()
        if name in table.arrays and not isinstance(table.arrays[name], Streamed)
    }
    sizes = {len(cells) for cells in wrong.values()}
    if len(sizes) != 1:
        return None
    rows = np.flatnonzero(np.any([*wrong.values()], axis=0))
    if len(rows) in (0, *sizes):
        return None
    sentences = {
        name: used[name].wrong(name, table.arrays[name], table.lines.get(name))
        for name, cells in wrong.items()
        if cells.any()
    }
    files = {name: f"{table.files[name]}: " if name in table.files else "" for name in sentences}
    by_file = [reworded(text, files[name].__add__) for name, text in sentences.items()]
    return Unread(rows, sizes.pop(), by_file, table.lines.get(next(iter(sentences)), Lines()))


def without(table: Table, out: Unread) -> Table:
    """A table without the rows whose values could not be read."""
    rows_read = np.delete(np.arange(out.size), out.rows)
    arrays = {
        name: array[rows_read] if isinstance(array, np.ndarray) and len(array) == out.size else array
        for name, array in table.arrays.items()
    }
    words = {name: partial(_kept, read, rows_read) for name, read in table.words.items()}
    return table._replace(arrays=arrays, words=words, lines={})


def _kept(read: Callable[[], Any], rows: np.ndarray) -> np.ndarray:
    return np.asarray(read())[rows]
