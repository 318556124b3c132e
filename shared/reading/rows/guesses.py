"""Guess the arrays of each of a metric's columns: by names first, then by values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from ..tables.files import Table
from .arrays import num_dimensions, runs
from .kinds import FLIPPED, Classes, Column, Scores, TrueClasses, are_words
from .metrics import Layout

MadeOf = Mapping[str, Sequence[str]]  # column of the metric → names of arrays
_CONFIDENCE = re.compile(
    r"(?<![a-z])(conf|confidences?|certainty|max[_ -]?(softmax|prob(abilit(y|ies))?))(?![a-z])", re.I
)


def says_confidence(name: str) -> bool:
    """Whether the name of scores says that they are higher for known samples.

    >>> says_confidence("max_softmax"), says_confidence("energy")
    (True, False)
    """
    return bool(_CONFIDENCE.search(name))


def offered(layout: Layout, tables: Sequence[Table]) -> dict[str, list[str]]:
    """The names of the arrays that each column may be made of."""
    return {column.name: column.offer(table_of(column, None, tables)) for column in layout.columns}


def table_of(column: Column, names: Sequence[str] | None, tables: Sequence[Table]) -> Table:
    """The table of a column's own input, or of the first, which may hold all columns."""
    own, first = tables[column.source], tables[0]
    has = own.arrays if names is None else {*names} & {*own.arrays, *runs(own)}
    return own if has else first


def guessed(layout: Layout, tables: Sequence[Table]) -> dict[str, list[str]]:
    """The names of the arrays for each column; an empty list where nothing fits."""
    guesses: dict[str, list[str]] = {}
    for column in layout.columns:
        table = tables[column.source]
        if column.part_of:
            guesses[column.name] = column.named([*table.arrays], alike=False)
            continue
        guesses[column.name] = column.guess(table, _free(table, guesses))
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = column.named([*tables[0].arrays], alike=False)
    instead = [column for column in layout.columns if column.part_of]
    if not instead or not all(guesses[column.name] for column in instead):
        _guess_classes(layout, tables[0], guesses)
        _guess_by_values(layout, tables, guesses)
    for column in layout.columns:
        if isinstance(column, Scores):
            guesses[column.name] = [FLIPPED + name if says_confidence(name) else name for name in guesses[column.name]]
    return guesses


def _free(table: Table, guesses: MadeOf) -> list[str]:
    """The names of arrays that no column uses."""
    numbered = runs(table)
    used = {one for names in guesses.values() for name in names for one in (name, *numbered.get(name, ()))}
    return [name for name in table.arrays if name not in used]


def _guess_classes(layout: Layout, table: Table, guesses: dict[str, list[str]]) -> None:
    """Guess in place the true classes as words, and the scores of classes as the columns of these names."""
    predictions = next((column for column in layout.columns if isinstance(column, Classes)), None)
    references = next((column for column in layout.columns if isinstance(column, TrueClasses)), None)
    if predictions is None or references is None:
        return
    taken = {name for key, names in guesses.items() if key not in (predictions.name, references.name) for name in names}
    flat = {
        name: np.asarray(array)
        for name, array in table.arrays.items()
        if num_dimensions(array) == 1 and name not in taken
    }
    own = guesses[references.name]
    words = own if own and are_words(flat.get(own[0], np.zeros(0))) else references.guess_by_values(flat)
    if not words or not are_words(flat[words[0]]):
        return
    classes = {cell for cell in flat[words[0]].tolist() if isinstance(cell, str) and cell in flat}
    if not classes:
        return
    columns = [name for name, array in flat.items() if array.dtype.kind in "fiu"]
    guesses[references.name], guesses[predictions.name] = words, _block(flat, columns, classes)


def _block(flat: Mapping[str, np.ndarray], columns: Sequence[str], classes: set[str]) -> list[str]:
    """The columns of class scores: from the first to the last that is named after a true class, and those beside.

    A column beside them is one of theirs if the rows of all sum to 1 with it, or if none of these sum to 1.
    Raises ValueError if columns beside them may be theirs or not.
    """
    places = [place for place, name in enumerate(columns) if name in classes]
    inner = [*columns[places[0] : places[-1] + 1]]
    for block in (inner, [*columns]):
        if np.allclose(np.column_stack([flat[name] for name in block]).sum(axis=1), 1, atol=1e-3):
            return block
    if len(inner) == len(columns):
        return inner
    raise ValueError(
        f"predictions: expected the scores of classes to be named after the true classes, got {', '.join(inner)} and "
        f"beside these {', '.join(name for name in columns if name not in inner)}; name the columns of predictions"
    )


def _guess_by_values(layout: Layout, tables: Sequence[Table], guesses: dict[str, list[str]]) -> None:
    """Guess in place: labels are the only array of two values, class ids the only one of integers, scores the rest."""
    for column in sorted(layout.columns, key=lambda column: column.precedence):
        if column.required and not column.part_of and not guesses[column.name]:
            table = tables[column.source]
            arrays = {
                name: np.asarray(table.arrays[name])
                for name in _free(table, guesses)
                if num_dimensions(table.arrays[name]) == 1
            }
            guesses[column.name] = column.guess_by_values(arrays)


def settled(guesses: MadeOf, chosen: MadeOf, offers: MadeOf) -> dict[str, list[str]]:
    """The names of the arrays for each column: those chosen, even if none, or guessed if the data lack them."""
    return {
        name: list(chosen[name] if name in chosen and {*chosen[name]} <= {*offers[name]} else names)
        for name, names in guesses.items()
    }


def is_used(column: Column, names: Sequence[str]) -> bool:
    """Whether any array is chosen for a column, rather than none or what says that it is unused."""
    return bool(names) and not (column.unused and column.unused in names)


def columns_in_use(layout: Layout, made_of: MadeOf) -> list[Column]:
    """The metric's usual columns; their replacements (`part_of`) if only these are complete."""
    usual = [column for column in layout.columns if not column.part_of]
    instead = [column for column in layout.columns if column.part_of]
    has_usual, has_instead = (
        all(made_of[column.name] for column in columns if column.required) for columns in (usual, instead)
    )
    return instead if instead and has_instead and not has_usual else usual
