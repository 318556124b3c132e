"""Readings of files, as columns of a metric, and their census: the one way from files to `compute`.

Everything that is there is used, or is left out for a reason.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from ..metric.groups import GROUPS, rows_of_groups
from .cures import Advice, Cure, cures_of, error_of, sentence_of
from .tables.files import Streamed, Table, batches, whole

IMAGES, LABELS, BOXES = "images", "label files", "boxes"
PREDICTIONS, PREDICTED, OTHERS = "prediction files", "predicted boxes", "other files"
REPEATED = (BOXES, "stated twice")
BESIDE = (OTHERS, "beside images and labels")
OF_CLASSES = "with names of classes"
ALONE = ""  # the name of the only category

LeftOut = dict[tuple[str, str], Sequence[str]]  # names by kind and reason


class Census(NamedTuple):
    """The number of things in use, and the names of the others, which together are all that an input holds.

    used: by kind, such as "images", how many are used
    left_out: by kind and reason, the names of what is left out, such as ("boxes", "stated twice"): ["labels/a.txt:3"]

    Boxes are those of the label files that are used. Hidden files are not counted.
    """

    used: Mapping[str, int] = MappingProxyType({})
    left_out: Mapping[tuple[str, str], Sequence[str]] = MappingProxyType({})

    @staticmethod
    def of(parts: Iterable[Census]) -> Census:
        """The census of several inputs.

        >>> Census.of([Census({"boxes": 5}), Census({"boxes": 2})]).used
        {'boxes': 7}
        """
        used: dict[str, int] = {}
        left_out: LeftOut = {}
        for part in parts:
            used |= {kind: used.get(kind, 0) + count for kind, count in part.used.items()}
            left_out |= {key: [*left_out.get(key, ()), *names] for key, names in part.left_out.items()}
        return Census(used, left_out)

    def renamed(self, name: Callable[[str], str]) -> Census:
        """The census with other names of the things that are left out."""
        return Census(self.used, {key: [*map(name, names)] for key, names in self.left_out.items()})

    def there(self, kind: str) -> int:
        """The number of things of a kind, used or not.

        >>> Census({"boxes": 5}, {("boxes", "stated twice"): ["a.txt:3"]}).there("boxes")
        6
        """
        return self.used.get(kind, 0) + sum(len(names) for (of, _), names in self.left_out.items() if of == kind)

    def contents(self, *kinds: str) -> str:
        """How many of each kind are used.

        >>> Census({"images": 2, "boxes": 1}).contents("images", "boxes")
        '2 images, 1 box'
        """
        return ", ".join(_counted(self.used[kind], kind) for kind in kinds if kind in self.used)

    def text(self) -> str:
        """A list of the things that are left out, each with its reason and an example; empty if nothing is.

        >>> Census({}, {("boxes", "stated twice"): ["a.txt:3"], ("images", "not in x.txt"): ["b.png", "c.png"]}).text()
        '1 box stated twice (a.txt:3), 2 images not in x.txt (such as b.png)'
        """
        return ", ".join(
            f"{_counted(len(names), kind)} {reason} ({'such as ' * (len(names) > 1)}{names[0]})"
            for (kind, reason), names in self.left_out.items()
            if names
        )


def _counted(count: int, kind: str) -> str:
    one = kind[:-2] if kind.endswith("boxes") else kind[:-1]
    return f"{count:,} {one if count == 1 else kind}"


def unused(kind: str, reason: str, names: Collection[str], leave_out: bool, error: Callable[[str], str]) -> LeftOut:
    """List the things that cannot be used, as a part of a census; `error` makes the message of one, by its name.

    Raises CurableError for the first, unless things may be left out.

    >>> unused("label files", "without an image", ["a.txt"], True, lambda name: f"{name}: expected an image")
    {('label files', 'without an image'): ['a.txt']}
    """
    if names and not leave_out:
        text = error(next(iter(names)))
        to_leave_out = Cure(f"to leave out {_counted(len(names), kind)}", {"leave_out": True})
        raise error_of(Advice(sentence_of(text), *cures_of(text), to_leave_out))
    return {(kind, reason): [*names]}


def by_real_place(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by their real folder and their name, so that a file that is reached in two ways is there once."""
    real = cache(os.path.realpath)
    return {os.path.join(real(path.parent), path.name): path for path in paths}


Place = str | PathLike[str]
# the files of one input: a file, a folder, an archive, several of these, or those of each of several models
Input = Place | Sequence[Place] | Mapping[str, Place | Sequence[Place]]


def as_paths(places: Place | Sequence[Place], name: str = "inputs") -> list[Path]:
    """The paths of one place, or of several: files, folders and archives. Raises TypeError for anything else."""
    if isinstance(places, (str, PathLike)):
        return [Path(places)]
    several = [*places] if isinstance(places, Iterable) else [places]
    for place in several:
        if not isinstance(place, (str, PathLike)):
            raise TypeError(f"{name}: expected a file, a folder, an archive, or a list of them, got {place!r:.60}")
    return [*map(Path, several)]


