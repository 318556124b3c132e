"""Read the columns of a metric from tables and arrays.

inputs ─ tables ─→ named arrays ─ guessed, settled ─→ what each column is made of ─ reading ─→ columns of each model
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ...metric.groups import GROUPS
from ..limits import COMMANDS, Limits
from ..places import Archives, unsigned
from ..reading import Census, Reading
from ..reasons import some
from ..tables.files import Streamed, Table, batches
from .cells import IMAGE_NAMES, SAMPLE_NAMES, num_dimensions, plain
from .inputs import table_of_input, table_of_places
from .kinds import READ_AS, RESIZED, Groups, Images, Maps, Models, Names
from .metrics import (
    LAYOUTS,
    Layout,
    MadeOf,
    columns_in_use,
    guessed,
    is_used,
    named_classes,
    offered,
    settled,
    table_of,
)
from .recognised import (
    Split,
    blank_rows,
    facts_of,
    fitted,
    image_names,
    recognised,
    sentences_of,
    with_scores_of_logits,
    without_trailing_blanks,
)

ROWS, FILES = "rows", "files"
UNREADABLE = "that could not be read"
_NAMED = 10  # lines that are named
_SMALL = ("references", "open_labels", GROUPS)  # columns that all rows are known by


@dataclass(frozen=True)
class Unread:
    """Rows that cannot be read.

    rows: (n,) their indices, from 0; size: the number of rows in the table
    wrong: a sentence for each column with such cells
    line: the line of the table's first row in its file, None for data without lines
    """

    rows: np.ndarray
    size: int
    wrong: Sequence[str]
    line: int | None

    @property
    def question(self) -> str:
        """The errors and how to resolve them."""
        rows = "this row" if len(self.rows) == 1 else f"these {len(self.rows):,} rows"
        return f"{'. '.join(self.wrong)}. Fix the file, or leave out {rows} of {self.size:,}."

    @property
    def places(self) -> list[str]:
        """The lines, or the rows, in words."""
        word, first = ("row", 1) if self.line is None else ("line", self.line)
        return [f"{word} {row + first:,}" for row in self.rows.tolist()]

    @property
    def note(self) -> str:
        """A sentence that says which rows are left out."""
        word = self.places[0].partition(" ")[0] + "s" * (len(self.rows) > 1)
        numbers = [place.partition(" ")[2] for place in self.places]
        return f"Left out {len(self.rows):,} of {self.size:,} rows {UNREADABLE}: {word} {some(numbers, _NAMED)}."


@dataclass(frozen=True)
class Rows:
    """Tables, and the names of the arrays for each of a metric's columns.

    tables: the table of each input, without rows that are left out
    offers, guesses, made_of: the arrays that each column may be made of, seems to be made of, and is made of, by name
    read_as: how whole numbers of a matrix are read, one of `kinds.READ_AS`
    unread: rows that cannot be read; leaves_out, whether they are left out
    sentences: what was recognised on the way
    are_all: whether columns that are missing are an error; else the metric says what it lacks
    """

    metric: str
    tables: Sequence[Table]
    offers: MadeOf
    guesses: MadeOf
    made_of: MadeOf
    read_as: str = "automatic"
    unread: Unread | None = None
    leaves_out: bool = False
    sentences: Sequence[str] = ()
    archives: Any = None
    files: Sequence[str] = ()
    are_all: bool = True

    @property
    def layout(self) -> Layout:
        """The columns of the metric."""
        return LAYOUTS[self.metric]

    @property
    def missing(self) -> list[str]:
        """The required columns without arrays."""
        columns = columns_in_use(self.layout, self.made_of)
        return [column.name for column in columns if column.required and not self.made_of[column.name]]

    def reading(self) -> Reading:
        """The columns of each model. Raises ValueError and TypeError for columns that are missing or do not fit."""
        if self.unread is not None and not self.leaves_out:
            raise ValueError(f"{self.unread.question[:-1]} (leave_out=True, --leave-out)")
        _check_parts(self.layout, self.made_of)
        models: dict[str, dict[str, Any]] = {}
        said_of: dict[str, None] = dict.fromkeys(self.sentences)
        change: Callable[[dict[str, Any]], dict[str, Any]] = dict
        notes: dict[str, None] = {} if self.unread is None else {self.unread.note: None}
        images: Sequence[str] = ()
        for name, (row, made_of) in self._models().items():
            columns, images, said = _gathered(self, made_of, row)
            notes |= dict.fromkeys(said)
            streamed = any(isinstance(column, Streamed) for column in columns.values())
            facts = facts_of(self.layout, _batches(_SMALL, columns))
            names = self._classes(made_of)
            change = partial(recognised, self.layout, names=names, facts=facts)
            models[name] = columns if streamed else change(columns)
            said_of |= dict.fromkeys(sentences_of(self.layout, columns, names, facts))
        guesses = [
            f"{column} is {' and '.join(self.made_of[column])}"
            for column, names in self.guesses.items()
            if names and [*names] == [*self.made_of[column]] and plain(names[0]) != plain(column)
        ]
        return Reading(
            self.metric,
            models,
            guesses=[*guesses, *said_of],
            notes=[*notes],
            census=self._census(),
            contents=[_contents(table) for table in self.tables if table.arrays],
            images=images,
            samples=[] if self.layout.inputs > 1 else sample_names(self.tables[0], self.made_of),
            archives=self.archives,
            change=change,
        )

    def _classes(self, made_of: MadeOf) -> list[str]:
        """The names of the columns of class scores."""
        column = self.layout.columns[0]
        table = table_of(column, made_of[column.name], self.tables)
        return [*map(unsigned, column.members(made_of[column.name], table))]

    def _census(self) -> Census:
        lengths = {len(array) for table in self.tables[:1] for array in table.arrays.values()}
        out = self.unread.places if self.unread is not None else []
        used = {ROWS: max(lengths, default=0)} | ({FILES: len(self.files)} if self.files else {})
        return Census(used, {(ROWS, UNREADABLE): out} if out else {})

    def _models(self) -> dict[str, tuple[str, MadeOf]]:
        """Say what the columns of each model are made of, and its name among the rows, by its name."""
        rows = [""]
        models = next((column for column in self.layout.columns if isinstance(column, Models)), None)
        if models is not None and is_used(models, self.made_of[models.name]):
            names = self.made_of[models.name]
            values = np.asarray(models.take(names, table_of(models, names, self.tables)), dtype=object)
            if values.ndim != 1:
                raise ValueError(f"{models.name}: expected one column of names, got {', '.join(names)}")
            missing = blank_rows(values)
            if len(missing):
                raise ValueError(f"{names[0]}: expected a name for each row, got none in row {missing[0] + 1}")
            rows = [*dict.fromkeys(map(str, values.tolist()))]
        several: dict[str, MadeOf] = {"": self.made_of}
        for column in self.layout.columns:
            names = self.made_of[column.name]
            if len(names) > 1 and column.is_several(names, table_of(column, names, self.tables)):
                several = {name: {**self.made_of, column.name: [name]} for name in names}
                break
        first = self.layout.columns[0].name
        return {
            ", ".join(filter(None, (row, name))) or first: (row, one) for row in rows for name, one in several.items()
        }


def _batches(names: Collection[str], columns: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Some of the columns, in batches if one is streamed."""
    chosen = {name: column for name, column in columns.items() if name in names and not isinstance(column, tuple)}
    if not any(isinstance(column, Streamed) for column in chosen.values()):
        yield chosen
        return
    for _, batch in batches(chosen):
        yield batch


