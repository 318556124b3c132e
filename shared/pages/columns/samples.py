"""Columns with one entry for each sample: scores, labels, counts, names, groups and detectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from ..reading.data import Data
from ..reading.names import num_dimensions
from ..serving.limits import MAX_DETECTORS
from .cells import are_numbers, as_floats
from .column import FLIPPED, Column
from .words import LOOKED_AT, UNKNOWN_WORD, as_labels, is_known, is_label


@dataclass(frozen=True)
class Scores(Column):
    """Scores (N,) of one detector, or a column for each of several; their sign may be flipped."""

    precedence: ClassVar[int] = 2
    is_predicted: ClassVar[bool] = True

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """All arrays of numbers with fractions."""
        return [name for name, array in arrays.items() if is_score(array)]

    def offer(self, data: Data) -> list[str]:
        """The names that any column offers, and each column of floats with its sign flipped."""
        offered = super().offer(data)
        return offered + [FLIPPED + name for name in offered if _is_float(data.arrays.get(name))]

    def is_several(self, names: Sequence[str], sources: Sequence[Data]) -> bool:
        """True, since each column of scores is a detector, unless it is part of an argument."""
        return not self.part_of

    def part(self, name: str, data: Data) -> Any:
        """The scores, negated if their name begins with FLIPPED."""
        if name in data.arrays or not name.startswith(FLIPPED):
            return super().part(name, data)
        array = np.asarray(self.part(name.removeprefix(FLIPPED), data))
        if array.dtype.kind not in "iuf":
            return array  # the metric says what is wrong with it
        return -array if array.dtype.kind == "f" else -array.astype(np.float64)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as floats, once its unreadable cells are gone."""
        return as_floats(array)

    def role(self, array: Any) -> str:
        """The word "score", whatever the metric's argument is called; a part has its own name."""
        return self.name if self.part_of else "score"


@dataclass(frozen=True)
class Labels(Column):
    """Labels (N,) of two values, 0 and 1 or words for them."""

    precedence: ClassVar[int] = 0

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The only array of two values; none if there are several."""
        fitting = [name for name, array in arrays.items() if is_label(array)]
        return fitting if len(fitting) == 1 else []

    def take(self, names: Sequence[str], data: Data, read_as: str = "automatic") -> Any:
        """The labels; words that mean unknown become 1, words that mean known 0."""
        array = super().take(names, data, read_as)
        try:
            labels = as_labels(np.asarray(array), data.lines.get(names[0]))
        except ValueError as error:
            raise ValueError(f"{names[0]}, {error}") from None
        return array if labels is None else labels

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Whether each cell is a word for a label, or a number in a column that is mostly numbers."""
        if not _are_words(value):
            return are_numbers(value)
        return np.asarray([isinstance(cell, str) and is_known(cell) for cell in value.tolist()], dtype=bool)

    def complaint(self, value: np.ndarray) -> str:
        """The end of the sentence about a word that is not a label, or a cell that is not a number."""
        return UNKNOWN_WORD if _are_words(value) else super().complaint(value)

    def role(self, array: Any) -> str:
        """The name, and the number of labels that are 1."""
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.ndim == 1:
            return f"{self.name}: {int(np.count_nonzero(array == 1)):,} of {len(array):,} are 1"
        return self.name


@dataclass(frozen=True)
class Counts(Column):
    """The count of each row; guessed only by the column's exact name, since it affects all numbers."""

    unused: ClassVar[str] = "each row once"

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """The column with exactly one of its names."""
        return self.named([name for name in free if num_dimensions(data.arrays[name]) == 1], alike=False)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """No array, since integers are more likely labels."""
        return []


@dataclass(frozen=True)
class Names(Column):
    """Names (N,), one for each row; any cell is a name."""

    def part(self, name: str, data: Data) -> Any:
        """The cells as they stand in the file, if it is a table: 007 and 7 are two names."""
        return data.words[name]() if name in data.words else super().part(name, data)

    def check(self, name: str, value: Any, line: int | None) -> None:
        """Accept anything."""

    def unreadable(self, value: Any) -> np.ndarray:
        """No cell."""
        return np.zeros(len(value), bool)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """No array, since names are guessed only by the name of their column."""
        return []


@dataclass(frozen=True)
class Groups(Names):
    """The group of each sample; the metric is computed for each group."""

    unused: ClassVar[str] = "no groups"


@dataclass(frozen=True)
class Detectors(Names):
    """The detector of each row, in a table with rows of several detectors."""

    unused: ClassVar[str] = "one detector"

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """The column with exactly one of its names, if it holds at most `MAX_DETECTORS` names."""
        named = self.named([name for name in free if num_dimensions(data.arrays[name]) == 1], alike=False)
        return [] if any(len(pd.unique(data.arrays[name])) > MAX_DETECTORS for name in named) else named


def is_score(array: np.ndarray) -> bool:
    """Whether a column holds floats that are not labels, or text that is mostly numbers."""
    if array.dtype.kind == "f":
        return not is_label(array)
    if array.dtype.kind in "OU":
        return bool(pd.to_numeric(pd.Series(array[:LOOKED_AT]), errors="coerce").notna().mean() > 0.5)
    return False


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f"


def _are_words(value: np.ndarray) -> bool:
    """Whether a column of text holds words rather than numbers beside some other cells."""
    return bool(2 * np.count_nonzero(are_numbers(value)) < len(value))
