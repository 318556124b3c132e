"""Columns of labels: 0 and 1, in the direction that their name says, and words for known and unknown samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..cures import Advice, Cure
from ..places import unsigned
from ..sides import TRUTHS, Place, are_pair, side_of_column, side_of_name, sides_of
from ..tables.files import Streamed, Table
from .cells import (
    LOOKED_AT,
    are_blank,
    are_numbers,
    are_words,
    as_numbers,
    distinct,
    header,
    is_label,
    is_text,
    member,
    number_of,
)
from .kinds import FLIPPED, Column, are_strings, only

_NO_LABEL = "is not a label; write 0 and 1, or id and ood, known and unknown, normal and anomaly"


@dataclass(frozen=True)
class Labels(Column):
    """Labels (N,) of two values: 0 and 1, words for them, or names of classes and a word for one of the sides.

    The name of a column may say that 1 means known: is_known, inlier. Its 0 and 1 are then swapped, as with a leading
    "-"; a leading "+" takes a column as it stands.

    as_words: whether words stay as they stand, since in_value and out_value name them
    """

    as_words: bool = False

    precedence: ClassVar[int] = 1

    def guess(self, table: Table, free: Sequence[str]) -> list[str]:
        """The first column of 0 and 1, or of words, whose name gives 1 a meaning, else one by its name."""
        named = [name for name in free if _side(name, Place.COLUMN) is not None]
        return [name for name in named if _may_be_labels(table.arrays[name])][:1] or super().guess(table, free)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array of two values, or the only one of words for the sides; none if there are several."""
        names = [name for name, array in arrays.items() if is_label(array)]
        return only(names) or only([name for name in names if _say_sides(arrays[name])])

    def offer(self, table: Table) -> list[str]:
        """The names that any column offers, and each column of two numbers the other way round."""
        offered = super().offer(table)
        numbers = [name for name in offered if _are_two_numbers(table.arrays.get(name))]
        return offered + [("+" if _side(name) is False else FLIPPED) + name for name in numbers]

    def part(self, name: str, table: Table) -> Any:
        """The array with this name, in which 1 means unknown: swapped, if its sign or else its name says so."""
        if member(name, table) is None and name[:1] in (FLIPPED, "+"):
            sign, name = name[:1], name[1:]
        else:
            sign = ""
        array = super().part(name, table)
        if sign == "+" or not (sign or self.means_known(name)):
            return array
        if sign and _say_sides(array):
            raise ValueError(f"{name}: expected labels of 0 and 1 to swap, got words, which say what they mean")
        return array.mapped(_swapped) if isinstance(array, Streamed) else _swapped(array)

    @staticmethod
    def means_known(name: str) -> bool:
        """Whether 1 means known in a column of this name, without a sign."""
        return name[:1] not in (FLIPPED, "+") and _side(name) is False

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell is a word for a label, or a number in a column that is mostly numbers."""
        if not are_words(value):
            return are_numbers(value)
        if self.as_words:
            return are_strings(value)
        sides = _sides(value)
        return are_strings(value) & np.asarray([sides[str(cell)] is not None for cell in value.tolist()], dtype=bool)

    def complaint(self, value: np.ndarray) -> str:
        """The end of the sentence about a word that is not a label, or a cell that is not a number."""
        if not are_words(value):
            return super().complaint(value)
        words = distinct(value[~are_blank(value)])
        if any(side_of_name(word) is not None for word in words):
            return Advice(_NO_LABEL, Cure("to take labels from words in names", {"label_from_name": "normal|anomaly"}))
        if len(words) < 2 or self.name != "references" or any(side is not None for side in _said(value).values()):
            return _NO_LABEL
        one, other = words[0], words[1] if len(words) == 2 else "rest"
        ways = ((one, other), (other, one))
        cures = [Cure(f"if {known!r} is known", {"in_value": known, "out_value": ood}) for known, ood in ways]
        return Advice(_NO_LABEL, *cures)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The labels as numbers: words that mean unknown are 1, others 0.

        >>> words = np.asarray(["cat", "Unknown", "dog"], dtype=object)
        >>> Labels("references").cleaned(words).tolist()
        [0, 1, 0]
        >>> Labels("references").cleaned(np.asarray(["crack", "good", "cut"], dtype=object)).tolist()
        [1, 0, 1]
        """
        if not is_text(array) or not are_words(array):
            return as_numbers(array)
        if self.as_words:
            return np.asarray([cell.strip() for cell in array.tolist()])
        sides = _sides(array)
        return np.asarray([bool(sides[cell]) for cell in array.tolist()], np.int64)

    def direction(self, names: Sequence[str], table: Table) -> str:
        """A sentence on the meaning of 1 in the column, if its name alone says that it means known; else ""."""
        if not names or not self.means_known(names[0]) or _say_sides(member(names[0], table)):
            return ""
        name = header(names[0])
        return f"1 in {name} means a known sample, by its name; +{name} takes it as it stands, 1 for an unknown one"

    def is_assumed(self, names: Sequence[str], table: Table) -> bool:
        """Whether nothing says that 1 means unknown: no sign, no name, no words, no class id below 0."""
        array = table.arrays.get(names[0]) if names else None
        if not isinstance(array, np.ndarray) or array.ndim != 1:
            return False
        says = are_words(array) if array.dtype.kind in "OU" else bool(np.any(array < 0))
        return not says and _side(names[0]) is None

    def sentence(self, names: Sequence[str], table: Table) -> str:
        """A sentence on words that were recognised beside the words for the sides; "" if none were."""
        array = member(unsigned(names[0]), table) if names else None
        if self.as_words or not isinstance(array, np.ndarray) or array.ndim != 1 or not are_words(array):
            return ""
        sides = _said(array)
        if are_pair(sides):
            known, unknown = sorted(sides, key=lambda word: bool(sides[word]))
            return f"{self.name}: {known!r} is known and {unknown!r} unknown, which higher scores are to mean"
        word = next((word for word, side in sides.items() if side is not None), "")
        if not word or None not in sides.values():
            return ""
        if sides[word]:
            return f"{self.name} are names of classes, and {word!r} marks unknown samples"
        return f"{self.name} are kinds of unknown samples, beside {word!r} for known ones"


