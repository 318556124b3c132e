"""The test images of a data set, the problems of their files, and the files of folders by their names."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ..cures import Cure
from ..places import Archives, files_below
from ..reading import Place, as_paths
from .names import place_of, suffix_of

NOTE, OUTSIDE, ELSEWHERE = "without a map, mask or image", "not of the test", "of other categories"
IMAGES_ALONE = Cure("to judge images alone", {"levels": "image"})  # which needs no masks


class Tree(NamedTuple):
    """Files that are not hidden.

    root: their folder; of several places, the one above all
    files: by their paths in the folder, sorted; of several folders or archives, below the name of each
    """

    root: Path
    files: Mapping[str, Path]

    @classmethod
    def of(cls, places: Place | Sequence[Place], archives: Archives | None = None, but: Iterable[Path] = ()) -> Tree:
        """The files of folders, archives and single files, except below other given folders inside them.

        Raises ValueError for a place that does not exist, for two files of one name, and for more than the limits.
        """
        paths = as_paths(places)
        folders = {path: _folder_of(path, archives) for path in paths}
        roots = {folder.resolve() for folder in folders.values() if folder is not None}
        outside = [place for path in but if (place := path.resolve()) not in roots]
        several, files = len(roots) > 1, dict[str, Path]()
        direct = [path for path in paths if path.is_file()]
        for path, folder in folders.items():
            for file in [path] if folder is None else files_below(folder, None):
                if outside and any(file.resolve().is_relative_to(other) for other in outside):
                    continue
                name = file.name if folder is None else file.relative_to(folder).as_posix()
                name = f"{folder.resolve().name}/{name}" if several and folder is not None else name
                if name in files:
                    raise ValueError(f"{file}: expected files of different names, got two; a .zip keeps folders apart")
                files[name] = file
                direct += [file] if folder == path else []
        if archives is not None:
            archives.limits.check_files(dict.fromkeys(direct))
        alone = folders[paths[0]] if len(paths) == 1 else None
        above = os.path.commonpath([path.parent.resolve() for path in paths]) if alone is None else ""
        return cls(alone or Path(above), dict(sorted(files.items())))

    @property
    def names(self) -> list[str]:
        """The paths of the files in the folder, sorted."""
        return [*self.files]

    @property
    def where(self) -> str:
        """The folder in words of an error; nothing for files that lie in several."""
        name, path = next(iter(self.files.items()), ("", self.root))
        return f" in {self.root}" if path == self.root / name else ""

    def path(self, name: str) -> Path:
        """The path of a file, or of one that is not there."""
        return self.files.get(name, self.root / name)

    def below(self, folder: str) -> Tree:
        """The files below a folder, by their paths in it; "" for all."""
        start = f"{folder}/" if folder else ""
        below = {name[len(start) :]: path for name, path in self.files.items() if name.startswith(start)}
        return Tree(self.root / folder, below)

    def matching(self, pattern: str, suffixes: Collection[str]) -> dict[tuple[str, str], list[str]]:
        """The files of a pattern of a `Layout` with one of the suffixes, by their {defect} and {stem}."""
        places = re.escape(pattern).replace(r"\*", "[^/]*")
        places = places.replace(r"\{defect\}", "([^/]*)").replace(r"\{stem\}", "([^/]*)")
        by_place: dict[tuple[str, str], list[str]] = defaultdict(list)
        for name in self.names:
            if suffix_of(name) in suffixes and (match := re.fullmatch(places, place_of(name))):
                by_place[match[1], match[2]].append(name)
        return dict(by_place)


def is_archive(path: Path) -> bool:
    """Whether a place is an archive, which is a folder like any other."""
    return path.suffix.lower() == ".zip" and path.is_file()


def _folder_of(path: Path, archives: Archives | None) -> Path | None:
    """The folder that a place is, or is unpacked to; None for a single file."""
    if archives is not None and is_archive(path):
        return archives.folder(path)
    if not path.exists():
        raise ValueError(f"{path}: expected a folder, got none")
    return path if path.is_dir() else None


class Problem(NamedTuple):
    """A problem of a file's name, or of a file that lacks another.

    text: what was expected of it, and what came
    reason: why it can be left out, in words of a census
    cures: other than to leave it out
    """

    path: Path
    text: str
    reason: str
    cures: Sequence[Cure] = ()

    def __str__(self) -> str:
        return f"{self.path}: {self.text}"


class AnomalyImage(NamedTuple):
    """A test image and its masks, as paths.

    category: name of its category
    name: path of the image in its category, or of the map in a plain folder, without the suffix
    defect: the folder named after its defect; "" in a plain folder
    anomalous: whether it is anomalous by its folder; False without a mask in a plain folder; None if the mask decides
    image: its file; None in a plain folder, unless it lies beside its mask
    masks: the files of its masks, which are united; empty for a normal image
    cloud: the file of its points on the grid of its pixels; None if the layout has none
    """

    category: str
    name: str
    defect: str
    anomalous: bool | None
    image: Path | None
    masks: tuple[Path, ...]
    cloud: Path | None = None

    @property
    def stem(self) -> str:
        """The name of its file without the suffix."""
        return self.name.rpartition("/")[2]

    @property
    def key(self) -> tuple[str, str]:
        """Its category and its name, which no other image has."""
        return self.category, self.name

    @property
    def files(self) -> list[Path]:
        """The image, if it has a file, and its masks."""
        return [*self.masks] if self.image is None else [self.image, *self.masks]
