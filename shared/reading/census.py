"""A census of an input: every image, label file, box and other file is used, or is left out for a reason."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

IMAGES, LABELS, PREDICTIONS, BOXES, OTHERS = "images", "label files", "prediction files", "boxes", "other files"
REPEATED = (BOXES, "stated twice")
BESIDE = (OTHERS, "beside images and labels")
OF_CLASSES = "with names of classes"


class Census(NamedTuple):
    """The number of things in use, and the names of the others, which together are all that an input holds.

    used: by kind, such as "images", how many are used
    left_out: by kind and reason, the names of what is left out, such as ("boxes", "stated twice"): ["labels/a.txt:3"]

    Boxes are those of the label files that are used. Hidden files are not counted.
    """

    used: Mapping[str, int] = MappingProxyType({})
    left_out: Mapping[tuple[str, str], Sequence[str]] = MappingProxyType({})

    def there(self, kind: str) -> int:
        """The number of things of a kind, used or not.

        >>> Census({"boxes": 5}, {("boxes", "stated twice"): ["a.txt:3"]}).there("boxes")
        6
        """
        return self.used.get(kind, 0) + sum(len(names) for (of, _), names in self.left_out.items() if of == kind)

    def text(self) -> str:
        """A list of what is left out, each with its reason and an example; empty if nothing is.

        >>> Census({}, {("boxes", "stated twice"): ["a.txt:3"], ("images", "not in x.txt"): ["b.png", "c.png"]}).text()
        '1 box stated twice (a.txt:3), 2 images not in x.txt (such as b.png)'
        """
        parts = []
        for (kind, reason), names in self.left_out.items():
            singular = "box" if kind == BOXES else kind[:-1]
            if names:
                such = names[0] if len(names) == 1 else f"such as {names[0]}"
                parts.append(f"{len(names):,} {singular if len(names) == 1 else kind} {reason} ({such})")
        return ", ".join(parts)


class LeaveOutError(ValueError):
    """Things that can be left out with consent, and have not been asked to be, and their number."""

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text)
        self.number = number


def by_real_place(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by their real folder and their name, so that a file that is reached in two ways is there once."""
    real = cache(os.path.realpath)
    return {os.path.join(real(path.parent), path.name): path for path in paths}
