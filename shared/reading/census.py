"""A census of an input: everything that is there is used, or is left out for a reason."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

IMAGES, LABELS, BOXES = "images", "label files", "boxes"
PREDICTIONS, PREDICTED, OTHERS = "prediction files", "predicted boxes", "other files"
REPEATED = (BOXES, "stated twice")
BESIDE = (OTHERS, "beside images and labels")
OF_CLASSES = "with names of classes"

LeftOut = dict[tuple[str, str], Sequence[str]]  # names by kind and reason


class LeftOutError(ValueError):
    """Things that would be left out without having been asked for, and their number."""

    def __init__(self, text: str, number: int) -> None:
        super().__init__(text)
        self.number = number


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
        """The census with other names of what is left out."""
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
        """A list of what is left out, each with its reason and an example; empty if nothing is.

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


def unused(kind: str, reason: str, errors: Mapping[str, str], leave_out: bool) -> LeftOut:
    """List what cannot be used, as a part of a census; `errors` says what is wrong, by the name of each thing.

    Raises LeftOutError with the first error and the cure, unless things may be left out.

    >>> unused("label files", "without an image", {"a.txt": "a.txt: expected an image"}, leave_out=True)
    {('label files', 'without an image'): ['a.txt']}
    """
    if errors and not leave_out:
        what = f"out {_counted(len(errors), kind)}" if len(errors) > 1 else "it out"
        first = next(iter(errors.values()))
        raise LeftOutError(f"{first}; to leave {what}, use leave_out=True, the command's --leave-out", len(errors))
    return {(kind, reason): [*errors]}


def by_real_place(paths: Iterable[Path]) -> dict[str, Path]:
    """Files by their real folder and their name, so that a file that is reached in two ways is there once."""
    real = cache(os.path.realpath)
    return {os.path.join(real(path.parent), path.name): path for path in paths}
