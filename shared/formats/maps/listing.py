"""Match anomaly maps to test images by category, stem and the defect's folder."""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..places import files_below, matched
from .files import MAP_SUFFIXES
from .folders import AnomalyFolder, AnomalyImage, list_anomaly_images, lost_masks
from .layouts import Layout


class AnomalyMaps(NamedTuple):
    """A data set on disk and a model's maps of its test images.

    data: the data set
    folder: the folder of the maps
    pairs: each test image with its map, sorted
    problems: problems of file names, one line each; results require that there are none
    """

    data: AnomalyFolder
    folder: Path
    pairs: list[tuple[AnomalyImage, Path]]
    problems: list[str]


def list_anomaly_maps(
    maps: str | Path, data: str | Path, *, layout: str | None = None, categories: Sequence[str] | None = None
) -> AnomalyMaps:
    """Find the test images of a data set, their masks and their maps. No file is opened except a table of a split.

    Parameters: maps, as for `find_maps`; the others as for `list_anomaly_images`.
    Returns the data set with the maps. Raises ValueError for unknown folders, layouts and categories.
    """
    folder = list_anomaly_images(data, layout=layout, categories=categories)
    pairs, problems = find_maps(maps, folder)
    return AnomalyMaps(folder, Path(maps), pairs, [*folder.problems, *problems])


def find_maps(maps: str | Path, data: AnomalyFolder) -> tuple[list[tuple[AnomalyImage, Path]], list[str]]:
    """Find the map of each test image: the file with the image's stem in a folder with the category's name.

    A folder in between with the name of a defect selects that defect's images; it is required if several images of the
    category have the stem. A single category needs no folder. In a plain folder, a map belongs to the mask with its
    path, or to the only one whose path is an end of its own, or the other way round; others belong to normal images.

    Parameters: maps, the folder; data, as `list_anomaly_images` returns it.
    Returns the images with their maps, sorted, and problems, one line each: images without a map, two maps of one
    image, maps without an image. Raises ValueError if the folder does not exist.
    """
    maps = Path(maps)
    if not maps.is_dir():
        raise ValueError(f"{maps}: expected a folder of maps, got {'a file' if maps.exists() else 'none'}")
    files = files_below(maps, MAP_SUFFIXES)
    if data.layout is None:
        return _pair_masks(maps, files, data.images, lost_masks(data.folder))
    pairs, problems = [], []
    images: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in data.images:
        images[image.category].append(image)
    by_category, elsewhere = _by_category(maps, files, data, list(images))
    for category, own in images.items():
        own_pairs, wrong = _pair_images(maps, by_category.get(category, []), own, _defect_names(own, data.layout))
        pairs += own_pairs
        problems += wrong
    for name in _broken_categories(maps, files, data):
        root = data.layout.images.partition("/")[0]
        problems.append(f"{data.folder / name}: expected a folder {root!r} in it, since there are maps of it, got none")
    known = ", ".join(images)
    problems += [f"{path}: expected it in a folder of a category ({known}), got another" for path in elsewhere]
    return pairs, problems


def _broken_categories(maps: Path, files: Sequence[Path], data: AnomalyFolder) -> list[str]:
    """The folders beside the categories that lack test images, though there are maps in a folder of that name."""
    chosen = {image.category for image in data.images}
    if data.folder in data.categories.values() or len(chosen) < len(data.categories):  # a category itself, or some
        return []
    folders = {folder for path in files for folder in path.relative_to(maps).parts[:-1]} - data.categories.keys()
    return sorted(folder for folder in folders if (data.folder / folder).is_dir())


_Placed = tuple[Path, tuple[str, ...]]  # a map, and the folders between it and its category


def _by_category(
    maps: Path, files: Sequence[Path], data: AnomalyFolder, chosen: Sequence[str]
) -> tuple[dict[str, list[_Placed]], list[Path]]:
    """Maps by category, and maps without a category."""
    by_category: dict[str, list[_Placed]] = defaultdict(list)
    bare: list[_Placed] = []
    for path in files:
        folders = path.relative_to(maps).parts[:-1]
        at = next((i for i, folder in enumerate(folders) if folder in data.categories), None)
        if at is None:
            bare.append((path, folders))
        else:
            by_category[folders[at]].append((path, folders[at + 1 :]))
    if len(chosen) == 1 and chosen[0] not in by_category:
        by_category[chosen[0]] = bare
        bare = []
    every = len(chosen) == len(data.categories) > 1
    return by_category, [path for path, _ in bare] if every else []  # otherwise they may belong to other categories


