"""The inputs of a metric as tables: files, folders, archives and data frames, or the places of columns.

A place is a file, a file and the name of a column or of several ("scores.csv:cat,dog"), or "-" for standard input. A
name may have a sign: "scores.csv:-conf" is the negated column, "scores.csv:+conf" the column as it stands.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..archives import Archives
from ..limits import Limits
from ..places import files_below, unsigned
from ..reading import as_paths
from ..reasons import named, some
from ..tables.files import STANDARD_INPUT, Table, check_names, read_table, whole
from .arrays import IMAGE_NAMES, SAMPLE_NAMES, num_dimensions, plain
from .cells import as_numbers, is_blank, side_of_name
from .guesses import guessed, says_confidence
from .kinds import Column, Names
from .metrics import Layout

_SETS = "data_set"  # the column of the files that rows come from


class Opened(NamedTuple):
    """The table of an input, its files, and sentences on what was recognised."""

    table: Table
    files: Sequence[Path] = ()
    sentences: Sequence[str] = ()


def table_of_places(
    layout: Layout, places: Mapping[str, Any], limits: Limits, *, signed: bool
) -> tuple[Opened, dict[str, list[str]]]:
    """The arrays of the files of places, each read once, and the names of those of each column.

    Parameters: places, by column; signed, whether scores have a sign by other means. Raises ValueError, with the place.
    """
    split = {name: split_place(os.fspath(place)) for name, place in places.items()}
    wanted: dict[Path, list[str]] = {}
    for path, picked in split.values():
        wanted.setdefault(path, []).extend(picked)
    pooled, called, chosen = Table({}), dict[Path, dict[str, str]](), dict[str, list[str]]()
    for name, (path, picked) in split.items():
        if path not in called:
            table = read_table(path, wanted[path], limits, streamed=True)
            joined = pooled.joined(table, path.stem)
            called[path] = dict(zip([*joined.arrays][len(pooled.arrays) :], table.arrays))
            pooled = joined
        with named(places[name]):
            own = {column: new for new, column in called[path].items()}
            column = next(column for column in layout.columns if column.name == name)
            picked = picked_names(column, pooled, [*own], picked)
            if column is layout.scores() and not signed:
                check_direction(picked)
            chosen[name] = [own[one] if one in own else one[0] + own[unsigned(one)] for one in picked]
    return Opened(pooled, [*called]), chosen


def read_column(place: str, name: str) -> Any:
    """The cells of one column as they stand, from its place: FILE or FILE:COLUMN."""
    path, picked = split_place(place)
    table = read_table(path, picked)
    with named(place):
        names = picked_names(Names(name), table, [*table.arrays], picked)
        return whole(Column(name).part(names[0], table))


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
    if not colon or os.path.exists(place) or not (Path(name).suffix or name == "-"):
        return Path(place), []
    if not all(names.split(",")):
        raise ValueError(f"{place}: expected FILE:COLUMN,COLUMN, got a column without a name")
    return Path(name), names.split(",")


def picked_names(column: Column, table: Table, there: Sequence[str], names: Sequence[str]) -> list[str]:
    """The requested arrays, each with its sign, or else the only one that there is, or the one that looks like it.

    Blanks around names do not matter. Raises ValueError for a name that is not there.
    """
    known = {name.strip(): name for name in reversed(there)} | {name: name for name in there}
    if not names:
        exact = [known[column.name]] if column.name in known else []
        return [*there] if len(there) == 1 else exact or column.guess(table, there) or _none(column.name, there)
    if table.alone:
        raise ValueError(f"expected named columns, to take {', '.join(names)} from, got a single one")
    picked = []
    for name in names:
        trimmed = name.strip()
        spellings = ((name, ""), (trimmed, ""), (unsigned(trimmed).strip(), trimmed[:1]))
        signed = next((sign + known[each] for each, sign in spellings if each in known), None)
        picked += [signed] if signed is not None else _none(name, there)
    return picked


def _none(name: str, there: Sequence[str]) -> list[str]:
    raise ValueError(
        f"expected a column {name}, got {', '.join(there) or 'none'}; name others as in FILE:COLUMN,COLUMN"
    )


def check_direction(names: Sequence[str]) -> None:
    """Raise ValueError for a confidence without a sign, where higher scores are to mean unknown samples."""
    for name in names:
        if name[:1] not in ("-", "+") and says_confidence(name):
            raise ValueError(
                f"expected scores that are higher for unknown samples, got {name}, whose name says confidence: write "
                f"FILE:-{name} to negate it, or FILE:+{name} to take it as it is; --flip negates all scores"
            )


def table_of_input(layout: Layout, files: Any, archives: Archives, limits: Limits) -> Opened:
    """The arrays of all files of an input: a file, a folder, an archive, several of these, or a data frame."""
    if isinstance(files, Table):
        return Opened(files)
    if hasattr(files, "columns") and hasattr(files, "iloc"):
        with named("table"):
            check_names([str(name).strip() for name in files.columns], limits)
        return Opened(table_of_frame(files))
    paths: list[Path] = []
    for place in as_paths(files):
        path = archives.folder(place) if place.suffix.lower() == ".zip" else place
        paths += files_below(path, None) if path.is_dir() else [path]
    limits.check_files(paths)
    by_path = {path: read_table(path, limits=limits) for path in paths}
    sides = _sides(layout, by_path)
    if sides is not None:
        return Opened(*_stacked(layout, by_path, sides))
    pooled = Table({})
    for path, table in by_path.items():
        pooled = pooled.joined(table, path.stem)
    _check_order(pooled)
    return Opened(pooled, paths)


def table_of_frame(frame: Any) -> Table:
    """The columns of a data frame, without empty rows and columns; columns of numbers become numeric."""
    cells = {str(name).strip(): np.asarray(frame[name], dtype=object) for name in frame.columns}
    filled = {
        name: np.asarray([not is_blank(cell) for cell in column.tolist()], bool) for name, column in cells.items()
    }
    rows = np.any([*filled.values()], axis=0) if filled else np.zeros(0, bool)
    return Table({name: _numeric(column[rows]) for name, column in cells.items() if filled[name].any()})


def _numeric(column: np.ndarray) -> np.ndarray:
    """A column as numbers, with NaN for blanks, if all other cells are numbers."""
    blank = np.asarray([*map(is_blank, column.tolist())], bool)
    numbers = as_numbers(column[~blank])
    if numbers.dtype.kind not in "biuf":
        return column
    if not blank.any():
        return numbers
    whole = np.full(len(column), np.nan)
    whole[~blank] = numbers
    return whole


def _check_order(table: Table) -> None:
    """Raise ValueError for two files that name their rows, but not in one order: columns are joined row by row."""
    first: dict[str, Any] = {}
    for name, array in table.arrays.items():
        column = name.rpartition(": ")[2]
        if plain(column) not in (*IMAGE_NAMES, *SAMPLE_NAMES) or num_dimensions(array) != 1:
            continue
        other = first.setdefault(column, array)
        if len(other) == len(array) and sorted(map(str, other)) == sorted(map(str, array)) and (other != array).any():
            raise ValueError(f"{name}: expected the rows of all files in one order, got another; sort them by {column}")


def _sides(layout: Layout, by_path: Mapping[Path, Table]) -> dict[Path, bool] | None:
    """Which files hold unknown samples, where each holds one side: by their names, if they hold the same columns.

    None for files whose rows are the same samples. Raises ValueError for files of the same columns and of different
    lengths whose names do not say which is which.
    """
    if not layout.label or len(by_path) < 2:
        return None
    tables = [*by_path.values()]
    alike = all(table.alone for table in tables) or len({frozenset(table.arrays) for table in tables}) == 1
    lengths = {len(array) for table in tables for array in table.arrays.values() if num_dimensions(array) < 3}
    labelled = any(guessed(layout, [table])[layout.label] for table in tables)
    if not alike or labelled:
        return None
    sides = {path: side_of_name(path.stem) for path in by_path}
    if {False, True} <= {*sides.values()} or ({*sides.values()} > {None} and len(sides) == 2):
        known = {path: side for path, side in sides.items() if side is not None}
        rest = not next(iter(known.values())) if len({*known.values()}) == 1 else True
        return {path: rest if side is None else side for path, side in sides.items()}
    if len(lengths) > 1:
        raise ValueError(
            f"{', '.join(path.name for path in by_path)}: expected names that say which file holds known samples and "
            "which unknown ones, such as id.csv and ood.csv, since they are of different lengths"
        )
    return None


def _stacked(
    layout: Layout, by_path: Mapping[Path, Table], sides: Mapping[Path, bool]
) -> tuple[Table, list[Path], list[str]]:
    """The rows of files of known and of unknown samples, one below another, with a label and the name of their set."""
    parts: dict[str, list[Any]] = {}
    label, sets = [], []
    unknown = [path.stem for path, side in sides.items() if side]
    for path, table in by_path.items():
        arrays = {"scores": next(iter(table.arrays.values()))} if table.alone else table.arrays
        size = max(map(len, arrays.values()))
        for name, array in arrays.items():
            parts.setdefault(name, []).append(np.asarray(array))
        label += [int(sides[path])] * size
        sets += [path.stem if sides[path] and len(unknown) > 1 else None] * size
    joined = {name: np.concatenate(several) for name, several in parts.items()}
    joined[layout.label] = np.asarray(label)
    if len(unknown) > 1:
        joined[_SETS] = np.asarray(sets, dtype=object)
    known = [path.name for path, side in sides.items() if not side]
    return (
        Table(joined),
        [*by_path],
        [f"{some(known)} holds known samples, {some(unknown)} unknown ones, by their names"],
    )
