"""A computation, ready for a page to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...metric.results import Summary
from ...reading.places import Size


class Computed(NamedTuple):
    """A computation of a metric: its reduced state, options, summary and columns.

    image: the index of the image shown, from 0
    photograph: the picture behind it
    together: the computation with all groups pooled, if there are groups; pictures show this one
    pooled: whether samples of several groups are pooled here
    title, place: this detector's name and index, if there are several
    rivals: the other detectors by name
    names, sizes: names of the images and their (width, height), if known
    samples: names of the samples of a table, if it has some
    classes: class names by id, if known
    """

    state: Any
    options: Mapping[str, Any]
    summary: Summary
    columns: Mapping[str, Any]
    image: int = 0
    photograph: Any = None
    together: Computed | None = None
    pooled: bool = False
    title: str = ""
    place: int = 0
    rivals: Mapping[str, Computed] = {}
    names: Sequence[str] = ()
    sizes: Sequence[Size | None] = ()
    samples: Sequence[Any] = ()
    classes: Mapping[int, str] = {}

    @property
    def results(self) -> Mapping[str, Any]:
        """The results as plain numbers and tables, as `compute` returns them."""
        return self.summary.as_dict()

    @property
    def size(self) -> Size | None:
        """Width and height of the image shown; None if unknown."""
        return self.sizes[self.image] if self.image < len(self.sizes) else None

    @property
    def kinds(self) -> Mapping[str, Any]:
        """The kind of each key: see `Summary.kinds`."""
        return self.summary.kinds()
