"""The files below a folder or of an upload, by their names, which all listings of maps and masks are made of."""

from __future__ import annotations

import os
import unicodedata
from collections import defaultdict
from collections.abc import Collection
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..places import PICTURES, files_below
from .layouts import KIND_FOLDERS, MASK_ENDINGS, NOTES
from .planes import ARRAY_SUFFIXES

_SUFFIXES = PICTURES | {*ARRAY_SUFFIXES}


class Tree(NamedTuple):
    """Files that are not hidden.

    root: the folder; Path() for an upload, whose names are no paths here
    names: their paths in the folder, sorted
    """

    root: Path
    names: list[str]

    @classmethod
    def of(cls, folder: Path, but: Path | None = None) -> Tree:
        """The files below a folder, without those below another one in it."""
        files = files_below(folder, None)
        inside = but is not None and but.resolve() != folder.resolve()
        left = but.resolve() if but is not None and inside else None
        kept = [path for path in files if left is None or not path.resolve().is_relative_to(left)]
        return cls(folder, [path.relative_to(folder).as_posix() for path in kept])

    @property
    def where(self) -> str:
        """The folder in words of an error; nothing for an upload."""
        return "" if self.root == Path() else f" in {self.root}"

    def path(self, name: str) -> Path:
        """The path of a file."""
        return self.root / name

    def below(self, folder: str) -> Tree:
        """The files below a folder, by their paths in it; "" for all."""
        start = f"{folder}/" if folder else ""
        return Tree(self.root / folder, [name[len(start) :] for name in self.names if name.startswith(start)])

    def matching(self, pattern: str, suffixes: Collection[str], level: int = 0) -> dict[str, list[str]]:
        """The files of a pattern with one of the suffixes, by `place_of` or by their `level`-th parent folders."""
        parts = PurePosixPath(pattern.replace("{defect}", "*").replace("{stem}", "*")).parts
        by_place: dict[str, list[str]] = defaultdict(list)
        for name in self.names:
            if name.count("/") != len(parts) - 1 or not name.startswith(parts[0]) or suffix_of(name) not in suffixes:
                continue
            place = place_of(name)
            own = place.split("/")
            if all(part in ("*", each) or fnmatchcase(each, part) for each, part in zip(own, parts)):
                by_place["/".join(own[:-level]) if level else place].append(name)
        return dict(by_place)


def suffix_of(name: str) -> str:
    """The suffix of a file's name in lower case, such as ".png"; empty for a name without one."""
    return os.path.splitext(name)[1].lower()


def is_note(name: str) -> bool:
    """Whether a file holds no map, mask or image by its suffix."""
    return suffix_of(name) in NOTES


def place_of(name: str) -> str:
    """The path of a map, mask or image without its suffixes, in one form of Unicode (NFC).

    >>> place_of("cut/a.png"), place_of("cut/a.png.npy"), place_of("v1.5.tiff")
    ('cut/a', 'cut/a', 'v1.5')
    """
    stem = os.path.splitext(name)[0]
    inner, suffix = os.path.splitext(stem)
    return unicodedata.normalize("NFC", inner if suffix.lower() in _SUFFIXES else stem)


def place_of_mask(name: str) -> str:
    """The place of the image of a mask: without one of the MASK_ENDINGS, in any case.

    >>> place_of_mask("kos01/Part0_label.bmp"), place_of_mask("10301_GT.png"), place_of_mask("7.png")
    ('kos01/Part0', '10301', '7')
    """
    place = place_of(name)
    ending = next((ending for ending in MASK_ENDINGS if place.lower().endswith(ending)), "")
    stem = place[: len(place) - len(ending)]
    return stem if stem and not stem.endswith("/") else place


def key_of(place: str) -> str:
    """A place without the folders that name a kind of file, KIND_FOLDERS.

    >>> key_of("nut/test/cut/000")
    'nut/cut/000'
    """
    *folders, name = place.split("/")
    return "/".join([*(part for part in folders if part not in KIND_FOLDERS), name])
