"""Guess the arrays for each of the metric's columns: by names first, then by values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..columns.column import Column
from ..page import Page
from ..reading.data import Data
from ..reading.names import num_dimensions, runs

MadeOf = Mapping[str, Sequence[str]]  # column of the metric → names of arrays


def offered(page: Page, sources: Sequence[Data]) -> dict[str, list[str]]:
    """The names of the arrays that each column may be made of."""
    return {column.name: column.offer(source_of(column, None, sources)) for column in page.columns}


def source_of(column: Column, names: Sequence[str] | None, sources: Sequence[Data]) -> Data:
    """The data of a column's own input, or of the first input, which may hold all columns."""
    own, first = sources[column.source], sources[0]
    has = own.arrays if names is None else {*names} & {*own.arrays, *runs(own)}
    return own if has else first


def guess(page: Page, sources: Sequence[Data]) -> dict[str, list[str]]:
    """Guess the names of the arrays for each column; an empty list where nothing fits."""
    guesses: dict[str, list[str]] = {}
    for column in page.columns:
        data = sources[column.source]
        if column.part_of:
            guesses[column.name] = column.named([*data.arrays], alike=False)
            continue
        guesses[column.name] = column.guess(data, _free(data, guesses))
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = column.named([*sources[0].arrays], alike=False)
    instead = [column for column in page.columns if column.part_of]
    if not instead or not all(guesses[column.name] for column in instead):
        _guess_by_values(page, sources, guesses)
    return guesses


def settled(guesses: MadeOf, chosen: MadeOf, offers: MadeOf) -> dict[str, list[str]]:
    """The names of the arrays for each column: those chosen, even if none, or guessed if the data lack them."""
    return {
        name: list(chosen[name] if name in chosen and set(chosen[name]) <= set(offers[name]) else names)
        for name, names in guesses.items()
    }


def _free(data: Data, guesses: MadeOf) -> list[str]:
    """The names of arrays that no column uses."""
    used = {name for names in guesses.values() for name in names}
    return [name for name in data.arrays if name not in used]


def _guess_by_values(page: Page, sources: Sequence[Data], guesses: dict[str, list[str]]) -> None:
    """Guess in place: labels are the only array of two values, class ids the only one of integers, scores the rest."""
    for column in sorted(page.columns, key=lambda column: column.precedence):
        if column.required and not column.part_of and not guesses[column.name]:
            data = sources[column.source]
            numbered = runs(data)
            used = {name for names in guesses.values() for run in names for name in numbered.get(run, [])}
            arrays = {
                name: np.asarray(data.arrays[name])
                for name in _free(data, guesses)
                if name not in used and num_dimensions(data.arrays[name]) == 1
            }
            guesses[column.name] = column.guess_by_values(arrays)


def missing_columns(page: Page, made_of: MadeOf) -> list[str]:
    """The required columns without arrays."""
    return [column.name for column in columns_of(page, made_of) if column.required and not made_of[column.name]]


def columns_of(page: Page, made_of: MadeOf) -> list[Column]:
    """The metric's usual columns; their replacements (`part_of`) if only these are complete."""
    usual = [column for column in page.columns if not column.part_of]
    instead = [column for column in page.columns if column.part_of]
    has_usual, has_instead = (
        all(made_of[column.name] for column in columns if column.required) for columns in (usual, instead)
    )
    return instead if instead and has_instead and not has_usual else usual
