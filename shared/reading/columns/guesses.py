"""Guesses of the arrays of a metric's columns, by names and values, and the arrays that the names of a user mean."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from ..cures import CurableError, Cure
from ..places import unsigned
from ..tables.files import Streamed, Table
from .cells import are_words, distinct, header, num_dimensions, plain, runs, says_confidence
from .kinds import FLIPPED, Column, Names, Scores, TrueClasses
from .metrics import Layout, MadeOf


def table_of(column: Column, names: Sequence[str] | None, tables: Sequence[Table]) -> Table:
    """The table of a column's own input, or of the first, which may hold all columns."""
    table, first = tables[column.source], tables[0]
    has = table.arrays if names is None else {*names, *map(unsigned, names)} & {*table.arrays, *runs(table)}
    return table if has else first


def sources_of(member: str, table: Table) -> Sequence[str]:
    """The columns of a table's files that an array of it was made of, by its name, which may have a sign or a slice."""
    name = next((one for one in (member, unsigned(member)) if one in table.arrays), "")
    name = name or unsigned(member).rpartition("[:,")[0]
    return table.sources.get(name, [name])


def guessed_by_name(layout: Layout, tables: Sequence[Table], chosen: MadeOf) -> dict[str, list[str]]:
    """The names of the arrays for each column, guessed by their names; an empty list where nothing fits.

    Class scores may be columns that are named after the true classes; see `_classes_by_name`. `chosen`, the arrays of
    columns that are not to be guessed.
    """
    guesses = {column.name: [*chosen.get(column.name, ())] for column in layout.columns if not column.is_guessed}
    predictions = layout.columns[0].name
    classes = chosen.get(predictions) if layout.has_classes else None
    for column in layout.columns:
        if not column.is_guessed:
            continue
        table = tables[column.source]
        free = [*table.arrays] if column.part_of else _free(table, guesses)
        if isinstance(column, Names):  # names of sets, such as cifar10 and svhn, may be chosen as labels
            others = {unsigned(one) for name in chosen.keys() - {column.name} for one in chosen[name]}
            free = [name for name in free if name not in others]
        guesses[column.name] = column.named(free, alike=False) if column.part_of else column.guess(table, free)
        if classes and column.name == predictions:
            guesses[predictions] = [*classes]
        if column.source and not guesses[column.name]:  # one file may hold the columns of all inputs
            guesses[column.name] = column.named([*tables[0].arrays], alike=False)
    if guesses[predictions] and isinstance(layout.columns[0], Scores):  # under one header in several files: models
        headers = {*map(header, guesses[predictions])}
        parts = [
            name for column in layout.columns if column.part_of for name in column.named(_free(tables[0], {}), False)
        ]
        same_header = [name for name in _free(tables[0], {}) if header(name) in headers]
        guesses[predictions] = [name for name in same_header if name not in parts] or same_header
    if not classes and not _has_parts(layout, guesses):
        guesses |= _classes_by_name(layout, tables[0], {**guesses, **chosen})
    return guesses


def guessed_by_values(layout: Layout, tables: Sequence[Table], guesses: MadeOf) -> dict[str, list[str]]:
    """`guesses` by name, and others by values.

    Labels are the only array of two values, class ids the only one of integers, and scores the rest.
    """
    by_column = {name: [*names] for name, names in guesses.items()}
    for column in sorted(() if _has_parts(layout, by_column) else layout.columns, key=lambda column: column.precedence):
        if column.required and column.precedence and not column.part_of and not by_column[column.name]:
            table = tables[column.source]
            by_column[column.name] = column.guess_by_values(_flat(table, _free(table, by_column)))
    scores = layout.scores()
    if scores is not None:
        by_column[scores.name] = [toward_unknown(name) for name in by_column[scores.name]]
    return by_column


def guessed_alone(layout: Layout, table: Table, names: Collection[str]) -> dict[str, list[str]]:
    """The names of the arrays of each column that a model has, guessed of one file of a table as if it came alone.

    Parameters: names, of the file's columns.
    """
    file_table = table._replace(
        arrays={name: array for name, array in table.arrays.items() if {*table.sources.get(name, [name])} <= {*names}}
    )
    tables = [file_table, *[Table({})] * (layout.inputs - 1)]
    guesses = guessed_by_values(layout, tables, guessed_by_name(layout, tables, {}))
    return {column.name: guesses[column.name] for column in layout.columns if column.is_predicted}


def in_order_of(first: Sequence[str], names: Sequence[str]) -> list[str]:
    """Names in the order in which the first have their headers, so that classes have one id for all models."""
    headers = [*map(header, first)]
    return sorted(names, key=lambda name: headers.index(header(name)) if header(name) in headers else len(headers))


def _has_parts(layout: Layout, made_of: MadeOf) -> bool:
    """Whether all columns that replace the usual ones are there."""
    parts = [column.name for column in layout.columns if column.part_of]
    return bool(parts) and all(made_of[name] for name in parts)


def _free(table: Table, guesses: MadeOf) -> list[str]:
    """The names of arrays that no column uses."""
    numbered = runs(table)
    used = {one for names in guesses.values() for name in names for one in (name, *numbered.get(name, ()))}
    return [name for name in table.arrays if name not in used]


