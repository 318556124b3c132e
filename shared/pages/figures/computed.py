"""A computation, from which the pictures of a page are drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class Computed(NamedTuple):
    """A computation of a metric: its reduced state, options, results and columns, from which pictures are drawn.

    image, photograph: the image that is shown, from 0, and what lies behind it
    together: the same without groups, where there are some; it is drawn
    title, rivals: of several detectors, this one's name, and the others by name
    names: of the images, where they are known
    """

    state: Any
    options: Mapping[str, Any]
    results: Mapping[str, Any]
    columns: Mapping[str, Any]
    image: int = 0
    photograph: Any = None
    together: Computed | None = None
    title: str = ""
    rivals: Mapping[str, Computed] = {}
    names: Sequence[str] = ()
