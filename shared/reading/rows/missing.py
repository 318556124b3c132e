"""Cures for a table without a column that a metric needs: the table it may be instead, and the way to read it so."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ..columns.cells import LOOKED_AT, num_dimensions, number_of
from ..columns.kinds import Column
from ..columns.metrics import Layout, MadeOf
from ..cures import ANY, CurableTypeError, Cure
from ..places import unsigned
from ..tables.files import TEXTS, Table
from .from_names import name_columns
from .joins import names_rows


def error_of_missing(layout: Layout, column: Column, table: Table, used: Collection[str]) -> CurableTypeError:
    """The error of a column that a table does not have, with another table that it seems to be, or the ways to read it.

    Parameters: used, the names of the columns of the table that others are made of.
    """
    what = f"{column.name}: no column looks like it"
    to_pick = Cure(f"to pick one of {', '.join(table.arrays)}", {"columns": {column.name: ANY}})
    cures = [to_pick] if table.arrays else []
    if named := _by_number(table) or _of_blanks(table):
        return CurableTypeError(what + named, *cures)
    if column.name != layout.label or layout.inputs > 1:
        return CurableTypeError(what, *cures)
    if sizes := _of_lengths(table):
        return CurableTypeError(what + sizes, *cures)
    return CurableTypeError(what, *cures, *cures_of_names(table, used))


def check_sides(layout: Layout, columns: Mapping[str, Any], made_of: MadeOf, table: Table) -> None:
    """Raise ValueError for scores and labels of other lengths in one file, which may be scores of two sides."""
    scores = layout.scores()
    if scores is None or layout.inputs > 1 or not {scores.name, layout.label} <= columns.keys():
        return
    sizes = {name: len(columns[name]) for name in (scores.name, layout.label)}
    files = {table.files.get(unsigned(each)) for name in sizes for each in made_of[name]}
    if len({*sizes.values()}) > 1 and len(files) == 1:
        stated = " and ".join(f"{size:,} for {name} ({', '.join(made_of[name])})" for name, size in sizes.items())
        file = files.pop()
        raise ValueError(
            f"{f'{file}: ' if file else ''}expected columns of one length, got {stated}; if these are scores of known "
            "and of unknown samples, the command ood takes each as FILE:COLUMN"
        )


def _by_number(table: Table) -> str:
    """How to name the columns of a table of separated values that has no names."""
    files = [table.files[name] for name, x in table.arrays.items() if num_dimensions(x) == 2 and name in table.files]
    file = next((file for file in files if file.lower().endswith((".csv", ".tsv", *filter(None, TEXTS)))), None)
    return "" if file is None else f"; {file} has no names in its first line: its columns are {file}:0, {file}:1, …"


def _of_blanks(table: Table) -> str:
    """The cure for a table of uncut lines: its first column has words of which the last is a number."""
    array = next(iter(table.arrays.values()), None)
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "OU":
        return ""
    ends = [str(cell).split()[1:][-1:] for cell in array[:LOOKED_AT].tolist()]
    if not ends or not all(end and number_of(end[0]) is not None for end in ends):
        return ""
    return "; lines are cut at blanks in a .txt, .scores, .lst or .dat, and in a .csv at commas, semicolons or tabs"


def _of_lengths(table: Table) -> str:
    """The cure for two columns of scores of other lengths, which no metric takes side by side."""
    flat = {name: x for name, x in table.arrays.items() if isinstance(x, np.ndarray) and x.ndim == 1}
    numbers = {name: len(x) for name, x in flat.items() if x.dtype.kind == "f"}
    if len({*numbers.values()}) < 2:
        return ""
    sizes = " and ".join(f"{size:,} of {name}" for name, size in [*numbers.items()][:4])
    return f"; {sizes} may be scores of known and of unknown samples: the command ood takes each as FILE:COLUMN"


def cures_of_names(table: Table, used: Collection[str] = ()) -> list[Cure]:
    """The cure for a table without labels whose rows have names, in a column that is not used; none without one."""
    columns = {name: cells for name, cells in name_columns(table).items() if name not in used and cells}
    likely = [name for name, cells in columns.items() if names_rows(name) or len({*cells}) == len(cells) > 1]
    cells = columns[likely[0]] if likely else []
    reason = f"to take labels from words in names such as {cells[0]:.60}" if cells else ""
    return [Cure(reason, {"label_from_name": "normal|anomaly"})] if cells else []
