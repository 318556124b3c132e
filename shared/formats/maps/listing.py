"""Match anomaly maps to test images by category, stem and the defect's folder, and count what is used."""

from __future__ import annotations

import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote

from ..images import SUFFIXES
from ..places import matched
from .files import MAP_SUFFIXES
from .folders import NOTE, OTHERS, AnomalyFolder, AnomalyImage, list_anomaly_images
from .layouts import Layout
from .tree import Tree, is_note, key_of, place_of, suffix_of


class Counted(NamedTuple):
    """The number of files below a folder, of those used by what they are, and of those left out by reason."""

    there: int
    used: Mapping[str, int]
    left_out: Mapping[str, int]


class AnomalyMaps(NamedTuple):
    """A data set and a model's maps of its test images, on disk or in an upload.

    data: the data set
    tree: the files of the maps
    pairs: each test image with its map, sorted
    problems: problems of file names, one line each; results require that there are none
    left_out: why a file among the maps is not used, by path
    """

    data: AnomalyFolder
    tree: Tree
    pairs: list[tuple[AnomalyImage, Path]]
    problems: list[str]
    left_out: Mapping[Path, str]

    @property
    def folder(self) -> Path:
        """The folder of the maps."""
        return self.tree.root

    @property
    def census(self) -> dict[str, Counted]:
        """The files of the maps and of the data set; without problems, each is used or left out for a reason."""
        images = [image for image, _ in self.pairs]
        used = {
            "images": len({image.image for image in images if image.image is not None}),
            "masks": len({mask for image in images for mask in image.masks}),
        }
        return {
            "maps": Counted(len(self.tree.names), {"maps": len(self.pairs)}, Counter(self.left_out.values())),
            "data": Counted(len(self.data.tree.names), used, Counter(self.data.left_out.values())),
        }


def list_anomaly_maps(
    maps: str | Path,
    data: str | Path,
    *,
    layout: str | None = None,
    categories: Sequence[str] | None = None,
    needs_masks: bool = True,
) -> AnomalyMaps:
    """Find the test images of a data set, their masks and their maps. No file is opened except lists of images.

    Parameters: maps, as for `find_maps`; data, its folder; the others as for `list_anomaly_images`.
    Returns the data set with the maps. Raises ValueError for unknown folders, layouts and categories.
    """
    maps, data = Path(maps), Path(data)
    for place, expected in ((data, "a folder"), (maps, "a folder of maps")):
        if not place.is_dir():
            raise ValueError(f"{place}: expected {expected}, got {'a file' if place.exists() else 'none'}")
    if maps.resolve() == data.resolve():
        raise ValueError(f"{maps}: expected maps in another folder than their masks, got one folder for both")
    files = Tree.of(data, but=maps)
    folder = list_anomaly_images(files, layout=layout, categories=categories, needs_masks=needs_masks)
    return find_maps(Tree.of(maps, but=data), folder)


def find_maps(maps: Tree, data: AnomalyFolder) -> AnomalyMaps:
    """Find the map of each test image: the file with the image's stem in a folder with the category's name.

    A folder in between with the name of a defect selects that defect's images; it is required if several images of the
    category have the stem. A single category needs no folder. In a plain folder, a map belongs to the mask with its
    path, or to the only one whose path is an end of its own, or the other way round, without folders such as test and
    ground_truth; others belong to normal images.

    Parameters: maps, the files of the maps; data, as `list_anomaly_images` returns it.
    Returns the images with their maps, and problems, one line each, after those of the data set: images and masks
    without a map, two maps of one image, maps without an image, files that may be maps of another kind.
    """
    files = [name for name in maps.names if suffix_of(name) in MAP_SUFFIXES]
    if data.layout is None:
        left_out: dict[Path, str] = {}
        pairs, problems = _pair_masks(maps, files, data.images)
    else:
        pairs, problems, left_out = _pair_categories(maps, files, data, data.layout)
    mapped = {place_of(name) for name in files}
    for name in maps.names:
        if suffix_of(name) not in MAP_SUFFIXES:
            if is_note(name) or (suffix_of(name) in SUFFIXES and place_of(name) in mapped):
                left_out[maps.path(name)] = NOTE if is_note(name) else "pictures beside maps"
            else:
                problems.append(f"{maps.path(name)}: expected a map, as .tiff, .npy, .npz or .png, got another file")
    return AnomalyMaps(data, maps, pairs, [*data.problems, *problems], left_out)


Pairs = list[tuple[AnomalyImage, Path]]


def _pair_categories(
    maps: Tree, files: Sequence[str], data: AnomalyFolder, layout: Layout
) -> tuple[Pairs, list[str], dict[Path, str]]:
    pairs, problems = [], []
    images: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in data.images:
        images[image.category].append(image)
    by_category, elsewhere, left = _by_category(files, data, list(images))
    for category, own in images.items():
        own_pairs, wrong = _pair_images(maps, by_category.get(category, []), own, _defect_names(own, layout))
        pairs += own_pairs
        problems += wrong
    for name in _broken_categories(files, data):
        root = layout.images.partition("/")[0]
        problems.append(f"{data.folder / name}: expected a folder {root!r} in it, since there are maps of it, got none")
    known = ", ".join(images)
    problems += [
        f"{maps.path(name)}: expected it in a folder of a category ({known}), got another" for name in elsewhere
    ]
    return pairs, problems, {maps.path(name): OTHERS for name in left}


