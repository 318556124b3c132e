"""Named arrays of an input, whatever file they came from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...formats.boxes.dataset import Size

DETECTOR = "detector"  # the column that names the detector of each row
CLASS = "class"  # the column of class ids, where the format of the file says so


class Data(NamedTuple):
    """Named arrays of an input.

    arrays: (N,) or (N, K) arrays, or lists of arrays, one per image
    options: options of the metric that the format implies
    names: the names of a list's images, by the list's name
    lines: the line of a column's first value in its file
    classes: names of classes by their ids
    sizes: of the images by their names, the width and the height in pixels
    """

    arrays: dict[str, Any]
    options: Mapping[str, Any] = {}
    names: Mapping[str, list[str]] = {}
    lines: Mapping[str, int] = {}
    classes: Mapping[int, str] = {}
    sizes: Mapping[str, Size] = {}

    def joined(self, more: Data, stem: str) -> Data:
        """Both together; where two arrays have one name, the second gets the stem of its file before it."""
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
