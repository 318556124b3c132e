"""Kinds of columns of a metric: how each is guessed, offered, checked, and made of a table's arrays."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays.arrays import widen
from ...arrays.checks import as_numbers as checked_numbers, did_you_mean
from ..cures import Advice, CurableError, Cure, cures_of, reworded, sentence_of
from ..places import unsigned
from ..reasons import named
from ..tables.files import Lines, Streamed, Table, side_by_side
from .cells import (
    are_blank,
    are_numbers,
    are_words,
    as_it_stands,
    as_numbers,
    choices,
    distinct,
    header,
    is_blank,
    is_score,
    member,
    num_dimensions,
    number_of,
    plain,
    runs,
    says_confidence,
    stem,
)

FLIPPED = "-"  # before the name of scores with the opposite sign
READ_AS = ("automatic", "scores", "class ids")  # the meaning of whole numbers in a matrix
_EMPTY = "this cell is empty or NaN"


@dataclass(frozen=True)
class Column:
    """A column of the metric with a number for each sample; subclasses are the other kinds of columns.

    name: the argument of the metric
    names: its names in tables and files, the likeliest first; for a column made of several arrays, their stems
    required: whether the metric needs it
    source: the index of its input, where a metric has two
    part_of: for a column that replaces the usual ones: its argument, which is a tuple if several columns are part of
        it; such columns may differ in length, and blank cells at their ends are left out
    side: whether its samples are unknown alone, or known alone (False); None for both
    unused: the choice that means that there is no such column
    alike: whether a name that contains one of its names is guessed
    is_read_as: whether whole numbers may be READ_AS scores or class ids
    """

    name: str
    names: tuple[str, ...] = ()
    required: bool = True
    source: int = 0
    part_of: str = ""
    side: bool | None = None
    unused: str = ""
    alike: bool = True
    is_read_as: bool = False

    precedence: ClassVar[int] = 2  # the order in which kinds are guessed by values; 0 for those that are not
    is_checked: ClassVar[bool] = True  # whether cells that cannot be read are an error
    is_guessed: ClassVar[bool] = True  # whether it is guessed, rather than chosen or left out

    @property
    def is_predicted(self) -> bool:
        """Whether a model predicts it."""
        return False

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """The names of the column's arrays, guessed by name; the arrays in `free` belong to no other column."""
        return self.named([name for name in free if num_dimensions(table.arrays[name]) == 1], alike=self.alike)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array (N,) of integers that does not number the rows; none if there are several."""
        return only([name for name, array in arrays.items() if _is_class_ids(array)])

    def named(self, names: Sequence[str], alike: bool = True) -> list[str]:
        """The first of `names` that is a name of the column or, if `alike`, contains one."""
        known = [plain(name) for name in (self.name, *self.names)]
        headers = {name: plain(header(name)) for name in names}
        exact = [name for alias in known for name, word in headers.items() if word == alias]
        # a predicted label is no label
        others = {name: word for name, word in headers.items() if self.is_predicted or "pred" not in word}
        similar = [
            name for alias in known if alike and len(alias) > 4 for name, word in others.items() if alias in word
        ]
        return (exact or similar)[:1]

    def offer(self, table: Table) -> list[str]:
        """The names of the arrays that the column may be made of."""
        offered = choices(table)
        return [*offered, self.unused] if offered and self.unused else offered

    def by_model(self, names: Sequence[str], table: Table) -> list[list[str]]:
        """The arrays of the column of each model; of one, unless some of them could be the column by themselves."""
        return [[*names]]

    def take(self, names: Sequence[str], table: Table, read_as: str = "automatic") -> Any:
        """The column made of the named arrays, side by side if there are several; `read_as` is one of READ_AS.

        A name with a leading "-" is of the negated array. Raises ValueError for a name that the table does not have,
        and for cells that cannot be read.
        """
        members = self.members(names, table)
        file = table.files.get(members[0], table.files.get(unsigned(members[0])))
        with nullcontext() if file is None else named(file):
            parts = [self.part(name, table) for name in members]
            self._check_decimals(members, table)
            lines = [table.lines.get(unsigned(name)) for name in members]
            if isinstance(parts[0], Streamed):
                return side_by_side(parts, lambda arrays: self.made_of(members, arrays, lines, read_as))
            return self.made_of(members, parts, lines, read_as)

    def members(self, names: Sequence[str], table: Table) -> list[str]:
        """The names of the arrays, with the names in a run in place of the run."""
        numbered = runs(table)
        return [one for name in names for one in numbered.get(name, [name])]

    def part(self, name: str, table: Table) -> Any:
        """The array with this name, or negated. Raises ValueError if there is none."""
        array, bare = member(name, table), unsigned(name)
        if array is not None:
            return array
        array = member(bare, table)
        if array is None:
            raise ValueError(
                f"{self.name}: expected names of columns, got {name!r}; there are {', '.join(table.arrays)}"
                f"{did_you_mean(name, table.arrays)}"
            )
        if name[:1] != FLIPPED:
            return array
        return (
            array.mapped(lambda batch: _negated(batch, bare)) if isinstance(array, Streamed) else _negated(array, bare)
        )

    def _check_decimals(self, names: Sequence[str], table: Table) -> None:
        """Raise ValueError for a number with a point in a file with decimal commas: 1.234 may be over a thousand."""
        for name in map(unsigned, names if self.is_checked else ()):
            if table.decimals.get(name, ".") == "." or not _is_of_cells(table.arrays.get(name)):
                continue
            cells = table.words[name]().tolist()
            first = next((i for i, cell in enumerate(cells) if "." in str(cell) and number_of(cell) is not None), None)
            if first is not None:
                place = table.lines.get(name, Lines()).place(first)
                raise ValueError(
                    f"{name}, {place}: expected decimal commas, as in the rest of the file, got {cells[first]!r}; take "
                    "points out of thousands, or write commas for them"
                )

    def made_of(self, names: Sequence[str], parts: Sequence[Any], lines: Sequence[Lines | None], read_as: str) -> Any:
        """The column made of arrays, after their cells are checked; `read_as` is one of READ_AS."""
        for name, part, part_lines in zip(names, parts, lines):
            wrong = self.wrong(name, part, part_lines)
            if wrong:
                advice = "Fill it in" if wrong.endswith(_EMPTY) else "Fix it"
                are_all = bool(self.unreadable(part).all())
                text = sentence_of(wrong) if are_all else f"{sentence_of(wrong)}. {advice}, or leave the row out"
                raise CurableError(text, *cures_of(wrong))
        parts = [self.cleaned(part) if self.is_checked and _is_of_cells(part) else part for part in parts]
        return parts[0] if len(parts) == 1 else np.column_stack(parts)

    def wrong(self, name: str, value: Any, lines: Lines | None) -> str:
        """The error of the first unreadable cell, with its line or row and the number of others; "" for none.

        Parameters: name, the column in the file; lines, the places of its rows there, None for rows counted from 1.
        """
        rows = np.flatnonzero(self.unreadable(value))
        if not len(rows):
            return ""
        lines = lines or Lines()
        first, count = min(rows.tolist(), key=lines.in_file), len(rows)
        place = lines.place(first)
        others = f" and {count - 1:,} more" if count > 1 else ""
        cell = value[first]
        where = f"{unsigned(name)}, {place}{others}: "
        if is_blank(cell):
            return f"{where}{_EMPTY}"
        return reworded(self.complaint(value), lambda text: f"{where}{str(cell)[:60]!r} {text}")

    def unreadable(self, value: Any) -> np.ndarray:
        """Whether each cell is empty, or is not the number or label that is expected, (N,) booleans.

        All false for arrays of two or more dimensions, and for columns that may be shorter than others (`part_of`).

        >>> Column("references").unreadable(np.asarray(["0.5", "n/a", ""], dtype=object)).tolist()
        [False, True, True]
        """
        flat = isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "fOU"
        if not flat or self.part_of or not self.is_checked:
            return np.zeros(len(value), bool)
        return are_blank(value) | (~self.are_readable(value) if value.dtype.kind != "f" else False)

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell of a column of text, or of mixed types, is a value, (N,) booleans."""
        return are_numbers(value)

    def complaint(self, value: np.ndarray) -> str:
        """The end of the sentence about an unreadable cell."""
        return "is not a number"

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """A column of text as values, once its unreadable cells are gone; integers, which may be ids, stay integers."""
        return as_numbers(array)


