"""Columns from files, as the command opens them: .npy, .npz, .csv, .parquet, .json and .pt."""

from __future__ import annotations

import functools
from pathlib import Path
from random import Random
from typing import NamedTuple

from openworld_metrics.reading.rows.rows import rows_of
from tests.fuzz.contents import ENDINGS, NAMES, columns, content, damaged_content
from tests.fuzz.damage import damaged_text
from tests.fuzz.engine import Case, Files, Target, check_files, write_files


class ColumnFile(NamedTuple):
    """A file, the names of columns to take from it, if any, and the column of the metric that they are for."""

    files: Files
    file: str
    names: str
    column: str


def make(ending: str, rng: Random) -> ColumnFile:
    """A file whose columns are named, or which has the one that is asked for."""
    table = columns(rng)
    chosen = rng.sample([*table], rng.choice((1, len(table))))
    # a .npy has no names, and a file of several needs them, unless it has the column's
    plain = [name for name in chosen if "," not in name and ":" not in name]
    names = ",".join(plain) if plain and ending != "npy" else ""
    if not names:
        table = {"predictions": next(iter(table.values()))}
    file = f"table.{ending}"
    return ColumnFile({file: content(rng, ending, table)}, file, names, "predictions")


def damage(ending: str, rng: Random, value: ColumnFile) -> ColumnFile:
    """Something wrong with the file, or with what is asked for."""
    if rng.random() < 0.1:
        names = rng.choice((*NAMES, "", ",", "predictions,", damaged_text(rng, value.names)))
        return value._replace(names=names, column=rng.choice(NAMES))
    return value._replace(files={value.file: damaged_content(rng, ending, value.files[value.file])})


def run(case: Case) -> None:
    """Open the column, and read all of it."""
    value: ColumnFile = case.value
    write_files(value.files, case.folder)
    place = f"{case.folder / value.file}{':' if value.names else ''}{value.names}"
    case.attempt(functools.partial(_read, place, value.column))
    check_files(value.files, case.folder)
    assert not Path("canary").exists()


def _read(place: str, column: str) -> None:
    for _ in rows_of("openauc", columns={column: place}).reading().batches():
        pass


TARGETS = [
    Target(f"columns.{ending}", functools.partial(make, ending), functools.partial(damage, ending), run)
    for ending in ENDINGS
]
