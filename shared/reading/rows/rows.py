"""Read the columns of a metric from tables and arrays.

inputs ─ tables ─→ named arrays ─ guessed, chosen ─→ what each column is made of ─ reading ─→ columns of each model
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ...arrays.checks import REST, did_you_mean
from ...metric.clusters import CLUSTERS
from ...metric.groups import GROUPS
from ..columns.cells import are_blank, header, noun_of, num_dimensions, plain
from ..columns.guesses import (
    check_directions,
    guessed_alone,
    guessed_by_name,
    guessed_by_values,
    in_order_of,
    table_of,
    toward_unknown,
)
from ..columns.kinds import FLIPPED, READ_AS, Classes, Clusters, Column, Images, meant_by
from ..columns.labels import Labels
from ..columns.meaning import Meaning, scores_named, with_scores_of_logits, without_trailing_blanks
from ..columns.metrics import MODELS, Layout, MadeOf, columns_in_use, is_used, layout_of
from ..cures import Advice, Cure, error_of
from ..limits import COMMANDS, Limits
from ..places import Archives, unsigned
from ..reading import Census, Reading
from ..reasons import listed, some
from ..tables.files import Streamed, Table, batches, whole
from .from_names import FROM_NAMES, patterns_of, with_columns
from .inputs import FileColumn, tables_of_inputs, tables_of_places
from .joins import names_rows
from .missing import check_sides, error_of_missing
from .model_columns import models_of
from .roles import check_role, check_sets
from .unread import UNREADABLE, Unread, unread_rows, without
from .uses import (
    Use,
    check_agreement,
    files_of_models,
    idle_files,
    labelled,
    likely_groups,
    likely_scores,
    naming_column,
    uses_of,
)

ROWS, FILES, COLUMNS = "rows", "files", "columns"
UNUSED = "that are not used"
_NAMED = 20  # columns that a note names
_SMALL = ("references", "open_labels", GROUPS)  # columns that all rows are known by


@dataclass(frozen=True)
class Rows:
    """Tables, and the names of the arrays for each of a metric's columns.

    layout: the columns of the metric
    tables: the table of each input, without rows that are left out
    offers, guesses, made_of: the arrays that each column may be made of, seems to be made of, and is made of, by name
    read_as: how whole numbers of a matrix are read, one of `READ_AS`
    sentences: what was recognised on the way; question, what was not; notes, on how rows were joined
    archives, files: of the inputs; columns, of the files
    must_add: the files that are an error if they add nothing
    chosen: the columns that are chosen, which other files may contradict
    are_all: whether columns that are missing are an error; else the metric says what it lacks
    unread: rows that cannot be read; leaves_out, whether they are left out
    """

    metric: str
    layout: Layout
    tables: Sequence[Table]
    offers: MadeOf
    guesses: MadeOf
    made_of: MadeOf
    read_as: str
    sentences: Sequence[str]
    question: str
    notes: Sequence[str]
    archives: Archives
    files: Sequence[str]
    columns: Sequence[FileColumn]
    are_all: bool
    must_add: Collection[str] = ()
    chosen: Collection[str] = ()
    unread: Unread | None = None
    leaves_out: bool = False

    @property
    def missing(self) -> list[str]:
        """The required columns without arrays."""
        columns = columns_in_use(self.layout, self.made_of)
        return [column.name for column in columns if column.required and not self.made_of[column.name]]

    def reading(self) -> Reading:
        """The columns of each model. Raises ValueError and TypeError for columns that are missing or do not fit."""
        if self.unread is not None and not self.leaves_out:
            raise error_of(self.unread.complaint)
        if self.question and self.missing:
            raise error_of(self.question)
        _check_parts(self.layout, self.made_of)
        uses = self.uses
        check_agreement(self.layout, uses, self.chosen)
        self._check_files(uses)
        models: dict[str, dict[str, Any]] = {}
        turned = []
        said_of = dict.fromkeys([*self.sentences, *self._words()])
        change: Callable[[dict[str, Any]], dict[str, Any]] = dict
        for name, (model, made_of) in self._models().items():
            columns = self._gathered(made_of, model)
            turned += [name] * self._is_turned(made_of)
            predictions = self.layout.columns[0]
            table = table_of(predictions, made_of[predictions.name], self.tables)
            members = predictions.members(made_of[predictions.name], table)
            classes = [header(unsigned(member)) for member in members]
            small = (*_SMALL, predictions.name) if _may_be_words(columns[predictions.name]) else _SMALL
            meaning = Meaning.of(self.layout, classes, _batches(small, columns))
            change = meaning.applied
            models[name] = columns if any(isinstance(one, Streamed) for one in columns.values()) else change(columns)
            said_of |= dict.fromkeys(meaning.sentences())
            note = _on_whole_numbers(
                predictions, [*map(unsigned, members)], table, columns[predictions.name], self.read_as
            )
            said_of |= {note: None} if note and not meaning.are_words else {}
        guesses = [
            f"{column} is {listed(self.made_of[column])}"
            for column, names in self.guesses.items()
            if names and [*names] == [*self.made_of[column]] and plain(names[0]) != plain(column)
        ]
        options, on_options = self.layout.implied(models)
        return Reading(
            self.metric,
            models,
            options,
            guesses=[*guesses, *said_of, *on_options],
            notes=[
                *self.notes,
                *self._directions(),
                *self._dependences(),
                *self._unused(uses),
                *([] if self.unread is None else [self.unread.note]),
            ],
            census=self._census(uses),
            samples=self._samples(),
            archives=self.archives,
            change=change,
            assumed=self._assumed(),
            noun_of_clusters=self._noun_of_clusters(),
            uses=labelled(uses),
            table=self._names(),
            turned=turned,
        )

    def _is_turned(self, made_of: MadeOf) -> bool:
        """Whether the scores of a model are a column with its sign turned."""
        scores = self.layout.scores()
        names = made_of[scores.name] if scores is not None else []
        return len(names) == 1 and names[0][:1] == FLIPPED and not any(names[0] in one.arrays for one in self.tables)

    @property
    def uses(self) -> dict[FileColumn, Use]:
        """The use of each column of the files."""
        return uses_of(self.layout, self.tables, self.made_of, self.columns)

    def _check_files(self, uses: Mapping[FileColumn, Use]) -> None:
        """Raise ValueError for a file that adds nothing."""
        idle = [file for file in idle_files(uses) if file in self.must_add]
        if not idle or len({column.file for column in uses}) < 2:
            return
        headers = [column.header for column in uses if column.file == idle[0]]
        raise ValueError(
            f"{idle[0]}: expected a column that is used, got {some(headers)}, which add nothing to the other files; "
            f"choose one as {self.layout.columns[0].name}, or leave the file out"
        )

    def _samples(self) -> list[Any]:
        """The names of the samples, if a column has them."""
        name = naming_column(self.tables[0], self.made_of) if self.layout.inputs == 1 else ""
        return [*self.tables[0].arrays[name].tolist()] if name else []

    @property
    def likely_groups(self) -> list[str]:
        """The columns of a few repeated words that may be taken as groups; none where there are groups."""
        if self.layout.inputs > 1 or self.made_of.get(GROUPS):
            return []
        return [*likely_groups(self.layout, self.uses, self.tables[0])]

    def _unused(self, uses: Mapping[FileColumn, Use]) -> list[str]:
        """Sentences on columns that are not used, and on how some could be."""
        names = [name for name, role in labelled(uses).items() if not role] if self.are_all else []
        groups = [
            Advice(
                f"Groups may be named by {name}, which has few words, each in several rows.",
                Cure("to take it so", {"columns": {GROUPS: name}}),
            )
            for name in self.likely_groups
        ]
        scores = self.layout.scores()
        models = [
            Advice(
                f"Scores of another model may be in {name}.",
                Cure("to take it so", {"columns": {self.layout.flag.replace("-", "_"): [*used, toward_unknown(name)]}}),
            )
            for used in ([] if scores is None or not self._is_guessed(scores) else [self.made_of[scores.name]])
            for name in likely_scores(uses, self.tables[0])
            if used
        ]
        return [f"Not used: {some(names, _NAMED)}.", *groups, *models] if names else []

    def _is_guessed(self, column: Column) -> bool:
        """Whether a column is made of the arrays that are guessed, chosen or not."""
        return self.made_of[column.name] == self.guesses[column.name]

    def _assumed(self) -> str:
        """The column of labels in which nothing says that 1 means unknown; "" if something does."""
        column = next((each for each in self.layout.columns if isinstance(each, Labels)), None)
        if column is None or column.name != self.layout.label:
            return ""
        names = self.made_of[column.name]
        table = table_of(column, names or None, self.tables)
        is_of_names = bool(self.files) and not {*names} & {*table.files}  # of the files, which say their side
        return names[0] if not is_of_names and column.is_assumed(names, table) else ""

    @property
    def likely_clusters(self) -> list[str]:
        """The columns that are named like clusters and repeat their values; none where there are clusters."""
        column = next(each for each in self.layout.columns if isinstance(each, Clusters))
        used = {unsigned(one) for names in self.made_of.values() for one in names}
        return [] if is_used(column, self.made_of[column.name]) else column.likely(self.tables[0], used)

    def _dependences(self) -> list[str]:
        """Sentences on columns that are named like clusters and repeat their values, without clusters."""
        column = next(each for each in self.layout.columns if isinstance(each, Clusters))
        return column.notes(self.likely_clusters)

    def _noun_of_clusters(self) -> str:
        """A cluster in words: "speaker" of a column speaker_id."""
        return noun_of([unsigned(name) for name in self.made_of.get(CLUSTERS, ())]) or Reading.noun_of_clusters

    def _directions(self) -> list[str]:
        """Sentences on labels and scores whose names say that 1 or higher means known."""
        columns = [column for column in self.layout.columns if isinstance(column, Labels)]
        of = {column: self.made_of[column.name] for column in columns}
        sentences = [
            column.direction(names, table_of(column, names or None, self.tables)) for column, names in of.items()
        ]
        scores = self.layout.scores()
        if scores is not None and self._is_guessed(scores):
            for title in (header(name[1:]) for name in self.made_of[scores.name] if name[:1] == FLIPPED):
                turned = "its sign is turned, as higher is to mean unknown"
                sentences.append(f"{title} is a confidence by its name: {turned}; as +{title}, it stays as it is")
        return [f"{sentence}." for sentence in sentences if sentence]

    def _words(self) -> Iterator[str]:
        """Sentences on labels that are names of classes, or of kinds of unknown samples."""
        for column in self.layout.columns:
            if isinstance(column, Labels):
                names = self.made_of[column.name]
                yield from filter(None, [column.sentence(names, table_of(column, names, self.tables))])

    def _names(self) -> Table:
        """The columns that may name the rows, beside the metric's: the rest of a large file need not stay."""
        table, used = self.tables[0], {unsigned(one) for names in self.made_of.values() for one in names}
        arrays, words = {}, {name: read for name, read in table.words.items() if name not in table.arrays}  # an index
        for name, array in table.arrays.items():
            kind = getattr(getattr(array, "dtype", None), "kind", "")
            is_streamed = isinstance(array, Streamed)
            if name in used or not (is_streamed or (kind and kind in "OUTMmiu") or names_rows(name)):
                continue
            arrays[name] = array
            if name in table.words and (is_streamed or (kind != "O" and names_rows(name))):  # 007 and 7 are two names
                words[name] = table.words[name]
        return Table(arrays, words)

    def _census(self, uses: Mapping[FileColumn, Use]) -> Census:
        out = self.unread.places if self.unread is not None else []
        size = max(map(len, self.tables[0].arrays.values()), default=0)
        unused = [name for name, role in labelled(uses).items() if not role]
        used = {ROWS: size} | ({FILES: len(self.files)} if self.files else {}) | {COLUMNS: len(uses) - len(unused)}
        left_out = {(ROWS, UNREADABLE): out, (COLUMNS, UNUSED): unused}
        return Census(used, {key: names for key, names in left_out.items() if names})

    def _rows_by_model(self) -> np.ndarray | None:
        """The name of each row's model, (N,); None where there is no such column."""
        column = next((column for column in self.layout.columns if column.name == MODELS), None)
        if column is None or not is_used(column, names := self.made_of[MODELS]):
            return None
        values = np.asarray(column.take(names, table_of(column, names, self.tables)), dtype=object)
        if values.ndim != 1:
            raise ValueError(f"{MODELS}: expected one column of names, got {', '.join(names)}")
        blank = are_blank(values)
        if blank.any():
            raise ValueError(f"{names[0]}: expected a name for each row, got none in row {np.argmax(blank) + 1}")
        return values.astype(str)

    def _models(self) -> dict[str, tuple[np.ndarray | None, MadeOf]]:
        """Whether each row is a model's, None for all rows, and the arrays of its columns, by its name."""
        by_row = self._rows_by_model()
        rows: dict[str, np.ndarray | None] = {"": None}
        if by_row is not None:
            rows = {name: by_row == name for name in dict.fromkeys(by_row.tolist())}
        several = models_of(self.layout, self.tables, self.made_of, self.columns)
        return {
            ", ".join(filter(None, (row, name))) or self._only_name(): (selected, one.made_of)
            for row, selected in rows.items()
            for name, one in several.items()
        }

    def _only_name(self) -> str:
        """The name of an only model: that of its scores, or else of its predictions, if they are one array."""
        first, scores = self.layout.columns[0], self.layout.scores()
        names = self.made_of[scores.name] if scores is not None else []
        names = names or self.made_of[first.name]
        return unsigned(names[0]) if len(names) == 1 else first.name

    @property
    def arrays_of_models(self) -> dict[str, str]:
        """The array of scores or classes of each of several models, by the model's name."""
        models = models_of(self.layout, self.tables, self.made_of, self.columns)
        return {name: model.array for name, model in models.items() if name}

    def _gathered(self, made_of: MadeOf, rows: np.ndarray | None) -> dict[str, Any]:
        """The arguments of a model, joined from their parts; `rows`, whether each row is the model's."""
        parts: dict[str, list[Any]] = {}
        sides: tuple[dict[str, Any], dict[str, Any]] = ({}, {})
        for column in columns_in_use(self.layout, made_of):
            names, table = made_of[column.name], table_of(column, made_of[column.name] or None, self.tables)
            if column.name == MODELS:
                continue
            if not is_used(column, names):
                if column.required and self.are_all:
                    used = {unsigned(each) for several in made_of.values() for each in several}
                    raise error_of_missing(self.layout, column, table, used)
                continue
            value = column.take(names, table, self.read_as)
            if column.side is not None:
                check_role(table.of_file_of(names[0]), names, column.side)
                sides[column.side][column.name] = whole(value)
            if isinstance(column, Images) and num_dimensions(value) == 2:
                value = [value]  # one image
            if rows is not None:
                if len(value) != len(rows):
                    values = f"{len(rows)} values, one for each name of a model"
                    raise ValueError(f"{column.name}: expected {values}, got {len(value)}")
                value = np.asarray(value)[rows]
            parts.setdefault(column.part_of or column.name, []).append(
                without_trailing_blanks(value) if column.part_of else value
            )
        check_sets(*sides)
        check_sides(
            self.layout,
            {name: pieces[0] for name, pieces in parts.items() if len(pieces) == 1},
            made_of,
            self.tables[0],
        )
        return {name: several[0] if len(several) == 1 else tuple(several) for name, several in parts.items()}


