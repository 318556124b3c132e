"""List the test images of an anomaly detection data set with their masks, by file name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..images import SUFFIXES
from .files import MASK_SUFFIXES
from .layouts import PAIR, Layout, categories_of, layout_of
from .lists import images_of_the_test, list_of, read_list
from .tree import Tree, is_note, place_of, place_of_mask, suffix_of


class AnomalyImage(NamedTuple):
    """A test image and its masks, as paths.

    category: name of its category
    name: path of the image in its category, or of the map in a plain folder, without the suffix
    defect: the folder named after its defect; "" in a plain folder
    stem: the name of its file without the suffix
    anomalous: whether it is anomalous by its folder; False without a mask in a plain folder; None if the mask decides
    image: its file; None in a plain folder, unless it lies beside its mask
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
    """A data set on disk or in an upload.

    tree: its files
    layout: the description of its layout; None for a plain folder of masks
    categories: the folders of all categories by name, chosen or not
    images: the test images of the chosen categories, sorted
    problems: problems of the files, one line each
    left_out: why a file is not used, by path
    """

    tree: Tree
    layout: Layout | None
    categories: Mapping[str, str]
    images: list[AnomalyImage]
    problems: list[str]
    left_out: Mapping[Path, str]

    @property
    def folder(self) -> Path:
        """The folder of all categories, of one category, or of masks."""
        return self.tree.root

    @property
    def layout_name(self) -> str:
        """The name of the layout."""
        return PAIR if self.layout is None else self.layout.name


Listed = tuple[list[AnomalyImage], list[str], dict[Path, str]]  # images, problems, and why other files are not used
NOTE, OUTSIDE, OTHERS = "no map, mask or image", "not of the test", "of other categories"


def list_anomaly_images(
    tree: Tree, *, layout: str | None = None, categories: Sequence[str] | None = None, needs_masks: bool = True
) -> AnomalyFolder:
    """Find the test images of a data set and their masks. No image is opened.

    Parameters: tree, the files of all categories or of one, or of a plain folder of masks; layout, one of `NAMES` of
    `layouts`, by default recognised; categories, the ones to list, by default all; needs_masks, whether an anomalous
    image without a mask is a problem, which it is not if images alone are judged by the folders of a layout.

    Returns the data set; a plain folder of masks has an image for each mask. Each file is used, left out for a reason,
    or named in a problem. Raises ValueError for an unknown layout or category, OSError for files that cannot be read.
    """
    described = layout_of(tree.names, tree.root, layout, needs_masks=needs_masks)
    if described is None:
        if categories:
            raise ValueError(f"categories: expected none of a plain folder of masks, got {', '.join(categories)}")
        return AnomalyFolder(tree, None, {tree.root.resolve().name: ""}, *_list_masks(tree))
    every = categories_of(tree.names, tree.root, described)
    for name in categories or ():
        if name not in every:
            raise ValueError(f"categories: expected some of {', '.join(every)}, got {name!r}")
    chosen = sorted(set(categories)) if categories else [*every]
    images, problems = [], []
    left_out = {} if "" in every.values() else _elsewhere(tree, every, chosen)
    for category in chosen:
        lists = _listed_category if described.lists else _list_category
        listed, wrong, left = lists(category, tree.below(every[category]), described, needs_masks)
        images += listed
        problems += wrong
        left_out |= left
    return AnomalyFolder(tree, described, every, images, problems, left_out)


def _elsewhere(tree: Tree, every: Collection[str], chosen: Collection[str]) -> dict[Path, str]:
    """Why files outside the folders of the chosen categories are left out."""
    first = {name: name.partition("/")[0] for name in tree.names}
    return {tree.path(name): OTHERS if at in every else OUTSIDE for name, at in first.items() if at not in chosen}


