"""A computation, from which the pictures of a page are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...formats.boxes.dataset import Size
from ...metric.results import Summary


class Computed(NamedTuple):
    """A computation of a metric: its reduced state, options, summary and columns, from which pictures are drawn.

    image, photograph: the image that is shown, from 0, and what lies behind it
    together: the same without groups, where there are some; it is drawn
    pooled: whether this is such a one, of samples of several groups
    title, place, rivals: of several detectors, this one's name and place, and the others by name
    names, sizes: of the images, where they are known; a size is a width and a height
    classes: names of classes by their ids, where they are known
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
    classes: Mapping[int, str] = {}

    @property
    def results(self) -> Mapping[str, Any]:
        """The results as plain numbers and tables, as `compute` returns them."""
        return self.summary.as_dict()

    @property
    def size(self) -> Size | None:
        """The width and the height of the image that is shown, where they are known."""
        return self.sizes[self.image] if self.image < len(self.sizes) else None

    @property
    def kinds(self) -> Mapping[str, Any]:
        """What each key is, as the results say: see `Summary.kinds`."""
        return self.summary.kinds()
