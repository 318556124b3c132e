"""The command `openworld-metrics submission`: write the folder for MVTec AD 2's server from anomaly maps.

anomaly_images/<object>/test_private/000_regular.tiff                  in float16
anomaly_images/<object>/test_private_mixed/000_mixed.tiff
anomaly_images_thresholded/<object>/test_private/000_regular.png       pixels above a threshold: 0 and 255
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import click
import numpy as np

from ..arrays.arrays import widen
from ..extras import extra
from ..reading.limits import size_text
from ..reading.maps.maps import read_ahead
from ..reading.maps.planes import MAP_SUFFIXES, read_map
from ..reading.places import PICTURES, files_below, image_size
from ..reading.progress import progress_bar
from ..reading.reasons import named
from ..written.files import whole_folder
from ..written.results import as_json
from .files import deliver
from .fitted import fitted_thresholds
from .messages import on_terminal
from .options import WaitingCommand

# the number of images of each object, which is equal in both splits
COUNTS = {
    "can": 321,
    "fabric": 314,
    "fruit_jelly": 255,
    "rice": 277,
    "sheet_metal": 142,
    "vial": 276,
    "wallplugs": 232,
    "walnuts": 228,
}
SPLITS = {"test_private": "regular", "test_private_mixed": "mixed"}
_HELP = """Write a submission of MVTec AD 2: maps in float16, and their pixels above each object's threshold.

\b
    openworld-metrics threshold --maps validation --rule image-fpr:0.05@0.95 --save t.json
    openworld-metrics submission --maps maps --thresholds t.json --out submission