def only(names: list[str]) -> list[str]:
    """The first of the names if they have one header, else none: several leave no guess."""
    return names[:1] if len({*map(header, names)}) == 1 else []


def _is_of_cells(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "OU"


def _negated(array: Any, name: str) -> Any:
    """An array with the opposite sign; integers are widened first, since unsigned ones would wrap."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "OU":
        return np.asarray([None if (number := number_of(cell)) is None else -number for cell in array.tolist()], object)
    return -widen(checked_numbers(array, name), name)


def _is_class_ids(array: np.ndarray) -> bool:
    numbers_rows = len(array) > 1 and array.dtype.kind in "iu" and bool((np.diff(array.astype(np.int64)) == 1).all())
    return array.dtype.kind in "iu" and len(array) > 0 and not numbers_rows


def are_strings(value: np.ndarray) -> np.ndarray:
    """Whether each cell of a column is text, (N,) booleans."""
    return np.asarray([isinstance(cell, str) for cell in value.tolist()], dtype=bool)


@dataclass(frozen=True)
class TrueClasses(Column):
    """True classes (N,): ids, or names of classes, which the names of the score columns turn into ids."""

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array of words of which half or more are names of other columns, or else of integers."""
        cells = {name: distinct(array) for name, array in arrays.items() if array.dtype.kind in "OU"}
        headers = {*map(header, arrays)}
        words = [name for name, values in cells.items() if values and 2 * len({*values} & headers) >= len(values)]
        return only(words) or super().guess_by_values(arrays)

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell is a number, or a word in a column that is mostly words."""
        return are_strings(value) if are_words(value) else are_numbers(value)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as integers; names of classes stay."""
        return array if are_words(array) else as_numbers(array)


# names of detectors, which say score beside a column that is called so
_DETECTOR = re.compile(
    "msp|softmax|mls|maxlogit|logit|energy|entropy|knn|odin|mahalanobis|mds|rmds|vim|react|dice|ash|gradnorm|klm|scale|"
    "gen|openmax|doctor|nnguide"
)


def is_score_column(array: Any) -> bool:
    """Whether an array (N,) has one column of values that may be scores."""
    return isinstance(array, np.ndarray) and array.ndim == 1 and is_score(array)


@dataclass(frozen=True)
class Scores(Column):
    """Scores (N,) of one model, or a column for each of several; a leading "-" negates one."""

    precedence: ClassVar[int] = 3

    @property
    def is_predicted(self) -> bool:
        """True."""
        return True

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """The likeliest by its name and, beside it, all whose names say score, or a detector's name; none without."""
        first = super().guess(table, free)
        return [
            name
            for name in free
            if name in first or (first and self._says_score(header(name)) and is_score_column(table.arrays[name]))
        ]

    def _says_score(self, name: str) -> bool:
        known = [text for alias in (self.name, *self.names) if len(text := plain(alias)) > 4]
        words = re.findall("[a-z]+", name.lower())
        return any(alias in plain(name) for alias in known) or any(map(_DETECTOR.fullmatch, words))

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """All arrays of numbers with fractions."""
        return [name for name, array in arrays.items() if is_score(array)]

    def offer(self, table: Table) -> list[str]:
        """The names that any column offers, of a confidence with a sign, and columns of floats with the other sign."""
        offered = super().offer(table)
        flat = {name: _kind(array) for name, array in table.arrays.items() if num_dimensions(array) == 1}
        negated = [
            FLIPPED + name for name in offered if flat.get(name) == "f" or (name in flat and says_confidence(name))
        ]
        return [*map(as_it_stands, offered), *negated]

    def by_model(self, names: Sequence[str], table: Table) -> list[list[str]]:
        """Each array, since each column of scores is a model's."""
        return [[name] for name in names]


def _kind(value: Any) -> str:
    return value.dtype.kind if isinstance(value, np.ndarray) else ""


@dataclass(frozen=True)
class Names(Column):
    """Names (N,), one for each row; any cell is a name."""

    is_checked: ClassVar[bool] = False

    def part(self, name: str, table: Table) -> Any:
        """The cells as they stand in the file, if it is a table: 007 and 7 are two names."""
        return table.words[name]() if name in table.words else super().part(name, table)


def repeats(array: Any) -> bool:
    """Whether rows of a column repeat its values, of which there are several."""
    return isinstance(array, np.ndarray) and array.ndim == 1 and 1 < len({*array.tolist()}) < len(array)


@dataclass(frozen=True)
class Clusters(Names):
    """Names (N,) of clusters of dependent rows; never guessed, since rows of one speaker may be independent or not."""

    is_guessed: ClassVar[bool] = False

    def is_likely(self, name: str, array: Any) -> bool:
        """Whether an array is named like clusters, such as speakers, and rows repeat its values."""
        known = {plain(f"{alias}{end}") for alias in self.names for end in ("", "_id")}
        return plain(name) in known and repeats(array)

    def likely(self, table: Table, used: Collection[str]) -> list[str]:
        """The columns that are not used, are named like clusters, and repeat their values."""
        return [name for name, array in table.arrays.items() if name not in used and self.is_likely(name, array)]

    def notes(self, names: Sequence[str]) -> list[str]:
        """Sentences on columns that are `likely`."""
        return [
            Advice(
                f"Rows of one {name} may depend on each other.",
                Cure("to draw them together in intervals", {"columns": {self.name: name}}),
            )
            for name in names
        ]


@dataclass(frozen=True)
class Qualities(Column):
    """Qualities (N,) of answers in place of labels; never guessed, since a table may have both."""

    is_guessed: ClassVar[bool] = False


@dataclass(frozen=True)
class Classes(Column):
    """A matrix (N, K) of scores, or class ids (N,) or (N, K); without `is_read_as`, whole numbers are scores.

    is_matrix: whether a single column is a matrix with K = 1
    """

    is_read_as: bool = True
    is_matrix: bool = False
    precedence: ClassVar[int] = 0  # since a vector of integers is more likely the references

    @property
    def is_predicted(self) -> bool:
        """True."""
        return True

    def named(self, names: Sequence[str], alike: bool = True) -> list[str]:
        """Names with "pred" come first: beside predicted_class, class is the true one."""
        predicted = [name for name in names if "pred" in plain(name)]
        return super().named(predicted, alike) or only(predicted) or super().named(names, alike)

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """A run of numbered columns by its stem, else an array by its exact name, the only run, or a similar name."""
        stems = {plain(stem(names[0])): run for run, names in runs(table).items()}
        by_stem = [stems[plain(name)] for name in (self.name, *self.names) if plain(name) in stems]
        return by_stem[:1] or self.named(free, alike=False) or only([*stems.values()]) or self.named(free)

    def by_model(self, names: Sequence[str], table: Table) -> list[list[str]]:
        """Each array if all are matrices, or the arrays of each file where files share a header; else one model's."""
        if {*names} <= _matrices(table) | {*runs(table)}:
            return [[name] for name in names]
        by_file: dict[str, list[str]] = {}
        for name in names:
            by_file.setdefault(table.files.get(name, ""), []).append(name)
        headers = [*map(header, names)]
        if len({*headers}) == len(headers):
            return [[*names]]
        return [*by_file.values()]

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell is a number, or a name of a class in a column that is mostly words."""
        return are_strings(value) if self.is_read_as and are_words(value) else are_numbers(value)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as numbers; names of classes stay."""
        return array if self.is_read_as and are_words(array) else as_numbers(array)

    def made_of(self, names: Sequence[str], parts: Sequence[Any], lines: Sequence[Lines | None], read_as: str) -> Any:
        """The columns side by side: floats if they are scores, as `read_as` or their names say, integers if class ids.

        If neither says it, whole numbers of an integer type are class ids.
        """
        value = super().made_of(names, parts, lines, read_as)
        if not self.is_read_as:
            read_as = "scores"
        elif read_as == "automatic":
            read_as = meant_by(names, num_dimensions(value))
        if self.is_matrix and num_dimensions(value) == 1:
            value = np.asarray(value)[:, None]
        kind = {"scores": float, "class ids": int}.get(read_as)
        array = np.asarray(value)
        if kind is None or array.dtype.kind not in "biuf" or array.dtype.kind == np.dtype(kind).kind:
            return value
        if kind is int and (array != np.round(array)).any():
            return value  # the metric says what is wrong with it
        return array.astype(kind)


_OF_SCORES = frozenset(
    word + end
    for word in ("logit", "prob", "proba", "softmax", "score", "output", "vote", "confidence", "conf", "p")
    for end in ("", "s")
) | {"probability", "probabilities"}
_OF_IDS = frozenset(("top", "rank", "ranked", "guess", "guesses", "id", "ids", "choice", "choices", "candidate"))


def meant_by(names: Sequence[str], dimensions: int) -> str:
    """The meaning of whole numbers by the names of their columns, one of READ_AS: class ids in a single column (N,).

    Columns that are numbered classes, or whose names differ otherwise, are classes, and hold scores.

    >>> meant_by(["logit_0", "logit_1"], 2), meant_by(["cat", "dog"], 2), meant_by(["top1", "top2"], 2)
    ('scores', 'scores', 'class ids')
    >>> meant_by(["predictions"], 2)
    'automatic'
    """
    if dimensions == 1:
        return "class ids"
    stems = {stem(unsigned(name)) for name in names}
    words = {*re.findall("[a-z]+", " ".join(stems).lower())}
    if words & _OF_SCORES:
        return "scores"
    if words & _OF_IDS:
        return "class ids"
    of_classes = len(stems) > 1 or (len(names) > 1 and words == {"class"})
    return "scores" if of_classes else "automatic"


@dataclass(frozen=True)
class Images(Column):
    """Data of images, which the metric checks: a stack, or a list of one array for each image."""

    precedence: ClassVar[int] = 0
    is_checked: ClassVar[bool] = False

    @property
    def is_predicted(self) -> bool:
        """Whether it is of the first input."""
        return not self.source

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """A stack of images by its name, or the first stack."""
        stacks = [name for name, array in table.arrays.items() if num_dimensions(array) != 1]
        return self.named(stacks) or stacks[:1]

    def by_model(self, names: Sequence[str], table: Table) -> list[list[str]]:
        """Each array if all are stacks or lists of images."""
        return [[name] for name in names] if {*names} <= _matrices(table) else [[*names]]


def _matrices(table: Table) -> set[str]:
    """The names of arrays with two or more dimensions."""
    return {name for name, array in table.arrays.items() if num_dimensions(array) >= 2}