def _list_category(category: str, tree: Tree, layout: Layout, needs_masks: bool) -> Listed:
    images = tree.matching(layout.images, SUFFIXES)
    pattern = f"{layout.masks}/*" if layout.united else layout.masks
    masks = tree.matching(pattern, MASK_SUFFIXES, level=1 if layout.united else 0)
    clouds = {} if layout.clouds is None else tree.matching(place_of(layout.clouds), (suffix_of(layout.clouds),))
    left_out = {tree.path(name): "clouds of points" for names in clouds.values() for name in names}
    claimed = {name for group in (images, masks, clouds) for names in group.values() for name in names}
    problems: list[str] = []
    if layout.split is not None:
        chosen = images_of_the_test(tree.root.resolve().parent / layout.split, category)
        missing = sorted(chosen - {name for names in images.values() for name in names})
        problems += [f"{tree.path(name)}: expected the file, which {layout.split} lists, got none" for name in missing]
        left_out |= {tree.path(name): OUTSIDE for names in images.values() for name in names if name not in chosen}
        images = {
            place: kept for place, names in images.items() if (kept := [name for name in names if name in chosen])
        }
    listed = []
    for place, names in images.items():
        parts = dict(zip(PurePosixPath(layout.images).parts, place.split("/")))
        defect, stem = parts["{defect}"], parts["{stem}"]
        file = tree.path(names[0])
        problems += [f"{tree.path(name)}: expected one image of that name, got {file.name} too" for name in names[1:]]
        mask = layout.masks.format(defect=defect, stem=stem)
        own, anomalous = [*map(tree.path, masks.pop(mask, []))], defect not in layout.normal
        if anomalous and not own and needs_masks:
            wanted = f"a folder {mask} of masks" if layout.united else f"a mask {mask}.png"
            problems.append(f"{file}: expected {wanted}, got none; --levels image needs none")
        if not layout.united:
            problems += [f"{path}: expected one mask of that name, got {own[0].name} too" for path in own[1:]]
        cloud = None if layout.clouds is None else tree.path(layout.clouds.format(defect=defect, stem=stem))
        listed.append(AnomalyImage(category, place, defect, stem, anomalous, file, tuple(own), cloud))
    if not listed:
        problems.append(f"{tree.root}: expected test images {layout.images}.png, got none")
    left = {tree.path(name): OUTSIDE for names in masks.values() for name in names}
    if layout.split is None:
        problems += [f"{path}: expected the image of the mask, got none" for path in left]
    else:
        left_out |= left
    roots = {pattern.partition("/")[0] for pattern in (layout.images, layout.masks)}
    for name in tree.names:
        path = tree.path(name)
        if is_note(name):
            left_out[path] = NOTE
        elif name.partition("/")[0] not in roots:
            left_out[path] = OUTSIDE
        elif name not in claimed:
            wanted = f"an image {layout.images}.png or a mask {layout.masks}.png"
            problems.append(f"{path}: expected {wanted}, got another file")
    return listed, problems, left_out


def _listed_category(category: str, tree: Tree, layout: Layout, needs_masks: bool) -> Listed:
    """The images of a category by its list; the parent of a sample's folder names its defect."""
    folder = tree.root.resolve()
    path = list_of(folder, layout)
    by_place: dict[str, AnomalyImage] = {}
    problems = []
    for image, mask in read_list(path, folder):
        place = place_of(image.relative_to(folder).as_posix())
        if place in by_place:
            problems.append(f"{path}: expected {place} once, got it again")
        masks = () if mask is None or not (needs_masks or mask.is_file()) else (mask,)
        problems += [
            f"{file}: expected the file that {path} lists, got none" for file in (image, *masks) if not file.is_file()
        ]
        parts = place.split("/")
        defect = parts[-3] if len(parts) > 2 else ""
        by_place[place] = AnomalyImage(category, place, defect, parts[-1], mask is not None, image, masks)
    used = {file for image in by_place.values() for file in (image.image, *image.masks)}
    left_out = {tree.path(name): OUTSIDE for name in tree.names if folder / name not in used}
    return [by_place[name] for name in sorted(by_place)], problems, left_out


def _list_masks(tree: Tree) -> Listed:
    """An image for each mask of a plain folder.

    Where a picture lies beside the mask of its name, which has one of the MASK_ENDINGS, that folder holds images too.
    """
    problems: list[str] = []
    left_out: dict[Path, str] = {}
    masks: dict[str, list[str]] = {}
    images: dict[str, list[str]] = {}
    files = {name for name in tree.names if suffix_of(name) in MASK_SUFFIXES}
    marked = {place_of_mask(name) for name in files if place_of_mask(name) != place_of(name)}
    pictures = {name for name in files if suffix_of(name) in SUFFIXES and place_of_mask(name) == place_of(name)}
    both = {_folder(name) for name in pictures if place_of(name) in marked}
    for name in tree.names:
        if name in files:
            (images if name in pictures and _folder(name) in both else masks).setdefault(
                place_of_mask(name), []
            ).append(name)
        elif is_note(name):
            left_out[tree.path(name)] = NOTE
        else:
            problems.append(f"{tree.path(name)}: expected a mask, as .png or .npy, got another file")
    listed = []
    for place in sorted({*masks, *images}):
        own, beside = ([tree.path(name) for name in by_place.get(place, ())] for by_place in (masks, images))
        problems += [f"{path}: expected one mask of that name, got {own[0].name} too" for path in own[1:]]
        problems += [f"{path}: expected one image of that name, got {beside[0].name} too" for path in beside[1:]]
        anomalous = None if own else False
        stem = place.rpartition("/")[2]
        image = beside[0] if beside else None
        listed.append(AnomalyImage(tree.root.resolve().name, place, "", stem, anomalous, image, tuple(own[:1])))
    if not listed:
        problems.append(f"{tree.root}: expected a data set or masks, got no such files")
    return listed, problems, left_out


def _folder(name: str) -> str:
    return name.rpartition("/")[0]
