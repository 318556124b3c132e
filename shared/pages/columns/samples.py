"""Columns with an entry for each sample that is more than a number: scores, labels, groups and detectors."""

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
    """Scores (N,), of which there may be several columns, one for each detector; their sign may be turned."""

    precedence: ClassVar[int] = 2

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """All arrays of numbers with fractions."""
        return [name for name, array in arrays.items() if is_score(array)]

    def offer(self, data: Data) -> list[str]:
        """As of any column, and floats with the other sign too."""
        offered = super().offer(data)
        return offered + [FLIPPED + name for name in offered if _is_float(data.arrays.get(name))]

    def is_several(self, names: Sequence[str], sources: Sequence[Data]) -> bool:
        """Always: a column of scores is a detector."""
        return not self.part_of

    def part(self, name: str, data: Data) -> Any:
        """The scores, with the other sign where higher was more in-distribution."""
        if name in data.arrays or not name.startswith(FLIPPED):
            return super().part(name, data)
        array = np.asarray(self.part(name.removeprefix(FLIPPED), data))
        if array.dtype.kind not in "iuf":
            return array  # the metric says what is wrong with it
        return -array if array.dtype.kind == "f" else -array.astype(np.float64)

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """Floats of a column that had other cells too."""
        return as_floats(array)

    def role(self, array: Any) -> str:
        """Score, whatever the metric calls it."""
        return self.name if self.part_of else "score"


@dataclass(frozen=True)
class Labels(Column):
    """Labels (N,) of two values, 0 and 1 or words for them."""

    precedence: ClassVar[int] = 0

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """The one array of two values."""
        fitting = [name for name, array in arrays.items() if is_label(array)]
        return fitting if len(fitting) == 1 else []

    def take(self, names: Sequence[str], data: Data, read_as: str = "automatic") -> Any:
        """The labels, 1 for words that mean unknown and 0 for words that mean known."""
        array = super().take(names, data, read_as)
        try:
            labels = as_labels(np.asarray(array), data.lines.get(names[0]))
        except ValueError as error:
            raise ValueError(f"{names[0]}, {error}") from None
        return array if labels is None else labels

    def are_readable(self, value: np.ndarray) -> np.ndarray:
        """Which cells are known words, or numbers in a column that is mostly numbers."""
        if not _are_words(value):
            return are_numbers(value)
        return np.asarray([isinstance(cell, str) and is_known(cell) for cell in value.tolist()], dtype=bool)

    def complaint(self, value: np.ndarray) -> str:
        """That a word is unknown, or a cell not a number."""
        return UNKNOWN_WORD if _are_words(value) else super().complaint(value)

    def role(self, array: Any) -> str:
        """The name, and how many labels are 1."""
        if isinstance(array, np.ndarray) and array.dtype.kind in "biuf" and array.ndim == 1:
            return f"{self.name}: {int(np.count_nonzero(array == 1)):,} of {len(array):,} are 1"
        return self.name


@dataclass(frozen=True)
class Counts(Column):
    """How often each row occurs; known by the whole name of its column alone, since it weighs all numbers."""

    unused: ClassVar[str] = "each row once"

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """A column of exactly this name."""
        return self.named([name for name in free if num_dimensions(data.arrays[name]) == 1], alike=False)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """None: integers are more likely labels."""
        return []


@dataclass(frozen=True)
class Names(Column):
    """Words or numbers (N,) that name something of each row; any cell is one."""

    def check(self, name: str, value: Any, line: int | None) -> None:
        """Accept anything."""

    def unreadable(self, value: Any) -> np.ndarray:
        """No cell."""
        return np.zeros(len(value), bool)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """None: names are known by the name of their column alone."""
        return []


@dataclass(frozen=True)
class Groups(Names):
    """The group of each sample, of which the metric computes each alone."""

    unused: ClassVar[str] = "no groups"


@dataclass(frozen=True)
class Detectors(Names):
    """The detector of each row, where a table holds the rows of several."""

    unused: ClassVar[str] = "one detector"

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """A column of exactly this name, with a few names."""
        named = self.named([name for name in free if num_dimensions(data.arrays[name]) == 1], alike=False)
        return [] if any(len(pd.unique(data.arrays[name])) > MAX_DETECTORS for name in named) else named


def is_score(array: np.ndarray) -> bool:
    """Return whether a column holds fractions, or mostly numbers as text beside other cells."""
    if array.dtype.kind == "f":
        return not is_label(array)
    if array.dtype.kind in "OU":
        return bool(pd.to_numeric(pd.Series(array[:LOOKED_AT]), errors="coerce").notna().mean() > 0.5)
    return False


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind == "f"


def _are_words(value: np.ndarray) -> bool:
    """Whether a column of text is one of labels in words, not one of 0 and 1 with other cells among them."""
    return bool(2 * np.count_nonzero(are_numbers(value)) < len(value))
