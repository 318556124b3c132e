"""Named arrays of an input, of any format."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from itertools import chain, count
from typing import Any, NamedTuple

DETECTOR = "detector"  # the column that names the detector of each row


class Data(NamedTuple):
    """Named arrays of an input.

    arrays: (N,) or (N, K) arrays, or lists of arrays, one for each image
    options: options of the metric that the format implies
    names: the names of a list's images, by the list's name
    words: by the name of a column, a function that reads its cells as names, as they stand in the file
    lines: the line of a column's first value in its file
    """

    arrays: dict[str, Any]
    options: Mapping[str, Any] = {}
    names: Mapping[str, list[str]] = {}
    words: Mapping[str, Callable[[], Any]] = {}
    lines: Mapping[str, int] = {}

    def joined(self, more: Data, stem: str) -> Data:
        """The data of both; an array whose name is taken is prefixed with the stem of its file, or "stem (2)"."""
        called = {name: _free(name, stem, self.arrays) for name in more.arrays}
        return Data(
            {**self.arrays, **{called[name]: array for name, array in more.arrays.items()}},
            {**self.options, **more.options},
            {**self.names, **more.names},
            {**self.words, **{called[name]: read for name, read in more.words.items()}},
            {**self.lines, **{called[name]: line for name, line in more.lines.items()}},
        )


def _free(name: str, stem: str, taken: Container[str]) -> str:
    """A name that no array has."""
    names = chain([name, f"{stem}: {name}"], (f"{stem} ({number}): {name}" for number in count(2)))
    return next(free for free in names if free not in taken)
