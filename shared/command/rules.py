"""Rules that fit a threshold to a model's anomaly maps of normal images, each with its guarantee.

    max                 the highest pixel
    fpr:0.001           the lowest threshold that at most a share of the pixels exceeds
    image-fpr:0.05      the same for images, each by its highest pixel
    image-fpr:0.05@0.95 at most this share of new images, with this confidence
    mean+3std           the mean of the pixels and a multiple of their standard deviation

A pixel is anomalous if its score > threshold, and an image if one of its pixels is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..arrays.arrays import widen
from ..arrays.checks import as_open_share
from ..arrays.exact import Sums, as_written
from ..ranking.guarantees import highest_by_rank, threshold_at_fpr
from ..ranking.quantities import most_within, percent
from ..reading.limits import size_text
from ..reading.maps.files import read_ahead
from ..reading.maps.listing import Tree
from ..reading.maps.names import is_note, suffix_of
from ..reading.maps.planes import MAP_SUFFIXES, read_map
from ..reading.progress import progress_bar
from ..reading.reasons import named
from .fitted import FittedThreshold, off_scores

PIXELS, IMAGES = "pixels", "images"
_NUMBER = r"(\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)"
_RATE = re.compile(rf"(image-)?fpr:{_NUMBER}(?:@{_NUMBER})?")
_DEVIATIONS = re.compile(rf"mean\+{_NUMBER}std")

Maps = Iterable[np.ndarray]  # can be iterated several times
NORMAL = ("validation/good", "test/good")  # in the folder of a category; otherwise maps lie in that folder itself
_SPLITS = ("validation", "test", "train")
_GOOD = "good"


def fit_map_thresholds(folder: str | Path, rule: str, *, progress: bool = False) -> FittedThreshold:
    """The threshold of each category, from a model's anomaly maps of normal images.

    Parameters: folder, as for `normal_maps`; rule, as for `parse_rule`; progress, whether to show a bar on a terminal.
    Maps are read one by one, several times, and never held all at once. Raises ValueError with the file's name
    for a file that is not a map, for NaN, and for maps of different sizes in a category.
    """
    parsed = parse_rule(rule)
    files = normal_maps(folder)
    thresholds: dict[str, float] = {}
    notes: dict[str, str] = {}
    types: dict[str, None] = {}
    with progress_bar(unit=" maps", shown=progress) as bar:
        for category, paths in files.items():
            with named(category):
                maps = _Maps(paths, bar)
                thresholds[category], notes[category] = off_scores(parsed.fit(maps), maps)
                types |= dict.fromkeys(sorted(maps.types))
    return FittedThreshold(
        of=parsed.of,
        rule=rule,
        promise=parsed.promise,
        threshold=thresholds,
        scores=" and ".join(types),
        note=" ".join(f"{category}: {note}" for category, note in notes.items() if note),
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


class Rule(NamedTuple):
    """A way to fit a threshold to maps of normal images.

    of: the kinds of scores that the threshold applies to
    promise: the guarantee, as a sentence
    fit: computes the threshold from maps
    """

    of: tuple[str, ...]
    promise: str
    fit: Callable[[Maps], float]


def parse_rule(text: str) -> Rule:
    """Parse a rule; see above. Raises ValueError for any other text, and for a number out of range.

    >>> parse_rule("mean+3std").fit([np.asarray([0.0, 0.0, 1.0, 1.0])])
    2.0
    """
    if text == "max":
        promise = "No pixel of these images exceeds the threshold."
        return Rule((PIXELS, IMAGES), promise, lambda maps: max(_maxima(maps)))
    if match := _DEVIATIONS.fullmatch(text):
        return _mean_and_deviations(float(match[1]))
    match = _RATE.fullmatch(text)
    if match is None:
        raise ValueError(
            "rule: expected max, or with any numbers fpr:0.001, image-fpr:0.05, image-fpr:0.05@0.95 or mean+3std, "
            f"got {text!r}"
        )
    of_images, fpr = match[1], as_open_share(float(match[2]), "fpr")
    level = None if match[3] is None else as_open_share(float(match[3]), "confidence_level")
    at_most = f"At most {percent(fpr)} % of"
    if of_images:
        images = "these images" if level is None else "new normal images"
        certain = "" if level is None else f", with {percent(level)} % confidence"
        promise = f"{at_most} {images} have a pixel that exceeds the threshold{certain}."
        return Rule((PIXELS, IMAGES), promise, lambda maps: threshold_at_fpr([*_maxima(maps)], fpr, level))
    if level is not None:
        raise ValueError(
            f"rule: expected {text.partition('@')[0]}, or image-{text}, got {text!r}: pixels of an image are not "
            "independent, so there is no guarantee for new ones"
        )
    promise = f"{at_most} the pixels of these images exceed the threshold."
    return Rule((PIXELS,), promise, lambda maps: highest_by_rank(maps, lambda total: most_within(fpr, total)))


def _mean_and_deviations(deviations: float) -> Rule:
    def fit(maps: Maps) -> float:
        sums = Sums()
        for score_map in maps:
            if not np.isfinite(score_map).all():
                raise ValueError("expected finite scores, which have a mean, got inf")
            sums = sums.plus(score_map)
        mean = sums.total / sums.number
        return float(mean + as_written(deviations) * _root(sums.squares / sums.number - mean**2))

    what = f"the mean of the pixels of these images and {deviations:g} standard deviations"
    promise = f"It decides as {what} on these pixels; it bounds no rate."
    return Rule((PIXELS,), promise, fit)


def _maxima(maps: Maps) -> Iterable[float]:
    return (float(score_map.max()) + 0.0 for score_map in maps)  # 0.0 for −0.0


def _root(square: Fraction) -> Fraction:
    """A square root to at least 128 bits; float64 keeps 53 of them."""
    shift = max(0, 256 - square.numerator.bit_length() + square.denominator.bit_length())
    shift += shift % 2
    return Fraction(math.isqrt((square.numerator << shift) // square.denominator), 1 << (shift // 2))


class _Maps:
    """An iterable of maps of one size, which reads them anew in each iteration, a few ahead.

    types: the types of the maps in the files that were read
    """

    def __init__(self, files: Sequence[Path], bar: Any) -> None:
        self.files, self.bar = files, bar
        self.types: set[str] = set()

    def __iter__(self) -> Iterator[np.ndarray]:
        first = None
        for path, (score_map, kind) in zip(self.files, read_ahead(_read, self.files)):
            self.types.add(kind)
            first = score_map.shape if first is None else first
            if score_map.shape != first:
                raise ValueError(
                    f"{path}: expected {size_text(first)} pixels as {self.files[0].name}, got "
                    f"{size_text(score_map.shape)}"
                )
            self.bar.update()
            yield score_map


def _read(path: Path) -> tuple[np.ndarray, str]:
    """A map as float32 or float64, and its type in the file."""
    score_map = read_map(path)
    with named(path):
        return np.asarray(widen(score_map, "map")), score_map.dtype.name