def _side(name: str, place: Place = Place.COLUMN | Place.OUTCOME) -> bool | None:
    """Whether 1 means unknown in a column, by its name without that of its file."""
    return side_of_column(header(name), place)


def _may_be_labels(array: Any) -> bool:
    """Whether a column holds words, or no other numbers than two; not of one that is read in batches."""
    return isinstance(array, np.ndarray) and (is_label(array) or _are_two_numbers(array))


def _are_two_numbers(array: Any) -> bool:
    """Whether a column (N,) holds booleans, or no numbers but 0 and 1."""
    if not isinstance(array, np.ndarray) or array.ndim != 1 or array.dtype.kind not in "biuf":
        return False
    parts = (array[:LOOKED_AT], array)  # most columns are something else from the beginning on
    return array.dtype.kind == "b" or all(bool(((part == 0) | (part == 1)).all()) for part in parts)


def _say_sides(array: Any) -> bool:
    """Whether a column holds words for the sides, other than true and false."""
    sides = _said(array) if isinstance(array, np.ndarray) and array.dtype.kind in "OU" else {}
    return any(side is not None and word.strip().lower() not in TRUTHS for word, side in sides.items())


def _swapped(array: Any) -> Any:
    """A column with 1 for 0 and 0 for 1, also as cells and as true and false; other values stay as they are."""
    values = np.asarray(array)
    if values.dtype.kind == "b":
        return ~values
    if values.dtype.kind not in "OU":
        return np.where((values == 0) | (values == 1), 1 - values, values).astype(values.dtype)
    other = {"true": "false", "false": "true"}
    cells = [
        1 - number if (number := number_of(cell)) in (0, 1) else other.get(str(cell).strip().lower(), cell)
        for cell in values.tolist()
    ]
    return np.asarray(cells, dtype=object)


def _sides(array: np.ndarray) -> dict[str, bool | None]:
    """Whether each word means unknown.

    Beside words for unknown alone, all others are names of known classes; beside words for known, kinds of unknown
    samples, such as the defects beside good.
    """
    sides = _said(array)
    stated = {side for word, side in sides.items() if word.strip().lower() not in TRUTHS} - {None}
    if len({*sides.values()} - {None}) == 1 and stated:
        return {word: (True not in stated) if side is None else side for word, side in sides.items()}
    return sides


def _said(array: np.ndarray) -> dict[str, bool | None]:
    """Whether each word means unknown by itself, or as one of the two of a field."""
    blank = {*distinct(array[are_blank(array)])}
    return {**sides_of(word for word in distinct(array) if word not in blank), **dict.fromkeys(blank)}