def _check_parts(layout: Layout, made_of: MadeOf) -> None:
    """Raise ValueError for a column with an entry for each row beside columns that are parts of an argument."""
    parts = [column.name for column in columns_in_use(layout, made_of) if column.part_of]
    by_row = [column for column in layout.columns if column.unused and is_used(column, made_of[column.name])]
    if parts and by_row:
        raise ValueError(
            f"{by_row[0].name}: expected none beside {', '.join(parts[:-1])} and {parts[-1]}, which are samples of "
            f"several kinds; choose {by_row[0].unused!r} for it, or give each sample a row with its label"
        )


def _gathered(reading: Rows, made_of: MadeOf, model: str) -> tuple[dict[str, Any], Sequence[str], list[str]]:
    """The arguments of a model, the names of the images of tables of images, and notes on these."""
    layout, tables, read_as = reading.layout, reading.tables, reading.read_as
    in_use = columns_in_use(layout, made_of)
    of_models = next((column for column in in_use if isinstance(column, Models)), None)
    own = table_of(of_models, made_of[of_models.name], tables) if model and of_models is not None else None
    rows = None
    if own is not None and of_models is not None:
        rows = np.asarray(of_models.take(made_of[of_models.name], own)).astype(str) == model
    values: dict[str, Any] = {}
    of_table: dict[str, Table] = {}
    ids: dict[str, np.ndarray] = {}
    for column in in_use:
        names, table = made_of[column.name], table_of(column, made_of[column.name] or None, tables)
        if isinstance(column, Models):
            continue
        if not is_used(column, names):
            if column.required and reading.are_all:
                there = f", from {', '.join(table.arrays)}" if table.arrays else ""
                raise TypeError(f"{column.name}: no column looks like it. Pick one{there}")
            continue
        if isinstance(column, Images) and len(names) > 1 and plain(names[0]) in IMAGE_NAMES:
            ids[column.name] = image_names(Names(names[0]).take(names[:1], table), names[0])
            names = names[1:]
        of_table[column.name], values[column.name] = table, column.take(names, table, read_as)
        if isinstance(column, Images) and column.name not in ids and num_dimensions(values[column.name]) == 2:
            values[column.name] = [values[column.name]]  # one image
    maps = next((column for column in in_use if isinstance(column, Maps)), None)
    if maps is not None and not ids and {maps.name, "references"} <= {*values}:
        resize = made_of[maps.name][0].startswith(RESIZED)
        values[maps.name] = fitted(values[maps.name], values["references"], resize=resize)
    if not ids:
        if rows is not None:
            values = {name: _of_rows(name, value, rows) for name, value in values.items() if of_table[name] is own}
        return _joined(layout, values), (), []
    split = Split(ids)
    kept = {name: rows if of_table[name] is own else None for name in ids}
    for column in in_use:
        if column.name not in values or column.name in ids:
            continue
        sides = [side for side in ids if of_table[side] is of_table[column.name]]
        if isinstance(column, Groups):
            names = made_of[column.name]
            parts = {
                side: np.asarray(column.take(names, of_table[side]), dtype=object)
                for side in ids
                if names[0] in of_table[side].arrays
            }
            values[column.name] = split.groups(names[0], parts)
        elif sides and len(values[column.name]) == len(ids[sides[0]]):
            values[column.name] = split.one_each(sides[0], column.name, values[column.name])
    for name in ids:
        values[name] = split.by_image(name, values[name], kept[name])
    notes = split.notes(kept, model)
    without = [image for image, group in zip(split.images, values.get(GROUPS, ())) if group is None]
    if without:
        notes.append(f"Images without a group count in each group: {len(without):,} ({some(without)}).")
    return _joined(layout, values), split.images, notes


