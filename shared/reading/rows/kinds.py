"""Kinds of columns of a metric: how each is guessed, offered, checked, and made of a table's arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...arrays.arrays import widen
from ...arrays.checks import as_numbers as checked_numbers
from ..places import unsigned
from ..reasons import named
from ..tables.files import Streamed, Table, side_by_side
from .cells import (
    IMAGE_NAMES,
    LOOKED_AT,
    NO_LABEL,
    are_numbers,
    as_floats,
    as_labels,
    as_numbers,
    choices,
    distinct,
    is_blank,
    is_label,
    member,
    num_dimensions,
    number_of,
    plain,
    runs,
    side_of,
    stem,
)

FLIPPED = "-"  # before the name of scores with the opposite sign
READ_AS = ("automatic", "scores", "class ids")  # the meaning of whole numbers in a matrix
_EMPTY = "this cell is empty or NaN"
_MAX_MODELS = 20  # a column with more names does not name models


@dataclass(frozen=True)
class Column:
    """A column of the metric with a number for each sample; subclasses are the other kinds of columns.

    name: the argument of the metric
    names: its names in tables and files, the likeliest first; for a column made of several arrays, their stems
    required: whether the metric needs it
    source: the index of its input, where a metric has two
    part_of: for a column that replaces the usual ones: its argument, which is a tuple if several columns are part of
        it; such columns may differ in length, and blank cells at their ends are left out
    """

    name: str
    names: tuple[str, ...] = ()
    required: bool = True
    source: int = 0
    part_of: str = ""

    precedence: ClassVar[int] = 1  # the order in which kinds are guessed by values
    unused: ClassVar[str] = ""  # the choice that means that there is no such column
    is_read_as: ClassVar[bool] = False  # whether the user may choose one of READ_AS
    is_predicted: ClassVar[bool] = False  # whether it is what a model says
    alike: ClassVar[bool] = True  # whether a name that contains one of its names is guessed

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """The names of the column's arrays, guessed by name; the arrays in `free` belong to no other column."""
        return self.named([name for name in free if num_dimensions(table.arrays[name]) == 1], alike=self.alike)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array (N,) of integers that does not number the rows; none if there are several."""
        fitting = [name for name, array in arrays.items() if _is_class_ids(array)]
        return fitting if len(fitting) == 1 else []

    def named(self, names: Sequence[str], alike: bool = True) -> list[str]:
        """The first of `names` that is a name of the column or, if `alike`, contains one."""
        known = [plain(name) for name in (self.name, *self.names)]
        for alias in known:
            exact = [name for name in names if plain(name.rpartition(": ")[2]) == alias]
            if exact:
                return exact[:1]
        # a predicted label is no label
        others = [name for name in names if self.is_predicted or "pred" not in plain(name)]
        return [name for alias in known if alike and len(alias) > 4 for name in others if alias in plain(name)][:1]

    def offer(self, table: Table) -> list[str]:
        """The names of the arrays that the column may be made of."""
        offered = choices(table)
        return [*offered, self.unused] if offered and self.unused else offered

    def is_several(self, names: Sequence[str], table: Table) -> bool:
        """Whether each array could be the column by itself, so that each is a model's."""
        return False

    def take(self, names: Sequence[str], table: Table, read_as: str = "automatic") -> Any:
        """The column made of the named arrays, side by side if there are several; `read_as` is one of READ_AS.

        A name with a leading "-" is of the negated array. Raises ValueError for a name that the table does not have,
        and for cells that cannot be read.
        """
        members = self.members(names, table)
        file = table.files.get(members[0], table.files.get(unsigned(members[0])))
        with nullcontext() if file is None else named(file):
            parts = [self.part(name, table) for name in members]
            lines = [table.lines.get(unsigned(name)) for name in members]
            if isinstance(parts[0], Streamed):
                return side_by_side(parts, lambda arrays: self.made_of(members, arrays, lines, read_as))
            return self.made_of(members, parts, lines, read_as)

    def members(self, names: Sequence[str], table: Table) -> list[str]:
        """The names of the arrays, with those of a run in place of the run."""
        numbered = runs(table)
        return [one for name in names for one in numbered.get(name, [name])]

    def part(self, name: str, table: Table) -> Any:
        """The array with this name, or negated. Raises ValueError if there is none."""
        array = member(name, table)
        if array is not None:
            return array
        array, sign = member(unsigned(name), table), name[:1]
        if array is None:
            raise ValueError(
                f"{self.name}: expected names of columns, got {name!r}; there are {', '.join(table.arrays)}"
            )
        if sign != FLIPPED:
            return array
        own = unsigned(name)
        return array.mapped(lambda batch: _negated(batch, own)) if isinstance(array, Streamed) else _negated(array, own)

    def made_of(self, names: Sequence[str], parts: Sequence[Any], lines: Sequence[int | None], read_as: str) -> Any:
        """The column made of arrays, after their cells are checked; `read_as` is one of READ_AS."""
        for name, part, line in zip(names, parts, lines):
            wrong = self.wrong(name, part, line)
            if wrong:
                advice = "Fill it in" if wrong.endswith(_EMPTY) else "Fix it"
                raise ValueError(f"{wrong}. {advice}, or leave the row out")
        parts = [self.cleaned(part) if _is_of_cells(part) else part for part in parts]
        return parts[0] if len(parts) == 1 else np.column_stack(parts)

    def wrong(self, name: str, value: Any, line: int | None) -> str:
        """The error of the first unreadable cell, with its line or row and the number of others; "" for none.

        Parameters: name, the column in the file; line, the line of its first value, None for data without lines.
        """
        cells = self.unreadable(value)
        if not cells.any():
            return ""
        first, count = int(np.argmax(cells)), int(np.count_nonzero(cells))
        place = f"line {line + first}" if line is not None else f"row {first + 1}"
        others = f" and {count - 1:,} more" if count > 1 else ""
        if is_blank(value[first]):
            return f"{unsigned(name)}, {place}{others}: {_EMPTY}"
        return f"{unsigned(name)}, {place}{others}: {str(value[first])[:60]!r} {self.complaint(value)}"

    def unreadable(self, value: Any) -> np.ndarray:
        """Whether each cell is empty, or is not the number or label that is expected, (N,) booleans.

        All false for arrays of two or more dimensions, and for columns that may be shorter than others (`part_of`).

        >>> Column("references").unreadable(np.asarray(["0.5", "n/a", ""], dtype=object)).tolist()
        [False, True, True]
        """
        if isinstance(value, np.ndarray) and value.ndim == 1 and not self.part_of:
            if value.dtype.kind == "f":
                return np.asarray(np.isnan(value))
            if value.dtype.kind in "OU":
                return ~self.are_readable(value)
        return np.zeros(len(value), bool)

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell of a column of text, or of mixed types, is a value, (N,) booleans."""
        return are_numbers(value)

    def complaint(self, value: np.ndarray) -> str:
        """The end of the sentence about an unreadable cell."""
        return "is not a number"

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """A column of text as values, once its unreadable cells are gone; integers, which may be ids, stay integers."""
        return as_numbers(array)

    def role(self, array: Any) -> str:
        """The role of an array in the metric, in a few words."""
        return self.name


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


def is_score(array: np.ndarray) -> bool:
    """Whether a column holds floats that are not labels, or text that is mostly numbers."""
    if array.dtype.kind == "f":
        return not is_label(array)
    if array.dtype.kind in "OU" and len(array):
        return bool(np.mean(are_numbers(array[:LOOKED_AT])) > 0.5)
    return False


@dataclass(frozen=True)
class TrueClasses(Column):
    """True classes (N,): ids, or names of classes, which the names of the score columns turn into ids."""

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array of words of which half or more are names of other columns, or else of integers."""
        cells = {name: distinct(array) for name, array in arrays.items() if array.dtype.kind in "OU"}
        words = [name for name, own in cells.items() if own and 2 * len({*own} & {*arrays}) >= len(own)]
        return words if len(words) == 1 else super().guess_by_values(arrays)

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell is a number, or a word in a column that is mostly words."""
        if not are_words(value):
            return are_numbers(value)
        return np.asarray([isinstance(cell, str) and not is_blank(cell) for cell in value.tolist()], dtype=bool)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as integers; names of classes stay."""
        return array if are_words(array) else as_numbers(array)