Maps are <object>/test_private/NNN_regular and <object>/test_private_mixed/NNN_mixed of all eight objects, in .tiff,
.npy, .npz or .png of 16 bits. Names, counts, types and sizes are checked, and that float16 holds all scores; scores are
compared with the threshold before they are rounded. The folder is written whole or not at all.
"""


class Merged(NamedTuple):
    """The numbers of distinct scores of an object, summed over its maps.

    before, after: before and after rounding to float16
    """

    before: int
    after: int


class _Map(NamedTuple):
    """A map to submit: its object, its path in the folder without the suffix, and its file."""

    category: str
    place: str
    file: Path


@click.command(cls=WaitingCommand, help=_HELP)
@click.option("--maps", required=True, type=click.Path(path_type=Path), help="Folder of a model's anomaly maps.")
@click.option("--thresholds", required=True, metavar="t.json", help="File saved by threshold --maps.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder to create.")
@click.option("--data", type=click.Path(path_type=Path), help="Folder of the data set, to check names and sizes.")
def submission(maps: Path, thresholds: str, out: Path, data: Path | None) -> None:
    """Write a submission of MVTec AD 2; see `_HELP`."""
    merged = write_submission(maps, fitted_thresholds("pixel_threshold", thresholds), out, data=data, progress=True)
    results = {
        "folder": str(out),
        "objects": {
            "object": [*merged],
            "distinct_scores": [each.before for each in merged.values()],
            "merged_by_float16": [each.before - each.after for each in merged.values()],
        },
    }
    deliver(_text(merged, out) if on_terminal() else as_json(results))


def _text(merged: dict[str, Merged], out: Path) -> str:
    before, after = (sum(column) for column in zip(*merged.values()))
    lines = [
        f"{name:11}  {each.before - each.after:,} of {each.before:,} distinct scores merged by float16"
        for name, each in merged.items()
    ]
    return "\n".join([*lines, "", f"{out}: {before - after:,} of {before:,} in all, counted map by map"])


def write_submission(
    maps: str | Path,
    thresholds: Mapping[str, float],
    out: str | Path,
    *,
    data: str | Path | None = None,
    progress: bool = False,
) -> dict[str, Merged]:
    """Write the folder of a submission, whole or not at all: each map in float16, and its pixels > threshold.

    Scores are compared with the threshold before they are rounded.

    Parameters: maps, a folder with <object>/test_private/NNN_regular and <object>/test_private_mixed/NNN_mixed of all
    eight objects, in .tiff, .npy, .npz or .png of 16 bits; thresholds, by object; out, a folder that does not exist
    yet; data, the folder of the data set, with images to check names and sizes against; without it, the maps of an
    object must be of one size; progress, whether to show a bar on a terminal.
    Returns the numbers of distinct scores by object, before and after rounding.
    Raises ValueError with the name of the file for names, counts, types and sizes that do not fit, scores that are
    NaN or infinite, also after rounding, and objects without a threshold; OSError if a file cannot be written.
    """
    listed = _listed(Path(maps))
    for category in COUNTS:
        if category not in thresholds:
            raise ValueError(f"thresholds: expected one for {category!r}, got thresholds for {', '.join(thresholds)}")
    sizes = _Sizes(Path(maps), None if data is None else Path(data), listed)
    merged = dict.fromkeys(COUNTS, Merged(0, 0))
    with whole_folder(Path(out)) as draft:

        def write(item: _Map) -> Merged:
            score_map = read_map(item.file)
            sizes.check(item, score_map.shape)
            with named(item.file):
                return _write(draft, item, np.asarray(widen(score_map, "map")), thresholds[item.category])

        with progress_bar(total=len(listed), unit=" maps", shown=progress) as bar:
            for item, counts in zip(listed, read_ahead(write, listed)):
                so_far = merged[item.category]
                merged[item.category] = Merged(so_far.before + counts.before, so_far.after + counts.after)
                bar.update()
    return merged


def _write(draft: Path, item: _Map, scores: np.ndarray, threshold: float) -> Merged:
    with extra("anomaly"):
        import tifffile
        from PIL import Image

    with np.errstate(over="ignore"):
        rounded = scores.astype(np.float16)
    if not np.isfinite(rounded).all():
        row, column = np.argwhere(~np.isfinite(rounded))[0].tolist()
        raise ValueError(
            f"expected scores of at most 65,504, which float16 holds, got {scores[row, column]} at row {row}, "
            f"column {column}"
        )
    places = [draft / folder / item.place for folder in ("anomaly_images", "anomaly_images_thresholded")]
    for place in places:
        place.parent.mkdir(parents=True, exist_ok=True)
    tifffile.imwrite(f"{places[0]}.tiff", rounded)
    # in float64: a float32 score must not round the threshold to its own precision
    pixels_above = np.where(scores > np.float64(threshold), 255, 0).astype(np.uint8)
    Image.fromarray(pixels_above).save(f"{places[1]}.png")
    return Merged(len(np.unique(scores)), len(np.unique(rounded)))


def _listed(maps: Path) -> list[_Map]:
    """The maps of all objects, sorted. Raises ValueError for names and counts other than the server's."""
    if not maps.is_dir():
        raise ValueError(f"{maps}: expected a folder of maps, got {'a file' if maps.exists() else 'none'}")
    by_place: dict[str, _Map] = {}
    for path in files_below(maps, MAP_SUFFIXES):
        place = path.relative_to(maps).with_suffix("").as_posix()
        category, split, name = [*place.split("/"), "", ""][:3]
        if place.count("/") != 2 or category not in COUNTS or split not in SPLITS:
            raise ValueError(
                f"{path}: expected <object>/test_private or <object>/test_private_mixed, got another folder"
            )
        if not re.fullmatch(rf"\d{{3}}_{SPLITS[split]}", name):
            raise ValueError(f"{path}: expected a name such as 000_{SPLITS[split]}.tiff, got {path.name}")
        if place in by_place:
            raise ValueError(f"{path}: expected one map of that name, got {by_place[place].file.name} too")
        by_place[place] = _Map(category, place, path)
    for category, count in COUNTS.items():
        for split in SPLITS:
            number = sum(place.startswith(f"{category}/{split}/") for place in by_place)
            if number != count:
                raise ValueError(f"{maps / category / split}: expected {count} maps, got {number}")
    return [*by_place.values()]


class _Sizes:
    """The sizes required of maps: of the images, or without a data set of the object's first map."""

    def __init__(self, maps: Path, data: Path | None, listed: list[_Map]) -> None:
        self.images: dict[str, Path] = {}
        self.first = {item.category: item.file for item in reversed(listed)}
        self.shapes: dict[str, tuple[int, ...]] = {}
        if data is None:
            self.shapes = {category: read_map(path).shape for category, path in self.first.items()}
            return
        for category in COUNTS:
            for split in SPLITS:
                for path in files_below(data / category / split, PICTURES):
                    self.images[path.relative_to(data).with_suffix("").as_posix()] = path
        for item in listed:
            if item.place not in self.images:
                raise ValueError(f"{item.file}: expected an image {item.place} in {data}, got none")

    def check(self, item: _Map, shape: tuple[int, ...]) -> None:
        """Raise ValueError for a map of another size."""
        if self.images:
            told_by = self.images[item.place]
            width, height = image_size(told_by)
            wanted: tuple[int, ...] = (height, width)
        else:
            told_by, wanted = self.first[item.category], self.shapes[item.category]
        if shape != wanted:
            raise ValueError(f"{item.file}: expected {size_text(wanted)} pixels as {told_by}, got {size_text(shape)}")
