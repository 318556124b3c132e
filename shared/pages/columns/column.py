"""A column of the metric: how it is guessed, offered, checked and read from the arrays of an input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..reading.data import Data
from ..reading.names import choices, member, num_dimensions, plain, runs
from .cells import are_integers, are_numbers, as_floats, is_blank

FLIPPED = "−"  # prefix of the name of scores with the opposite sign
READ_AS = ("automatic", "scores", "class ids")  # the meaning of whole numbers in a matrix


@dataclass(frozen=True)
class Column:
    """A column of the metric with a number for each sample; subclasses are the other kinds of columns.

    name: the argument of the metric
    names: its names in tables and files, the likeliest first; for a column made of several arrays, their stems
    required: whether the metric needs it
    source: the index of its input on the page
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

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """The names of the column's arrays, guessed by name; the arrays in `free` belong to no other column."""
        return self.named([name for name in free if num_dimensions(data.arrays[name]) == 1])

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

    def offer(self, data: Data) -> list[str]:
        """The names of the arrays that the column may be made of."""
        offered = choices(data)
        return [*offered, self.unused] if offered and self.unused else offered

    def is_several(self, names: Sequence[str], sources: Sequence[Data]) -> bool:
        """Whether each array could be the column by itself, so that each is a detector."""
        return False

    def take(self, names: Sequence[str], data: Data, read_as: str = "automatic") -> Any:
        """The column made of the named arrays, side by side if there are several; `read_as` is one of READ_AS.

        Raises ValueError for a name that the data do not have, and for cells that cannot be read.
        """
        numbered = runs(data)
        members = [one for name in names for one in numbered.get(name, [name])]
        parts = [self.part(name, data) for name in members]
        for name, part in zip(members, parts):
            self.check(name, part, data.lines.get(name.removeprefix(FLIPPED)))
        return self.put_together(parts)

    def part(self, name: str, data: Data) -> Any:
        """The array with this name."""
        array = member(name, data)
        if array is None:
            available = ", ".join(data.arrays)
            raise ValueError(f"{self.name}: expected names of columns, got {name!r}; there are {available}")
        return array

    def put_together(self, parts: Sequence[Any]) -> Any:
        """One array from the parts."""
        return parts[0] if len(parts) == 1 else np.column_stack(parts)

    def check(self, name: str, value: Any, line: int | None) -> None:
        """Raise ValueError for the first cell that is text or empty where a number or label is expected."""
        wrong = self.wrong(name, value, line)
        if wrong:
            advice = "Fill it in" if wrong.endswith("is empty") else "Fix it"
            raise ValueError(f"{wrong}. {advice}, or leave the row out.")

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
            return f"{name}, {place}{others}: this cell is empty"
        return f"{name}, {place}{others}: {str(value[first])[:60]!r} {self.complaint(value)}"

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
        """The column as numbers, once its unreadable cells are gone; as integers, which may be ids, if written so."""
        return array.astype(np.int64) if are_integers(array) else as_floats(array)

    def role(self, array: Any) -> str:
        """The role of an array in the metric, in a few words."""
        return self.name


def _is_class_ids(array: np.ndarray) -> bool:
    return array.dtype.kind in "iu" and len(array) > 0 and not _counts_rows(array)


def _counts_rows(array: np.ndarray) -> bool:
    return len(array) > 1 and bool((np.diff(array.astype(np.int64)) == 1).all())