@dataclass(frozen=True)
class Scores(Column):
    """Scores (N,) of one model, or a column for each of several; a leading "-" negates one."""

    precedence: ClassVar[int] = 2
    is_predicted: ClassVar[bool] = True

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """All arrays of numbers with fractions."""
        return [name for name, array in arrays.items() if is_score(array)]

    def offer(self, table: Table) -> list[str]:
        """The names that any column offers, and each column of floats with its sign flipped."""
        offered = super().offer(table)
        return offered + [FLIPPED + name for name in offered if _is_float(table.arrays.get(name))]

    def is_several(self, names: Sequence[str], table: Table) -> bool:
        """True, since each column of scores is a model's, unless it is part of an argument."""
        return not self.part_of

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as floats, once its unreadable cells are gone."""
        return as_floats(array)

    def role(self, array: Any) -> str:
        """The word "score", whatever the metric's argument is called; a part has its own name."""
        return self.name if self.part_of else "score"


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f"


@dataclass(frozen=True)
class Labels(Column):
    """Labels (N,) of two values, 0 and 1 or words for them."""

    precedence: ClassVar[int] = 0

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array of two values; none if there are several."""
        fitting = [name for name, array in arrays.items() if is_label(array)]
        return fitting if len(fitting) == 1 else []

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell is a word for a label, or a number in a column that is mostly numbers."""
        if not are_words(value):
            return are_numbers(value)
        return np.asarray([isinstance(cell, str) and side_of(cell) is not None for cell in value.tolist()], dtype=bool)

    def complaint(self, value: np.ndarray) -> str:
        """The end of the sentence about a word that is not a label, or a cell that is not a number."""
        return NO_LABEL if are_words(value) else super().complaint(value)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The labels as numbers: words that mean unknown are 1, words that mean known 0."""
        return as_labels(array) if are_words(array) else as_numbers(array)

    def role(self, array: Any) -> str:
        """The name, and the number of labels that are 1 or, among class ids, below 0."""
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.ndim == 1:
            if _is_class_ids(array) and (array < 0).any() and (array > 1).any():
                return f"{self.name}: {int(np.count_nonzero(array < 0)):,} of {len(array):,} are below 0"
            return f"{self.name}: {int(np.count_nonzero(array == 1)):,} of {len(array):,} are 1"
        return self.name


def are_words(value: np.ndarray) -> bool:
    """Whether a column holds words rather than numbers beside some other cells."""
    return value.dtype.kind in "OU" and bool(2 * np.count_nonzero(are_numbers(value)) < len(value))


@dataclass(frozen=True)
class Counts(Column):
    """The count of each row; guessed only by the column's exact name, since it affects all numbers."""

    unused: ClassVar[str] = "each row once"
    alike: ClassVar[bool] = False