def _of_rows(name: str, value: Any, rows: np.ndarray) -> np.ndarray:
    """The rows of a column that are a model's."""
    if len(value) != len(rows):
        raise ValueError(f"{name}: expected {len(rows)} values, one for each name of a model, got {len(value)}")
    return np.asarray(value)[rows]


def _joined(layout: Layout, values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments, joined from their parts without blank cells at their ends."""
    parts: dict[str, list[Any]] = {}
    for column in layout.columns:
        if column.name in values:
            value = values[column.name]
            part = without_trailing_blanks(value) if column.part_of else value
            parts.setdefault(column.part_of or column.name, []).append(part)
    return {name: several[0] if len(several) == 1 else tuple(several) for name, several in parts.items()}


def sample_names(table: Table, made_of: MadeOf) -> list[Any]:
    """The column of text that names the samples of a table: by its name, or since its words are distinct; or none."""
    used = {unsigned(name) for names in made_of.values() for name in names} | {
        name for names in made_of.values() for name in names
    }
    texts = [
        name
        for name, array in table.arrays.items()
        if name not in used and isinstance(array, np.ndarray) and array.ndim == 1 and array.dtype.kind in "OUT"
    ]
    chosen = next((name for name in texts if plain(name) in (*IMAGE_NAMES, *SAMPLE_NAMES)), None)
    chosen = chosen or next(
        (name for name in texts if len({*table.arrays[name].tolist()}) == len(table.arrays[name])), None
    )
    return [] if chosen is None else list(table.arrays[chosen].tolist())


def _contents(table: Table) -> str:
    flat = {len(array) for array in table.arrays.values() if num_dimensions(array) == 1}
    return f"{max(flat, default=0):,} rows, {len(table.arrays):,} columns"


def settle(
    metric: str,
    tables: Sequence[Table],
    chosen: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
    *,
    flip: bool = False,
    sentences: Sequence[str] = (),
    guess: bool = True,
) -> Rows:
    """Say what the columns of a metric are made of: as chosen, where the tables have it, or else guessed."""
    layout = LAYOUTS[metric]
    tables = [*tables, *[Table({})] * (layout.inputs - len(tables))]
    if layout.of_logits and guess:
        tables = [with_scores_of_logits(tables[0], named_classes(layout, tables[0])), *tables[1:]]
    offers = offered(layout, tables)
    guesses = guessed(layout, tables) if guess else {name: [] for name in layout.names}
    made_of = (
        settled(guesses, chosen or {}, offers)
        if guess
        else {name: [*(chosen or {}).get(name, [])] for name in layout.names}
    )
    scores = layout.scores()
    if flip and scores is not None:
        made_of[scores.name] = [name if name[:1] in ("-", "+") else f"-{name}" for name in made_of[scores.name]]
    rows = Rows(metric, tables, offers, guesses, made_of, read_as, sentences=sentences, are_all=guess)
    out = None if rows.missing or layout.inputs > 1 else _unread(layout, tables[0], made_of)
    if out is None or not leave_out:
        return replace(rows, unread=out)
    kept = np.delete(np.arange(out.size), out.rows)
    return replace(rows, tables=[_of_table(tables[0], kept, out.size)], unread=out, leaves_out=True)


def _unread(layout: Layout, table: Table, made_of: MadeOf) -> Unread | None:
    """The rows with an unreadable cell in a column that is used.

    None if no row or every row is unreadable, and if columns differ in length.
    """
    used = {
        unsigned(one) if one not in table.arrays else one: column
        for column in layout.columns
        for one in column.members(made_of.get(column.name, ()), table)
    }
    wrong = {
        name: column.unreadable(table.arrays[name])
        for name, column in used.items()
        if name in table.arrays and not isinstance(table.arrays[name], Streamed)
    }
    sizes = {len(cells) for cells in wrong.values()}
    if len(sizes) != 1:
        return None
    rows = np.flatnonzero(np.any([*wrong.values()], axis=0))
    if len(rows) in (0, *sizes):
        return None
    named_so = [name for name, cells in wrong.items() if cells.any()]
    sentences = [used[name].wrong(name, table.arrays[name], table.lines.get(name)) for name in named_so]
    sentences = [
        f"{table.files[name]}: {text}" if name in table.files else text for name, text in zip(named_so, sentences)
    ]
    return Unread(rows, sizes.pop(), sentences, table.lines.get(named_so[0]))


def _of_table(table: Table, rows: np.ndarray, size: int) -> Table:
    """A table of some of its rows."""
    arrays = {
        name: array[rows] if isinstance(array, np.ndarray) and len(array) == size else array
        for name, array in table.arrays.items()
    }
    return Table(arrays, {name: partial(_rows_of, read, rows) for name, read in table.words.items()})


def _rows_of(read: Callable[[], Any], rows: np.ndarray) -> np.ndarray:
    return np.asarray(read())[rows]


def read_rows(
    metric: str,
    *inputs: Any,
    columns: Mapping[str, Any] | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
    flip: bool = False,
    limits: Limits = COMMANDS,
) -> Reading:
    """The columns of a metric from tables and arrays; see `rows_of`, and `Rows.reading` for errors."""
    choices: dict[str, Any] = {"read_as": read_as, "leave_out": leave_out, "flip": flip}
    return rows_of(metric, *inputs, columns=columns, limits=limits, **choices).reading()


def rows_of(
    metric: str,
    *inputs: Any,
    columns: Mapping[str, Any] | None = None,
    wishes: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
    flip: bool = False,
    limits: Limits = COMMANDS,
) -> Rows:
    """The tables of a metric's inputs, and what its columns are made of.

    Parameters: inputs, a file, a folder, an archive, a list of files, or a data frame for each input; columns, by name
    a name or names of arrays in the inputs, [] or None for one that is not used, while the others are guessed from
    names and values; without inputs, the place of each column; wishes, such names that are kept if the inputs have
    them; read_as, "scores" or "class ids", for whole numbers in a
    matrix, by default class ids; leave_out, whether rows with cells that cannot be read are left out; flip, whether
    scores are higher for known samples, and negated unless their name has a sign.

    Raises ValueError for an unknown column, for files that cannot be read, and for names that no array has.
    """
    layout, archives = LAYOUTS[metric], Archives(limits)
    if len(inputs) > layout.inputs:
        raise ValueError(f"inputs: expected at most {layout.inputs}, got {len(inputs)}")
    columns = {name: value for name, value in (columns or {}).items() if inputs or value is not None}
    unknown = [name for name in columns if name not in layout.names]
    if unknown:
        raise ValueError(f"columns: expected names of {', '.join(layout.names)}, got {', '.join(unknown)}")
    if read_as not in READ_AS:
        raise ValueError(f"read_as: expected one of {', '.join(READ_AS)}, got {read_as!r}")
    if inputs:
        read = [table_of_input(layout, one, archives, limits) for one in inputs]
        chosen = {name: [] if not own else [own] if isinstance(own, str) else [*own] for name, own in columns.items()}
    else:
        opened, chosen = table_of_places(layout, columns, limits, signed=flip)
        read = [opened]
    rows = settle(
        metric,
        [each.table for each in read],
        {**(wishes or {}), **chosen},
        read_as,
        leave_out,
        flip=flip,
        sentences=[sentence for each in read for sentence in each.sentences],
        guess=bool(inputs),
    )
    wrong = next((name for name, own in chosen.items() if inputs and not {*own} <= {*rows.offers[name]}), None)
    if wrong is not None:
        raise ValueError(
            f"{wrong}: expected names of columns, got {', '.join(chosen[wrong])}; there are "
            f"{', '.join(rows.offers[wrong])}"
        )
    return replace(rows, archives=archives, files=[str(path) for each in read for path in each.files])
