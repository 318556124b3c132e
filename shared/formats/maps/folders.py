"""List the test images of an anomaly detection data set with their masks, by file name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..images import SUFFIXES
from ..places import files_below, files_by_place
from .files import MASK_SUFFIXES
from .layouts import PAIR, Layout, categories_of, layout_of
from .lists import images_of_the_test, list_of, read_list

_NO_MASKS = frozenset(["", ".gif", ".pbm", ".pgm", ".pnm", ".ppm", ".tga", ".psd", ".svg", ".jp2", ".heic", ".exr"])
_MASK_ENDING = "_mask"  # end of a mask's stem in several layouts


class AnomalyImage(NamedTuple):
    """A test image and its masks, as paths.

    category: name of its category
    name: path of the image in its category, or of the map in a plain folder, without the suffix
    defect: the folder named after its defect; "" in a plain folder
    stem: the name of its file without the suffix
    anomalous: whether it is anomalous by its folder or, in a plain folder, has a mask; None if the mask decides
    image: its file; None in a plain folder
    masks: the files of its masks, which are united; empty for a normal image
    cloud: the file of its points on the grid of its pixels; None if the layout has none
    """

    category: str
    name: str
    defect: str
    stem: str
    anomalous: bool | None
    image: Path | None
    masks: tuple[Path, ...]
    cloud: Path | None = None


class AnomalyFolder(NamedTuple):
    """A data set on disk.

    folder: the folder of all categories, of one category, or of masks
    layout: the description of its layout; None for a plain folder of masks
    categories: all categories by name, chosen or not
    images: the test images of the chosen categories, sorted
    problems: problems of the files, one line each
    """

    folder: Path
    layout: Layout | None
    categories: dict[str, Path]
    images: list[AnomalyImage]
    problems: list[str]

    @property
    def layout_name(self) -> str:
        """The name of the layout."""
        return PAIR if self.layout is None else self.layout.name


def list_anomaly_images(
    data: str | Path, *, layout: str | None = None, categories: Sequence[str] | None = None
) -> AnomalyFolder:
    """Find the test images of a data set and their masks. No image is opened.

    Parameters: data, the folder of all categories or of one, or a plain folder of masks; layout, one of `NAMES` of
    `layouts`, by default recognised; categories, the ones to list, by default all.

    Returns the data set; a plain folder of masks has an image for each mask. Raises ValueError for an unknown layout or
    category, OSError for files that cannot be read.
    """
    data = Path(data)
    described = layout_of(data, layout)
    if described is None:
        if categories:
            raise ValueError(f"categories: expected none of a plain folder of masks, got {', '.join(categories)}")
        images, problems = _list_masks(data)
        return AnomalyFolder(data, None, {data.resolve().name: data}, images, problems)
    every = categories_of(data, described)
    for name in categories or ():
        if name not in every:
            raise ValueError(f"categories: expected some of {', '.join(every)}, got {name!r}")
    images, problems = [], []
    for name in sorted(set(categories)) if categories else every:
        own, wrong = (_listed_category if described.lists else _list_category)(name, every[name], described)
        images += own
        problems += wrong
    return AnomalyFolder(data, described, every, images, problems)


def _list_category(category: str, folder: Path, layout: Layout) -> tuple[list[AnomalyImage], list[str]]:
    images, problems = files_by_place(folder, layout.images, SUFFIXES), []
    pattern = f"{layout.masks}/*" if layout.united else layout.masks
    masks = files_by_place(folder, pattern, MASK_SUFFIXES, level=1 if layout.united else 0)
    if layout.split is not None:
        chosen = images_of_the_test(folder.resolve().parent / layout.split, category)
        missing = sorted(chosen - {path.relative_to(folder).as_posix() for paths in images.values() for path in paths})
        problems += [f"{folder / name}: expected the file, which {layout.split} lists, got none" for name in missing]
        images = {
            place: kept
            for place, paths in images.items()
            if (kept := [path for path in paths if path.relative_to(folder).as_posix() in chosen])
        }
    listed = []
    for place, paths in images.items():
        parts = dict(zip(PurePosixPath(layout.images).parts, PurePosixPath(place).parts))
        defect, stem = parts["{defect}"], parts["{stem}"]
        problems += [f"{path}: expected one image of that name, got {paths[0].name} too" for path in paths[1:]]
        mask = layout.masks.format(defect=defect, stem=stem)
        own, anomalous = masks.pop(mask, []), defect not in layout.normal
        if anomalous and not own:
            wanted = f"a folder {mask} of masks" if layout.united else f"a mask {mask}.png"
            problems.append(f"{paths[0]}: expected {wanted}, got none")
        if not layout.united:
            problems += [f"{path}: expected one mask of that name, got {own[0].name} too" for path in own[1:]]
        cloud = None if layout.clouds is None else folder / layout.clouds.format(defect=defect, stem=stem)
        listed.append(AnomalyImage(category, place, defect, stem, anomalous, paths[0], tuple(own), cloud))
    if not listed:
        problems.append(f"{folder}: expected test images {layout.images}.png, got none")
    if layout.split is None:  # a split may leave images out
        left = (paths[0] for paths in masks.values())
        problems += [f"{path}: expected the image of the mask, got none" for path in left]
    return listed, problems


def _listed_category(category: str, folder: Path, layout: Layout) -> tuple[list[AnomalyImage], list[str]]:
    """The images of a category by its list; the parent of a sample's folder names its defect."""
    folder = folder.resolve()
    path = list_of(folder, layout)
    by_place: dict[str, AnomalyImage] = {}
    problems = []
    for image, mask in read_list(path, folder):
        place = image.relative_to(folder).with_suffix("")
        if place.as_posix() in by_place:
            problems.append(f"{path}: expected {place.as_posix()} once, got it again")
        masks = () if mask is None else (mask,)
        problems += [
            f"{file}: expected the file that {path} lists, got none" for file in (image, *masks) if not file.is_file()
        ]
        defect = place.parts[-3] if len(place.parts) > 2 else ""
        by_place[place.as_posix()] = AnomalyImage(
            category, place.as_posix(), defect, place.name, mask is not None, image, masks
        )
    return [by_place[name] for name in sorted(by_place)], problems


def lost_masks(folder: Path) -> dict[str, Path]:
    """Pictures of a plain folder that are not read, by name: an image must not lose its mask because of its suffix."""
    return {path.stem.removesuffix(_MASK_ENDING): path for path in files_below(folder, _NO_MASKS)}


def _list_masks(folder: Path) -> tuple[list[AnomalyImage], list[str]]:
    """An image for each mask of a plain folder."""
    problems: list[str] = []
    by_place: dict[str, AnomalyImage] = {}
    for path in files_below(folder, MASK_SUFFIXES):
        place = path.relative_to(folder).with_suffix("").as_posix().removesuffix(_MASK_ENDING)
        if place in by_place:
            problems.append(f"{path}: expected one mask of that name, got {by_place[place].masks[0].name} too")
            continue
        stem = PurePosixPath(place).name
        by_place[place] = AnomalyImage(folder.resolve().name, place, "", stem, None, None, (path,))
    if not by_place:
        problems.append(f"{folder}: expected a data set or masks, got no such files")
    return list(by_place.values()), problems