def _pair_images(
    maps: Path, files: Sequence[_Placed], images: Sequence[AnomalyImage], defects: Mapping[str, str]
) -> tuple[list[tuple[AnomalyImage, Path]], list[str]]:
    by_stem: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in images:
        by_stem[image.stem].append(image)
    several = _repeated_stems(images)
    map_of: dict[AnomalyImage, Path] = {}
    unclear: set[str] = set()
    problems = []
    for path, folders in files:
        words = [word for folder in reversed(folders) for word in (folder, folder.casefold())]
        named = [defects[word] for word in words if word in defects]
        same = [image for image in by_stem.get(path.stem, []) if not named or image.defect == named[0]]
        if not same:
            problems.append(f"{path}: expected an image of that name and folder, got none")
        elif len(same) > 1:
            unclear.add(path.stem)
            problems.append(
                f"{path}: expected the folder of a defect, since {len(same)} images have that name: "
                + ", ".join(image.name for image in same)
            )
        elif same[0] in map_of:
            problems.append(f"{path}: expected one map of {same[0].name}, got {map_of[same[0]].relative_to(maps)} too")
        else:
            map_of[same[0]] = path
    for image in images:
        if image not in map_of and image.stem not in unclear:
            where = f"{image.defect}/{image.stem}.tiff" if image.stem in several else f"{image.stem}.tiff"
            problems.append(f"{image.image}: expected its map {image.category}/…/{where} in {maps}, got none")
    return [(image, map_of[image]) for image in images if image in map_of], problems


def _pair_masks(
    maps: Path, files: Sequence[Path], masks: Sequence[AnomalyImage], lost: Mapping[str, Path]
) -> tuple[list[tuple[AnomalyImage, Path]], list[str]]:
    """Pair maps and masks of plain folders; a map without a mask belongs to a normal image, unless its mask is lost."""
    category = masks[0].category if masks else ""
    places = [path.relative_to(maps).with_suffix("").as_posix() for path in files]
    by_name: dict[str, tuple[AnomalyImage, Path]] = {}
    problems = []
    for path, place, at in zip(
        files, places, matched(places, _telling([mask.name for mask in masks], places), strip=True, cut=True)
    ):
        image, stem = None if at is None else masks[at], PurePosixPath(place).name
        if image is None and stem in lost:
            problems.append(f"{lost[stem]}: expected a mask of {path}, as .png or .npy, got another file")
        image = image or AnomalyImage(category, place, "", stem, False, None, ())
        if image.name in by_name:
            problems.append(
                f"{path}: expected one map of {image.name}, got {by_name[image.name][1].relative_to(maps)} too"
            )
        else:
            by_name[image.name] = image, path
    for mask in masks:
        if mask.name not in by_name:
            problems.append(f"{mask.masks[0]}: expected its map {mask.name}.tiff in {maps}, got none")
    return [by_name[name] for name in sorted(by_name)], problems


def _telling(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """Names of masks without the folders above all of them, which tell nothing, unless maps have such a folder, too."""
    above = PurePosixPath(os.path.commonpath([os.path.dirname(name) for name in names]) if names else "")
    folders = {folder for place in others for folder in PurePosixPath(place).parts[:-1]}
    return (
        [*names] if {*above.parts} & folders else [PurePosixPath(name).relative_to(above).as_posix() for name in names]
    )


def _repeated_stems(images: Sequence[AnomalyImage]) -> set[str]:
    """The ambiguous stems, which several images share."""
    return {stem for stem, count in Counter(image.stem for image in images).items() if count > 1}


def _defect_names(images: Sequence[AnomalyImage], layout: Layout) -> Mapping[str, str]:
    """Defects by the names that their folders among the maps may have: their own, also in lower case."""
    defects = sorted({image.defect for image in images})
    own = {name: defect for defect in defects for name in (*layout.other_names.get(defect, ()), defect)}
    return {**{name.casefold(): defect for name, defect in own.items()}, **own}
