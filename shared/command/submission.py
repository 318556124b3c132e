"""The command `openworld-metrics submission`: write the folder for MVTec AD 2's server from anomaly maps.

anomaly_images/<object>/test_private/000_regular.tiff                  in float16
anomaly_images/<object>/test_private_mixed/000_mixed.tiff
anomaly_images_thresholded/<object>/test_private/000_regular.png       pixels above a threshold: 0 and 255
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
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
    before, merged = write_submission(
        maps, fitted_thresholds("pixel_threshold", thresholds), out, data=data, progress=True
    )
    objects = {"object": [*COUNTS], "distinct_scores": [before[name] for name in COUNTS]}
    objects["merged_by_float16"] = [merged[name] for name in COUNTS]
    lines = [f"{name:11}  {merged[name]:,} of {before[name]:,} distinct scores merged by float16" for name in COUNTS]
    lines += ["", f"{out}: {merged.total():,} of {before.total():,} in all, counted map by map"]
    deliver("\n".join(lines) if on_terminal() else as_json({"folder": str(out), "objects": objects}))


def write_submission(
    maps: Path, thresholds: Mapping[str, float], out: Path, *, data: Path | None = None, progress: bool = False
) -> tuple[Counter[str], Counter[str]]:
    """Write the folder of a submission, whole or not at all: each map in float16, and its pixels > threshold.

    Parameters: see `_HELP`; thresholds, by object; data, the folder of the data set, with images to check names and
    sizes against; without it, the maps of an object must be of one size; progress, whether to show a bar on a terminal.
    Returns the number of distinct scores of each object, and of those that float16 merges, summed over its maps.
    Raises ValueError with the name of the file for names, counts, types and sizes that do not fit, scores that are
    NaN or infinite, also after rounding, and objects without a threshold; OSError if a file cannot be written.
    """
    listed = _listed(maps)
    for category in COUNTS:
        if category not in thresholds:
            raise ValueError(f"thresholds: expected one for {category!r}, got thresholds for {', '.join(thresholds)}")
    models = _models_of_size(listed, data)
    shape_of = cache(lambda path: read_map(path).shape if data is None else image_size(path)[::-1])
    before, merged = Counter[str](), Counter[str]()
    with whole_folder(out) as draft:

        def write(item: _Map) -> tuple[int, int]:
            scores, model = read_map(item.file), models[item.place]
            if scores.shape != shape_of(model):
                wanted, got = size_text(shape_of(model)), size_text(scores.shape)
                raise ValueError(f"{item.file}: expected {wanted} pixels as {model}, got {got}")
            with named(item.file):
                return _write(draft, item, np.asarray(widen(scores, "map")), thresholds[item.category])

        numbers = progress_bar(read_ahead(write, listed), total=len(listed), unit=" maps", shown=progress)
        for item, (number, after) in zip(listed, numbers):
            before[item.category] += number
            merged[item.category] += number - after
    return before, merged


def _models_of_size(listed: list[_Map], data: Path | None) -> dict[str, Path]:
    """The file that a map must agree with in size, by its place: its image, or the first map of its object."""
    if data is None:
        first = {item.category: item.file for item in reversed(listed)}
        return {item.place: first[item.category] for item in listed}
    folders = [data / category / split for category in COUNTS for split in SPLITS]
    pictures = [path for folder in folders for path in files_below(folder, PICTURES)]
    images = {path.relative_to(data).with_suffix("").as_posix(): path for path in pictures}
    for item in listed:
        if item.place not in images:
            raise ValueError(f"{item.file}: expected an image {item.place} in {data}, got none")
    return images


def _write(draft: Path, item: _Map, scores: np.ndarray, threshold: float) -> tuple[int, int]:
    """Write both files of a map. Returns the numbers of its distinct scores, before and after rounding."""
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
    return len(np.unique(scores)), len(np.unique(rounded))


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
