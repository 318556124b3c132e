"""Readings of files, as columns of a metric: the one way from files to `compute`, for commands, pages and Python."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from .census import Census
from .tables.files import Streamed, batches, whole

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

    def check(self, options: Mapping[str, Any]) -> None:
        """Raise ValueError for options of the metric that do not suit the columns."""

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the only model. Raises ValueError if there are several."""
        if len(self.models) != 1:
            raise ValueError(f"expected one model, got {', '.join(self.models)}; models holds the columns of each")
        columns = next(iter(self.models.values()))
        return self.change({name: whole(column) for name, column in columns.items()}) if self.is_streamed else columns

    @property
    def is_streamed(self) -> bool:
        """Whether columns are read in batches, by `batches`."""
        return any(isinstance(column, Streamed) for columns in self.models.values() for column in columns.values())

    def batches(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """The columns of the only model in batches, each with the number of its first row."""
        if not self.is_streamed:
            yield 0, self.columns
            return
        for first, batch in batches(next(iter(self.models.values()))):
            yield first, self.change(batch)