def _flat(table: Table, names: Sequence[str]) -> dict[str, np.ndarray]:
    """The arrays (N,) of these names."""
    return {name: np.asarray(table.arrays[name]) for name in names if num_dimensions(table.arrays[name]) == 1}


def _classes_by_name(layout: Layout, table: Table, guesses: MadeOf) -> dict[str, list[str]]:
    """The true classes as words, and the scores of classes as the columns of these names; none if there are no such."""
    predictions, references = layout.columns[:2]
    if not isinstance(references, TrueClasses):
        return {}
    others = (names for key, names in guesses.items() if key not in (predictions.name, references.name))
    taken = {each for names in others for name in names for each in (name, unsigned(name))}
    flat = _flat(table, [name for name in table.arrays if name not in taken])
    words = [*guesses.get(references.name, ())]
    if not words or words[0] not in flat or not are_words(flat[words[0]]):
        words = references.guess_by_values(flat)
    if not words or not are_words(flat[words[0]]):
        return {}
    classes, by_file = {*distinct(flat[words[0]])}, dict[str, list[str]]()
    for name in [name for name, array in flat.items() if array.dtype.kind in "fiu"]:
        by_file.setdefault(table.files.get(name, ""), []).append(name)
    blocks = [_block(flat, columns, classes) for columns in by_file.values() if classes & {*map(header, columns)}]
    members = [name for block in blocks for name in in_order_of(blocks[0], block)]
    return {references.name: words, predictions.name: members} if blocks else {}


def _block(flat: Mapping[str, np.ndarray], columns: Sequence[str], classes: set[str]) -> list[str]:
    """The columns of class scores: from the first to the last that is named after a true class, and columns beside.

    A column beside them is one of theirs if the rows of all sum to 1 with it, or if none of these sum to 1.
    Raises ValueError if columns beside them may be theirs or not.
    """
    places = [place for place, name in enumerate(columns) if header(name) in classes]
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


def picked_names(column: Column, table: Table, names: Sequence[str]) -> list[str]:
    """The requested arrays, each with its sign, or else the only one that there is, or that looks like it.

    It looks like the column by its name or, if it is the only one, by its values. Blanks around names do not matter.
    Raises ValueError for a name that is not there.
    """
    there = [*table.arrays]
    known = {name.strip(): name for name in reversed(there)} | {name: name for name in there}
    if not names:
        exact = [known[column.name]] if column.name in known else []
        by_name = there if len(there) == 1 else exact or column.guess(table, there)
        return [*by_name] or _by_values(column, table) or _none(column.name, there)
    if table.alone:
        raise ValueError(f"expected named columns, to take {', '.join(names)} from, got a single one")
    picked = []
    for name in names:
        trimmed = name.strip()
        spellings = ((name, ""), (trimmed, ""), (unsigned(trimmed).strip(), trimmed[:1]))
        signed = next((sign + known[each] for each, sign in spellings if each in known), None)
        picked += [signed] if signed is not None else _none(name, there)
    return picked


def is_guess(column: Column, table: Table, names: Sequence[str], wanted: Sequence[str]) -> bool:
    """Whether the names of a column's arrays were guessed from several, rather than wanted, or the column's own."""
    return not wanted and len(table.arrays) > 1 and [*map(plain, names)] != [plain(column.name)]


def _by_values(column: Column, table: Table) -> list[str]:
    """The only array that could be a required column by its values, or by its first batch; else none."""
    flat = {name: array for name, array in table.arrays.items() if num_dimensions(array) == 1}
    first = {name: next(iter(array), ()) if isinstance(array, Streamed) else array for name, array in flat.items()}
    looked_at = column.required and column.precedence and not column.part_of
    names = column.guess_by_values({name: np.asarray(array) for name, array in first.items()}) if looked_at else []
    return names if len(names) == 1 else []


def _none(name: str, there: Sequence[str]) -> list[str]:
    raise ValueError(
        f"expected a column {name}, got {', '.join(there) or 'none'}; name others as in FILE:COLUMN,COLUMN"
    )


def toward_unknown(name: str) -> str:
    """The name of scores that are higher for unknown samples: of a confidence, with a sign."""
    return FLIPPED + name if says_confidence(name) else name


def check_directions(layout: Layout, made_of: MadeOf) -> None:
    """Raise ValueError for a confidence without a sign, where higher scores are to mean unknown samples."""
    scores = layout.scores()
    for column in layout.columns:
        if scores is not None and scores.name in (column.name, column.part_of):
            check_direction(made_of.get(column.name, ()))


def check_direction(names: Sequence[str]) -> None:
    """Raise ValueError for a confidence without a sign, where higher scores are to mean unknown samples."""
    for name in names:
        if name[:1] not in ("-", "+") and says_confidence(name):
            raise CurableError(
                f"expected scores that are higher for unknown samples, got {name}, whose name says confidence: write "
                f"-{name} to negate it, or +{name} to take it as it is",
                Cure("to negate all scores", {"flip": True}),
            )
