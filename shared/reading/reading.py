"""Readings of files, as columns of a metric: the one way from files to `compute`, for commands, pages and Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

from .census import Census

Place = str | PathLike[str]
# the files of one input: a file, a folder, an archive, several of these, or those of each of several models
Input = Place | Sequence[Place] | Mapping[str, Place | Sequence[Place]]


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

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of the only model. Raises ValueError if there are several."""
        if len(self.models) != 1:
            raise ValueError(f"expected one model, got {', '.join(self.models)}; models holds the columns of each")
        return next(iter(self.models.values()))
