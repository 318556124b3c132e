"""Fit thresholds to a model's anomaly maps of normal images, category by category."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays.arrays import widen
from ..reading.limits import size_text
from ..reading.maps.listing import Tree, is_note, suffix_of
from ..reading.maps.maps import read_ahead
from ..reading.maps.planes import MAP_SUFFIXES, read_map
from ..reading.progress import progress_bar
from ..reading.reasons import named
from ..written.thresholds import FittedThreshold
from .threshold_rules import parse_rule

NORMAL = ("validation/good", "test/good")  # in the folder of a category; otherwise maps lie in that folder itself
_SPLITS = ("validation", "test", "train")
_GOOD = "good"


def fit_map_thresholds(folder: str | Path, rule: str, *, progress: bool = False) -> FittedThreshold:
    """The threshold of each category, from a model's anomaly maps of normal images.

    Parameters: folder, as for `normal_maps`; rule, as for `parse_rule`; progress, whether to show a bar on a terminal.
    Maps are read one by one, once or several times, and never held all at once. Raises ValueError with the file's name
    for a file that is not a map, for NaN, and for maps of different sizes in a category.
    """
    parsed = parse_rule(rule)
    files = normal_maps(folder)
    thresholds: dict[str, float] = {}
    with progress_bar(unit=" maps", shown=progress) as bar:
        for category, paths in files.items():
            with named(category):
                thresholds[category] = parsed.fit(_Maps(paths, bar))
    return FittedThreshold(
        of=parsed.of,
        rule=rule,
        promise=parsed.promise,
        threshold=thresholds,
        fitted_on={"maps": str(folder), "images": {category: len(paths) for category, paths in files.items()}},
    )


def normal_maps(folder: str | Path) -> dict[str, list[Path]]:
    """The maps of normal images by category, sorted.

    They lie in `<category>/validation/good`, else in `<category>/test/good`, else in `<category>` itself. The folder of
    one category is accepted too, as are its `validation/good` and `validation`, or `good` and the folder itself of
    train or test: the category has the name of `<category>`. Raises ValueError if there are no maps.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder}: expected a folder of maps, got {'a file' if folder.exists() else 'none'}")
    if folder.resolve().name in _SPLITS and (folder / _GOOD).is_dir():
        folder = folder / _GOOD
    if alone := _maps_in(folder):
        return {_category_of(folder.resolve()): alone}
    by_category = {}
    for place in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        by_category[place.name] = _maps_in(place)
        if not by_category[place.name]:
            where = ", ".join(f"{place.name}/{normal}" for normal in NORMAL)
            raise ValueError(f"{place}: expected maps of normal images in {where} or {place.name}, got none")
    if not by_category:
        raise ValueError(f"{folder}: expected folders of categories with maps of normal images, got none")
    return by_category


def _category_of(folder: Path) -> str:
    """The name of the category of a folder, which is the category's own or that of its normal images."""
    *_, category, split, last = ("", "", *folder.parts)
    return category if category.strip("/") and split in _SPLITS and last == _GOOD else last


def _maps_in(category: Path) -> list[Path]:
    """The maps of normal images of a category. Raises ValueError for a file that may be one, but is not read."""
    normal = next((category / place for place in NORMAL if (category / place).is_dir()), None)
    tree = Tree.of(category if normal is None else normal)
    maps = [name for name in tree.names if suffix_of(name) in MAP_SUFFIXES and (normal is not None or "/" not in name)]
    for name in tree.names if maps else ():
        if name not in maps and not is_note(name):
            expected = "maps in it, as .tiff, .npy, .npz or .png"
            raise ValueError(f"{tree.path(name)}: expected {tree.root} to hold {expected}, got another file")
    return [*map(tree.path, maps)]


class _Maps:
    """An iterable of maps of one size, which reads them anew in each iteration, a few ahead."""

    def __init__(self, files: Sequence[Path], bar: Any) -> None:
        self.files, self.bar = files, bar

    def __iter__(self) -> Iterator[np.ndarray]:
        first = None
        for path, score_map in zip(self.files, read_ahead(_read, self.files)):
            first = score_map.shape if first is None else first
            if score_map.shape != first:
                raise ValueError(
                    f"{path}: expected {size_text(first)} pixels as {self.files[0].name}, got "
                    f"{size_text(score_map.shape)}"
                )
            self.bar.update()
            yield score_map


def _read(path: Path) -> np.ndarray:
    score_map = read_map(path)
    with named(path):
        return np.asarray(widen(score_map, "map"))