@dataclass
class Category:
    """Samples that are computed together, such as a category of a data set, or all.

    name: such as "bottle"; group, of its samples where they have no group: "" if it is the only one
    models: the columns of each model, by its name
    images: the names of its samples
    split: cuts the columns of a model into batches, each with the number of its first row
    """

    name: str
    group: str
    models: Mapping[str, Mapping[str, Any]]
    images: Sequence[Any]
    split: Callable[[Mapping[str, Any]], Iterator[tuple[int, dict[str, Any]]]]

    def batches(self, model: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The columns of a model in batches, each with the number of its first row."""
        return self.split(self.models[model])

    @property
    def rows(self) -> dict[str, np.ndarray]:
        """The rows of each group; "" has the rows that belong to all."""
        first = next(iter(self.models.values()))
        return rows_of_groups(first[GROUPS]) if GROUPS in first else {}

    def part(self, rows: Sequence[int]) -> Category:
        """Some of its samples, without groups."""
        models = {
            model: {name: _taken(column, rows) for name, column in columns.items() if name != GROUPS}
            for model, columns in self.models.items()
        }
        return replace(self, models=models, images=[self.images[row] for row in rows] if self.images else [])


def _taken(column: Any, rows: Sequence[int]) -> Any:
    return column.part(rows) if hasattr(column, "part") else [column[row] for row in rows]


@dataclass
class Reading:
    """Contents of files.

    metric: the name of the metric
    models: the columns of each model, by its name: the arguments of `compute`
    options: options of the metric that the files imply
    guesses: what was guessed, a sentence each, with the choice that sets it
    notes: what else is worth knowing, a sentence each
    census: what was there, used, and left out
    contents: what each input holds, in words
    images, samples: the names of images and of samples, where known
    classes: class names by id
    sizes: the width and height of each image in pixels, None where unknown
    archives: keeps the files of archives, which are unpacked, as long as they may be read
    change: what is recognised in columns that are read in batches
    assumed: the column of 0 and 1 in which 1 is taken for unknown, as usual, but nothing in the files says so
    noun_of_clusters: a cluster in words, as the column of clusters is called
    uses: of tables, the use of each column of the files, by its name or by file and name, in words: "predictions",
        "names of rows", or "" for one that is not used
    table: the table that columns of rows were read from, with the names of its rows, if any; None for other data
    turned: the models whose scores are a column with its sign turned
    """

    metric: str
    models: dict[str, dict[str, Any]]
    options: Mapping[str, Any] = field(default_factory=dict)
    guesses: Sequence[str] = ()
    notes: Sequence[str] = ()
    census: Census = field(default_factory=Census)
    contents: Sequence[str] = ()
    images: Sequence[str] = ()
    samples: Sequence[Any] = ()
    classes: Mapping[int, str] = field(default_factory=dict)
    sizes: Sequence[tuple[int, int] | None] = ()
    archives: Any = None
    change: Callable[[dict[str, Any]], dict[str, Any]] = dict
    assumed: str = ""
    noun_of_clusters: str = "cluster"
    uses: Mapping[str, str] = field(default_factory=dict)
    table: Table | None = None
    turned: Collection[str] = ()

    @property
    def settings(self) -> dict[str, Any]:
        """The choices of the reader that move numbers, for the signature."""
        return {}

    @property
    def length(self) -> int:
        """The number of samples to read, of all models."""
        return sum(max(map(len, columns.values()), default=0) for columns in self.models.values())

    @property
    def category_names(self) -> Sequence[str]:
        """The names of the categories, which are computed one after another; by default one, without a name."""
        return [ALONE]

    def categories(self) -> Iterator[Category]:
        """The samples of each category, of all models."""
        yield Category(ALONE, ALONE, self.models, self.images or self.samples, self._batches)

    def _batches(self, columns: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any]]]:
        """Columns in batches, each with the number of its first row."""
        if not any(isinstance(column, Streamed) for column in columns.values()):
            yield 0, dict(columns)
            return
        for first, batch in batches(columns):
            yield first, self.change(batch)

    def whole(self) -> Reading:
        """The reading with all columns read, also columns that would come in batches."""
        if not self.is_streamed:
            return self
        models = {
            model: self.change({name: whole(column) for name, column in columns.items()})
            for model, columns in self.models.items()
        }
        return replace(self, models=models, change=dict)

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise ValueError for options of the metric that do not suit the columns."""

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the only model. Raises ValueError if there are several."""
        if len(self.models) != 1:
            raise ValueError(f"expected one model, got {', '.join(self.models)}; models holds the columns of each")
        return next(iter(self.whole().models.values()))

    @property
    def is_streamed(self) -> bool:
        """Whether columns are read in batches, by `batches`."""
        return any(isinstance(column, Streamed) for columns in self.models.values() for column in columns.values())

    def batches(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The columns of the only model in batches, each with the number of its first row."""
        yield from self._batches(next(iter(self.models.values())) if self.is_streamed else self.columns)
