"""The columns of each of several models in tables, and names for the models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ..columns.cells import header
from ..columns.guesses import sources_of, table_of
from ..columns.kinds import Column
from ..columns.metrics import Layout, MadeOf, columns_in_use
from ..places import unsigned
from ..tables.files import Table
from .inputs import FileColumn, stem_of


class ModelColumns(NamedTuple):
    """The arrays of a model.

    array: of its scores or classes, in which it differs from the others; of several, the first and the last; "" of the
        only model
    file: of the array, "" where it is of none
    made_of: the arrays of all of its columns
    """

    array: str
    file: str
    made_of: MadeOf


def models_of(
    layout: Layout, tables: Sequence[Table], made_of: MadeOf, columns: Sequence[FileColumn]
) -> dict[str, ModelColumns]:
    """The arrays of each model by its name; "" is the only one's.

    The columns of one file go together: the scores in a file are of the model whose logits are there. A model has the
    name of its column, without a sign, and before it the file's name where several files have such a column.
    """
    models = [ModelColumns("", "", made_of)]
    for column in columns_in_use(layout, made_of):
        names = made_of[column.name]
        by_model = column.by_model(names, table_of(column, names, tables))
        if len(by_model) < 2:
            continue
        parts = [(each, _file_of(column, each[0], tables, columns)) for each in by_model]
        models = [
            ModelColumns(_first_and_last(each), file, {**one.made_of, column.name: each})
            for one in models
            for each, file in [part for part in parts if one.file and part[1] == one.file] or parts
        ]
    return {"": models[0]} if len(models) == 1 else dict(zip(_names(models), models))


def _first_and_last(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} … {header(names[-1])}"


def _names(models: Sequence[ModelColumns]) -> list[str]:
    """Names for models: their columns, of which one without a sign and with a file where it needs it."""
    plain = Counter(unsigned(model.array) for model in models)
    arrays = [unsigned(model.array) if plain[unsigned(model.array)] == 1 else model.array for model in models]
    headers = Counter(map(header, arrays))
    names = [
        f"{stem_of(model.file)}: {header(array)}" if headers[header(array)] > 1 and model.file else array
        for model, array in zip(models, arrays)
    ]
    if len({*names}) == len(names):
        return names
    varying = _varying(models)  # columns of several files, each beside each
    return [
        ", ".join(members[0] for members in model.made_of.values() if members and members[0] in varying)
        for model in models
    ]


def _varying(models: Sequence[ModelColumns]) -> set[str]:
    """The arrays that some models have, and others do not."""
    times = Counter(name for model in models for name in {name for parts in model.made_of.values() for name in parts})
    return {name for name, number in times.items() if number < len(models)}


def _file_of(column: Column, name: str, tables: Sequence[Table], columns: Sequence[FileColumn]) -> str:
    """The file of an array of a column, or of its sources; "" of none."""
    table = table_of(column, [name], tables)
    source = next(iter(sources_of(column.members([name], table)[0], table)))
    return next((each.file for each in columns if each.name == source), "")
