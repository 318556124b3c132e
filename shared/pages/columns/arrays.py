"""Columns with more than one number for each sample: matrices of scores or class ids, and images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..reading.data import Data
from ..reading.names import IMAGE_NAMES, num_dimensions, plain, runs, stem
from .cells import as_floats
from .column import Column


@dataclass(frozen=True)
class Classes(Column):
    """A matrix (N, K) of scores, or a vector (N,) of class ids."""

    is_read_as: ClassVar[bool] = True
    is_predicted: ClassVar[bool] = True

    def named(self, names: Sequence[str], alike: bool = True) -> list[str]:
        """Names with "pred" come first: beside predicted_class, class is the true one."""
        predicted = [name for name in names if "pred" in plain(name)]
        return super().named(predicted, alike) or (predicted if len(predicted) == 1 else super().named(names, alike))

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """A run of numbered columns by its stem, else an array by its exact name, the only run, or a similar name."""
        stems = {plain(stem(names[0])): run for run, names in runs(data).items()}
        named = [stems[plain(name)] for name in (self.name, *self.names) if plain(name) in stems]
        only = list(stems.values()) if len(stems) == 1 else []
        return named[:1] or self.named(free, alike=False) or only or self.named(free)

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """No array, since a vector of integers is more likely the references."""
        return []

    def is_several(self, names: Sequence[str], sources: Sequence[Data]) -> bool:
        """Whether all are matrices."""
        return not self.part_of and set(names) <= _matrices(names, sources) | {
            run for data in sources for run in runs(data)
        }

    def take(self, names: Sequence[str], data: Data, read_as: str = "automatic") -> Any:
        """The matrix, as floats if it is read as scores, as integers if it is read as class ids."""
        value = super().take(names, data, read_as)
        if read_as == "automatic":
            return value
        array, kind = np.asarray(value), float if read_as == "scores" else int
        if (
            array.dtype.kind not in "biuf"
            or array.dtype.kind == np.dtype(kind).kind
            or (kind is int and (array != np.round(array)).any())
        ):
            return value  # the metric says what is wrong with it
        return array.astype(kind)


@dataclass(frozen=True)
class Matrix(Classes):
    """A matrix (N, K) of scores or class ids; a single column is a matrix with K = 1."""

    def put_together(self, parts: Sequence[Any]) -> Any:
        """The columns, stacked side by side."""
        return np.column_stack(parts) if num_dimensions(parts[0]) == 1 else super().put_together(parts)


@dataclass(frozen=True)
class ScoreMatrix(Matrix):
    """A matrix (N, K) of scores; whole numbers are scores too."""

    is_read_as: ClassVar[bool] = False

    def take(self, names: Sequence[str], data: Data, read_as: str = "automatic") -> Any:
        """The matrix as floats."""
        return super().take(names, data, "scores")

    def cleaned(self, array: np.ndarray) -> np.ndarray:
        """The column as floats, once its unreadable cells are gone."""
        return as_floats(array)


@dataclass(frozen=True)
class Images(Column):
    """Data of images: a stack, a list of one array for each image, or a table with a column `image`."""

    def guess(self, data: Data, free: Sequence[str]) -> list[str]:
        """A stack of images by its name, the only stack, or all stacks if they name identical images.

        For a table, the column of images and the columns of boxes, in the order of `_FIELDS`.
        """
        stacks = [name for name, array in data.arrays.items() if num_dimensions(array) != 1]
        alike = len({tuple(data.names.get(name, [name])) for name in stacks}) == 1
        named = self.named(stacks) or (stacks if alike else [])
        if named:
            return named
        named_so = {plain(name): name for name in reversed([*data.arrays])}
        image = [named_so[name] for name in IMAGE_NAMES if name in named_so][:1]
        fields = [Column(field, tuple(aliases)).named([*data.arrays]) for field, *aliases in _FIELDS]
        if all(fields[:4]):
            return image + [name for field in fields for name in field]
        numbered = runs(data)
        return [*image, *numbered] if len(numbered) == 1 else []

    def guess_by_values(self, arrays: Mapping[str, np.ndarray]) -> list[str]:
        """No array, since a single column does not hold images."""
        return []

    def is_several(self, names: Sequence[str], sources: Sequence[Data]) -> bool:
        """Whether all are stacks or lists of images."""
        return not self.part_of and set(names) <= _matrices(names, sources)

    def unreadable(self, value: Any) -> np.ndarray:
        """No cell: the metric checks images."""
        return np.zeros(len(value), bool)


RESIZED = "resized: "  # prefix of the name of maps that are resized to their masks


@dataclass(frozen=True)
class Maps(Images):
    """An anomaly map (H, W) for each image, which may be resized to its mask."""

    def offer(self, data: Data) -> list[str]:
        """The names that any images offer, and each stack or list of maps resized."""
        stacks = [name for name, array in data.arrays.items() if num_dimensions(array) >= 3]
        return super().offer(data) + [RESIZED + name for name in stacks]

    def is_several(self, names: Sequence[str], sources: Sequence[Data]) -> bool:
        """Whether all are stacks or lists of maps."""
        return super().is_several([name.removeprefix(RESIZED) for name in names], sources)

    def part(self, name: str, data: Data) -> Any:
        """The maps as they are; `assembly.sizes` resizes them, since the masks are another column."""
        return super().part(name.removeprefix(RESIZED), data)


_FIELDS = (
    ("x1", "xmin", "left", "x", "cx", "xcenter"),
    ("y1", "ymin", "top", "y", "cy", "ycenter"),
    ("x2", "xmax", "right", "w", "bw", "boxw", "bboxw", "boxwidth", "bboxwidth", "width"),
    ("y2", "ymax", "bottom", "h", "bh", "boxh", "bboxh", "boxheight", "bboxheight", "height"),
    ("confidence", "conf", "score", "scores"),
    ("class", "cls", "label", "category", "categoryid", "classid"),
)


def _matrices(names: Sequence[str], sources: Sequence[Data]) -> set[str]:
    """The names of arrays with two or more dimensions, in the inputs that have any of `names`."""
    own = [data for data in sources if set(names) & {*data.arrays, *runs(data)}]
    return {name for data in own for name, array in data.arrays.items() if num_dimensions(array) >= 2}