def _may_be_words(column: Any) -> bool:
    """Whether a column may hold words, by its first batch if it is read in batches."""
    first = next(iter(column), ()) if isinstance(column, Streamed) else column
    return np.asarray(first).dtype.kind in "OU" if isinstance(first, np.ndarray) else False


def _on_whole_numbers(column: Column, names: Sequence[str], table: Table, value: Any, read_as: str) -> str:
    """A sentence on rows of several whole numbers, which are read as their names say, or else as their type does."""
    takes_both = isinstance(column, Classes) and column.is_matrix and column.is_read_as and read_as == "automatic"
    if not takes_both or not isinstance(value, np.ndarray) or value.ndim != 2 or value.shape[1] < 2:
        return ""
    if any(np.asarray(table.arrays[name]).dtype.kind == "f" for name in names if name in table.arrays):
        return ""
    if meant_by(names, 2) == "scores":
        return f"whole numbers of {column.name} are scores, as the names of their columns say"
    return f"{column.name} are class ids, since they are whole numbers" if value.dtype.kind in "iu" else ""


def _batches(names: Collection[str], columns: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Some of the columns, in batches if one is streamed."""
    chosen = {name: column for name, column in columns.items() if name in names and not isinstance(column, tuple)}
    if any(isinstance(column, Streamed) for column in chosen.values()):
        yield from (batch for _, batch in batches(chosen))
    else:
        yield chosen


def _check_parts(layout: Layout, made_of: MadeOf) -> None:
    """Raise ValueError for a column with an entry for each row beside columns that are parts of an argument."""
    parts = [column.name for column in columns_in_use(layout, made_of) if column.part_of]
    by_row = [column for column in layout.columns if column.unused and is_used(column, made_of[column.name])]
    if parts and by_row:
        raise ValueError(
            f"{by_row[0].name}: expected none beside {', '.join(parts[:-1])} and {parts[-1]}, which are samples of "
            f"several kinds; choose {by_row[0].unused!r} for it, or give each sample a row with its label"
        )


def _add_models(
    layout: Layout,
    table: Table,
    columns: Sequence[FileColumn],
    files: Sequence[str],
    made_of: dict[str, Any],
    names: Collection[str],
) -> None:
    """Add models of files, each guessed as if it came alone, to the arrays of some columns."""
    for file in files:
        there = [column.name for column in columns if column.file == file and column.name and not column.source]
        for name, arrays in guessed_alone(layout, table, there).items():
            if name in names:
                new = [one for one in arrays if one not in made_of[name]]
                made_of[name] = [*made_of[name], *in_order_of(made_of[name], new)]


def rows_of(
    metric: str,
    *inputs: Any,
    columns: Mapping[str, Any] | None = None,
    wishes: MadeOf | None = None,
    read_as: str = "automatic",
    leave_out: bool = False,
    flip: bool = False,
    stated: Mapping[str, Any] | None = None,
    by_position: bool = False,
    label_from_name: str | None = None,
    groups_from_name: str | None = None,
    clusters_from_name: str | None = None,
    added: Sequence[Path] = (),
    are_new: bool = False,
    limits: Limits = COMMANDS,
) -> Rows:
    """The tables of a metric's inputs, and the arrays of each column.

    Parameters: inputs, a file, a folder, an archive, a list of files, or a data frame for each input; columns, by name
    a name or names of arrays in the inputs, [] or None for one that is not used, while the others are guessed from
    names and values; without inputs, the place of each column; wishes, such names that are kept if the inputs have
    them; read_as, "scores" or "class ids", for whole numbers in a matrix, by default class ids; leave_out, whether rows
    with cells that cannot be read are left out; flip, whether scores are higher for known samples, and negated unless
    their name has a sign; stated, in_value, out_value and ignore_value, where these options of the metric say what
    labels mean, so that the names of their columns do not, and words stay words where they are words; by_position,
    whether rows of several files are taken as they stand, rather than joined by a column that names them (see `joins`);
    label_from_name, groups_from_name and clusters_from_name, regular expressions whose groups are the labels, groups or
    clusters of rows by their names, or by those of their files (see `from_names`); added, files whose models are added
    to the ones of wishes, each guessed as if it came alone; are_new, whether the inputs are newer than the wishes, and
    may contradict these.

    Raises ValueError for an unknown column, for files that cannot be read, for rows that cannot be joined, and for
    names that no array has.
    """
    layout, archives = layout_of(metric), Archives(limits)
    layout = replace(layout, values=stated or {})
    if any(isinstance(value, str) and value != REST for value in layout.values.values()):
        as_words = (replace(one, as_words=True) if isinstance(one, Labels) else one for one in layout.columns)
        layout = replace(layout, columns=tuple(as_words))
    if len(inputs) > layout.inputs:
        raise ValueError(f"inputs: expected at most {layout.inputs}, got {len(inputs)}")
    columns = {name: value for name, value in (columns or {}).items() if inputs or value is not None}
    layout = layout.of({**{name: wish for name, wish in (wishes or {}).items() if name != layout.label}, **columns})
    unknown = [name for name in columns if name not in layout.names]
    if unknown:
        raise ValueError(f"columns: expected names of {', '.join(layout.names)}, got {', '.join(unknown)}")
    if read_as not in READ_AS:
        raise ValueError(f"read_as: expected one of {', '.join(READ_AS)}, got {read_as!r}")
    texts = (label_from_name, groups_from_name, clusters_from_name)
    patterns = patterns_of(layout, dict(zip(FROM_NAMES, texts)))
    twice = next((one for one in patterns if columns.get(one.column) is not None), None)
    if twice is not None:
        raise ValueError(f"{twice.option}: expected it or {twice.column}, got both")
    if inputs:
        wanted = [one for value in columns.values() for one in ([value] if isinstance(value, str) else value or ())]
        how: dict[str, Any] = {"names": wanted, "patterns": patterns, "by_position": by_position}
        read = tables_of_inputs(layout, inputs, archives, limits, **how)
        chosen = {
            name: [] if not value else [value] if isinstance(value, str) else [*value]
            for name, value in columns.items()
        }
        chosen = {name: read.names_of(names) for name, names in chosen.items()}
        if not flip:
            check_directions(layout, chosen)
    else:
        read, chosen = tables_of_places(layout, columns, limits, signed=flip, by_position=by_position)
    from_names = {one.column: [one.made] for one in patterns}
    chosen |= from_names
    tables = [*read.tables, *[Table({})] * (layout.inputs - len(read.tables))]
    predictions, settled = layout.columns[0].name, {**(wishes or {}), **chosen}
    if not {*settled.get(predictions, ())} <= {*layout.columns[0].offer(tables[0])}:
        del settled[predictions]
    guesses: dict[str, list[str]] = {name: [] for name in layout.names}
    if inputs:
        guesses = guessed_by_name(layout, tables, settled)
        guesses |= {column: guesses[column] or names for column, names in from_names.items()}
        if layout.of_logits:  # after the names of classes, among which these scores have none
            classes = {predictions: guesses[predictions] if layout.has_classes else []}
            _add_models(layout, tables[0], read.columns, read.titles(added), classes, [*classes] * layout.has_classes)
            names = [name for each in (*chosen.values(), *(wishes or {}).values()) for name in each]
            tables[0] = with_scores_of_logits(tables[0], classes[predictions], names)
        guesses = guessed_by_values(layout, tables, guesses)
        if layout.has_classes and settled.get(predictions):
            guesses[predictions] = []
    guesses |= {column: [] for column in (*from_names, *(one.name for one in layout.columns if not one.is_guessed))}
    # only now, so that they are guessed for no other column
    tables[0], counted = with_columns(tables[0], patterns, read.file_of_rows)
    offers = {column.name: column.offer(table_of(column, None, tables)) for column in layout.columns}
    if inputs and layout.of_logits:
        chosen, wishes = (
            {name: scores_named(names, offers.get(name, ())) for name, names in each.items()}
            for each in (chosen, wishes or {})
        )
    for name, names in chosen.items() if inputs else ():
        if not {*names} <= {*offers[name], *map(unsigned, offers[name])}:
            there = ", ".join(offers[name])
            near = did_you_mean(next(one for one in names if one not in offers[name]), offers[name])
            raise ValueError(f"{name}: expected names of columns, got {', '.join(names)}; there are {there}{near}")
    if inputs:
        free = [name for name in guesses if name not in settled]
        uses = uses_of(layout, tables, {**guesses, **chosen}, read.columns)
        _add_models(layout, tables[0], read.columns, files_of_models(layout, uses), guesses, free)
    granted = {name: [*wish] for name, wish in (wishes or {}).items() if {*wish} <= {*offers.get(name, ())}}
    made_of: dict[str, Sequence[str]] = {**guesses, **granted, **chosen}
    if added:
        _add_models(layout, tables[0], read.columns, read.titles(added), made_of, [*made_of])
    scores = layout.scores()
    if flip and scores is not None:
        made_of[scores.name] = [name if name[:1] in ("-", "+") else f"-{name}" for name in made_of[scores.name]]
    for labels in (column for column in layout.columns if stated and isinstance(column, Labels)):
        made_of[labels.name] = [f"+{name}" if labels.means_known(name) else name for name in made_of[labels.name]]
    rows = Rows(
        metric,
        layout,
        tables,
        offers,
        guesses,
        made_of,
        read_as,
        sentences=read.sentences,
        question=read.question,
        notes=[*read.notes, *counted],
        archives=archives,
        files=[*map(str, read.files)],
        columns=read.columns,
        are_all=bool(inputs),
        must_add=read.titles(added) if settled.get(predictions) else [*{one.file for one in read.columns}],
        chosen=[*chosen, *(() if are_new else granted)],
    )
    out = None if rows.missing or layout.inputs > 1 else unread_rows(layout, tables[0], made_of)
    if out is None or not leave_out:
        return replace(rows, unread=out)
    return replace(rows, tables=[without(tables[0], out)], unread=out, leaves_out=True)
