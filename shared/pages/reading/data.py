"""Named arrays of an input, of any format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...formats.boxes.dataset import Size

DETECTOR = "detector"  # the column that names the detector of each row
CLASS = "class"  # the column of class ids in formats that have one


class Data(NamedTuple):
    """Named arrays of an input.

    arrays: (N,) or (N, K) arrays, or lists of arrays, one for each image
    options: options of the metric that the format implies
    names: the names of a list's images, by the list's name
    lines: the line of a column's first value in its file
    classes: class names by id
    sizes: width and height in pixels of each image, by name
    """

    arrays: dict[str, Any]
    options: Mapping[str, Any] = {}
    names: Mapping[str, list[str]] = {}
    lines: Mapping[str, int] = {}
    classes: Mapping[int, str] = {}
    sizes: Mapping[str, Size] = {}

    def joined(self, more: Data, stem: str) -> Data:
        """The data of both; if two arrays have one name, the second is prefixed with the stem of its file."""
        arrays = dict(self.arrays)
        for name, array in more.arrays.items():
            arrays[f"{stem}: {name}" if name in arrays else name] = array
        return Data(
            arrays,
            {**self.options, **more.options},
            {**self.names, **more.names},
            {**self.lines, **more.lines},
            {**self.classes, **more.classes},
            {**self.sizes, **more.sizes},
        )
