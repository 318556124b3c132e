"""The use of each column of the files: a column of the metric, names of rows, or none.

Every column of every file is there once: the columns that are not used are named, and may be offered as groups.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..columns.cells import are_words, distinct, num_dimensions
from ..columns.guesses import sources_of, table_of
from ..columns.kinds import Clusters, is_score_column
from ..columns.metrics import Layout, MadeOf, columns_in_use, is_used
from ..cures import CurableError, Cure
from ..places import unsigned
from ..tables.files import Streamed, Table
from .inputs import FileColumn
from .joins import names_rows

NAMES = "names of rows"
_MOST_GROUPS = 30


class Use(NamedTuple):
    """The use of a column of a file.

    roles: the columns of the metric that it is a part of, or NAMES; none if it is not used
    adds: whether it says something that no other file says
    """

    roles: Sequence[str] = ()
    adds: bool = False


def uses_of(
    layout: Layout,
    tables: Sequence[Table],
    made_of: MadeOf,
    columns: Sequence[FileColumn],
) -> dict[FileColumn, Use]:
    """The use of each column of the files.

    A column with the header and the cells of one that all models share, such as the labels, has its use.
    """
    roles = _roles(layout, tables, made_of)
    uses = {
        column: Use(of_column := roles.get((column.source, column.name), ()), bool(of_column)) for column in columns
    }
    for column, other in _repeated(layout, uses):
        arrays = tables[column.source].arrays
        if _have_equal_cells(arrays[column.name], arrays[other.name]):
            uses[other] = Use(uses[column].roles)
    for column in columns:
        if column.is_key and not uses[column].roles:
            uses[column] = Use([NAMES])
    name = naming_column(tables[0], made_of) if layout.inputs == 1 else ""
    for column in columns:
        if name and column.name == name and not uses[column].roles:
            uses[column] = Use([NAMES], adds=True)
    return uses


def _roles(layout: Layout, tables: Sequence[Table], made_of: MadeOf) -> dict[tuple[int, str], list[str]]:
    """The columns of the metric that each column of the tables is a part of, by the table's index and its name."""
    roles: dict[tuple[int, str], list[str]] = {}
    for column in columns_in_use(layout, made_of):
        names = made_of[column.name]
        if not is_used(column, names):
            continue
        table = table_of(column, names, tables)
        source = next(place for place, each in enumerate(tables) if each is table)
        for name in column.members(names, table):
            for one in sources_of(name, table):
                listed = roles.setdefault((source, one), [])
                listed += [column.name] if column.name not in listed else []
    return roles


def _repeated(layout: Layout, uses: Mapping[FileColumn, Use]) -> list[tuple[FileColumn, FileColumn]]:
    """Each column that all models share, and one of its header in another file that has no use."""
    of_models = {one.name for one in layout.columns if one.is_predicted}
    shared = [column for column, use in uses.items() if use.roles and of_models.isdisjoint(use.roles)]
    free = [column for column, use in uses.items() if not use.roles and column.name]
    return [(one, other) for one in shared for other in free if one.file != other.file and one.header == other.header]


def _have_equal_cells(one: Any, other: Any) -> bool:
    """Whether two columns have the same cells, also as text; columns that are read in batches are taken to."""
    if isinstance(one, Streamed) or isinstance(other, Streamed):
        return True
    return np.array_equal(np.asarray(one), np.asarray(other)) or [*map(str, one)] == [*map(str, other)]


def check_agreement(layout: Layout, uses: Mapping[FileColumn, Use], chosen: Collection[str]) -> None:
    """Raise ValueError for files of the same samples that differ in a column of all models, unless it is chosen."""
    for column, other in _repeated(layout, uses):
        role = uses[column].roles[0]
        if role not in (*chosen, NAMES):
            raise CurableError(
                f"{other.file}: {other.header}: expected the {'labels' if role == 'references' else role} that "
                f"{column.file} has, since their rows are taken for the same samples, got others",
                Cure(f"if those of {column.file} are right", {"columns": {role: column.name}}),
            )


def files_of_models(layout: Layout, uses: Mapping[FileColumn, Use]) -> list[str]:
    """The files that may have columns of a model: some, or nothing that is used yet; none of a single file."""
    of_models = {one.name for one in layout.columns if one.is_predicted}
    files = {column.file for column, use in uses.items() if use.adds and not of_models.isdisjoint(use.roles)}
    idle = idle_files(uses)
    several = [*dict.fromkeys(column.file for column in uses)]
    return [file for file in several if file in files or file in idle] if len(several) > 1 else []


def idle_files(uses: Mapping[FileColumn, Use]) -> list[str]:
    """The files that add nothing: no column of them is used, other than one that another file has as well."""
    adding = {column.file for column, use in uses.items() if use.adds}
    return [file for file in dict.fromkeys(column.file for column in uses) if file not in adding]


def labelled(uses: Mapping[FileColumn, Use]) -> dict[str, str]:
    """The use of each column in words, by its header, or by its file and header where there are several files."""
    several = len({column.file for column in uses}) > 1
    return {
        f"{column.file}: {column.header}" if several else column.header: ", ".join(use.roles)
        for column, use in uses.items()
    }


def naming_column(table: Table, made_of: MadeOf) -> str:
    """The column of text that names the samples of a table, by its name, or since its words are distinct; or ""."""
    used = {each for names in made_of.values() for name in names for each in (name, unsigned(name))}
    texts = {
        name: array
        for name, array in table.arrays.items()
        if name not in used and isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "OUT"
    }
    by_name = (name for name in texts if names_rows(name))
    unique = (name for name, array in texts.items() if len({*array.tolist()}) == len(array))
    return next(chain(by_name, unique), "")


def likely_scores(uses: Mapping[FileColumn, Use], table: Table) -> Iterator[str]:
    """The columns of fractions that are not used, by their names in the table; none that are shorter than others."""
    longest = max((len(array) for array in table.arrays.values() if num_dimensions(array)), default=0)
    for column, use in uses.items():
        array: Any = table.arrays.get(column.name)
        if not use.roles and is_score_column(array) and len(array) == longest:
            yield column.name


def likely_groups(layout: Layout, uses: Mapping[FileColumn, Use], table: Table) -> Iterator[str]:
    """The columns that may be groups, by their names in the table: of a few words, each in several rows, and not used.

    A column that is named like clusters, such as patients, is none.
    """
    clusters = next((column for column in layout.columns if isinstance(column, Clusters)), None)
    for column, use in uses.items():
        array: Any = table.arrays.get(column.name)
        is_column = isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "OU"
        if use.roles or not is_column or not are_words(array):
            continue
        words = distinct(array)
        is_few = 1 < len(words) <= min(_MOST_GROUPS, len(array) // 2)
        if is_few and not (clusters is not None and clusters.is_likely(column.header, array)):
            yield column.name