@dataclass(frozen=True)
class Names(Column):
    """Names (N,), one for each row; any cell is a name."""

    def part(self, name: str, table: Table) -> Any:
        """The cells as they stand in the file, if it is a table: 007 and 7 are two names."""
        return table.words[name]() if name in table.words else super().part(name, table)

    def unreadable(self, value: Any) -> np.ndarray:
        """No cell."""
        return np.zeros(len(value), bool)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The names as they are."""
        return array


@dataclass(frozen=True)
class Groups(Names):
    """The group of each sample; the metric is computed for each group."""

    unused: ClassVar[str] = "no groups"


@dataclass(frozen=True)
class Models(Names):
    """The model of each row, in a table with rows of several models."""

    unused: ClassVar[str] = "one detector"
    alike: ClassVar[bool] = False

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """The column with exactly one of its names, if it holds few of them."""
        return [
            name
            for name in super().guess(table, free)
            if len({*map(str, np.asarray(table.arrays[name]).tolist())}) <= _MAX_MODELS
        ]


@dataclass(frozen=True)
class Classes(Column):
    """A matrix (N, K) of scores, or a vector (N,) of class ids."""

    is_read_as: ClassVar[bool] = True
    is_predicted: ClassVar[bool] = True

    def named(self, names: Sequence[str], alike: bool = True) -> list[str]:
        """Names with "pred" come first: beside predicted_class, class is the true one."""
        predicted = [name for name in names if "pred" in plain(name)]
        return super().named(predicted, alike) or (predicted if len(predicted) == 1 else super().named(names, alike))

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """A run of numbered columns by its stem, else an array by its exact name, the only run, or a similar name."""
        stems = {plain(stem(names[0])): run for run, names in runs(table).items()}
        named = [stems[plain(name)] for name in (self.name, *self.names) if plain(name) in stems]
        only = list(stems.values()) if len(stems) == 1 else []
        return named[:1] or self.named(free, alike=False) or only or self.named(free)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """No array, since a vector of integers is more likely the references."""
        return []

    def is_several(self, names: Sequence[str], table: Table) -> bool:
        """Whether all are matrices."""
        return not self.part_of and {*names} <= _matrices(table) | {*runs(table)}

    def made_of(self, names: Sequence[str], parts: Sequence[Any], lines: Sequence[int | None], read_as: str) -> Any:
        """The matrix, as floats if it is read as scores, as integers if it is read as class ids."""
        value = super().made_of(names, parts, lines, read_as)
        kind = {"scores": float, "class ids": int}.get(read_as)
        array = np.asarray(value)
        if kind is None or array.dtype.kind not in "biuf" or array.dtype.kind == np.dtype(kind).kind:
            return value
        if kind is int and (array != np.round(array)).any():
            return value  # the metric says what is wrong with it
        return array.astype(kind)


@dataclass(frozen=True)
class Matrix(Classes):
    """A matrix (N, K) of scores or class ids; a single column is a matrix with K = 1."""

    def made_of(self, names: Sequence[str], parts: Sequence[Any], lines: Sequence[int | None], read_as: str) -> Any:
        """The columns, side by side."""
        value = super().made_of(names, parts, lines, read_as)
        return np.asarray(value)[:, None] if num_dimensions(value) == 1 else value


@dataclass(frozen=True)
class ScoreMatrix(Matrix):
    """A matrix (N, K) of scores; whole numbers are scores too."""

    is_read_as: ClassVar[bool] = False

    def made_of(self, names: Sequence[str], parts: Sequence[Any], lines: Sequence[int | None], read_as: str) -> Any:
        """The matrix as floats."""
        return super().made_of(names, parts, lines, "scores")

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as floats, once its unreadable cells are gone."""
        return as_floats(array)