def _broken_categories(files: Sequence[str], data: AnomalyFolder) -> list[str]:
    """The folders beside the categories that lack test images, though there are maps in a folder of that name."""
    chosen = {image.category for image in data.images}
    if "" in data.categories.values() or len(chosen) < len(data.categories):  # a category itself, or some
        return []
    folders = {folder for name in files for folder in name.split("/")[:-1]} - data.categories.keys()
    return sorted(folders & {name.partition("/")[0] for name in data.tree.names if "/" in name})


_Placed = tuple[str, list[str]]  # a map, and the folders between it and its category


def _by_category(
    files: Sequence[str], data: AnomalyFolder, chosen: Sequence[str]
) -> tuple[dict[str, list[_Placed]], list[str], list[str]]:
    """Maps by category, maps without a category, and maps that may belong to categories that are not chosen."""
    by_category: dict[str, list[_Placed]] = defaultdict(list)
    bare: list[_Placed] = []
    known = {_nfc(name): name for name in data.categories}
    for file in files:
        *folders, _ = place_of(file).split("/")
        at = next((i for i, folder in enumerate(folders) if folder in known), None)
        if at is None:
            bare.append((file, folders))
        else:
            by_category[known[folders[at]]].append((file, folders[at + 1 :]))
    if len(chosen) == 1 and chosen[0] not in by_category:
        by_category[chosen[0]] = bare
        bare = []
    unmatched = [file for file, _ in bare]
    others = [file for category in by_category.keys() - {*chosen} for file, _ in by_category[category]]
    every = len(chosen) == len(data.categories) > 1
    return by_category, unmatched if every else [], others if every else [*others, *unmatched]


def _pair_images(
    maps: Tree, files: Sequence[_Placed], images: Sequence[AnomalyImage], defects: Mapping[str, str]
) -> tuple[Pairs, list[str]]:
    by_stem: dict[str, list[AnomalyImage]] = defaultdict(list)
    for image in images:
        by_stem[image.stem].append(image)
    several = _repeated_stems(images)
    map_of: dict[AnomalyImage, str] = {}
    unclear: set[str] = set()
    problems = []
    for file, folders in files:
        words = [word for folder in reversed(folders) for word in (folder, folder.casefold())]
        named = [defects[word] for word in words if word in defects]
        stem, path = place_of(file).rpartition("/")[2], maps.path(file)
        same = [image for image in by_stem.get(stem, []) if not named or image.defect == named[0]]
        if not same:
            problems.append(f"{path}: expected an image of that name and folder, got none")
        elif len(same) > 1:
            unclear.add(stem)
            problems.append(
                f"{path}: expected the folder of a defect, since {len(same)} images have that name: "
                + ", ".join(image.name for image in same)
            )
        elif same[0] in map_of:
            problems.append(f"{path}: expected one map of {same[0].name}, got {map_of[same[0]]} too")
        else:
            map_of[same[0]] = file
    for image in images:
        if image not in map_of and image.stem not in unclear:
            where = f"{image.defect}/{image.stem}.tiff" if image.stem in several else f"{image.stem}.tiff"
            problems.append(f"{image.image}: expected its map {image.category}/…/{where}{maps.where}, got none")
    return [(image, maps.path(map_of[image])) for image in images if image in map_of], problems


def _pair_masks(maps: Tree, files: Sequence[str], images: Sequence[AnomalyImage]) -> tuple[Pairs, list[str]]:
    """Pair maps with the masks, and images beside them, of a plain folder; others are maps of normal images."""
    category = images[0].category if images else ""
    places = [key_of(place_of(file)) for file in files]
    names = _telling([key_of(image.name) for image in images], places)
    by_name: dict[str, tuple[AnomalyImage, Path]] = {}
    problems = []
    for file, at in zip(files, matched(places, names, strip=True, cut=True)):
        place, path = place_of(file), maps.path(file)
        image = (
            AnomalyImage(category, place, "", place.rpartition("/")[2], False, None, ()) if at is None else images[at]
        )
        if image.name in by_name:
            problems.append(
                f"{path}: expected one map of {image.name}, got {by_name[image.name][1].relative_to(maps.root)} too"
            )
        else:
            by_name[image.name] = image, path
    near = {_folded(place): maps.path(file) for file, place in zip(files, places)}
    for image, name in zip(images, names):
        if image.name not in by_name:
            like = near.get(_folded(name))
            hint = f"; {like} has nearly that name" if like else ""
            own = image.masks[0] if image.masks else image.image
            problems.append(f"{own}: expected its map {image.name}.tiff{maps.where}, got none{hint}")
    return [by_name[name] for name in sorted(by_name)], problems


def _folded(name: str) -> str:
    """A name in which what people take for one is one: capitals, percent-encoding, and what looks alike."""
    return unicodedata.normalize("NFKC", unquote(name)).casefold()


def _nfc(name: str) -> str:
    return unicodedata.normalize("NFC", name)


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
