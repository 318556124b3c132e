"""The photographs of a report. Needs Pillow."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...extras import extra
from ...reading.cures import CurableError
from ...reading.limits import COMMANDS
from ...reading.places import find_images, matched, without_suffix
from ...reading.reasons import named
from ...reading.rows.inputs import file_of, read_column
from ...reading.rows.joins import AS_THEY_STAND, Sheet, order_by_key, row_names
from ...reading.tables.files import Table


def list_images(place: str, count: int, table: Table | None = None) -> tuple[list[Path], str]:
    """The image of each sample, and a sentence on how it was found: by a name in its row, or else by its position.

    place: a folder of images; or a .txt with a path in each line, or a file of columns, as in images.csv:path, which
        may have the names of the rows, too: paths are relative to the file
    count: the number of samples
    table: of the rows of the samples, whose columns may name the images; None to match all by position

    Raises ValueError for a row whose image is not there, for another number of images than of rows without names, and
    for unreadable files.
    """
    if Path(place).is_dir():
        images = find_images(place)
        names, paths, order = [*images], [*images.values()], "in the order of their names"
    else:
        names, note = _listed(place, table)
        file, order = file_of(place), "in the order of the list"
        paths = [(Path() if file is None else file.parent) / name for name in names]
        if note:
            return paths, f"{note}, to find their images"
    rows, note = (None, "") if table is None else _named_in(table, names, place)
    if rows is not None:
        return [paths[row] for row in rows], note
    if len(paths) != count:
        raise ValueError(f"{place}: expected an image for each of {count} samples, got {len(paths)} images")
    return paths, f"images of {place} are matched with rows {order}, since no column names them"


def _named_in(table: Table, images: Sequence[str], place: str) -> tuple[list[int] | None, str]:
    """The image that each row names in some column, and a sentence on it; None if no column names images.

    Raises ValueError for the first row whose image is not there, if a column names those of others.
    """
    keys, wrong = [without_suffix(name.replace("\\", "/")) for name in images], ""
    for column, cells, says_so in row_names(table):
        at = matched([without_suffix(cell.replace("\\", "/")) for cell in cells], keys, cut=True)
        there = [row for row in at if row is not None]
        if len(there) == len(at):
            return there, f"images are found by {column}"
        if not wrong and (says_so or 2 * len(there) >= len(at)):
            counts = f"{len(there):,} of {len(at):,} rows have one"
            lacking = repr(cells[at.index(None)])
            wrong = f"{place}: expected an image for each name in {column}, got none of {lacking} ({counts})"
    if wrong:
        raise CurableError(wrong, AS_THEY_STAND)
    return None, ""


def _listed(place: str, table: Table | None) -> tuple[list[str], str]:
    """The paths in a file, in its order or, where a key joins it with the rows of a table, in theirs, and the key."""
    file = file_of(place)
    names: Sequence[Any]
    note = ""
    if file is not None and file.suffix.lower() == ".txt":
        with named(place):
            names = [line for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        if file is not None and not file.suffix:
            raise ValueError(f"{place}: expected a folder of images, or a file of their paths, got none")
        names, beside = read_column(place, "images")
        key = None if table is None else order_by_key(Sheet("the rows", table), beside)
        if key is not None:
            order, note = key
            names = [names[row] for row in order.tolist()]
    if any(not isinstance(name, str) for name in names):
        odd = next(name for name in names if not isinstance(name, str))
        raise ValueError(f"{place}: expected paths of images, got {odd}")
    return [*names], note


def photograph(path: Path, side: int) -> str:
    """An image as a data: URI, at most `side` pixels wide and high. Raises ValueError for a file that is no image."""
    with extra("cli"):
        from ...answers.pictures import Photograph, data_url, read_photograph
    return data_url(read_photograph(Photograph(path), side, COMMANDS)[0], quality=82)