@dataclass(frozen=True)
class Images(Column):
    """Data of images: a stack, a list of one array for each image, or a table with a column `image`."""

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """A stack of images by its name, or the only stack.

        For a table, the column of images and the columns of boxes, in the order of `_FIELDS`.
        """
        stacks = [name for name, array in table.arrays.items() if num_dimensions(array) != 1]
        named = self.named(stacks) or stacks[:1]
        if named:
            return named
        named_so = {plain(name): name for name in reversed([*table.arrays])}
        image = [named_so[name] for name in IMAGE_NAMES if name in named_so][:1]
        fields = [Column(field, tuple(aliases)).named([*table.arrays]) for field, *aliases in _FIELDS]
        if all(fields[:4]):
            return image + [name for field in fields for name in field]
        numbered = runs(table)
        return [*image, *numbered] if len(numbered) == 1 else []

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """No array, since a single column does not hold images."""
        return []

    def is_several(self, names: Sequence[str], table: Table) -> bool:
        """Whether all are stacks or lists of images."""
        return not self.part_of and {*names} <= _matrices(table)

    def unreadable(self, value: Any) -> np.ndarray:
        """No cell: the metric checks images."""
        return np.zeros(len(value), bool)


RESIZED = "resized: "  # before the name of maps that are resized to their masks


@dataclass(frozen=True)
class Maps(Images):
    """An anomaly map (H, W) for each image, which may be resized to its mask."""

    def offer(self, table: Table) -> list[str]:
        """The names that any images offer, and each stack or list of maps resized."""
        stacks = [name for name, array in table.arrays.items() if num_dimensions(array) >= 3]
        return super().offer(table) + [RESIZED + name for name in stacks]

    def is_several(self, names: Sequence[str], table: Table) -> bool:
        """Whether all are stacks or lists of maps."""
        return super().is_several([name.removeprefix(RESIZED) for name in names], table)

    def part(self, name: str, table: Table) -> Any:
        """The maps as they are: `images.fitted` resizes them, since the masks are another column."""
        return super().part(name.removeprefix(RESIZED), table)


_FIELDS = (
    ("x1", "xmin", "left", "x", "cx", "xcenter"),
    ("y1", "ymin", "top", "y", "cy", "ycenter"),
    ("x2", "xmax", "right", "w", "bw", "boxw", "bboxw", "boxwidth", "bboxwidth", "width"),
    ("y2", "ymax", "bottom", "h", "bh", "boxh", "bboxh", "boxheight", "bboxheight", "height"),
    ("confidence", "conf", "score", "scores"),
    ("class", "cls", "label", "category", "categoryid", "classid"),
)


def _matrices(table: Table) -> set[str]:
    """The names of arrays with two or more dimensions."""
    return {name for name, array in table.arrays.items() if num_dimensions(array) >= 2}
