"""The inputs of a metric as tables: files, folders, archives and data frames, or the places of columns.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input. A
name may have a sign: "scores.csv:-conf" is the negated column, "scores.csv:+conf" the column as it stands.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from ..columns.cells import num_dimensions
from ..columns.guesses import check_directions, guessed_by_name, guessed_by_values, is_guess, picked_names
from ..columns.kinds import Column, Names, Scores as ScoresColumn
from ..columns.metrics import Layout
from ..cures import ANY, Advice, Cure
from ..limits import COMMANDS, Limits
from ..places import Archives, files_below, unsigned
from ..reading import as_paths
from ..reasons import named, some
from ..sides import sides_of_names
from ..tables.files import STANDARD_INPUT, Lines, Table, check_names, read_table, whole
from .from_names import Pattern, stand_below
from .joins import Sheet, joined
from .missing import cures_of_names
from .roles import check_role, check_sets, is_known_beside, numbers_of

_ALONE = "scores"  # the column of files of one array each, whose rows stand one below another
_SETS = "data_set"  # the column of the files that rows come from


class FileColumn(NamedTuple):
    """A column of a file.

    file: the name of the file, "" of data that are in memory; header, the column's name there
    source: the index of its table among those of the inputs; name, its name there, "" if another table has it, too
    is_key: whether it joins rows
    """

    file: str
    header: str
    source: int = 0
    name: str = ""
    is_key: bool = False


class Opened(NamedTuple):
    """The table of each input, in which rows are joined.

    files: of all inputs
    sentences: what was recognised; notes, how rows were joined; question, what was not recognised
    file_of_rows: (N,) the name of each row's file in the first table, if it has the rows of several
    columns: of all files
    """

    tables: Sequence[Table]
    files: Sequence[Path] = ()
    sentences: Sequence[str] = ()
    notes: Sequence[str] = ()
    question: str = ""
    file_of_rows: np.ndarray | None = None
    columns: Sequence[FileColumn] = ()

    def titles(self, paths: Collection[Path]) -> list[str]:
        """The names of some of the files, as columns have them."""
        return [title for title, path in zip(titles_of(self.files), self.files) if path in paths]

    def names_of(self, names: Sequence[str]) -> list[str]:
        """The names of arrays in the tables, of names that may begin with the name of a file, as models have them."""
        there = {name for table in self.tables for name in table.arrays}
        called = {f"{stem_of(column.file)}: {column.header}": column.name for column in self.columns if column.name}
        return [
            name[: len(name) - len(bare)] + called[bare] if bare not in there and bare in called else name
            for name in names
            for bare in [name if name in called else unsigned(name)]
        ]


def tables_of_places(
    layout: Layout, places: Mapping[str, Any], limits: Limits, *, signed: bool, by_position: bool = False
) -> tuple[Opened, dict[str, list[str]]]:
    """The arrays of the files of places, each read once, and the names of the arrays of each column.

    Rows of several files are joined in the order of the file of the references, other than samples of several kinds.
    Parameters: places, by column; signed, whether scores have a sign by other means; by_position, whether rows are
    taken as they stand. Raises ValueError, with the place.
    """
    split = {name: split_place(os.fspath(place)) for name, place in places.items()}
    wanted: dict[Path, list[str]] = {}
    for path, picked in split.values():
        wanted.setdefault(path, []).extend(picked)
    read = {path: read_table(path, names, limits, streamed=True) for path, names in wanted.items()}
    by_name = {column.name: column for column in layout.columns}
    made_of: dict[str, list[str]] = {}
    taken: dict[Path, list[str]] = {path: [] for path in read}
    sentences = []
    for name, (path, picked) in split.items():
        table = read[path]
        with named(places[name]):
            column = by_name[name]
            made_of[name] = picked_names(column, table, picked)
            if not signed:
                check_directions(layout, {name: made_of[name]})
            sentences += [f"{name} is {made_of[name][0]}"] if is_guess(column, table, made_of[name], picked) else []
        if not column.part_of and not isinstance(column, Names):
            taken[path] += made_of[name]
    notes: list[str] = []
    of_samples = [path for path in read if any(split[name][0] == path and not by_name[name].part_of for name in split)]
    headers, keys = {path: [*table.arrays] for path, table in read.items()}, dict[Path, Sequence[str]]()
    if not by_position and len(of_samples) > 1:
        sheets = [Sheet(title, read[path], taken[path]) for title, path in zip(titles_of(of_samples), of_samples)]
        first = split["references"][0] if "references" in split else of_samples[0]
        tables, notes, of_sheets = joined(sheets, first=of_samples.index(first))
        read |= dict(zip(of_samples, tables))
        keys |= dict(zip(of_samples, of_sheets))
    pooled, called, columns = Table({}), dict[Path, dict[str, str]](), list[FileColumn]()
    for title, (path, table) in zip(titles_of([*read]), read.items()):
        both = pooled.joined(table, stem_of(title))
        called[path] = dict(zip(table.arrays, [*both.arrays][len(pooled.arrays) :]))
        columns += _columns_of(title, headers[path], called[path], keys.get(path, ()))
        pooled = both
    chosen = {}
    for name, names in made_of.items():
        new = called[split[name][0]]
        chosen[name] = [new[one] if one in new else one[0] + new[unsigned(one)] for one in names]
    return Opened([pooled], [*read], sentences, notes, columns=columns), chosen


def stem_of(title: str) -> str:
    """The name of a file without its suffix, after its folder where that is part of the name.

    >>> stem_of("run1/scores.csv")
    'run1/scores'
    """
    return str(PurePath(title).with_suffix("")) if PurePath(title).name else title


def _columns_of(
    file: str, headers: Sequence[str], called: Mapping[str, str], keys: Sequence[str], source: int = 0
) -> list[FileColumn]:
    """The columns of a file; `called`, their names in the table of the input."""
    return [FileColumn(file, header, source, called.get(header, ""), header in keys) for header in headers]


def titles_of(paths: Sequence[Path]) -> list[str]:
    """The names of files, or of the files and their folders where files have one name."""
    names = [path.name for path in paths]
    return [name if names.count(name) == 1 else f"{path.parent.name}/{name}" for path, name in zip(paths, names)]


def tables_of_inputs(
    layout: Layout,
    inputs: Sequence[Any],
    archives: Archives,
    limits: Limits,
    *,
    names: Sequence[str] = (),
    patterns: Sequence[Pattern] = (),
    by_position: bool = False,
) -> Opened:
    """The arrays of all files of each input: a file, a folder, an archive, several of these, or a data frame.

    Rows are joined in the order of the first file. Parameters: names, the columns that are wanted; patterns, of names,
    for which the rows of files of the same columns stand one below another; by_position, whether rows are taken as they
    stand.
    """
    read = [_sheets_of_input(layout, one, archives, limits, names, patterns) for one in inputs]
    sheets = [sheet for each in read for sheet in each.sheets]
    question = next((each.question for each in read if each.question), "")
    notes = [note for each in read for note in each.notes]
    headers = [[*sheet.table.arrays] for sheet in sheets]
    keys: Sequence[Sequence[str]] = [()] * len(sheets)
    if not by_position and not question:  # files of several lengths may be of several kinds of samples
        tables, key_notes, keys = joined(sheets)
        notes += key_notes
        sheets = [sheet._replace(table=table) for sheet, table in zip(sheets, tables)]
    pooled, start, columns = [], 0, list[FileColumn]()
    for source, each in enumerate(read):
        table = Table({})
        for place, sheet in enumerate(sheets[start : start + len(each.sheets)], start):
            both = table.joined(sheet.table, stem_of(sheet.name)) if each.are_files else sheet.table
            called = dict(zip(sheet.table.arrays, [*both.arrays][len(table.arrays) :]))
            alone = [(sheet.name if each.are_files else "", [(header, header) for header in headers[place]])]
            for file, pairs in each.columns or alone:
                by_header = {header: called[name] for header, name in pairs if name in called}
                by_key = [header for header, name in pairs if name in keys[place]]
                columns += _columns_of(file, [header for header, _ in pairs], by_header, by_key, source)
            table = both
        pooled.append(table)
        start += len(each.sheets)
    sentences = [sentence for each in read for sentence in each.sentences]
    file_of_rows = next((each.file_of_rows for each in read), None)
    files = [path for each in read for path in each.files]
    return Opened(pooled, files, sentences, notes, question, file_of_rows, columns)


class _Input(NamedTuple):
    """The tables of an input; the others as of `Opened`.

    are_files: whether each table is of a file, and they lie side by side
    columns: of files that lie one below another, for each its name, and the header of each column and its name
    """

    sheets: Sequence[Sheet]
    are_files: bool = False
    columns: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()
    files: Sequence[Path] = ()
    sentences: Sequence[str] = ()
    notes: Sequence[str] = ()
    question: str = ""
    file_of_rows: np.ndarray | None = None


def _sheets_of_input(
    layout: Layout, files: Any, archives: Archives, limits: Limits, names: Sequence[str], patterns: Sequence[Pattern]
) -> _Input:
    if isinstance(files, Table):
        return _Input([Sheet("the table", files)])
    if hasattr(files, "columns") and hasattr(files, "iloc"):
        names = [str(name).strip() for name in files.columns]
        with named("table"):
            check_names(names, limits)
        arrays = {name: np.asarray(files[column]) for name, column in zip(names, files.columns)}
        index = str(files.index.name or "").strip()
        words = {} if index in arrays or files.index.nlevels > 1 else {index: partial(np.asarray, files.index)}
        return _Input([Sheet("the data frame", Table(arrays, words))])
    paths: list[Path] = []
    for place in as_paths(files):
        path = archives.folder(place) if place.suffix.lower() == ".zip" else place
        paths += files_below(path, None) if path.is_dir() else [path]
    paths = [*dict.fromkeys(paths)]
    limits.check_files(paths)
    by_column = isinstance(layout.columns[0], ScoresColumn)
    by_path = {path: read_table(path, names, limits, are_of_several=True, by_column=by_column) for path in paths}
    titles = titles_of(paths)
    below = stand_below(titles, [*by_path.values()], patterns)
    sides, question = ({}, "") if any(one.column == layout.label for one in patterns) else _sides(layout, by_path)
    if sides or below:
        table, sentences = _of_sides(layout, by_path, sides) if sides else (_stacked(by_path), [])
        of_rows = np.repeat(np.asarray(titles, dtype=object), [*map(_num_rows, by_path.values())])
        notes = [] if sides else [below]
        named_so = [[(each, _ALONE if opened.alone else each) for each in opened.arrays] for opened in by_path.values()]
        columns = [*zip(titles, named_so)]
        sheet = Sheet(paths[0].name, table)
        return _Input([sheet], False, columns, paths, sentences, notes, file_of_rows=of_rows)
    sheets = [Sheet(title, table) for title, table in zip(titles, by_path.values())]
    return _Input(sheets, True, files=paths, question=question)


def _sides(layout: Layout, by_path: Mapping[Path, Table]) -> tuple[dict[Path, bool], str]:
    """Whether each file holds unknown samples, where each holds one side: by their names, if they have one header.

    If these say nothing, the names of their folders do, unless the rows may be the same samples: empty for such files.
    With a question for files of one header and of different lengths whose names do not say which is which.
    """
    if not layout.label or len(by_path) < 2:
        return {}, ""
    tables = [*by_path.values()]
    alike = all(table.alone for table in tables) or len({frozenset(table.arrays) for table in tables}) == 1
    lengths = {len(array) for table in tables for array in table.arrays.values() if num_dimensions(array) < 3}
    guesses = (guessed_by_values(layout, [table], guessed_by_name(layout, [table], {})) for table in tables)
    labelled = any(each[layout.label] for each in guesses)
    if not alike or labelled:
        return {}, ""
    sides = dict(zip(by_path, sides_of_names([path.stem for path in by_path])))
    known = [path for path in by_path if is_known_beside(path, [*by_path])]
    if len(known) == 1 and {*sides.values()} == {None}:
        return {path: path not in known for path in by_path}, ""
    if {*sides.values()} == {None} and len(lengths) > 1:
        sides = dict(zip(by_path, sides_of_names([path.parent.name for path in by_path])))
    stated = {*sides.values()} - {None}
    if len(stated) == 2 or (stated and len(sides) == 2):
        rest = len(stated) == 2 or False in stated
        return {path: rest if side is None else side for path, side in sides.items()}, ""
    if len(lengths) < 2:
        return {}, ""
    parts = [column.name for column in layout.columns if column.part_of]
    return {}, Advice(
        f"{', '.join(path.name for path in by_path)}: expected names that say which file holds known samples and "
        "which unknown ones, such as id.csv and ood.csv, since they are of different lengths",
        *([Cure("to say which is which", {"columns": dict.fromkeys(parts, ANY)})] if parts else []),
        *cures_of_names(tables[0]),
    )


def _num_rows(table: Table) -> int:
    return max(map(len, table.arrays.values()), default=0)


def _stacked(by_path: Mapping[Path, Table]) -> Table:
    """The rows of files of the same columns, one below another."""
    titles = dict(zip(by_path, titles_of([*by_path])))
    named_alike = [
        table._replace(arrays={_ALONE: next(iter(table.arrays.values()))}) if table.alone else table
        for table in by_path.values()
    ]
    starts = np.cumsum([0, *map(_num_rows, named_alike)]).tolist()

    arrays, words, lines = {}, {}, {}
    for name in named_alike[0].arrays:
        arrays[name] = np.concatenate([np.asarray(table.arrays[name]) for table in named_alike])
        if all(name in table.words for table in named_alike):
            words[name] = partial(_words_below, [table.words[name] for table in named_alike])
        file_lines = [table.lines.get(name, Lines()) for table in named_alike]
        lines[name] = Lines(below=[*zip(starts, titles.values(), file_lines)])
    return Table(arrays, words, lines)


def _words_below(reads: Sequence[Callable[[], Any]]) -> np.ndarray:
    return np.concatenate([np.asarray(whole(read())) for read in reads])


def _of_sides(layout: Layout, by_path: Mapping[Path, Table], sides: Mapping[Path, bool]) -> tuple[Table, list[str]]:
    """The rows of files of known and of unknown samples, one below another, with a label and the name of their set."""
    stems = [path.stem for path in sides]
    names = {path: path.stem if stems.count(path.stem) == 1 else f"{path.parent.name}/{path.stem}" for path in sides}
    unknown = [names[path] for path, side in sides.items() if side]
    numbers: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
    label: list[int] = []
    sets: list[str | None] = []
    for path, side in sides.items():
        numbers[side][f"{names[path]}{path.suffix}"] = numbers_of(by_path[path])
        size = _num_rows(by_path[path])
        label += [int(side)] * size
        sets += [names[path] if side and len(unknown) > 1 else None] * size
    check_sets(*numbers)
    for path, side in sides.items():
        with named(path.name):
            check_role(by_path[path], [], side)
    table = _stacked(by_path)
    table.arrays[layout.label] = np.asarray(label)
    if len(unknown) > 1:
        table.arrays[_SETS] = np.asarray(sets, dtype=object)
    known = [f"{names[path]}{path.suffix}" for path, side in sides.items() if not side]
    return table, [f"{some(known)} holds known samples, {some(unknown)} unknown ones, by their names"]


def read_column(place: str, name: str, limits: Limits = COMMANDS) -> tuple[Any, Sheet]:
    """The cells of one column as they stand, from its place, FILE or FILE:COLUMN, and the sheet that it is of."""
    path, picked = split_place(place)
    table = read_table(path, picked, limits)
    with named(place):
        names = picked_names(Names(name, required=False), table, picked)
        return whole(Column(name).part(names[0], table)), Sheet(path.name, table, names)


def file_of(place: str) -> Path | None:
    """The file that holds the column of a place; None for standard input."""
    path, _ = split_place(place)
    return None if path == STANDARD_INPUT else path


def split_place(place: str) -> tuple[Path, list[str]]:
    """The file of a place, and the names of its columns; none if it is a file alone.

    >>> split_place("./scores.csv:cat,dog"), split_place("-:score")
    ((PosixPath('scores.csv'), ['cat', 'dog']), (PosixPath('-'), ['score']))
    """
    name, colon, names = place.rpartition(":")
    # an existing file, or C:\… on Windows, has no column after its colon
    if not colon or os.path.exists(place) or not (Path(name).suffix or name == "-" or os.path.isfile(name)):
        return Path(place), []
    if not all(names.split(",")):
        raise ValueError(f"{place}: expected FILE:COLUMN,COLUMN, got a column without a name")
    return Path(name), names.split(",")
